// `margin experiment gaming`: its flags, and the way from simulated attackers to the report.
#include <memory>

#include "cli/experiment.h"
#include "cli/output_flags.h"
#include "cli/progress.h"
#include "cli/watch_flags.h"
#include "experiment/gaming_report.h"

namespace margin::cli {
namespace {

constexpr const char* kExperimentGamingFooter =
    "Simulates honest pools and one attacker of each kind, all synthetic, and shows how surely and how soon the watch reports each, and "
    "how\n"
    "often it reports somebody who did nothing.\n\n"
    "Examples:\n"
    "  margin experiment gaming\n"
    "  margin experiment gaming --runs 1000 --tasks 4000 --json";

struct GamingFlags {
  experiment::GamingOptions options;
  OutputFlags output;
};

int run(const GamingFlags& flags) {
  std::optional<std::vector<experiment::GamingResult>> results;
  {
    experiment::Progress progress;
    progress.total = experiment::gaming_scenarios().size() * flags.options.runs;
    const ProgressBar bar("gaming", progress);
    results = experiment::run_gaming(flags.options, &progress);
  }
  if (!results) return complain("stopped", kInterrupted);
  return deliver(experiment::gaming_report(*results, flags.options), flags.output);
}

}  // namespace

Command add_gaming_experiment(CLI::App& experiment) {
  CLI::App* app = experiment.add_subcommand("gaming", "Simulated attackers before the watch: found how surely, how soon");
  auto flags = std::make_shared<GamingFlags>();
  app->footer(kExperimentGamingFooter);
  app->add_option("--runs", flags->options.runs, "Of every pool")->check(CLI::Range(1, 100000))->type_name("N")->capture_default_str();
  app->add_option("--tasks", flags->options.tasks, "Of every run")->check(CLI::Range(100, 100000))->type_name("N")->capture_default_str();
  app->add_option("--seed", flags->options.seed, "Of the first run")->check(not_negative)->type_name("N")->capture_default_str();
  app->add_option("--threads", flags->options.threads.count, "0: all cores; the result does not depend on it")
      ->check(CLI::Range(0, 1024))
      ->type_name("N");
  add_watch_flags(*app, flags->options.watch);
  flags->output.add_to(*app);
  return {app, [flags] { return run(*flags); }};
}

}  // namespace margin::cli
