// `margin experiment inversion`: its flags, and the way from a log to the report.
#include <memory>

#include "cli/experiment.h"
#include "cli/progress.h"
#include "cli/stream_flags.h"
#include "experiment/inversion_report.h"

namespace margin::cli {
namespace {

using experiment::Stream;

constexpr const char* kExperimentInversionFooter =
    "Are the more confident models the better ones? Pearson's r between models, how often confidences tie, what methods make of the top\n"
    "band, and how much pass@1 depends on the order in which models stand (which decides ties).\n\n"
    "Examples:\n"
    "  margin experiment inversion log.jsonl --phase hard\n"
    "  margin experiment inversion log.jsonl --subset cloud=@cloud.txt --model-orders 100 --vote argmax --report out";

struct InversionFlags {
  StreamFlags common;
  SubsetFlags subsets;
  std::size_t model_orders = 20;
};

int run(const InversionFlags& flags) {
  const Result<std::vector<experiment::ModelSubset>> subsets = flags.subsets.subsets();
  if (!subsets) return complain(subsets.error().message);
  const Result<StreamInput> input = read_input(flags.common);
  if (!input) return complain(input.error().message);
  const Result<std::vector<Stream>> streams = experiment::make_streams(input->log, input->selection);
  if (!streams) return complain(streams.error().message);
  std::vector<std::vector<experiment::Entrant>> entrants;
  for (const Stream& stream : *streams) {
    Result<std::vector<experiment::Entrant>> of_stream = input->entrants(stream);
    if (!of_stream) return complain(of_stream.error().message);
    entrants.push_back(std::move(*of_stream));
  }

  const experiment::InversionOptions options{.passes = input->setting.options, .model_orders = flags.model_orders};
  std::vector<experiment::InversionResult> results;
  {
    experiment::Progress progress;
    progress.total = streams->size() * experiment::inversion_work(input->methods.labels.size(), subsets->size(), options);
    const ProgressBar bar("inversion", progress);
    for (std::size_t i = 0; i < streams->size(); ++i) {
      auto result = experiment::run_inversion((*streams)[i], *subsets, entrants[i], *input->methods.vote, options, &progress);
      if (!result) return complain("--" + result.error().message);
      if (!*result) break;
      results.push_back(std::move(**result));
    }
  }
  if (results.size() < streams->size()) return complain("stopped", kInterrupted);
  return deliver(experiment::inversion_report(results, flags.model_orders, input->setting), flags.common.output);
}

}  // namespace

Command add_inversion_experiment(CLI::App& experiment) {
  CLI::App* app =
      experiment.add_subcommand("inversion", "Are the more confident models the better ones, and how often confidence cannot tell");
  auto flags = std::make_shared<InversionFlags>();
  app->footer(kExperimentInversionFooter);
  flags->common.add_to(*app);
  flags->common.add_resamples_to(*app);
  flags->subsets.add_to(*app);
  app->add_option("--model-orders", flags->model_orders, "Orders of the models within tasks; the first is that of the file")
      ->check(CLI::Range(1, 100000))
      ->type_name("N")
      ->capture_default_str();
  return {app, [flags] { return run(*flags); }};
}

}  // namespace margin::cli
