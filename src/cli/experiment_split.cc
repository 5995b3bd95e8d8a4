// `margin experiment split`: its flags, and the way from a log to the report.
#include <memory>

#include "cli/experiment.h"
#include "cli/progress.h"
#include "cli/stream_flags.h"
#include "dataset/text.h"
#include "dataset/timestamp.h"
#include "experiment/split_report.h"

namespace margin::cli {
namespace {

using experiment::Stream;

constexpr const char* kExperimentSplitFooter =
    "Cuts the tasks at a moment: those before it are early, the others late. Every model's accuracy and every method's calibration in "
    "both\n"
    "parts, with the difference. A task's moment is the earliest `t` of its rows; without --at the cut is the median.\n\n"
    "Examples:\n"
    "  margin experiment split log.jsonl --phase code\n"
    "  margin experiment split log.jsonl --at 2024-04-06 --method margin,margin_adaptive --report out";

struct SplitFlags {
  StreamFlags common;
  std::string at;
};

int run(const SplitFlags& flags) {
  std::optional<double> at;
  if (!flags.at.empty()) {
    at = dataset::parse_timestamp(flags.at);
    if (!at) return complain("--at: got " + dataset::printable(flags.at) + ", expected a date such as 2024-05-17 or 2024-05-17T08:30:00Z");
  }
  const Result<StreamInput> input = read_input(flags.common);
  if (!input) return complain(input.error().message);
  const Result<std::vector<Stream>> streams = experiment::make_streams(input->log, input->selection);
  if (!streams) return complain(streams.error().message);
  std::vector<experiment::SplitStream> splits;
  std::vector<std::vector<experiment::Entrant>> entrants;
  const experiment::PassesOptions& options = input->setting.options;
  experiment::Progress progress;
  for (const Stream& stream : *streams) {
    Result<experiment::SplitStream> split = experiment::split_stream(stream, input->log, at);
    if (!split) return complain("split: " + split.error().message);
    Result<std::vector<experiment::Entrant>> of_stream = input->entrants(stream);
    if (!of_stream) return complain(of_stream.error().message);
    progress.total += experiment::split_work(of_stream->size(), stream.models.size(), options);
    splits.push_back(std::move(*split));
    entrants.push_back(std::move(*of_stream));
  }

  std::vector<experiment::SplitResult> results;
  {
    const ProgressBar bar("split", progress);
    for (std::size_t i = 0; i < splits.size(); ++i) {
      auto result = experiment::run_split(splits[i], entrants[i], *input->methods.vote, options, &progress);
      if (!result) break;
      results.push_back(std::move(*result));
    }
  }
  if (results.size() < splits.size()) return complain("stopped", kInterrupted);
  return deliver(experiment::split_report(results, input->setting), flags.common.output);
}

}  // namespace

Command add_split_experiment(CLI::App& experiment) {
  CLI::App* app = experiment.add_subcommand("split", "Early against late: accuracy and calibration before and after a date");
  auto flags = std::make_shared<SplitFlags>();
  app->footer(kExperimentSplitFooter);
  flags->common.add_to(*app);
  flags->common.add_resamples_to(*app);
  app->add_option("--at", flags->at, "The cut; without it the median of t")->type_name("DATE");
  return {app, [flags] { return run(*flags); }};
}

}  // namespace margin::cli
