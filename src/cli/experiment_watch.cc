// `margin experiment watch`: its flags, and the way from a log to the reports.
#include <memory>

#include "cli/experiment.h"
#include "cli/log_flags.h"
#include "cli/output_flags.h"
#include "cli/watch_flags.h"
#include "dataset/text.h"
#include "experiment/gaming_report.h"

namespace margin::cli {
namespace {

constexpr const char* kExperimentWatchFooter =
    "Reports drift, trust then defect, low participation, avoidance of hard tasks and collusion in a log, read in file order. Unusable "
    "rows\n"
    "count as staying away. Nothing acts on the reports; docs/watch.md says what they promise. Beside them: when margin_adaptive's own "
    "clocks\n"
    "noticed a shift and made it forget.\n\n"
    "Examples:\n"
    "  margin experiment watch log.jsonl\n"
    "  margin simulate collapse --out - | margin experiment watch - --json";

struct WatchFlags {
  std::vector<std::string> files;
  std::vector<std::string> phases;
  LogFlags log;
  WatchOptions watch;
  OutputFlags output;
};

int run(const WatchFlags& flags) {
  const Result<experiment::RowSelection> selection = row_selection(flags.log, flags.phases);
  if (!selection) return complain(selection.error().message);
  const Result<dataset::ObservationLog> log = dataset::read_observations(flags.files, flags.log.read_options());
  if (!log) return complain(log.error().message);
  const Result<std::vector<experiment::Stream>> streams = experiment::make_streams(*log, *selection);
  if (!streams) return complain(streams.error().message);
  std::vector<experiment::WatchedStream> watched;
  for (const experiment::Stream& stream : *streams) {
    Result<experiment::WatchedStream> seen = experiment::watch_stream(stream, flags.watch);
    if (!seen) return complain("watch: channel " + dataset::printable(stream.channel) + ": " + seen.error().message);
    watched.push_back(std::move(*seen));
  }
  return deliver(experiment::watch_report(watched, flags.watch), flags.output);
}

}  // namespace

Command add_watch_experiment(CLI::App& experiment) {
  CLI::App* app = experiment.add_subcommand("watch", "Reports of drift and gaming in a log: who, since when, on what evidence");
  auto flags = std::make_shared<WatchFlags>();
  flags->watch.models_max = 1024;
  app->footer(kExperimentWatchFooter);
  app->add_option("FILE", flags->files, "Logs, read as one; - is the standard input")->required()->type_name("");
  repeatable(app->add_option("--phase", flags->phases, "Only rows of this phase; repeatable"))->type_name("NAME");
  flags->log.add_to(*app);
  add_watch_flags(*app, flags->watch);
  flags->output.add_to(*app);
  return {app, [flags] { return run(*flags); }};
}

}  // namespace margin::cli
