// `margin experiment shift`: its flags, and the way from logs to conditions to the report.
#include <algorithm>
#include <fstream>
#include <memory>
#include <sstream>

#include "base/suggest.h"
#include "cli/experiment.h"
#include "cli/log_flags.h"
#include "cli/method_flags.h"
#include "cli/output_flags.h"
#include "cli/progress.h"
#include "dataset/reader.h"
#include "dataset/text.h"
#include "experiment/shift_report.h"

namespace margin::cli {
namespace {

using dataset::printable;
using experiment::Condition;
using experiment::Stream;

constexpr const char* kFooter =
    "Methods learn on the source and are scored on the target, prequentially, over many orderings of the tasks. Fitted methods are fitted "
    "on a\n"
    "random half of the source. --boundary says what happens in between:\n"
    "  told     margin and margin_adaptive go on and know of no boundary; every other online method starts fresh (the default: harsh to "
    "ours)\n"
    "  carry    all go on        reset    all start fresh        restart  as told, but margin's counts return to 0\n\n"
    "Examples:\n"
    "  margin experiment shift --source log.jsonl:easy --target log.jsonl:hard\n"
    "  margin experiment shift --all-pairs log.jsonl --method all --focus margin_adaptive --report out\n"
    "  margin experiment shift --grid pairs.txt --boundary carry --json\n"
    "A grid file has a line per condition: SOURCE TARGET [NAME], each a FILE[:PHASE]; # begins a comment.";

struct ShiftFlags {
  std::string source, target, grid, all_pairs;
  MethodFlags methods;
  LogFlags log;
  OutputFlags output;
  std::string boundary = "told";
  std::string focus = "margin";
  std::string feedback = "full";
  std::uint32_t orderings = 100;
  std::size_t resamples = 10'000;
  std::uint64_t seed = 1;
  std::size_t lag = 0;
  unsigned threads = 0;
};

struct Pair {
  std::string source, target, name;
};

// "easy->hard" when both name their phase, else the places as typed.
std::string default_name(const std::string& source, const std::string& target) {
  const LogPlace from = parse_place(source);
  const LogPlace to = parse_place(target);
  if (from.phases.empty() || to.phases.empty()) return source + "->" + target;
  return from.phases.front() + "->" + to.phases.front();
}

Result<std::vector<Pair>> read_grid(const std::string& path) {
  std::ifstream file(path);
  if (!file) return Error{ErrorCode::kNotFound, "--grid: " + printable(path, 400) + " cannot be opened"};
  std::vector<Pair> pairs;
  std::size_t number = 0;
  for (std::string line; std::getline(file, line);) {
    ++number;
    std::istringstream words(line.substr(0, line.find('#')));
    Pair pair;
    if (!(words >> pair.source)) continue;
    if (!(words >> pair.target)) {
      return Error{ErrorCode::kInvalidArgument,
                   printable(path, 400) + ":" + std::to_string(number) + ": got one word, expected SOURCE TARGET [NAME]"};
    }
    if (!(words >> pair.name)) pair.name = default_name(pair.source, pair.target);
    pairs.push_back(std::move(pair));
  }
  if (pairs.empty()) return Error{ErrorCode::kInvalidArgument, "--grid: " + printable(path, 400) + " names no condition"};
  return pairs;
}

// Logs are read once, however many conditions use them.
class Logs {
 public:
  explicit Logs(const LogFlags& flags) : flags_(flags) {}

  Result<const dataset::ObservationLog*> open(const std::string& file) {
    auto& log = logs_[file];
    if (log == nullptr) {
      Result<dataset::ObservationLog> read = dataset::read_observations(std::vector{file}, {.scale = flags_.scale});
      if (!read) return read.error();
      log = std::make_unique<dataset::ObservationLog>(std::move(*read));
    }
    return static_cast<const dataset::ObservationLog*>(log.get());
  }

  // One stream: with several channels the flags must choose one.
  Result<Stream> stream(const std::string& file, std::vector<std::string> phases) {
    const Result<const dataset::ObservationLog*> log = open(file);
    if (!log) return log.error();
    const Result<experiment::RowSelection> selection = row_selection(flags_, std::move(phases));
    if (!selection) return selection.error();
    Result<std::vector<Stream>> streams = experiment::make_streams(**log, *selection);
    if (!streams) return streams.error();
    if (streams->size() != 1) {
      return Error{ErrorCode::kInvalidArgument,
                   printable(file, 400) + " has " + std::to_string(streams->size()) + " channels here: choose one with --channel"};
    }
    return std::move(streams->front());
  }

 private:
  const LogFlags& flags_;
  std::map<std::string, std::unique_ptr<dataset::ObservationLog>> logs_;
};

Result<std::vector<Condition>> read_conditions(const ShiftFlags& flags) {
  Logs logs(flags.log);
  std::vector<Condition> conditions;
  const auto add = [&](const std::string& name, const LogPlace& from, const LogPlace& to) -> Status {
    Result<Stream> source = logs.stream(from.file, from.phases);
    if (!source) return source.error();
    Result<Stream> target = logs.stream(to.file, to.phases);
    if (!target) return target.error();
    conditions.push_back(experiment::make_condition(name, *source, *target));
    return {};
  };
  if (!flags.all_pairs.empty()) {
    const Result<const dataset::ObservationLog*> log = logs.open(flags.all_pairs);
    if (!log) return log.error();
    const auto& phases = (*log)->phases();
    for (std::uint32_t from = 0; from < phases.size(); ++from) {
      for (std::uint32_t to = 0; to < phases.size(); ++to) {
        if (from == to) continue;
        const std::string source(phases[from]);
        const std::string target(phases[to]);
        if (Status status = add(source + "->" + target, {flags.all_pairs, {source}}, {flags.all_pairs, {target}}); !status)
          return status.error();
      }
    }
    if (conditions.empty()) return Error{ErrorCode::kInvalidArgument, "--all-pairs: the log has fewer than two phases"};
    return conditions;
  }
  std::vector<Pair> pairs = {{flags.source, flags.target, default_name(flags.source, flags.target)}};
  if (!flags.grid.empty()) {
    Result<std::vector<Pair>> read = read_grid(flags.grid);
    if (!read) return read.error();
    pairs = std::move(*read);
  }
  for (const Pair& pair : pairs) {
    if (Status status = add(pair.name, parse_place(pair.source), parse_place(pair.target)); !status) return status.error();
  }
  return conditions;
}

int run(const ShiftFlags& flags) {
  const int ways =
      (flags.source.empty() && flags.target.empty() ? 0 : 1) + (flags.grid.empty() ? 0 : 1) + (flags.all_pairs.empty() ? 0 : 1);
  if (ways != 1 || flags.source.empty() != flags.target.empty()) {
    return complain("shift: expected either --source and --target, or --grid, or --all-pairs");
  }
  Result<Methods> methods = make_methods(flags.methods);
  if (!methods) return complain(methods.error().message);
  const Result<experiment::Boundary> boundary = experiment::parse_boundary(flags.boundary);
  if (!boundary) return complain("--" + boundary.error().message);
  if (std::find(methods->labels.begin(), methods->labels.end(), flags.focus) == methods->labels.end()) {
    return complain("--focus: " + printable(flags.focus) + " is not among the methods" +
                    internal::suggestion(flags.focus, methods->labels));
  }
  const Result<std::vector<Condition>> conditions = read_conditions(flags);
  if (!conditions) return complain(conditions.error().message);

  std::vector<experiment::Entrant> entrants;
  for (std::size_t i = 0; i < methods->labels.size(); ++i) entrants.push_back({methods->labels[i], std::move(methods->calibrators[i])});
  const experiment::ShiftSetting setting{
      .options = {.boundary = *boundary,
                  .orderings = flags.orderings,
                  .seed = flags.seed,
                  .pass = {.lag = flags.lag,
                           .feedback = flags.feedback == "selected" ? experiment::Feedback::kSelected : experiment::Feedback::kFull},
                  .resamples = flags.resamples,
                  .threads = {flags.threads}},
      .boundary = flags.boundary,
      .focus = flags.focus,
      .vote = flags.methods.vote};
  std::vector<experiment::ConditionResult> results;
  {
    experiment::Progress progress;
    progress.total = conditions->size() * experiment::shift_work(entrants.size(), setting.options);
    const ProgressBar bar("shift", progress);
    for (const Condition& condition : *conditions) {
      auto result = experiment::run_shift(condition, entrants, *methods->vote, setting.options, &progress);
      if (!result) break;
      results.push_back(std::move(*result));
    }
  }
  if (results.size() < conditions->size()) return complain("stopped", kInterrupted);
  const Result<report::Report> report = experiment::shift_report(results, setting);
  if (!report) return complain("--" + report.error().message);
  return deliver(*report, flags.output);
}

}  // namespace

Command add_shift_experiment(CLI::App& experiment) {
  CLI::App* app = experiment.add_subcommand("shift", "What methods make of a change of work: learn on a source, be scored on a target");
  auto flags = std::make_shared<ShiftFlags>();
  app->footer(kFooter);
  app->add_option("--source", flags->source, "Where methods learn before the shift")->type_name("FILE[:PHASE]");
  app->add_option("--target", flags->target, "Where they are scored")->type_name("FILE[:PHASE]");
  app->add_option("--grid", flags->grid, "A file of conditions instead")->type_name("FILE");
  app->add_option("--all-pairs", flags->all_pairs, "Every ordered pair of this log's phases instead")->type_name("FILE");
  app->add_option("--boundary", flags->boundary, "What happens between source and target: told, carry, reset or restart")
      ->type_name("NAME")
      ->capture_default_str();
  app->add_option("--focus", flags->focus, "The method that is compared with every other")->type_name("METHOD")->capture_default_str();
  app->add_option("--feedback", flags->feedback, "On the target: full, or selected (only the selected answer's outcome arrives)")
      ->check(CLI::IsMember({"full", "selected"}))
      ->type_name("NAME")
      ->capture_default_str();
  flags->methods.methods = {"all"};
  flags->methods.add_to(*app);
  flags->log.add_to(*app);
  app->add_option("--orderings", flags->orderings, "Random orders of the tasks to average over")
      ->check(CLI::Range(1, 1000000))
      ->type_name("N")
      ->capture_default_str();
  app->add_option("--resamples", flags->resamples, "Bootstrap resamples of the target's tasks; 0: no intervals")
      ->check(CLI::Range(0, 1000000))
      ->type_name("N")
      ->capture_default_str();
  app->add_option("--seed", flags->seed, "Of orderings and resamples")->check(not_negative)->type_name("N")->capture_default_str();
  app->add_option("--lag", flags->lag, "Outcomes are learned this many rows late")
      ->check(not_negative)
      ->type_name("ROWS")
      ->capture_default_str();
  app->add_option("--threads", flags->threads, "0: all cores; the result does not depend on it")
      ->check(CLI::Range(0, 1024))
      ->type_name("N");
  flags->output.add_to(*app);
  return {app, [flags] { return run(*flags); }};
}

}  // namespace margin::cli
