#include "experiment/shift.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "base/check.h"
#include "experiment/passes.h"
#include "margin/metric.h"
#include "margin/random.h"

namespace margin::experiment {
namespace {

// A stream's tasks and rows behind those of `joined`, with models renumbered by name.
void append(Stream& joined, std::map<std::string, ModelId, std::less<>>& ids, const Stream& part) {
  std::vector<ModelId> renumbered;
  for (const std::string& name : part.models) {
    const auto [entry, is_new] = ids.try_emplace(name, static_cast<ModelId>(joined.models.size()));
    if (is_new) joined.models.push_back(name);
    renumbered.push_back(entry->second);
  }
  const auto rows_before = static_cast<std::uint32_t>(joined.rows());
  for (Stream::Task task : part.tasks) {
    task.first_row += rows_before;
    joined.tasks.push_back(task);
  }
  for (const ModelId model : part.model) joined.model.push_back(renumbered[model]);
  const auto extend = [](auto& all, const auto& more) { all.insert(all.end(), more.begin(), more.end()); };
  extend(joined.confidence, part.confidence);
  extend(joined.outcome, part.outcome);
  extend(joined.weight, part.weight);
  extend(joined.answer, part.answer);
  extend(joined.log_row, part.log_row);
  joined.task_count += part.task_count;
  joined.ungraded += part.ungraded;
}

// The target's part of a pass over the joined stream.
Pass target_part(const Condition& condition, const Pass& pass) {
  Pass part;
  part.calibrated.assign(pass.calibrated.begin() + condition.source_rows, pass.calibrated.end());
  part.selections.assign(pass.selections.begin() + condition.source_tasks, pass.selections.end());
  for (Pass::Selection& selection : part.selections) {
    if (selection.answer != kNoAnswer) selection.row -= condition.source_rows;
  }
  return part;
}

struct Order {
  std::vector<std::uint32_t> tasks;  // source, then target
  std::size_t source = 0;            // of them
};

std::vector<Observation> rows_of(const Stream& stream, std::span<const std::uint32_t> tasks) {
  std::vector<Observation> rows;
  for (const std::uint32_t number : tasks) {
    const Stream::Task& task = stream.tasks[number];
    for (std::size_t row = task.first_row; row < std::size_t{task.first_row} + task.rows; ++row) {
      if (std::isnan(stream.outcome[row])) continue;
      rows.push_back(
          {.model = stream.model[row], .confidence = stream.confidence[row], .outcome = stream.outcome[row], .weight = stream.weight[row]});
    }
  }
  return rows;
}

bool goes_on(const Calibrator& method, Boundary boundary) {
  if (boundary == Boundary::kCarry) return true;
  if (boundary == Boundary::kReset) return false;
  return method.info().identifier == "margin" || method.info().identifier == "margin_adaptive";
}

Pass one_pass(const Condition& condition, const Calibrator& method, const Vote& vote, const Order& order, const ShiftOptions& options) {
  PassOptions pass = options.pass;
  if (method.info().design_time) {
    const auto fitted = method.clone();
    const Status status = fitted->fit(rows_of(condition.stream, std::span(order.tasks).first(order.source / 2)));
    MARGIN_CHECK(status.ok(), "a stream holds only what a calibrator accepts");
    pass.boundary = 0;
    return replay(condition.stream, std::span(order.tasks).subspan(order.source), *fitted, vote, pass);
  }
  if (!goes_on(method, options.boundary)) {
    pass.boundary = 0;
    return replay(condition.stream, std::span(order.tasks).subspan(order.source), method, vote, pass);
  }
  pass.boundary = order.source;
  pass.restart_counts = options.boundary == Boundary::kRestart;
  return replay(condition.stream, order.tasks, method, vote, pass);
}

// Rows of the target that are scored, once per condition: the outcomes do not depend on method or ordering.
struct ScoredRows {
  explicit ScoredRows(const Stream& target) : task_count(target.tasks.size()) {
    for (std::uint32_t number = 0; number < target.tasks.size(); ++number) {
      const Stream::Task& task = target.tasks[number];
      for (std::uint32_t row = task.first_row; row < task.first_row + task.rows; ++row) {
        if (std::isnan(target.outcome[row])) continue;
        rows.push_back(row);
        outcomes.push_back(target.outcome[row]);
        tasks.push_back(number);
      }
    }
  }
  [[nodiscard]] std::vector<double> of(const Pass& pass) const {
    std::vector<double> probabilities;
    probabilities.reserve(rows.size());
    for (const std::uint32_t row : rows) probabilities.push_back(pass.calibrated[row]);
    return probabilities;
  }
  [[nodiscard]] TaskIndex index() const { return {tasks, task_count}; }

  std::size_t task_count;
  std::vector<std::uint32_t> rows, tasks;
  std::vector<double> outcomes;
};

std::vector<std::optional<double>> selected_outcomes(const Stream& target, const Pass& pass) {
  std::vector<std::optional<double>> outcomes(target.tasks.size());
  for (std::size_t number = 0; number < target.tasks.size(); ++number) {
    const Stream::Task& task = target.tasks[number];
    const std::uint32_t answer = pass.selections[number].answer;
    if (answer == kNoAnswer) continue;
    for (std::size_t row = task.first_row; row < std::size_t{task.first_row} + task.rows; ++row) {
      if (target.answer[row] != answer || std::isnan(target.outcome[row])) continue;
      outcomes[number] = std::max(outcomes[number].value_or(0.0), target.outcome[row]);
    }
  }
  return outcomes;
}

// Where outcomes are missing, which tasks have one for the selected answer depends on what was selected: then every ordering is resampled
// for itself, else their mean, which is the same number at a fraction of the cost.
std::vector<TaskRows> selection_rows(std::vector<TaskRows> orderings) {
  for (const TaskRows& rows : orderings) {
    for (std::size_t task = 0; task < rows.tasks(); ++task) {
      if (rows.denominator(task) != orderings.front().denominator(task)) return orderings;
    }
  }
  return {mean_of_orderings(orderings)};
}

}  // namespace

std::vector<std::uint32_t> shuffled(const Condition& condition, std::uint64_t seed, std::uint64_t ordering) {
  Random random = Random::stream(seed, ordering);
  std::vector<std::uint32_t> order(condition.stream.tasks.size());
  std::iota(order.begin(), order.end(), 0U);
  random.shuffle(std::span(order).first(condition.source_tasks));
  random.shuffle(std::span(order).subspan(condition.source_tasks));
  return order;
}

Result<Boundary> parse_boundary(std::string_view name) {
  constexpr std::pair<std::string_view, Boundary> kNames[] = {
      {"told", Boundary::kTold}, {"carry", Boundary::kCarry}, {"reset", Boundary::kReset}, {"restart", Boundary::kRestart}};
  for (const auto& [known, boundary] : kNames) {
    if (known == name) return boundary;
  }
  return Error{ErrorCode::kInvalidArgument, "boundary: got " + std::string(name) + ", expected told, carry, reset or restart"};
}

Condition make_condition(std::string name, const Stream& source, const Stream& target) {
  Condition condition;
  condition.name = std::move(name);
  std::map<std::string, ModelId, std::less<>> ids;
  condition.stream.channel = target.channel;
  append(condition.stream, ids, source);
  condition.source_tasks = static_cast<std::uint32_t>(condition.stream.tasks.size());
  condition.source_rows = static_cast<std::uint32_t>(condition.stream.rows());
  append(condition.stream, ids, target);
  condition.target.models = condition.stream.models;
  std::map<std::string, ModelId, std::less<>> same = ids;
  append(condition.target, same, target);
  return condition;
}

Pass target_pass(const Condition& condition, const Calibrator& method, const Vote& vote, const ShiftOptions& options,
                 std::size_t ordering) {
  ShiftOptions one = options;
  one.pass.audits = repetition({.rate = options.pass.audits.rate, .seed = options.seed}, ordering);
  return target_part(condition,
                     one_pass(condition, method, vote, {shuffled(condition, options.seed, ordering), condition.source_tasks}, one));
}

std::size_t shift_work(std::size_t entrants, const ShiftOptions& options) {
  return entrants * (options.orderings + resample_pieces(options.resamples));
}

std::optional<ConditionResult> run_shift(const Condition& condition, std::span<const Entrant> entrants, const Vote& vote,
                                         const ShiftOptions& options, Progress* progress) {
  ConditionResult result{condition.name, condition.target.tasks.size(), condition.target.rows(), {}};
  const ScoredRows scored(condition.target);
  std::optional<TaskResamples> resamples;
  if (options.resamples > 0 && scored.task_count > 0) {
    resamples.emplace(TaskResamples::Options{.tasks = scored.task_count, .resamples = options.resamples, .seed = options.seed});
  }
  for (const Entrant& entrant : entrants) {
    EntrantResult one{.label = entrant.label, .by_ordering = std::vector<Scores>(options.orderings)};
    const TaskRows none(0, 1);
    std::vector<TaskRows> ece_of(options.orderings, none), brier_of = ece_of, log_loss_of = ece_of, pass1_of = ece_of;
    const bool finished = parallel_for(options.orderings, options.threads, progress, [&](std::size_t ordering) {
      const Pass pass = target_pass(condition, *entrant.method, vote, options, ordering);
      one.by_ordering[ordering] = score(condition.target, pass);
      if (!resamples) return;
      const std::vector<double> probabilities = scored.of(pass);
      const Predictions rows{probabilities, scored.outcomes};
      ece_of[ordering] = ece_rows(rows, scored.index());
      brier_of[ordering] = brier_rows(rows, scored.index());
      log_loss_of[ordering] = log_loss_rows(rows, scored.index());
      pass1_of[ordering] = mean_rows(selected_outcomes(condition.target, pass));
    });
    if (!finished) return std::nullopt;
    one.scores = summarize(one.by_ordering);
    if (resamples) {
      const TaskColumns ece_columns(ece_of);
      const TaskColumns brier_mean(std::vector{mean_of_orderings(brier_of)});
      const TaskColumns log_loss_mean(std::vector{mean_of_orderings(log_loss_of)});
      const TaskColumns pass1_rows(selection_rows(std::move(pass1_of)));
      for (Resampled* values : {&one.ece, &one.brier, &one.log_loss, &one.pass1}) values->resize(options.resamples);
      const bool resampled = parallel_for(resample_pieces(options.resamples), options.threads, progress, [&](std::size_t piece) {
        const std::size_t first = piece * kResamplesPerPiece;
        const std::size_t count = std::min(kResamplesPerPiece, options.resamples - first);
        resample_range(*resamples, ece_columns, first, std::span(one.ece).subspan(first, count));
        resample_range(*resamples, brier_mean, first, std::span(one.brier).subspan(first, count));
        resample_range(*resamples, log_loss_mean, first, std::span(one.log_loss).subspan(first, count));
        resample_range(*resamples, pass1_rows, first, std::span(one.pass1).subspan(first, count));
      });
      if (!resampled) return std::nullopt;
    }
    result.entrants.push_back(std::move(one));
  }
  return result;
}

double mean_of(const EntrantResult& entrant, Compared metric) {
  const Metric scored = metric == Compared::kEce ? kEce : metric == Compared::kBrier ? kBrier : kLogLoss;
  return entrant.scores.mean[scored].value_or(0.0);
}

const Resampled& resampled_of(const EntrantResult& entrant, Compared metric) {
  return metric == Compared::kEce ? entrant.ece : metric == Compared::kBrier ? entrant.brier : entrant.log_loss;
}

Result<std::vector<Comparison>> compare(const ConditionResult& condition, std::string_view focus, Compared metric) {
  const auto ours = std::find_if(condition.entrants.begin(), condition.entrants.end(), [&](const auto& e) { return e.label == focus; });
  if (ours == condition.entrants.end()) {
    return Error{ErrorCode::kNotFound, "focus: " + std::string(focus) + " is not among the methods of this experiment"};
  }
  std::vector<Comparison> comparisons;
  for (const EntrantResult& rival : condition.entrants) {
    if (rival.label == focus) continue;
    comparisons.push_back({condition.name, rival.label, mean_of(*ours, metric) - mean_of(rival, metric),
                           paired_difference(resampled_of(*ours, metric), resampled_of(rival, metric), Better::kLower), 1.0});
  }
  return comparisons;
}

ComparisonTable tabulate(std::vector<Comparison> comparisons) {
  ComparisonTable table{std::move(comparisons), {}};
  std::vector<double> p_values;
  for (const Comparison& one : table.comparisons) p_values.push_back(one.difference.p_value);
  const std::vector<double> corrected = holm(p_values);
  for (std::size_t i = 0; i < corrected.size(); ++i) {
    Comparison& one = table.comparisons[i];
    one.holm_p = corrected[i];
    auto record = std::find_if(table.records.begin(), table.records.end(), [&](const Record& r) { return r.rival == one.rival; });
    if (record == table.records.end()) record = table.records.insert(table.records.end(), Record{.rival = one.rival});
    const bool remains = one.holm_p <= 0.05;
    switch (one.difference.verdict) {
      case Verdict::kWin: ++record->wins, record->wins_after_holm += remains; break;
      case Verdict::kTie: ++record->ties; break;
      case Verdict::kLoss: ++record->losses, record->losses_after_holm += remains; break;
    }
  }
  return table;
}

Result<ComparisonTable> compare(std::span<const ConditionResult> conditions, std::string_view focus, Compared metric) {
  std::vector<Comparison> all;
  for (const ConditionResult& condition : conditions) {
    Result<std::vector<Comparison>> one = compare(condition, focus, metric);
    if (!one) return one.error();
    all.insert(all.end(), std::make_move_iterator(one->begin()), std::make_move_iterator(one->end()));
  }
  return tabulate(std::move(all));
}

}  // namespace margin::experiment
