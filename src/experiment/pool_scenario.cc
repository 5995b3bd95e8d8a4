#include "experiment/pool_scenario.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <memory>
#include <numeric>

#include "base/check.h"
#include "base/suggest.h"
#include "base/text.h"
#include "experiment/ordering.h"

namespace margin::experiment {
namespace {

constexpr std::size_t kLeavers = 2;
constexpr std::size_t kOutside = 2;

struct Observed {
  ModelId model = 0;
  double probability = 0.0;
  double outcome = 0.0;
};
using History = std::vector<Observed>;

struct Range {
  std::size_t from = 0;
  std::size_t to = 0;
};

template <class Counts>
Scores scores_where(const History& history, Range range, const Counts& counts) {
  std::vector<double> probabilities, outcomes;
  std::vector<ModelId> models;
  for (std::size_t i = range.from; i < std::min(range.to, history.size()); ++i) {
    if (!counts(history[i].model)) continue;
    probabilities.push_back(history[i].probability);
    outcomes.push_back(history[i].outcome);
    models.push_back(history[i].model);
  }
  return score_rows({probabilities, outcomes}, models);
}

// Of a whole range; undefined when the history ended inside it.
Scores scores_of(const History& history, Range range) {
  if (history.size() < range.to) return {};
  return scores_where(history, range, [](ModelId) { return true; });
}

// The plain mean of the scores of the windows that lie inside a range.
Scores mean_of_windows(const History& history, Range range, std::size_t window) {
  std::vector<Scores> scores;
  const std::size_t first = (range.from + window - 1) / window * window;
  for (std::size_t from = first; from + window <= range.to; from += window) scores.push_back(scores_of(history, {from, from + window}));
  return summarize(scores).mean;
}

// Who is in the pool when. One per ordering.
class Script {
 public:
  struct Change {
    ModelId model = 0;
    bool joins = true;
  };

  Script() = default;
  virtual ~Script() = default;
  Script(const Script&) = delete;
  Script& operator=(const Script&) = delete;

  // What changes before the next observation; asked at least once for each, and each change is said once.
  virtual std::vector<Change> due(const History& history) = 0;
  virtual bool finished(const History& history) = 0;
  [[nodiscard]] virtual std::vector<Scores> measures(const History& history) const = 0;
};

std::vector<Script::Change> joins(std::span<const ModelId> models) {
  std::vector<Script::Change> changes;
  for (const ModelId model : models) changes.push_back({model, true});
  return changes;
}

// What is the same in every ordering.
struct Plan {
  Scenario scenario = Scenario::kDropout;
  PoolOptions options;
  std::vector<ModelId> present;   // at the start
  std::vector<ModelId> subjects;  // leavers, newcomers, or those outside
  [[nodiscard]] std::size_t half() const { return options.observations / 2; }
};

class Dropout final : public Script {
 public:
  explicit Dropout(const Plan& plan) : plan_(plan) {}

  std::vector<Change> due(const History& history) override {
    if (!started_) return started_ = true, joins(plan_.present);
    if (left_ || history.size() < plan_.half()) return {};
    left_ = true;
    std::vector<Change> changes;
    for (const ModelId model : plan_.subjects) changes.push_back({model, false});
    return changes;
  }
  bool finished(const History& history) override { return history.size() >= plan_.options.observations; }
  [[nodiscard]] std::vector<Scores> measures(const History& history) const override {
    const std::size_t half = plan_.half(), window = plan_.options.window;
    const std::size_t before = half > window ? half - window : 0;
    return {scores_of(history, {before, half}), scores_of(history, {half, half + window}), mean_of_windows(history, {0, half}, window),
            mean_of_windows(history, {half, plan_.options.observations}, window)};
  }

 private:
  const Plan& plan_;
  bool started_ = false, left_ = false;
};

class ColdStart final : public Script {
 public:
  explicit ColdStart(const Plan& plan) : plan_(plan) {}

  std::vector<Change> due(const History& history) override {
    if (!started_) return started_ = true, joins(plan_.present);
    if (joined_ || history.size() < plan_.half()) return {};
    joined_ = true;
    return joins(plan_.subjects);
  }
  bool finished(const History& history) override {
    for (; counted_ < history.size(); ++counted_) newcomers_ += is_newcomer(history[counted_].model);
    return history.size() >= plan_.options.observations && newcomers_ >= plan_.options.checkpoints.back();
  }
  // The newcomers together up to each checkpoint, then the established models from the join to the last checkpoint.
  [[nodiscard]] std::vector<Scores> measures(const History& history) const override {
    std::vector<Scores> values;
    std::size_t end = plan_.half(), seen = 0;
    const auto newcomer = [this](ModelId model) { return is_newcomer(model); };
    for (const std::size_t checkpoint : plan_.options.checkpoints) {
      for (; end < history.size() && seen < checkpoint; ++end) seen += newcomer(history[end].model);
      values.push_back(seen < checkpoint ? Scores{} : scores_where(history, {plan_.half(), end}, newcomer));
    }
    const bool complete = seen >= plan_.options.checkpoints.back();
    values.push_back(complete ? scores_where(history, {plan_.half(), end}, [&](ModelId model) { return !newcomer(model); }) : Scores{});
    return values;
  }

 private:
  [[nodiscard]] bool is_newcomer(ModelId model) const { return model >= plan_.options.initial; }

  const Plan& plan_;
  bool started_ = false, joined_ = false;
  std::size_t counted_ = 0, newcomers_ = 0;
};

class Rolling final : public Script {
 public:
  explicit Rolling(const Plan& plan)
      : plan_(plan), present_(plan.present), outside_(plan.subjects.begin(), plan.subjects.end()), next_swap_(plan.options.swap_every) {}

  std::vector<Change> due(const History& history) override {
    if (!started_) return started_ = true, joins(plan_.present);
    if (history.size() < next_swap_) return {};
    next_swap_ += plan_.options.swap_every;
    const std::optional<ModelId> worst = worst_since(history, history.size() - plan_.options.swap_every);
    if (!worst) return {};
    const ModelId returning = outside_.front();
    outside_.pop_front();
    outside_.push_back(*worst);
    std::replace(present_.begin(), present_.end(), *worst, returning);
    return {{*worst, false}, {returning, true}};
  }
  bool finished(const History& history) override { return history.size() >= plan_.options.observations; }
  [[nodiscard]] std::vector<Scores> measures(const History& history) const override {
    std::vector<Scores> values;
    const std::size_t step = plan_.options.swap_every;
    for (std::size_t from = 0; from + step <= plan_.options.observations; from += step) {
      values.push_back(mean_of_windows(history, {from, from + step}, plan_.options.window));
    }
    return values;
  }

 private:
  // Ties: the smaller id, so that the choice does not depend on who came when.
  [[nodiscard]] std::optional<ModelId> worst_since(const History& history, std::size_t from) const {
    std::optional<ModelId> worst;
    double worst_ece = -1.0;
    for (const ModelId model : present_) {
      const auto own = scores_where(history, {from, history.size()}, [model](ModelId other) { return other == model; })[kEce];
      if (!own || *own < worst_ece || (*own == worst_ece && model > *worst)) continue;
      worst = model;
      worst_ece = *own;
    }
    return worst;
  }

  const Plan& plan_;
  std::vector<ModelId> present_;
  std::deque<ModelId> outside_;  // the longest outside first
  std::size_t next_swap_;
  bool started_ = false;
};

std::unique_ptr<Script> make_script(const Plan& plan) {
  switch (plan.scenario) {
    case Scenario::kDropout: return std::make_unique<Dropout>(plan);
    case Scenario::kColdStart: return std::make_unique<ColdStart>(plan);
    case Scenario::kRolling: return std::make_unique<Rolling>(plan);
  }
  return nullptr;
}

std::vector<std::string> measure_names(const Plan& plan) {
  std::vector<std::string> names;
  switch (plan.scenario) {
    case Scenario::kDropout: return {"last window before", "first window after", "all windows before", "all windows after"};
    case Scenario::kColdStart:
      for (const std::size_t checkpoint : plan.options.checkpoints) names.push_back("newcomers, first " + std::to_string(checkpoint));
      names.emplace_back("established models");
      return names;
    case Scenario::kRolling:
      for (std::size_t from = 0; from + plan.options.swap_every <= plan.options.observations; from += plan.options.swap_every) {
        names.push_back(std::to_string(from + 1) + "-" + std::to_string(from + plan.options.swap_every));
      }
  }
  return names;
}

// One ordering of one method.
class Performance {
 public:
  Performance(const Stream& stream, const Calibrator& method) : stream_(stream), state_(method.clone()) {}

  History play(std::span<const std::uint32_t> order, Script& script) {
    for (const std::uint32_t number : order) {
      const Stream::Task& task = stream_.tasks[number];
      for (std::size_t row = task.first_row; row < std::size_t{task.first_row} + task.rows; ++row) {
        if (std::isnan(stream_.outcome[row])) continue;
        if (script.finished(history_)) return std::move(history_);
        change(script.due(history_));
        const ModelId model = stream_.model[row];
        if (!state_->present(model)) continue;
        history_.push_back({model, state_->calibrate(model, stream_.confidence[row]), stream_.outcome[row]});
        unlearned_.push_back({model, stream_.confidence[row], stream_.outcome[row], stream_.weight[row]});
      }
      learn();
    }
    return std::move(history_);
  }

 private:
  void learn() {
    if (unlearned_.empty()) return;
    state_->begin_task();
    for (const Observation& observation : unlearned_) {
      const Status learned = state_->observe(observation);
      MARGIN_CHECK(learned.ok(), "a stream holds only what a calibrator accepts");
    }
    state_->end_task();
    unlearned_.clear();
  }

  void change(std::span<const Script::Change> changes) {
    if (!changes.empty()) learn();
    for (const auto& [model, joins] : changes) {
      if (joins) {
        state_->join(model);
      } else {
        state_->leave(model);
      }
    }
  }

  const Stream& stream_;
  std::unique_ptr<Calibrator> state_;
  History history_;
  std::vector<Observation> unlearned_;
};

std::vector<std::size_t> graded_rows(const Stream& stream) {
  std::vector<std::size_t> rows(stream.models.size());
  for (std::size_t row = 0; row < stream.rows(); ++row) rows[stream.model[row]] += !std::isnan(stream.outcome[row]);
  return rows;
}

Error too_few_models(Scenario scenario, std::size_t needed, std::size_t found) {
  return {ErrorCode::kInvalidArgument, std::string(kScenarioNames[static_cast<std::size_t>(scenario)]) + ": got a log of " +
                                           std::to_string(found) + " models, expected at least " + std::to_string(needed)};
}

Result<Plan> make_plan(const Stream& stream, Scenario scenario, const PoolOptions& options) {
  Plan plan{.scenario = scenario, .options = options};
  const std::vector<std::size_t> rows = graded_rows(stream);
  std::vector<ModelId> all(stream.models.size());
  std::iota(all.begin(), all.end(), 0U);
  const auto split_at = [&](std::size_t count) {
    plan.present.assign(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(count));
    plan.subjects.assign(all.begin() + static_cast<std::ptrdiff_t>(count), all.end());
  };
  std::size_t first_event = plan.half();
  switch (scenario) {
    case Scenario::kDropout:
      if (all.size() < kLeavers + 1) return too_few_models(scenario, kLeavers + 1, all.size());
      plan.present = all;
      std::stable_sort(all.begin(), all.end(), [&](ModelId a, ModelId b) { return rows[a] > rows[b]; });
      plan.subjects.assign(all.begin(), all.begin() + kLeavers);
      break;
    case Scenario::kColdStart:
      if (all.size() < options.initial + 1) return too_few_models(scenario, options.initial + 1, all.size());
      split_at(options.initial);
      break;
    case Scenario::kRolling:
      if (all.size() < kOutside + 1) return too_few_models(scenario, kOutside + 1, all.size());
      split_at(all.size() - kOutside);
      first_event = options.swap_every;
      break;
  }
  std::size_t available = 0;
  for (const ModelId model : plan.present) available += rows[model];
  if (available > first_event) return plan;
  return Error{ErrorCode::kInvalidArgument, std::string(kScenarioNames[static_cast<std::size_t>(scenario)]) +
                                                ": the models present at the start have " + std::to_string(available) +
                                                " graded observations, expected more than " + std::to_string(first_event)};
}

std::vector<PoolEvent> events_of(const Plan& plan) {
  const std::string count = std::to_string(plan.subjects.size());
  switch (plan.scenario) {
    case Scenario::kDropout: return {{plan.half(), count + " leave"}};
    case Scenario::kColdStart: return {{plan.half(), count + (plan.subjects.size() == 1 ? " joins" : " join")}};
    case Scenario::kRolling: break;
  }
  std::vector<PoolEvent> events;
  for (std::size_t at = plan.options.swap_every; at < plan.options.observations; at += plan.options.swap_every) {
    events.push_back({at, "swap"});
  }
  return events;
}

struct Outcome {
  std::vector<std::optional<double>> windows;  // ECE
  std::vector<Scores> measures;
  bool cut_short = false;
};

Trajectory summarize(std::string label, std::span<const Outcome> orderings, const std::vector<std::string>& names) {
  Trajectory trajectory{.label = std::move(label)};
  std::size_t windows = 0;
  for (const Outcome& one : orderings) {
    windows = std::max(windows, one.windows.size());
    trajectory.cut_short += one.cut_short;
  }
  std::vector<std::optional<double>> values(orderings.size());
  for (std::size_t window = 0; window < windows; ++window) {
    for (std::size_t i = 0; i < values.size(); ++i) {
      values[i] = window < orderings[i].windows.size() ? orderings[i].windows[window] : std::nullopt;
    }
    trajectory.windows.push_back(spread_of(values));
  }
  for (std::size_t measure = 0; measure < names.size(); ++measure) {
    trajectory.measures.push_back({.name = names[measure], .by_ordering = {}});
    for (const Outcome& one : orderings) trajectory.measures.back().by_ordering.push_back(one.measures[measure]);
  }
  return trajectory;
}

}  // namespace

Spread Measure::of(Metric metric) const {
  std::vector<std::optional<double>> values;
  for (const Scores& scores : by_ordering) values.push_back(scores[metric]);
  return spread_of(values);
}

std::optional<report::Estimate> difference_of(const Measure& a, const Measure& b, Metric metric) {
  constexpr double kTwoSided = 1.959963984540054;  // 95% of a normal distribution
  std::vector<std::optional<double>> differences;
  for (std::size_t i = 0; i < a.by_ordering.size(); ++i) {
    const std::optional<double> ours = a.by_ordering[i][metric], theirs = b.by_ordering[i][metric];
    if (ours && theirs) differences.emplace_back(*ours - *theirs);
  }
  const Spread spread = spread_of(differences);
  if (!spread.mean) return std::nullopt;
  report::Estimate estimate{*spread.mean, std::nullopt};
  if (spread.sd) {
    const double half = kTwoSided * *spread.sd / std::sqrt(static_cast<double>(differences.size()));
    estimate.interval = {*spread.mean - half, *spread.mean + half};
  }
  return estimate;
}

Result<Scenario> parse_scenario(std::string_view name) {
  const auto* const found = std::find(kScenarioNames.begin(), kScenarioNames.end(), name);
  if (found != kScenarioNames.end()) return static_cast<Scenario>(found - kScenarioNames.begin());
  const std::vector<std::string> known(kScenarioNames.begin(), kScenarioNames.end());
  return Error{ErrorCode::kNotFound, "scenario: no " + internal::printable(name) + internal::suggestion(name, known)};
}

Result<std::optional<PoolResult>> run_pool(const Stream& stream, Scenario scenario, std::span<const Entrant> entrants,
                                           const PoolOptions& options, Progress* progress) {
  const Result<Plan> plan = make_plan(stream, scenario, options);
  if (!plan) return plan.error();
  std::vector<Outcome> outcomes(entrants.size() * options.orderings);
  const bool finished = parallel_for(outcomes.size(), options.threads, progress, [&](std::size_t piece) {
    const auto script = make_script(*plan);
    Performance performance(stream, *entrants[piece / options.orderings].method);
    const History history = performance.play(shuffled_order(stream, options.seed, piece % options.orderings), *script);
    Outcome& outcome = outcomes[piece];
    // All scenarios are shown up to the same observation, however far beyond it a checkpoint lies.
    const std::size_t shown = std::min(history.size(), options.observations);
    for (std::size_t from = 0; from + options.window <= shown; from += options.window) {
      outcome.windows.push_back(scores_of(history, {from, from + options.window})[kEce]);
    }
    outcome.measures = script->measures(history);
    outcome.cut_short = !script->finished(history);
  });
  if (!finished) return std::optional<PoolResult>{};

  PoolResult result{.scenario = scenario, .events = events_of(*plan)};
  const auto& named = scenario == Scenario::kColdStart ? plan->present : plan->subjects;
  for (const ModelId model : named) result.subjects.push_back(stream.models[model]);
  const std::vector<std::string> names = measure_names(*plan);
  for (std::size_t i = 0; i < entrants.size(); ++i) {
    const auto own = std::span<const Outcome>(outcomes).subspan(i * options.orderings, options.orderings);
    result.trajectories.push_back(summarize(entrants[i].label, own, names));
  }
  return std::optional(std::move(result));
}

std::vector<Entrant> cold_start_arms(const Parameters& margin) {
  const auto arm = [&](std::string label, const Parameters& changed) {
    Parameters parameters = changed;
    parameters.insert(margin.begin(), margin.end());
    Result<std::unique_ptr<Calibrator>> made = make_calibrator("margin", parameters);
    MARGIN_CHECK(made.ok(), "parameters of a margin calibrator make another");
    return Entrant{std::move(label), std::move(*made)};
  };
  std::vector<Entrant> arms;
  arms.push_back(arm("blended", {{"target", "pool_band"}, {"entry", "pool"}}));
  arms.push_back(arm("unblended", {{"shrinkage", 0.0}, {"entry", "identity"}}));
  return arms;
}

}  // namespace margin::experiment
