// `margin experiment pool`: its flags, and the way from a log to scenarios to the report.
#include <algorithm>
#include <functional>
#include <memory>

#include "base/suggest.h"
#include "cli/condition_flags.h"
#include "cli/experiment.h"
#include "cli/output_flags.h"
#include "dataset/text.h"
#include "experiment/pool_report.h"

namespace margin::cli {
namespace {

using experiment::Entrant;
using experiment::Scenario;

constexpr const char* kExperimentPoolFooter =
    "Scenarios:\n"
    "  dropout     the two models with most rows leave at half time: ECE before and after\n"
    "  cold_start  the first --initial models alone until half time, then the rest join. blended (target=pool_band, newcomers enter from\n"
    "              the pool) against unblended (shrinkage=0, newcomers begin at 1), and the chosen methods beside them: ECE, Brier\n"
    "              score and log loss, and --focus minus every other with its interval over orderings\n"
    "  rolling     all but the last two; every --swap-every observations the model with the worst recent ECE makes room for the one\n"
    "              longest outside, which goes on with the state it left with\n"
    "An observation is a graded row of a model that is present. Tasks come in random order; ECE is over windows of --ece-window.\n\n"
    "Examples:\n"
    "  margin experiment pool log.jsonl\n"
    "  margin experiment pool log.jsonl:law --scenario cold_start --initial 3 --report out\n"
    "  margin experiment pool log.jsonl --scenario rolling --method margin,margin_adaptive --json";

struct PoolFlags {
  std::string place;
  std::vector<std::string> scenarios{experiment::kScenarioNames.begin(), experiment::kScenarioNames.end()};
  experiment::PoolOptions options;
  std::string focus;
  RunFlags run{.orderings = 50};
  MethodFlags methods;
  LogFlags log;
  OutputFlags output;
};

Status check(const PoolFlags& flags, std::span<const Entrant> entrants) {
  const auto& checkpoints = flags.options.checkpoints;
  if (std::adjacent_find(checkpoints.begin(), checkpoints.end(), std::greater_equal<>()) != checkpoints.end() || checkpoints.front() == 0) {
    return {ErrorCode::kInvalidArgument, "--checkpoints: expected rising numbers above 0"};
  }
  if (2 * flags.options.window > flags.options.observations) {
    return {ErrorCode::kInvalidArgument, "--ece-window: expected at most half of --observations"};
  }
  for (const Entrant& entrant : entrants) {
    if (!entrant.method->info().design_time) continue;
    return {ErrorCode::kInvalidArgument,
            "--method: " + dataset::printable(entrant.label) + " needs rows to be fitted on, expected methods that learn online"};
  }
  return {};
}

// The parameters of the chosen margin, or its defaults.
Result<Parameters> margin_parameters(std::span<const Entrant> entrants) {
  for (const Entrant& entrant : entrants) {
    if (entrant.method->info().identifier == "margin") return entrant.method->parameters();
  }
  const Result<std::unique_ptr<Calibrator>> made = make_calibrator("margin");
  if (!made) return made.error();
  return (*made)->parameters();
}

Result<std::vector<Entrant>> cold_start_entrants(std::span<const Entrant> entrants) {
  const Result<Parameters> margin = margin_parameters(entrants);
  if (!margin) return margin.error();
  std::vector<Entrant> all = experiment::cold_start_arms(*margin);
  for (const Entrant& entrant : entrants) all.push_back({entrant.label, entrant.method->clone()});
  return all;
}

int run(const PoolFlags& flags) {
  if (flags.place.empty()) return complain("pool: expected a log, FILE[:PHASE]");
  std::vector<Scenario> scenarios;
  for (const std::string& name : flags.scenarios) {
    const Result<Scenario> scenario = experiment::parse_scenario(name);
    if (!scenario) return complain("--" + scenario.error().message);
    scenarios.push_back(*scenario);
  }
  Result<Methods> methods = make_methods(flags.methods);
  if (!methods) return complain(methods.error().message);
  const std::vector<Entrant> entrants = take_entrants(*methods);
  if (Status status = check(flags, entrants); !status) return complain(status.error().message);
  const std::string focus = flags.focus.empty() ? entrants.back().label : flags.focus;
  if (std::find(methods->labels.begin(), methods->labels.end(), focus) == methods->labels.end()) {
    return complain("--focus: " + dataset::printable(focus) + " is not among the methods" + internal::suggestion(focus, methods->labels));
  }
  const Result<std::vector<Entrant>> cold = cold_start_entrants(entrants);
  if (!cold) return complain(cold.error().message);
  const Result<experiment::Stream> stream = read_stream(flags.place, flags.log);
  if (!stream) return complain(stream.error().message);

  experiment::PoolOptions options = flags.options;
  options.orderings = flags.run.orderings;
  options.seed = flags.run.seed;
  options.threads = {flags.run.threads};
  std::vector<experiment::PoolResult> results;
  {
    experiment::Progress progress;
    const auto entrants_of = [&](Scenario scenario) -> const std::vector<Entrant>& {
      return scenario == Scenario::kColdStart ? *cold : entrants;
    };
    for (const Scenario scenario : scenarios) progress.total += entrants_of(scenario).size() * options.orderings;
    const ProgressBar bar("pool", progress);
    for (const Scenario scenario : scenarios) {
      auto result = experiment::run_pool(*stream, scenario, entrants_of(scenario), options, &progress);
      if (!result) return complain("pool: " + result.error().message);
      if (!*result) break;
      results.push_back(std::move(**result));
    }
  }
  if (results.size() < scenarios.size()) return complain("stopped", kInterrupted);
  return deliver(experiment::pool_report(results, options, focus), flags.output);
}

}  // namespace

Command add_pool_experiment(CLI::App& experiment) {
  CLI::App* app = experiment.add_subcommand("pool", "What happens when models leave, join late or take turns");
  auto flags = std::make_shared<PoolFlags>();
  const auto add_count = [&](const char* name, std::size_t& value, const char* meaning) {
    app->add_option(name, value, meaning)->check(CLI::Range(1, 100'000'000))->type_name("N")->capture_default_str();
  };
  app->footer(kExperimentPoolFooter);
  app->add_option("log", flags->place, "A log of rows")->type_name("FILE[:PHASE]");
  repeatable(app->add_option("--scenario", flags->scenarios, "dropout, cold_start or rolling; repeatable [all three]"))
      ->delimiter(',')
      ->type_name("NAMES");
  add_count("--observations", flags->options.observations, "How many observations a scenario has; half time is after half of them");
  add_count("--ece-window", flags->options.window, "Observations per ECE");
  add_count("--initial", flags->options.initial, "Models that a cold start begins with");
  add_count("--swap-every", flags->options.swap_every, "Observations between the changes of a rolling pool");
  repeatable(app->add_option("--checkpoints", flags->options.checkpoints,
                             "Observations of newcomers after which a cold start is measured [50,100,150,200]"))
      ->delimiter(',')
      ->check(not_negative)
      ->type_name("N,N,...");
  app->add_option("--focus", flags->focus, "The method that a cold start compares with every other [the last]")->type_name("METHOD");
  flags->methods.methods = {"margin"};
  flags->methods.add_to(*app);
  flags->log.add_to(*app);
  flags->run.add_to(*app);
  flags->output.add_to(*app);
  return {app, [flags] { return run(*flags); }};
}

}  // namespace margin::cli
