// `margin replay`: its flags, and the way from files to tables.
#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/command.h"
#include "cli/log_flags.h"
#include "cli/method_flags.h"
#include "dataset/output_file.h"
#include "dataset/reader.h"
#include "dataset/text.h"
#include "experiment/evaluation.h"
#include "experiment/evaluation_output.h"

namespace margin::cli {
namespace {

constexpr const char* kFooter =
    "Rows are JSON objects, one a line, or CSV with a header; plain or gzip:\n"
    "  "
    "{\"task\",\"model\",\"confidence\",\"correct\",\"answer\"?,\"phase\"?,\"channel\"?,\"segment\"?,\"kind\"?,\"abstained\"?,\"weight\"?,"
    "\"t\"?}\n"
    "confidence and correct are in [0, 1]; null is legal and counted. Unknown keys and columns are ignored.\n"
    "Every response of a task is calibrated with what was learned before the task; then its outcomes are learned.\n\n"
    "Examples:\n"
    "  margin replay log.jsonl                                   mean and spread over 100 orderings of the tasks\n"
    "  margin replay log.jsonl --orderings 0 --method all        once, in the order of the file\n"
    "  margin replay log.jsonl --scale 100 --vote stacked        confidences are percentages; a vote that learns\n"
    "  margin replay new.jsonl --fit old.jsonl --method platt_scaling,margin\n"
    "  margin replay log.jsonl --orderings 0 --predictions calibrated.jsonl --json";

struct ReplayFlags {
  std::vector<std::string> files;
  MethodFlags methods;
  std::vector<std::string> phases;
  LogFlags log;
  std::uint32_t orderings = 100;
  std::uint64_t seed = 1;
  std::size_t lag = 0;
  std::string ties = "half";
  std::string fit;
  std::string predictions;
  std::string decisions;
  bool json = false;
};

// The rows to fit on, one stream per channel; empty without --fit.
Result<std::vector<experiment::Stream>> read_fit(const ReplayFlags& flags, const dataset::ReadOptions& options) {
  if (flags.fit.empty()) return std::vector<experiment::Stream>{};
  const LogPlace source = parse_place(flags.fit);
  const Result<dataset::ObservationLog> log = dataset::read_observations(std::vector{source.file}, options);
  if (!log) return log.error();
  auto streams = experiment::make_streams(*log, {.phases = source.phases});
  if (!streams) return Error{streams.error().code, "--fit: " + streams.error().message};
  return streams;
}

Result<std::vector<Observation>> calibration_for(const experiment::Stream& stream, const std::vector<experiment::Stream>& fits) {
  if (fits.empty()) return std::vector<Observation>{};
  for (const experiment::Stream& fit : fits) {
    if (fit.channel != stream.channel) continue;
    std::vector<Observation> rows = experiment::calibration_rows(fit, stream);
    if (!rows.empty()) return rows;
  }
  return Error{ErrorCode::kInvalidArgument, "--fit: no graded row of a replayed model in channel " + dataset::printable(stream.channel)};
}

Status check(const ReplayFlags& flags, const Methods& methods) {
  const bool lines = !flags.predictions.empty() || !flags.decisions.empty();
  if (lines && flags.orderings != 0) {
    return {ErrorCode::kInvalidArgument, "--predictions and --decisions are of one pass in file order: add --orderings 0"};
  }
  const auto& all = methods.calibrators;
  const bool design_time = std::any_of(all.begin(), all.end(), [](const auto& method) { return method->info().design_time; });
  if (!flags.fit.empty() && !design_time) return {ErrorCode::kInvalidArgument, "--fit: none of the selected methods is fitted"};
  return {};
}

Status write_file(const std::string& path, const std::string& text) {
  Result<dataset::OutputFile> file = dataset::OutputFile::create(path);
  if (!file) return file.error();
  file->write(text);
  return file->commit();
}

int run(const ReplayFlags& flags) {
  const Result<Methods> methods = make_methods(flags.methods);
  if (!methods) return complain(methods.error().message);
  if (const Status status = check(flags, *methods); !status) return complain(status.error().message);
  const Result<experiment::RowSelection> selection = row_selection(flags.log, flags.phases);
  if (!selection) return complain(selection.error().message);
  const Result<TieRule> ties = parse_tie_rule(flags.ties);
  if (!ties) return complain("--ties: " + ties.error().message);
  const dataset::ReadOptions read_options = flags.log.read_options();
  const Result<dataset::ObservationLog> log = dataset::read_observations(flags.files, read_options);
  if (!log) return complain(log.error().message);
  Result<std::vector<experiment::Stream>> streams = experiment::make_streams(*log, *selection);
  if (!streams) return complain(streams.error().message);
  const Result<std::vector<experiment::Stream>> fits = read_fit(flags, read_options);
  if (!fits) return complain(fits.error().message);

  const experiment::EvaluationOptions options{
      .orderings = flags.orderings, .seed = flags.seed, .pass = {.lag = flags.lag}, .resolution = {.tie = *ties}};
  std::vector<experiment::Evaluation> evaluations;
  for (experiment::Stream& stream : *streams) {
    const Result<std::vector<Observation>> calibration = calibration_for(stream, *fits);
    if (!calibration) return complain(calibration.error().message);
    evaluations.push_back(experiment::evaluate(std::move(stream), methods->calibrators, *methods->vote, *calibration, options));
  }

  if (!flags.predictions.empty()) {
    const Status written = write_file(flags.predictions, experiment::prediction_lines(*log, evaluations));
    if (!written) return complain(written.error().message, kFailed);
  }
  if (!flags.decisions.empty()) {
    const Status written = write_file(flags.decisions, experiment::decision_lines(*log, evaluations));
    if (!written) return complain(written.error().message, kFailed);
  }
  const experiment::EvaluationSetting setting{options, flags.methods.vote};
  return print(flags.json ? experiment::to_json(evaluations, setting) : experiment::to_table(evaluations, setting));
}

}  // namespace

Command add_replay(CLI::App& root) {
  CLI::App* app = root.add_subcommand("replay", "Calibrate a log of past answers as if it were live, and say how well that went");
  auto flags = std::make_shared<ReplayFlags>();
  app->footer(kFooter);
  app->add_option("FILE", flags->files, "Logs, read as one; - is the standard input")->required()->type_name("");
  flags->methods.add_to(*app);

  repeatable(app->add_option("--phase", flags->phases, "Only rows of this phase; repeatable"))->type_name("NAME");
  flags->log.add_to(*app);

  app->add_option("--orderings", flags->orderings, "Random orders of the tasks within their phase to average over; 0: file order, once")
      ->check(CLI::Range(0, 1000000))
      ->type_name("N")
      ->capture_default_str();
  app->add_option("--seed", flags->seed, "Of the orderings")->check(not_negative)->type_name("N")->capture_default_str();
  app->add_option("--lag", flags->lag, "Outcomes are learned this many rows late")
      ->check(not_negative)
      ->type_name("ROWS")
      ->capture_default_str();
  app->add_option("--fit", flags->fit, "Rows that design-time methods are fitted on; without it they pass confidences through")
      ->type_name("FILE[:PHASE]");
  app->add_option("--ties", flags->ties,
                  "Equal confidence in pairwise resolution: half, strict (left out) or raw (decided by stated confidence)")
      ->type_name("RULE")
      ->capture_default_str();

  app->add_option("--predictions", flags->predictions, "Write every calibrated confidence as JSON lines (with --orderings 0)")
      ->type_name("FILE");
  app->add_option("--decisions", flags->decisions, "Write every selected answer as JSON lines (with --orderings 0)")->type_name("FILE");
  app->add_flag("--json", flags->json, "Print fractions as one JSON object instead of a table");
  return {app, [flags] { return run(*flags); }};
}

}  // namespace margin::cli
