// `margin experiment feedback`: its flags, and the way from logs to regimes to the report.
#include <algorithm>
#include <memory>

#include "cli/condition_flags.h"
#include "cli/experiment.h"
#include "cli/outcome_flags.h"
#include "cli/output_flags.h"
#include "cli/per_ordering_flag.h"
#include "experiment/feedback_report.h"

namespace margin::cli {
namespace {

using experiment::Condition;

constexpr const char* kExperimentFeedbackFooter =
    "Methods learn on the source with full and immediate feedback. On the target outcomes come late (--lags, in rows), or only those of\n"
    "the selected answer's supporters arrive; each method selects with its own calibrated vote. Everything is compared with lag 0, paired\n"
    "over the same orderings and resampled tasks. With --cold there is no source to learn from. --remedy adds what may be made of the\n"
    "responses whose outcome never comes (docs/feedback.md), --audit has some of them graded all the same.\n\n"
    "Examples:\n"
    "  margin experiment feedback --source log.jsonl:easy --target log.jsonl:hard\n"
    "  margin experiment feedback --all-pairs log.jsonl --method margin,margin_adaptive --lags 0,50,200 --report out\n"
    "  margin experiment feedback --grid code.txt --remedy estimated --audit 0,0.02,0.05,0.1,0.2 --lags 0\n"
    "  margin experiment feedback --grid pairs.txt --no-selected --json\n";

struct FeedbackFlags {
  std::vector<std::size_t> lags = {0, 10, 50, 100, 200};
  bool no_selected = false;
  std::vector<std::string> remedies;
  std::vector<double> audits = {0.0};
  bool cold = false;
  ConditionFlags conditions;
  BoundaryFlag boundary;
  RunFlags run;
  MethodFlags methods;
  LogFlags log;
  OutputFlags output;
  PerOrderingFlag per_ordering;
};

// Outcomes are nothing to those that do not learn.
std::vector<std::string> learning_methods() {
  std::vector<std::string> names;
  for (const CalibratorInfo* info : calibrator_catalog()) {
    if (!info->design_time && info->identifier != "raw") names.push_back(info->identifier);
  }
  return names;
}

template <class T>
void sort_once(std::vector<T>& values) {
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
}

int run(const FeedbackFlags& flags) {
  Result<Methods> methods = make_methods(flags.methods);
  if (!methods) return complain(methods.error().message);
  const Result<experiment::Boundary> boundary = flags.cold ? experiment::Boundary::kReset : flags.boundary.parse();
  if (!boundary) return complain(boundary.error().message);
  if (flags.remedies.empty() && flags.audits != std::vector{0.0}) return complain("--audit: expected --remedy, which audits are for");
  const Result<std::vector<Condition>> conditions = read_conditions(flags.conditions, flags.log);
  if (!conditions) return complain(conditions.error().message);

  experiment::FeedbackGrid grid{.lags = flags.lags, .selected = !flags.no_selected};
  grid.audits = flags.audits;
  grid.lags.push_back(0);
  sort_once(grid.lags);
  sort_once(grid.audits);
  for (const std::string& remedy : flags.remedies) grid.remedies.push_back(remedy_kind(remedy));
  const auto regimes = experiment::feedback_regimes(grid, *boundary);
  const experiment::FeedbackSetting setting{
      .options = flags.run.options(), .boundary = flags.cold ? "reset" : flags.boundary.boundary, .grid = grid, .vote = flags.methods.vote};
  const std::vector<experiment::Entrant> entrants = take_entrants(*methods);
  const auto results =
      for_conditions("feedback", *conditions, regimes.size() * experiment::shift_work(entrants.size(), setting.options),
                     [&](const Condition& condition, experiment::Progress* progress) {
                       return experiment::run_regimes(condition, entrants, *methods->vote, regimes, setting.options, progress);
                     });
  if (!results) return complain("stopped", kInterrupted);
  if (const Status written = flags.per_ordering.write_results(*results); !written) return complain(written.error().message, kFailed);
  return deliver(experiment::feedback_report(*results, setting), flags.output);
}

}  // namespace

Command add_feedback_experiment(CLI::App& experiment) {
  CLI::App* app =
      experiment.add_subcommand("feedback", "What late and partial outcomes cost: a grid of lags, and the selected answer alone");
  auto flags = std::make_shared<FeedbackFlags>();
  app->footer(std::string(kExperimentFeedbackFooter) + kGridFooter);
  repeatable(app->add_option("--lags", flags->lags, "How many rows late outcomes come; 0 is always among them [0,10,50,100,200]"))
      ->delimiter(',')
      ->check(not_negative)
      ->type_name("ROWS");
  app->add_flag("--no-selected", flags->no_selected, "Only the lags, without the selected answer's outcome alone");
  repeatable(
      app->add_option("--remedy", flags->remedies,
                      "Also the selected answer alone with these remedies: none, weighted, implied (one right answer), estimated (many)"))
      ->delimiter(',')
      ->check(CLI::IsMember(remedy_names()))
      ->type_name("NAME");
  repeatable(app->add_option("--audit", flags->audits, "Each remedy with these shares of the other responses graded too [0]"))
      ->delimiter(',')
      ->check(CLI::Range(0.0, 1.0))
      ->type_name("RATE");
  flags->conditions.add_to(*app);
  flags->boundary.add_to(*app);
  app->add_flag("--cold", flags->cold, "All start fresh on the target: no outcome is known before it (--boundary reset)")
      ->excludes("--boundary");
  flags->methods.methods = learning_methods();
  flags->methods.add_to(*app);
  flags->log.add_to(*app);
  flags->run.add_to(*app);
  flags->run.add_resamples_to(*app);
  flags->output.add_to(*app);
  flags->per_ordering.add_to(*app);
  return {app, [flags] { return run(*flags); }};
}

}  // namespace margin::cli
