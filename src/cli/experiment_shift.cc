// `margin experiment shift`: its flags, and the way from logs to conditions to the report.
#include <algorithm>
#include <functional>
#include <memory>

#include "base/suggest.h"
#include "cli/condition_flags.h"
#include "cli/experiment.h"
#include "cli/outcome_flags.h"
#include "cli/output_flags.h"
#include "cli/per_ordering_flag.h"
#include "dataset/text.h"
#include "experiment/shift_report.h"

namespace margin::cli {
namespace {

using experiment::Condition;

constexpr const char* kExperimentShiftFooter =
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
    "  margin experiment shift --all-pairs log.jsonl --focus margin_adaptive --pools 1,2,3,all --orderings 4 --resamples 1000\n";

struct ShiftFlags {
  ConditionFlags conditions;
  BoundaryFlag boundary;
  RunFlags run;
  MethodFlags methods;
  LogFlags log;
  OutputFlags output;
  std::string focus = "margin";
  OutcomeFlags outcomes;  // on the target
  PerOrderingFlag per_ordering;
  PoolSizeFlags pools;
};

using RunCondition = std::function<std::optional<experiment::ConditionResult>(const Condition&, experiment::Progress*)>;

// Every condition with every pool of every size: one after the other, since together they need not fit into memory.
int run_pools(const ShiftFlags& flags, const std::vector<Condition>& conditions, const experiment::ShiftSetting& setting,
              std::size_t work_each, const RunCondition& run_one) {
  const Result<std::vector<std::size_t>> sizes = flags.pools.sizes();
  if (!sizes) return complain(sizes.error().message);
  const auto pools = [&](const Condition& condition, std::size_t size) {
    return experiment::pools_of(condition, size, flags.pools.subsets, setting.options.seed);
  };
  experiment::Progress progress;
  for (const Condition& condition : conditions) {
    for (const std::size_t size : *sizes) progress.total += pools(condition, size).size() * work_each;
  }
  const ProgressBar bar("shift", progress);
  std::vector<experiment::ShiftGroup> groups;
  for (const std::size_t size : *sizes) {
    experiment::ShiftGroup group(experiment::pool_name(size), setting.focus);
    for (const Condition& condition : conditions) {
      for (const std::vector<ModelId>& pool : pools(condition, size)) {
        const auto result = run_one(experiment::with_models(condition, pool), &progress);
        if (!result) return complain("stopped", kInterrupted);
        if (const Status status = group.add(*result); !status) return complain("--" + status.error().message);
      }
    }
    if (group.conditions() > 0) groups.push_back(std::move(group));
  }
  if (groups.empty()) return complain("--pools: no condition has as many models");
  return deliver(experiment::shift_pools_report(groups, setting), flags.output);
}

int run(const ShiftFlags& flags) {
  Result<Methods> methods = make_methods(flags.methods);
  if (!methods) return complain(methods.error().message);
  const Result<experiment::Boundary> boundary = flags.boundary.parse();
  if (!boundary) return complain(boundary.error().message);
  const Result<experiment::PassOptions> pass = flags.outcomes.pass();
  if (!pass) return complain(pass.error().message);
  if (std::find(methods->labels.begin(), methods->labels.end(), flags.focus) == methods->labels.end()) {
    return complain("--focus: " + dataset::printable(flags.focus) + " is not among the methods" +
                    internal::suggestion(flags.focus, methods->labels));
  }
  const Result<std::vector<Condition>> conditions = read_conditions(flags.conditions, flags.log);
  if (!conditions) return complain(conditions.error().message);

  const std::vector<experiment::Entrant> entrants = take_entrants(*methods);
  experiment::ShiftSetting setting{
      .options = flags.run.options(), .boundary = flags.boundary.boundary, .focus = flags.focus, .vote = flags.methods.vote};
  setting.options.boundary = *boundary;
  setting.options.pass = *pass;
  const std::size_t work_each = experiment::shift_work(entrants.size(), setting.options);
  const RunCondition run_one = [&](const Condition& condition, experiment::Progress* progress) {
    return experiment::run_shift(condition, entrants, *methods->vote, setting.options, progress);
  };
  if (!flags.pools.pools.empty() && !flags.per_ordering.file.empty())
    return complain("--per-ordering is of whole pools: leave out --pools");
  if (!flags.pools.pools.empty()) return run_pools(flags, *conditions, setting, work_each, run_one);
  const auto results = for_conditions("shift", *conditions, work_each, run_one);
  if (!results) return complain("stopped", kInterrupted);
  const Result<report::Report> report = experiment::shift_report(*results, setting);
  if (!report) return complain("--" + report.error().message);
  if (const Status written = flags.per_ordering.write_results(*results); !written) return complain(written.error().message, kFailed);
  return deliver(*report, flags.output);
}

}  // namespace

Command add_shift_experiment(CLI::App& experiment) {
  CLI::App* app = experiment.add_subcommand("shift", "What methods make of a change of work: learn on a source, be scored on a target");
  auto flags = std::make_shared<ShiftFlags>();
  app->footer(std::string(kExperimentShiftFooter) + kGridFooter);
  flags->conditions.add_to(*app);
  flags->boundary.add_to(*app);
  app->add_option("--focus", flags->focus, "The method that is compared with every other")->type_name("METHOD")->capture_default_str();
  flags->methods.methods = {"all"};
  flags->methods.add_to(*app);
  flags->log.add_to(*app);
  flags->run.add_to(*app);
  flags->run.add_resamples_to(*app);
  flags->outcomes.add_to(*app);
  flags->pools.add_to(*app);
  flags->output.add_to(*app);
  flags->per_ordering.add_to(*app);
  return {app, [flags] { return run(*flags); }};
}

}  // namespace margin::cli
