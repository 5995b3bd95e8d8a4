// `margin replay`: its flags, and the way from files to tables.
#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/command.h"
#include "cli/per_ordering_flag.h"
#include "cli/progress.h"
#include "cli/stream_flags.h"
#include "experiment/evaluation.h"
#include "experiment/evaluation_output.h"
#include "experiment/evaluation_report.h"
#include "report/output_file.h"

namespace margin::cli {
namespace {

using experiment::Evaluation;
using experiment::Stream;

constexpr const char* kReplayFooter =
    "Rows are JSON objects, one a line, or CSV with a header; plain or gzip:\n"
    "  "
    "{\"task\",\"model\",\"confidence\",\"correct\",\"answer\"?,\"phase\"?,\"channel\"?,\"segment\"?,\"kind\"?,\"abstained\"?,\"weight\"?,"
    "\"t\"?}\n"
    "confidence and correct are in [0, 1]; null is legal and counted. Unknown keys and columns are ignored.\n"
    "Every response of a task is calibrated with what was learned before the task; then its outcomes are learned.\n\n"
    "Examples:\n"
    "  margin replay log.jsonl                                   mean and spread over 100 orderings of the tasks\n"
    "  margin replay log.csv --orderings 0 --method all          once, in the order of the file\n"
    "  margin replay log.jsonl --scale 100 --vote stacked        confidences are percentages; a vote that learns\n"
    "  margin replay log.jsonl --by model --by phase --report out\n"
    "  margin replay new.jsonl --fit old.jsonl --method platt_scaling,margin\n"
    "  margin replay log.jsonl --orderings 0 --predictions calibrated.jsonl --json";

struct ReplayFlags {
  StreamFlags common;
  std::vector<std::string> by;
  std::string ties = "half";
  std::string predictions;
  std::string decisions;
  std::optional<double> max_error;
  PerOrderingFlag per_ordering;
};

std::vector<experiment::Breakdown> breakdowns(const std::vector<std::string>& by, const Stream& stream,
                                              const dataset::ObservationLog& log) {
  std::vector<experiment::Breakdown> all;
  for (const char* name : {"model", "phase"}) {
    if (std::find(by.begin(), by.end(), name) == by.end()) continue;
    all.push_back(std::string_view(name) == "model" ? experiment::by_model(stream) : experiment::by_phase(stream, log));
  }
  return all;
}

// Predictions, decisions and scores by ordering, as far as they are asked for.
Status write_files(const ReplayFlags& flags, const dataset::ObservationLog& log, const std::vector<Evaluation>& evaluations) {
  if (!flags.predictions.empty()) {
    Status written = report::write_file(flags.predictions, experiment::prediction_lines(log, evaluations));
    if (!written) return written;
  }
  if (!flags.decisions.empty()) {
    Status written = report::write_file(flags.decisions, experiment::decision_lines(log, evaluations));
    if (!written) return written;
  }
  std::vector<experiment::OrderingScores> orderings;
  for (const Evaluation& evaluation : evaluations) {
    for (const auto& method : evaluation.methods) orderings.push_back({evaluation.stream.channel, "", method.label, method.by_ordering});
  }
  return flags.per_ordering.write(orderings);
}

int run(const ReplayFlags& flags) {
  if ((!flags.predictions.empty() || !flags.decisions.empty()) && flags.common.orderings != 0) {
    return complain("--predictions and --decisions are of one pass in file order: add --orderings 0");
  }
  const Result<TieRule> ties = parse_tie_rule(flags.ties);
  if (!ties) return complain("--ties: " + ties.error().message);
  const Result<StreamInput> input = read_input(flags.common);
  if (!input) return complain(input.error().message);
  Result<std::vector<Stream>> streams = experiment::make_streams(input->log, input->selection);
  if (!streams) return complain(streams.error().message);
  std::vector<std::vector<experiment::Entrant>> entrants;
  for (const Stream& stream : *streams) {
    Result<std::vector<experiment::Entrant>> of_stream = input->entrants(stream);
    if (!of_stream) return complain(of_stream.error().message);
    entrants.push_back(std::move(*of_stream));
  }

  const bool keep_first = !flags.predictions.empty() || !flags.decisions.empty() || !flags.common.output.directory.empty();
  const experiment::EvaluationOptions options{
      .passes = input->setting.options, .resolution = {.tie = *ties}, .max_error = flags.max_error, .keep_first = keep_first};
  std::vector<Evaluation> evaluations;
  {
    experiment::Progress progress;
    progress.total = streams->size() * experiment::pieces_of({.passes = input->methods.labels.size()}, options.passes);
    const ProgressBar bar("replay", progress);
    for (std::size_t i = 0; i < streams->size(); ++i) {
      auto parts = breakdowns(flags.by, (*streams)[i], input->log);
      auto one = experiment::evaluate(std::move((*streams)[i]), std::move(parts), entrants[i], *input->methods.vote, options, &progress);
      if (!one) break;
      evaluations.push_back(std::move(*one));
    }
  }
  if (evaluations.size() < streams->size()) return complain("stopped", kInterrupted);

  if (const Status written = write_files(flags, input->log, evaluations); !written) return complain(written.error().message, kFailed);
  return deliver(experiment::evaluation_report(evaluations, input->setting, flags.max_error), flags.common.output,
                 experiment::to_json(evaluations, input->setting));
}

}  // namespace

Command add_replay(CLI::App& root) {
  CLI::App* app = root.add_subcommand("replay", "Calibrate a log of past answers as if it were live, and say how well that went");
  auto flags = std::make_shared<ReplayFlags>();
  flags->common.raw_first = false;
  flags->common.resamples = 0;
  app->footer(kReplayFooter);
  flags->common.add_to(*app);
  repeatable(app->add_option("--by", flags->by, "Also score by model or by phase; repeatable"))
      ->check(CLI::IsMember({"model", "phase"}))
      ->delimiter(',')
      ->type_name("NAME");
  app->add_option("--ties", flags->ties,
                  "Equal confidence in pairwise resolution: half, strict (left out) or raw (decided by stated confidence)")
      ->type_name("RULE")
      ->capture_default_str();
  app->add_option("--predictions", flags->predictions, "Write every calibrated confidence as JSON lines (with --orderings 0)")
      ->type_name("FILE");
  app->add_option("--decisions", flags->decisions, "Write every selected answer as JSON lines (with --orderings 0)")->type_name("FILE");
  app->add_option("--max-error", flags->max_error,
                  "Also say how sure decisions may be: their own probability, and what is answered at this promised error")
      ->check(CLI::Range(0.0, 1.0))
      ->type_name("X");
  flags->per_ordering.add_to(*app);
  return {app, [flags] { return run(*flags); }};
}

}  // namespace margin::cli
