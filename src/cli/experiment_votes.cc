// `margin experiment votes`: its flags, and the way from logs to conditions to the report.
#include <memory>

#include "cli/condition_flags.h"
#include "cli/experiment.h"
#include "cli/outcome_flags.h"
#include "cli/output_flags.h"
#include "cli/progress.h"
#include "dataset/text.h"
#include "experiment/shift_pools.h"
#include "experiment/votes_report.h"

namespace margin::cli {
namespace {

using experiment::Condition;

constexpr const char* kExperimentVotesFooter =
    "Every vote on the same calibrated confidences: pass@1 on the target against the other votes, the single model that was best on the\n"
    "source and the one best in hindsight; the first tasks from nothing; the pace after the shift; and, for each vote, how well the\n"
    "decision's own probability holds and whether a promised error is kept. Where outcomes come late or in part, each vote has\n"
    "confidences of its own.\n\n"
    "Examples:\n"
    "  margin experiment votes --all-pairs log.jsonl --method margin_adaptive --pools 2,3,5,8 --subsets 4 --orderings 4 --resamples 1000\n"
    "  margin experiment votes --source log.jsonl:easy --target log.jsonl:hard --votes stacked,stacked@1,sum --max-error 0.05\n"
    "  margin experiment votes --all-pairs log.jsonl --feedback selected --remedy implied --orderings 4 --resamples 1000\n";

struct VotesFlags {
  ConditionFlags conditions;
  RunFlags run;
  MethodFlags methods;
  LogFlags log;
  OutputFlags output;
  PoolSizeFlags pools;
  OutcomeFlags outcomes;
  std::vector<std::string> votes = {"all"};
  std::string focus = "stacked";
  double max_error = 0.1;
};

Result<std::vector<experiment::VoteEntrant>> make_votes(std::vector<std::string> names, const std::string& focus) {
  if (names == std::vector<std::string>{"all"}) {
    names.clear();
    for (const VoteInfo* info : vote_catalog()) names.push_back(info->identifier);
  }
  std::vector<experiment::VoteEntrant> votes;
  bool focus_found = false;
  for (const std::string& name : names) {
    Result<std::unique_ptr<Vote>> vote = make_vote(name);
    if (!vote) return Error{vote.error().code, "--votes: " + dataset::printable(vote.error().message)};
    focus_found |= name == focus;
    votes.push_back({name, std::move(*vote)});
  }
  if (!focus_found) return Error{ErrorCode::kNotFound, "--focus: " + dataset::printable(focus) + " is not among the votes"};
  return votes;
}

int run(const VotesFlags& flags) {
  Result<Methods> methods = make_methods(flags.methods);
  if (!methods) return complain(methods.error().message);
  const auto votes = make_votes(flags.votes, flags.focus);
  if (!votes) return complain(votes.error().message);
  const Result<std::vector<std::size_t>> sizes = flags.pools.sizes();
  if (!sizes) return complain(sizes.error().message);
  const Result<experiment::PassOptions> pass = flags.outcomes.pass();
  if (!pass) return complain(pass.error().message);
  const Result<std::vector<Condition>> conditions = read_conditions(flags.conditions, flags.log);
  if (!conditions) return complain(conditions.error().message);
  const experiment::VotesOptions options{.orderings = flags.run.orderings,
                                         .seed = flags.run.seed,
                                         .resamples = flags.run.resamples,
                                         .threads = {flags.run.threads},
                                         .max_error = flags.max_error,
                                         .pass = *pass};

  std::vector<experiment::VotesGroup> groups;
  {
    experiment::Progress progress;
    const auto pools = [&](const Condition& condition, std::size_t size) {
      return experiment::pools_of(condition, size, flags.pools.subsets, options.seed);
    };
    for (const Condition& condition : *conditions) {
      for (const std::size_t size : *sizes) progress.total += pools(condition, size).size() * methods->labels.size() * options.orderings;
    }
    const ProgressBar bar("votes", progress);
    for (const std::size_t size : *sizes) {
      for (std::size_t m = 0; m < methods->labels.size(); ++m) {
        experiment::VotesGroup group(experiment::pool_name(size) + ", " + methods->labels[m], flags.focus);
        for (const Condition& condition : *conditions) {
          for (const std::vector<ModelId>& pool : pools(condition, size)) {
            const auto result = run_votes(experiment::with_models(condition, pool), *methods->calibrators[m], *votes, options, &progress);
            if (!result) return complain("stopped", kInterrupted);
            group.add(*result);
          }
        }
        if (group.conditions() > 0) groups.push_back(std::move(group));
      }
    }
  }
  if (groups.empty()) return complain("--pools: no condition has as many models");
  return deliver(experiment::votes_report(groups, options, flags.focus), flags.output);
}

}  // namespace

Command add_votes_experiment(CLI::App& experiment) {
  CLI::App* app = experiment.add_subcommand("votes", "Which way to count selects the better answer, and how sure a decision may be");
  auto flags = std::make_shared<VotesFlags>();
  app->footer(std::string(kExperimentVotesFooter) + kGridFooter);
  flags->conditions.add_to(*app);
  repeatable(app->add_option("--votes", flags->votes, "Votes: a,b,... or all; an older version as NAME@VERSION [all]"))
      ->delimiter(',')
      ->type_name("NAMES");
  app->add_option("--focus", flags->focus, "The vote that is compared with every other")->type_name("VOTE")->capture_default_str();
  app->add_option("--max-error", flags->max_error, "The promise: a decision that is less sure is not answered")
      ->check(CLI::Range(0.0, 1.0))
      ->type_name("X")
      ->capture_default_str();
  flags->methods.methods = {"margin_adaptive"};
  flags->methods.add_to(*app);
  flags->log.add_to(*app);
  flags->run.add_to(*app);
  flags->run.add_resamples_to(*app);
  flags->outcomes.add_to(*app);
  flags->pools.pools = {"all"};
  flags->pools.add_to(*app);
  flags->output.add_to(*app);
  return {app, [flags] { return run(*flags); }};
}

}  // namespace margin::cli
