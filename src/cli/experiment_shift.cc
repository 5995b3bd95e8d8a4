// `margin experiment shift`: its flags, and the way from logs to conditions to the report.
#include <algorithm>
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

constexpr const char* kFooter =
    "Methods learn on the source and are scored on the target, prequentially, over many orderings of the tasks. Fitted methods are fitted "
    "on a\n"
    "random half of the source. --boundary says what happens in between:\n"
    "  told     margin and margin_adaptive go on and know of no boundary; every other online method starts fresh (the default: harsh to "
    "ours)\n"
    "  carry    all go on        reset    all start fresh        restart  as told, but margin's counts return to 0\n\n"
    "Examples:\n"
    "  margin experiment shift --source log.jsonl:easy --target log.jsonl:hard\n"
    "  margin experiment shift --all-pairs log.jsonl --method all --focus margin_adaptive --report out\n"
    "  margin experiment shift --grid pairs.txt --boundary carry --json\n";

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
};

int run(const ShiftFlags& flags) {
  Result<Methods> methods = make_methods(flags.methods);
  if (!methods) return complain(methods.error().message);
  const Result<experiment::Boundary> boundary = flags.boundary.parse();
  if (!boundary) return complain(boundary.error().message);
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
  setting.options.pass = flags.outcomes.pass();
  const auto results = for_conditions("shift", *conditions, experiment::shift_work(entrants.size(), setting.options),
                                      [&](const Condition& condition, experiment::Progress* progress) {
                                        return experiment::run_shift(condition, entrants, *methods->vote, setting.options, progress);
                                      });
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
  app->footer(std::string(kFooter) + kGridFooter);
  flags->conditions.add_to(*app);
  flags->boundary.add_to(*app);
  app->add_option("--focus", flags->focus, "The method that is compared with every other")->type_name("METHOD")->capture_default_str();
  flags->methods.methods = {"all"};
  flags->methods.add_to(*app);
  flags->log.add_to(*app);
  flags->run.add_to(*app);
  flags->run.add_resamples_to(*app);
  flags->outcomes.add_to(*app);
  flags->output.add_to(*app);
  flags->per_ordering.add_to(*app);
  return {app, [flags] { return run(*flags); }};
}

}  // namespace margin::cli
