#include "experiment/votes.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/check.h"
#include "experiment/graded.h"
#include "experiment/passes.h"
#include "margin/random.h"
#include "margin/sureness.h"

namespace margin::experiment {
namespace {

using Outcomes = std::vector<std::optional<double>>;
constexpr const char* kCommitted = "best single, committed";
constexpr const char* kHindsight = "best single, in hindsight";

// The best outcome among the winner's supporters.
std::optional<double> winner_outcome(const Stream& stream, const Stream::Task& task, std::uint32_t winner) {
  std::optional<double> best;
  for (std::size_t row = task.first_row; row < std::size_t{task.first_row} + task.rows && winner != kNoAnswer; ++row) {
    if (stream.answer[row] != winner || std::isnan(stream.outcome[row])) continue;
    best = std::max(best.value_or(0.0), stream.outcome[row]);
  }
  return best;
}

// One vote over the calibrated confidences of a pass, each task decided before it is learned; by place in `order`.
std::vector<Decision> walk(const Stream& stream, std::span<const std::uint32_t> order, const Pass& pass, const Vote& fresh) {
  auto restored = restore_vote(fresh.snapshot());
  MARGIN_CHECK(restored.ok(), "a vote restores from its own snapshot");
  const std::unique_ptr<Vote> vote = std::move(restored).value();
  std::vector<Ballot> ballots;
  Tally tally;
  std::vector<Decision> decisions;
  for (const std::uint32_t number : order) {
    const Stream::Task& task = stream.tasks[number];
    decisions.emplace_back();
    if (task.answers == 0) continue;
    ballots.clear();
    for (std::size_t row = task.first_row; row < std::size_t{task.first_row} + task.rows; ++row) {
      ballots.push_back({.model = stream.model[row], .answer = stream.answer[row], .confidence = pass.calibrated[row]});
    }
    vote->tally(ballots, task.answers, tally);
    decisions.back() = {winner_outcome(stream, task, tally.winner), tally.share};
    vote->learn(ballots, task.answers, std::span(stream.outcome).subspan(task.first_row, task.rows));
  }
  return decisions;
}

// The same where method and vote learn only what arrives.
std::vector<Decision> replayed(const Stream& stream, std::span<const std::uint32_t> order, const Calibrator& method, const Vote& vote,
                               const PassOptions& options) {
  const Pass pass = replay(stream, order, method, vote, options);
  std::vector<Decision> decisions;
  for (const std::uint32_t number : order) {
    const Pass::Selection& selection = pass.selections[number];
    decisions.push_back({winner_outcome(stream, stream.tasks[number], selection.answer), selection.share});
  }
  return decisions;
}

// What one vote made of one ordering.
struct Ordered {
  TaskRows pass1{0, 1}, errors{0, 1};
  struct First {
    std::uint32_t task = 0;
    double outcome = 0.0;
  };
  std::vector<First> first;  // of the source's tasks the first kFirstTasks, where the outcome is known
  double settled = 0.0, settled_fresh = 0.0;
  DecisionScores decision;
};

double share_right(const std::vector<double>& outcomes) {
  return outcomes.empty() ? 0.0 : std::accumulate(outcomes.begin(), outcomes.end(), 0.0) / static_cast<double>(outcomes.size());
}

bool is_settled(std::size_t place) { return place >= kSettled && place < 2 * kSettled; }

Ordered one_ordering(const Condition& condition, std::span<const std::uint32_t> order, const std::vector<Decision>& decisions,
                     const VotesOptions& options) {
  const std::size_t tasks = condition.target.tasks.size();
  Outcomes selected(tasks), error(tasks);
  std::vector<Ordered::First> first;
  std::vector<double> settled;
  Outcomes probability(tasks);
  const std::vector<double> sure = decision_probabilities(condition.stream, order, decisions, options.pass.lag);
  for (std::size_t place = 0; place < order.size(); ++place) {
    const Decision& decision = decisions[place];
    if (!decision.outcome) continue;
    if (place < kFirstTasks && place < condition.source_tasks) first.push_back({order[place], *decision.outcome});
    if (place >= condition.source_tasks) {
      const std::size_t task = order[place] - condition.source_tasks;
      selected[task] = decision.outcome;
      if (is_settled(place - condition.source_tasks)) settled.push_back(*decision.outcome);
      probability[task] = sure[place];
      if (Sureness{.p_correct = sure[place]}.promises(options.max_error)) error[task] = 1.0 - *decision.outcome;
    }
  }

  const DecisionScores scores = score_decisions(probability, selected, options.max_error);
  return {mean_rows(selected), mean_rows(error), std::move(first), share_right(settled), 0.0, scores};
}

// pass@1 of the settled tasks, by a vote started at the target on the confidences of a pass over all.
double settled_from_the_target(const Condition& condition, std::span<const std::uint32_t> order, const Pass& pass, const Vote& vote) {
  const auto target = order.subspan(condition.source_tasks);
  const std::vector<Decision> decisions = walk(condition.stream, target.first(std::min(target.size(), 2 * kSettled)), pass, vote);
  std::vector<double> settled;
  for (std::size_t place = kSettled; place < decisions.size(); ++place) {
    if (decisions[place].outcome) settled.push_back(*decisions[place].outcome);
  }
  return share_right(settled);
}

Measured measured(std::span<const TaskRows> rows, const Resampling& resampling) { return {statistic(rows), resampling.of(rows)}; }

// pass@1 of the first tasks, each counted so often: the mean over the orderings that have any.
std::optional<double> first_pass1(const std::vector<Ordered>& orderings, std::span<const std::uint8_t> counts) {
  double sum = 0.0, defined = 0.0;
  for (const Ordered& one : orderings) {
    double right = 0.0, of = 0.0;
    for (const auto& [task, outcome] : one.first) {
      right += counts[task] * outcome;
      of += counts[task];
    }
    if (of == 0.0) continue;
    sum += right / of;
    defined += 1.0;
  }
  return defined > 0.0 ? std::optional(sum / defined) : std::nullopt;
}

// By vote. Conditions with the same source draw the same of its tasks, so what they have in common stays together over a group.
std::vector<Measured> first_measured(const std::vector<std::vector<Ordered>>& votes, std::size_t source_tasks,
                                     const PassesOptions& options) {
  const Resampling resampling(source_tasks, options, nullptr);
  const std::vector<std::uint8_t> once(source_tasks, 1);
  std::vector<Measured> first;
  for (const std::vector<Ordered>& orderings : votes) {
    first.push_back({first_pass1(orderings, once), resampling.of([&](auto counts) { return first_pass1(orderings, counts); })});
  }
  return first;
}

VoteResult summed_up(std::string label, const std::vector<Ordered>& orderings, bool long_enough, const Resampling& resampling) {
  VoteResult result{.label = std::move(label)};
  std::vector<TaskRows> pass1, errors;
  std::vector<DecisionScores> decisions;
  const auto n = static_cast<double>(orderings.size());
  double pace = 0.0;
  for (const Ordered& one : orderings) {
    pass1.push_back(one.pass1);
    errors.push_back(one.errors);
    pace += (one.settled - one.settled_fresh) / n;
    decisions.push_back(one.decision);
  }
  result.decision = mean_of(decisions);
  if (long_enough) result.kept_pace = pace;
  result.pass1 = measured(pass1, resampling);
  result.realised = measured(errors, resampling);
  return result;
}

// The rows of the tasks that `outcomes` has, the others empty.
TaskRows only(TaskRows rows, const Outcomes& outcomes) {
  for (std::size_t task = 0; task < outcomes.size(); ++task) {
    if (!outcomes[task]) rows.numerator(task, 0) = rows.denominator(task) = 0.0;
  }
  return rows;
}

void add_up(std::vector<double>& sums, const Resampled& resampled, double weight = 1.0) {
  sums.resize(resampled.size(), 0.0);
  for (std::size_t b = 0; b < resampled.size(); ++b) sums[b] += weight * resampled[b].value_or(0.0);
}

Resampled means_of(const std::vector<double>& sums, double n) {
  Resampled means;
  for (const double sum : sums) means.emplace_back(sum / n);
  return means;
}

}  // namespace

std::optional<VotesResult> run_votes(const Condition& condition, const Calibrator& method, std::span<const VoteEntrant> votes,
                                     const VotesOptions& options, Progress* progress) {
  const auto sum = make_vote("sum").value();
  PassOptions arriving = options.pass;
  arriving.boundary = condition.source_tasks;
  std::vector<std::vector<Ordered>> orderings(votes.size(), std::vector<Ordered>(options.orderings));
  const bool finished = parallel_for(options.orderings, options.threads, progress, [&](std::size_t number) {
    const std::vector<std::uint32_t> order = shuffled(condition, options.seed, number);
    if (!options.every_outcome_at_once()) {
      for (std::size_t v = 0; v < votes.size(); ++v) {
        orderings[v][number] = one_ordering(condition, order, replayed(condition.stream, order, method, *votes[v].vote, arriving), options);
      }
      return;
    }
    const Pass pass = replay(condition.stream, order, method, *sum);
    for (std::size_t v = 0; v < votes.size(); ++v) {
      const Vote& vote = *votes[v].vote;
      orderings[v][number] = one_ordering(condition, order, walk(condition.stream, order, pass, vote), options);
      orderings[v][number].settled_fresh = settled_from_the_target(condition, order, pass, vote);
    }
  });
  if (!finished) return std::nullopt;

  const PassesOptions passes{.seed = options.seed, .resamples = options.resamples, .threads = options.threads};
  std::vector<Measured> first = first_measured(orderings, condition.source_tasks, passes);
  const Resampling resampling(condition.target.tasks.size(), passes, nullptr);
  const bool long_enough = options.every_outcome_at_once() && condition.target.tasks.size() >= kSettled + kSettled / 4;
  VotesResult result{.name = condition.name};
  for (std::size_t v = 0; v < votes.size(); ++v) {
    result.votes.push_back(summed_up(votes[v].label, orderings[v], long_enough, resampling));
    result.votes.back().first = std::move(first[v]);
  }
  const GradedStream target(condition.target);
  const auto single_model = [&](std::span<const GradedTask> chosen_on) -> std::optional<SingleResult> {
    const auto best = best_single(chosen_on, condition.stream.models);
    if (!best) return std::nullopt;
    const Outcomes outcomes = by_task(target, [&](GradedTask task) { return model_outcome(task, best->model); });
    SingleResult single{.pass1 = {mean_over_tasks(outcomes).value, resampling.of(outcomes)}, .votes = {}};
    for (const std::vector<Ordered>& of_vote : orderings) {
      std::vector<TaskRows> rows;
      for (const Ordered& one : of_vote) rows.push_back(only(one.pass1, outcomes));
      single.votes.push_back(measured(rows, resampling));
    }
    return single;
  };
  const GradedStream both(condition.stream);
  const std::vector<GradedTask> all = both.tasks();
  result.committed = single_model(std::span(all).first(condition.source_tasks));
  result.hindsight = single_model(target.tasks());
  return result;
}

VotesGroup::Entry& VotesGroup::entry(const std::string& label) {
  const auto found = std::find_if(entries_.begin(), entries_.end(), [&](const Entry& e) { return e.sums.label == label; });
  if (found != entries_.end()) return *found;
  entries_.emplace_back();
  entries_.back().sums.label = label;
  return entries_.back();
}

void VotesGroup::add(const VotesResult& result) {
  const auto found = std::find_if(result.votes.begin(), result.votes.end(), [&](const VoteResult& v) { return v.label == focus_; });
  MARGIN_CHECK(found != result.votes.end(), "the focus is one of the votes");
  const auto focus = static_cast<std::size_t>(found - result.votes.begin());
  const auto add_pass1 = [&](Entry& to, const Measured& ours, const Measured& theirs) {
    ++to.sums.conditions;
    to.sums.pass1 += theirs.value.value_or(0.0);
    to.focus_pass1 += ours.value.value_or(0.0);
    add_up(to.resampled, theirs.resampled);
    add_up(to.focus_resampled, ours.resampled);
  };
  const auto compare_with = [&](const std::string& rival, const Measured& ours, const Measured& theirs) {
    if (theirs.resampled.empty()) return;
    comparisons_.push_back({result.name, rival, ours.value.value_or(0.0) - theirs.value.value_or(0.0),
                            paired_difference(ours.resampled, theirs.resampled, Better::kHigher), 1.0});
  };
  for (const VoteResult& vote : result.votes) {
    Entry& to = entry(vote.label);
    add_pass1(to, found->pass1, vote.pass1);
    to.sums.first += vote.first.value.value_or(0.0);
    add_up(to.first_resampled, vote.first.resampled);
    if (vote.kept_pace) {
      ++to.sums.paced;
      to.sums.kept_pace += *vote.kept_pace;
      to.sums.kept_pace_worst = std::min(to.sums.kept_pace_worst, *vote.kept_pace);
    }
    Line& sums = to.sums;
    sums.ece += vote.decision.ece;
    sums.debiased += vote.decision.debiased();
    sums.in_band += vote.decision.in_band;
    sums.answered += vote.decision.answered;
    const double answered = vote.decision.answered * vote.decision.decisions;
    to.answered += answered;
    sums.promised += answered * vote.decision.promised;
    sums.realised.value = sums.realised.value.value_or(0.0) + answered * vote.realised.value.value_or(0.0);
    add_up(to.realised, vote.realised.resampled, answered);
    if (vote.label != focus_) compare_with(vote.label, found->pass1, vote.pass1);
  }
  if (result.committed) {
    add_pass1(entry(kCommitted), result.committed->votes[focus], result.committed->pass1);
    compare_with(kCommitted, result.committed->votes[focus], result.committed->pass1);
  }
  if (result.hindsight) add_pass1(entry(kHindsight), result.hindsight->votes[focus], result.hindsight->pass1);
  ++conditions_;
}

std::vector<VotesGroup::Line> VotesGroup::lines() const {
  std::vector<Line> lines;
  const auto first_of = [](const Entry& entry) {
    const auto n = static_cast<double>(entry.sums.conditions);
    return Measured{entry.sums.first / n, means_of(entry.first_resampled, n)};
  };
  const auto focus = std::find_if(entries_.begin(), entries_.end(), [&](const Entry& e) { return e.sums.label == focus_; });
  for (const Entry& entry : entries_) {
    Line line = entry.sums;
    const auto n = static_cast<double>(line.conditions);
    line.pass1 /= n;
    line.first /= n;
    if (line.paced > 0) line.kept_pace /= static_cast<double>(line.paced);
    for (double* value : {&line.ece, &line.debiased, &line.in_band, &line.answered}) *value /= n;
    const double answered = std::max(entry.answered, 1e-9);
    line.promised /= answered;
    if (line.realised.value) *line.realised.value /= answered;
    line.realised.resampled = means_of(entry.realised, answered);
    if (entry.sums.label != focus_) {
      line.difference =
          difference_of({entry.focus_pass1 / n, means_of(entry.focus_resampled, n)}, {line.pass1, means_of(entry.resampled, n)});
      if (line.realised.value) line.first_difference = difference_of(first_of(*focus), first_of(entry));
    }
    lines.push_back(std::move(line));
  }
  return lines;
}

}  // namespace margin::experiment
