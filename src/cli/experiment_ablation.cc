// `margin experiment ablation`: its flags, and the way from sweeps and logs to the report.
#include <algorithm>
#include <memory>

#include "cli/condition_flags.h"
#include "cli/experiment.h"
#include "cli/output_flags.h"
#include "cli/per_ordering_flag.h"
#include "experiment/ablation_report.h"
#include "experiment/shown.h"

namespace margin::cli {
namespace {

using experiment::Condition;
using experiment::Sweep;
using experiment::SweepRequest;

constexpr const char* kExperimentAblationFooter =
    "A sweep is a method at each value of a grid, everything else at its default or as --set says. Methods learn on the source and are\n"
    "scored on the target, as in `margin experiment shift`. Presets are the published grids of margin: alpha, bands, shrinkage, two_rate.\n"
    "Parameters that move together are joined by /; values of list parameters are separated by ;\n\n"
    "Examples:\n"
    "  margin experiment ablation --source log.jsonl:easy --target log.jsonl:hard --preset alpha --preset two_rate\n"
    "  margin experiment ablation --all-pairs log.jsonl --sweep sliding_window_histogram.window=50,100,200,400 --metric ece,brier\n"
    "  margin experiment ablation --grid pairs.txt --preset shrinkage --set margin.target=pool_band --boundary restart --report out\n"
    "  margin experiment ablation --all-pairs log.jsonl --sweep margin.alpha_correct/alpha_incorrect=0.02/0.08,0.08/0.02\n";

struct AblationFlags {
  std::vector<std::string> sweeps, presets;
  std::vector<std::string> metrics = {"ece"};
  std::vector<std::string> set;
  std::string vote = "sum";
  ConditionFlags conditions;
  BoundaryFlag boundary;
  RunFlags run;
  LogFlags log;
  OutputFlags output;
  PerOrderingFlag per_ordering;
};

Result<std::vector<SweepRequest>> requests_of(const AblationFlags& flags) {
  std::vector<SweepRequest> requests;
  const auto add = [&](Result<SweepRequest> request) -> Status {
    if (!request) return {request.error().code, "--" + request.error().message};
    if (const auto known = make_calibrator(request->method); !known) return {known.error().code, "--sweep: " + known.error().message};
    requests.push_back(std::move(*request));
    return {};
  };
  for (const std::string& name : flags.presets) {
    if (Status status = add(experiment::sweep_preset(name)); !status) return status.error();
  }
  for (const std::string& text : flags.sweeps) {
    if (Status status = add(experiment::parse_sweep(text)); !status) return status.error();
  }
  if (requests.empty())
    return Error{ErrorCode::kInvalidArgument, "ablation: expected --sweep METHOD.name=value,value,... or --preset NAME"};
  return requests;
}

// The swept methods, each once, as --set makes them: what a sweep departs from.
Result<Methods> base_methods(const AblationFlags& flags, std::span<const SweepRequest> requests) {
  MethodFlags methods{.methods = {}, .vote = flags.vote, .set = flags.set};
  for (const SweepRequest& request : requests) {
    if (std::find(methods.methods.begin(), methods.methods.end(), request.method) == methods.methods.end()) {
      methods.methods.push_back(request.method);
    }
  }
  return make_methods(methods);
}

Result<std::vector<Sweep>> make_sweeps(std::span<const SweepRequest> requests, const Methods& bases) {
  std::vector<Sweep> sweeps;
  for (const SweepRequest& request : requests) {
    const auto at = std::find(bases.labels.begin(), bases.labels.end(), request.method) - bases.labels.begin();
    Result<Sweep> sweep = experiment::make_sweep(request, *bases.calibrators[static_cast<std::size_t>(at)]);
    if (!sweep) return Error{sweep.error().code, "--" + sweep.error().message};
    sweeps.push_back(std::move(*sweep));
  }
  return sweeps;
}

int run(const AblationFlags& flags) {
  experiment::AblationSetting setting{.options = flags.run.options(), .boundary = flags.boundary.boundary, .vote = flags.vote};
  for (const std::string& name : flags.metrics) {
    const Result<experiment::Metric> metric = experiment::parse_metric(name);
    if (!metric) return complain("--" + metric.error().message);
    setting.metrics.push_back(*metric);
  }
  const Result<experiment::Boundary> boundary = flags.boundary.parse();
  if (!boundary) return complain(boundary.error().message);
  setting.options.boundary = *boundary;
  const Result<std::vector<SweepRequest>> requests = requests_of(flags);
  if (!requests) return complain(requests.error().message);
  const Result<Methods> bases = base_methods(flags, *requests);
  if (!bases) return complain(bases.error().message);
  const Result<std::vector<Sweep>> sweeps = make_sweeps(*requests, *bases);
  if (!sweeps) return complain(sweeps.error().message);
  const Result<std::vector<Condition>> conditions = read_conditions(flags.conditions, flags.log);
  if (!conditions) return complain(conditions.error().message);

  std::size_t values = 0;
  for (const Sweep& sweep : *sweeps) values += sweep.entrants.size();
  const auto results = for_conditions("ablation", *conditions, experiment::shift_work(values, setting.options),
                                      [&](const Condition& condition, experiment::Progress* progress) {
                                        return experiment::run_ablation(condition, *sweeps, *bases->vote, setting.options, progress);
                                      });
  if (!results) return complain("stopped", kInterrupted);
  std::vector<experiment::OrderingScores> orderings;
  for (const auto& condition : *results) {
    for (std::size_t i = 0; i < sweeps->size(); ++i) {
      const Sweep& sweep = (*sweeps)[i];
      append_orderings(orderings, condition[i], "", sweep.method + "." + sweep.parameter + "=");
    }
  }
  if (const Status written = flags.per_ordering.write(orderings); !written) return complain(written.error().message, kFailed);
  return deliver(experiment::ablation_report(*results, *sweeps, setting), flags.output);
}

}  // namespace

Command add_ablation_experiment(CLI::App& experiment) {
  CLI::App* app = experiment.add_subcommand("ablation", "What a parameter does: any method's any parameter over any grid");
  auto flags = std::make_shared<AblationFlags>();
  app->footer(std::string(kExperimentAblationFooter) + kGridFooter);
  repeatable(app->add_option("--sweep", flags->sweeps, "A grid of one parameter, or of several that move together; repeatable"))
      ->type_name("METHOD.name=v,v,...");
  repeatable(app->add_option("--preset", flags->presets, "A published grid: alpha, bands, shrinkage or two_rate; repeatable"))
      ->delimiter(',')
      ->type_name("NAME");
  repeatable(app->add_option("--metric", flags->metrics, "ece, ece_per_model, brier, log_loss, pass1 or resolution; repeatable [ece]"))
      ->delimiter(',')
      ->type_name("NAMES");
  repeatable(app->add_option("--set", flags->set, "A parameter that is not swept, of a swept method or of the vote; repeatable"))
      ->type_name("METHOD.name=value");
  app->add_option("--vote", flags->vote, "How a task's answer is selected from calibrated confidences")
      ->type_name("NAME")
      ->capture_default_str();
  flags->conditions.add_to(*app);
  flags->boundary.add_to(*app);
  flags->log.add_to(*app);
  flags->run.add_to(*app);
  flags->run.add_resamples_to(*app);
  flags->output.add_to(*app);
  flags->per_ordering.add_to(*app);
  return {app, [flags] { return run(*flags); }};
}

}  // namespace margin::cli
