// `margin experiment transfer`: its flags, and the way from logs to the report.
#include <memory>

#include "cli/condition_flags.h"
#include "cli/experiment.h"
#include "cli/output_flags.h"
#include "cli/per_ordering_flag.h"
#include "dataset/text.h"
#include "experiment/transfer_report.h"

namespace margin::cli {
namespace {

using experiment::Condition;

constexpr const char* kExperimentTransferFooter =
    "Each method learns on the source and is then frozen: on the target it calibrates and learns nothing (transferred). Beside it: the\n"
    "same method that sees only the target and learns as it goes (from scratch), and stated confidence (raw). A model that the source\n"
    "lacks enters as a newcomer does.\n\n"
    "Examples:\n"
    "  margin experiment transfer --source log.jsonl:easy --target log.jsonl:hard\n"
    "  margin experiment transfer --all-pairs log.jsonl --method margin,margin_adaptive --report out\n";

struct TransferFlags {
  ConditionFlags conditions;
  RunFlags run;
  MethodFlags methods;
  LogFlags log;
  OutputFlags output;
  PerOrderingFlag per_ordering;
};

// raw comes first, asked for or not.
Result<std::vector<experiment::Entrant>> entrants_of(Methods& methods) {
  Result<std::unique_ptr<Calibrator>> raw = make_calibrator("raw");
  if (!raw) return raw.error();
  std::vector<experiment::Entrant> entrants;
  entrants.push_back({"raw", std::move(*raw)});
  for (experiment::Entrant& entrant : take_entrants(methods)) {
    if (entrant.method->info().design_time) {
      return Error{ErrorCode::kInvalidArgument, "--method: " + dataset::printable(entrant.label) +
                                                    " is fitted once and cannot learn from scratch, expected methods that learn online"};
    }
    if (entrant.method->info().identifier != "raw") entrants.push_back(std::move(entrant));
  }
  return entrants;
}

int run(const TransferFlags& flags) {
  Result<Methods> methods = make_methods(flags.methods);
  if (!methods) return complain(methods.error().message);
  const Result<std::vector<experiment::Entrant>> entrants = entrants_of(*methods);
  if (!entrants) return complain(entrants.error().message);
  const Result<std::vector<Condition>> conditions = read_conditions(flags.conditions, flags.log);
  if (!conditions) return complain(conditions.error().message);

  const experiment::ShiftOptions options = flags.run.options();
  const auto regimes = experiment::transfer_regimes();
  const auto results = for_conditions("transfer", *conditions, regimes.size() * experiment::shift_work(entrants->size(), options),
                                      [&](const Condition& condition, experiment::Progress* progress) {
                                        return experiment::run_regimes(condition, *entrants, *methods->vote, regimes, options, progress);
                                      });
  if (!results) return complain("stopped", kInterrupted);
  if (const Status written = flags.per_ordering.write_results(*results); !written) return complain(written.error().message, kFailed);
  return deliver(experiment::transfer_report(*results, options), flags.output);
}

}  // namespace

Command add_transfer_experiment(CLI::App& experiment) {
  CLI::App* app = experiment.add_subcommand("transfer", "Whether factors travel: learned on a source and frozen, against from scratch");
  auto flags = std::make_shared<TransferFlags>();
  app->footer(std::string(kExperimentTransferFooter) + kGridFooter);
  flags->conditions.add_to(*app);
  flags->methods.methods = {"margin"};
  flags->methods.add_to(*app);
  flags->log.add_to(*app);
  flags->run.add_to(*app);
  flags->run.add_resamples_to(*app);
  flags->output.add_to(*app);
  flags->per_ordering.add_to(*app);
  return {app, [flags] { return run(*flags); }};
}

}  // namespace margin::cli
