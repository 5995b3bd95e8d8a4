// `margin experiment resolution`: its flags, and the way from a log to the report.
#include <memory>

#include "cli/experiment.h"
#include "cli/progress.h"
#include "cli/stream_flags.h"
#include "dataset/text.h"
#include "experiment/resolution_report.h"

namespace margin::cli {
namespace {

using experiment::Stream;

constexpr const char* kExperimentResolutionFooter =
    "Of two models with different outcomes on a task: how often has the more confident one the better? For raw confidence with ties "
    "counted\n"
    "half and left out, and for every method, per channel; --subset repeats it for a part of the models, as if the others did not "
    "exist.\n\n"
    "Examples:\n"
    "  margin experiment resolution log.jsonl\n"
    "  margin experiment resolution log.jsonl --subset cloud=@cloud.txt --subset small=a,b,c --report out\n"
    "  margin experiment resolution log.jsonl --contest answers --ties strict --nan half --json";

struct ResolutionFlags {
  StreamFlags common;
  SubsetFlags subsets;
  std::string contest = "passed";
  std::string ties = "half";
  std::string nan = "leave";
};

struct ResolutionPart {
  std::string subset;
  Stream stream;
  experiment::GradedStream graded;
  std::vector<experiment::Entrant> entrants;
};

Status add_parts(const StreamInput& input, const std::string& subset, const experiment::RowSelection& selection,
                 std::vector<ResolutionPart>& parts) {
  Result<std::vector<Stream>> streams = experiment::make_streams(input.log, selection);
  if (!streams) return streams.error();
  for (Stream& stream : *streams) {
    Result<std::vector<experiment::Entrant>> entrants = input.entrants(stream);
    if (!entrants) return entrants.error();
    experiment::GradedStream graded(stream, input.log, selection);
    parts.push_back({subset, std::move(stream), std::move(graded), std::move(*entrants)});
  }
  return {};
}

Result<ResolutionRules> rules_of(const ResolutionFlags& flags) {
  const Result<ContestRule> contest = parse_contest_rule(flags.contest);
  if (!contest) return Error{contest.error().code, "--" + contest.error().message};
  const Result<TieRule> ties = parse_tie_rule(flags.ties);
  if (!ties) return Error{ties.error().code, "--ties: " + ties.error().message};
  const Result<MissingRule> missing = parse_missing_rule(flags.nan);
  if (!missing) return Error{missing.error().code, "--" + missing.error().message};
  return ResolutionRules{.contest = *contest, .tie = *ties, .missing = *missing};
}

int run(const ResolutionFlags& flags) {
  const Result<ResolutionRules> rules = rules_of(flags);
  if (!rules) return complain(rules.error().message);
  const Result<std::vector<experiment::ModelSubset>> subsets = flags.subsets.subsets();
  if (!subsets) return complain(subsets.error().message);
  const Result<StreamInput> input = read_input(flags.common);
  if (!input) return complain(input.error().message);
  std::vector<ResolutionPart> parts;
  if (const Status status = add_parts(*input, "all models", input->selection, parts); !status) return complain(status.error().message);
  for (const experiment::ModelSubset& subset : *subsets) {
    experiment::RowSelection selection = input->selection;
    selection.models = subset.models;
    const Status status = add_parts(*input, subset.name, selection, parts);
    if (!status) return complain("--subset " + dataset::printable(subset.name) + ": " + status.error().message);
  }

  const experiment::PassesOptions& options = input->setting.options;
  std::vector<experiment::ResolutionResult> results;
  {
    experiment::Progress progress;
    progress.total = parts.size() * experiment::resolution_work(input->methods.labels.size(), options);
    const ProgressBar bar("resolution", progress);
    for (const ResolutionPart& part : parts) {
      auto result = experiment::run_resolution(part.stream, part.graded, part.entrants, *input->methods.vote, *rules, options, &progress);
      if (!result) break;
      result->subset = part.subset;
      results.push_back(std::move(*result));
    }
  }
  if (results.size() < parts.size()) return complain("stopped", kInterrupted);
  return deliver(experiment::resolution_report(results, *rules, input->setting), flags.common.output);
}

}  // namespace

Command add_resolution_experiment(CLI::App& experiment) {
  CLI::App* app = experiment.add_subcommand("resolution", "Does confidence tell the better of two models, before and after calibration");
  auto flags = std::make_shared<ResolutionFlags>();
  app->footer(kExperimentResolutionFooter);
  flags->common.add_to(*app);
  flags->common.add_resamples_to(*app);
  flags->subsets.add_to(*app);
  app->add_option("--contest", flags->contest, "Which pairs count: passed (outcomes differ) or answers (they differ, one of them right)")
      ->type_name("RULE")
      ->capture_default_str();
  app->add_option("--ties", flags->ties, "Equal confidence: half, strict (left out) or raw (decided by stated confidence)")
      ->type_name("RULE")
      ->capture_default_str();
  app->add_option("--nan", flags->nan, "Pairs with a missing confidence: leave (out) or half")->type_name("RULE")->capture_default_str();
  return {app, [flags] { return run(*flags); }};
}

}  // namespace margin::cli
