#include "experiment/shift_pools.h"

#include <algorithm>
#include <numeric>
#include <set>

#include "margin/random.h"

namespace margin::experiment {
namespace {

// Rows and tasks of the kept models; a task that loses all its rows goes too. Answers are numbered anew: the one that comes first wins a
// tie.
Stream filtered(const Stream& stream, const std::vector<bool>& keep) {
  Stream result;
  result.channel = stream.channel;
  result.models = stream.models;
  for (const Stream::Task& task : stream.tasks) {
    Stream::Task kept = task;
    kept.first_row = static_cast<std::uint32_t>(result.rows());
    kept.rows = 0;
    kept.answers = 0;
    std::vector<std::uint32_t> renumbered(task.answers, kNoAnswer);
    for (std::uint32_t row = task.first_row; row < task.first_row + task.rows; ++row) {
      if (!keep[stream.model[row]]) continue;
      ++kept.rows;
      result.model.push_back(stream.model[row]);
      result.confidence.push_back(stream.confidence[row]);
      result.outcome.push_back(stream.outcome[row]);
      result.weight.push_back(stream.weight[row]);
      const std::uint32_t answer = stream.answer[row];
      if (answer != kNoAnswer && renumbered[answer] == kNoAnswer) renumbered[answer] = kept.answers++;
      result.answer.push_back(answer == kNoAnswer ? kNoAnswer : renumbered[answer]);
      result.log_row.push_back(stream.log_row[row]);
    }
    if (kept.rows > 0) result.tasks.push_back(kept);
  }
  result.task_count = result.tasks.size();
  return result;
}

// Models with a row among the tasks [first, last) of the joined stream.
std::set<ModelId> models_in(const Stream& stream, std::size_t first, std::size_t last) {
  std::set<ModelId> models;
  for (std::size_t number = first; number < last; ++number) {
    const Stream::Task& task = stream.tasks[number];
    models.insert(stream.model.begin() + task.first_row, stream.model.begin() + task.first_row + task.rows);
  }
  return models;
}

}  // namespace

std::vector<std::vector<ModelId>> pools_of(const Condition& condition, std::size_t size, std::size_t subsets, std::uint64_t seed) {
  const std::set<ModelId> source = models_in(condition.stream, 0, condition.source_tasks);
  const std::set<ModelId> target = models_in(condition.stream, condition.source_tasks, condition.stream.tasks.size());
  std::vector<ModelId> both;
  std::set_intersection(source.begin(), source.end(), target.begin(), target.end(), std::back_inserter(both));
  if (both.empty() || size > both.size()) return {};
  if (size == 0 || size == both.size()) return {both};
  std::vector<std::vector<ModelId>> pools;
  if (size == 1) {
    for (const ModelId model : both) pools.push_back({model});
    return pools;
  }
  // Different ones by trying; where nearly all are asked for, tries are many but small.
  constexpr std::size_t kTriesPerSubset = 50;
  std::set<std::vector<ModelId>> seen;
  Random random = Random::stream(seed, size);
  for (std::size_t tries = 0; pools.size() < subsets && tries < kTriesPerSubset * subsets; ++tries) {
    std::vector<ModelId> pool = both;
    random.shuffle(std::span(pool));
    pool.resize(size);
    std::sort(pool.begin(), pool.end());
    if (seen.insert(pool).second) pools.push_back(std::move(pool));
  }
  return pools;
}

std::string pool_name(std::size_t size) { return size == 0 ? "All models" : "Pools of " + std::to_string(size); }

Condition with_models(const Condition& condition, std::span<const ModelId> models) {
  std::vector<bool> keep(condition.stream.models.size(), false);
  for (const ModelId model : models) keep[model] = true;
  Condition result{.name = condition.name, .stream = filtered(condition.stream, keep), .target = filtered(condition.target, keep)};
  result.source_tasks = static_cast<std::uint32_t>(result.stream.tasks.size() - result.target.tasks.size());
  result.source_rows = static_cast<std::uint32_t>(result.stream.rows() - result.target.rows());
  return result;
}

Status ShiftGroup::add(const ConditionResult& result) {
  if (entries_.empty()) {
    for (const EntrantResult& entrant : result.entrants) entries_.push_back({.label = entrant.label});
  }
  for (const Compared metric : kCompared) {
    Result<std::vector<Comparison>> compared = compare(result, focus_, metric);
    if (!compared) return compared.error();
    auto& all = comparisons_[index(metric)];
    all.insert(all.end(), std::make_move_iterator(compared->begin()), std::make_move_iterator(compared->end()));
    for (std::size_t i = 0; i < entries_.size(); ++i) {
      entries_[i].sum[index(metric)] += mean_of(result.entrants[i], metric);
      const Resampled& resampled = resampled_of(result.entrants[i], metric);
      std::vector<double>& sums = entries_[i].resampled[index(metric)];
      sums.resize(resampled.size(), 0.0);
      for (std::size_t b = 0; b < resampled.size(); ++b) sums[b] += resampled[b].value_or(0.0);
    }
  }
  ++conditions_;
  return {};
}

std::vector<std::string> ShiftGroup::entrants() const {
  std::vector<std::string> labels;
  for (const Entry& entry : entries_) labels.push_back(entry.label);
  return labels;
}

double ShiftGroup::mean(std::size_t entrant, Compared metric) const {
  return entries_[entrant].sum[index(metric)] / static_cast<double>(conditions_);
}

ShiftGroup::Contest ShiftGroup::against_best(Compared metric) const {
  const std::size_t m = index(metric);
  const auto ours = std::find_if(entries_.begin(), entries_.end(), [&](const Entry& entry) { return entry.label == focus_; });
  const Entry* best = nullptr;
  for (const Entry& entry : entries_) {
    if (entry.label != focus_ && (best == nullptr || entry.sum[m] < best->sum[m])) best = &entry;
  }
  if (best == nullptr) return {};
  const auto n = static_cast<double>(conditions_);
  Contest contest{best->label, (ours->sum[m] - best->sum[m]) / n, std::nullopt};
  Resampled differences;
  double sum = 0.0;
  for (std::size_t b = 0; b < ours->resampled[m].size(); ++b) {
    differences.emplace_back((ours->resampled[m][b] - best->resampled[m][b]) / n);
    sum += *differences.back();
  }
  if (const auto interval = percentile_interval(differences)) {
    const double shift = contest.mean - sum / static_cast<double>(differences.size());
    contest.interval = Interval{interval->low + shift, interval->high + shift};
  }
  return contest;
}

}  // namespace margin::experiment
