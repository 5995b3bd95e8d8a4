#include "experiment/inversion.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <numeric>

#include "base/check.h"
#include "dataset/text.h"
#include "experiment/graded.h"
#include "experiment/ordering.h"
#include "margin/exact_sum.h"
#include "margin/random.h"

namespace margin::experiment {
namespace {

// Per model the sums that its levels are made of.
struct Sums {
  double weight = 0.0, confidence = 0.0, outcome = 0.0;
};

// r between those of `models` that have rows.
std::optional<double> correlation(const std::vector<Sums>& sums, std::span<const ModelId> models) {
  std::vector<double> confidences, accuracies;
  for (const ModelId model : models) {
    if (sums[model].weight == 0.0) continue;
    confidences.push_back(sums[model].confidence / sums[model].weight);
    accuracies.push_back(sums[model].outcome / sums[model].weight);
  }
  return pearson(confidences, accuracies);
}

// counts[t]: how often task t occurs.
std::vector<Sums> sums_of(const Stream& stream, std::span<const std::uint8_t> counts) {
  std::vector<Sums> sums(stream.models.size());
  for (std::size_t number = 0; number < stream.tasks.size(); ++number) {
    if (counts[number] == 0) continue;
    const double count = counts[number];
    const Stream::Task& task = stream.tasks[number];
    for (std::size_t row = task.first_row; row < std::size_t{task.first_row} + task.rows; ++row) {
      if (std::isnan(stream.outcome[row])) continue;
      Sums& model = sums[stream.model[row]];
      model.weight += count;
      model.confidence += count * stream.confidence[row];
      model.outcome += count * stream.outcome[row];
    }
  }
  return sums;
}

Result<std::vector<ModelId>> ids_of(const Stream& stream, const ModelSubset& subset) {
  std::vector<ModelId> ids;
  for (const std::string& name : subset.models) {
    const auto found = std::find(stream.models.begin(), stream.models.end(), name);
    if (found == stream.models.end()) {
      return Error{ErrorCode::kNotFound, "subset " + dataset::printable(subset.name) + ": no row has model " + dataset::printable(name)};
    }
    ids.push_back(static_cast<ModelId>(found - stream.models.begin()));
  }
  return ids;
}

std::optional<double> share_of_tied_picks(const Stream& stream, const Pass& pass) {
  std::size_t tied = 0;
  for (const Stream::Task& task : stream.tasks) {
    const auto confidences = std::span(pass.calibrated).subspan(task.first_row, task.rows);
    const double largest = *std::max_element(confidences.begin(), confidences.end());
    if (std::count(confidences.begin(), confidences.end(), largest) > 1) ++tied;
  }
  if (stream.tasks.empty()) return std::nullopt;
  return static_cast<double>(tied) / static_cast<double>(stream.tasks.size());
}

std::optional<double> share_of_tied_contests(const GradedStream& graded, const Pass& pass) {
  GradedStream calibrated = graded;
  calibrated.calibrate(pass);
  const Resolution counts = resolution(calibrated.tasks(), {});
  if (counts.contests == 0) return std::nullopt;
  return static_cast<double>(counts.ties) / static_cast<double>(counts.contests);
}

// What a method has learned once every outcome of the stream is known, by segment; a model enters a segment from the state without one.
std::map<std::uint32_t, std::unique_ptr<Calibrator>> learned(const Stream& stream, std::span<const std::uint32_t> order,
                                                             const Calibrator& fresh) {
  std::map<std::uint32_t, std::unique_ptr<Calibrator>> states;
  states[0] = fresh.clone();
  for (const std::uint32_t number : order) {
    const Stream::Task& task = stream.tasks[number];
    std::unique_ptr<Calibrator>& state = states[task.segment];
    if (state == nullptr) state = fresh.clone();
    const std::size_t end = std::size_t{task.first_row} + task.rows;
    for (std::size_t row = task.first_row; row < end; ++row) {
      if (!state->present(stream.model[row])) state->join_from(stream.model[row], *states[0], stream.model[row]);
    }
    state->begin_task();
    for (std::size_t row = task.first_row; row < end; ++row) {
      if (std::isnan(stream.outcome[row])) continue;
      const Status status = state->observe(
          {.model = stream.model[row], .confidence = stream.confidence[row], .outcome = stream.outcome[row], .weight = stream.weight[row]});
      MARGIN_CHECK(status.ok(), "a stream holds only what a calibrator accepts");
    }
    state->end_task();
  }
  return states;
}

std::optional<double> mean_top_factor(const Stream& stream, std::span<const std::uint32_t> order, const Calibrator& fresh) {
  ExactSum sum;
  double count = 0.0;
  for (const auto& [segment, state] : learned(stream, order, fresh)) {
    for (ModelId model = 0; model < stream.models.size(); ++model) {
      if (!state->known(model)) continue;
      sum.add(state->explain(model, 1.0).factor);
      count += 1.0;
    }
  }
  if (count == 0.0) return std::nullopt;
  return sum.value() / count;
}

}  // namespace

std::optional<double> pearson(std::span<const double> x, std::span<const double> y) {
  MARGIN_CHECK(x.size() == y.size(), "a correlation is of pairs");
  if (x.size() < 2) return std::nullopt;
  const auto n = static_cast<double>(x.size());
  const auto constant = [](std::span<const double> values) {
    return std::all_of(values.begin(), values.end(), [&](double value) { return value == values.front(); });
  };
  if (constant(x) || constant(y)) return std::nullopt;
  ExactSum sum_x, sum_y, xx, yy, xy;
  for (const double value : x) sum_x.add(value);
  for (const double value : y) sum_y.add(value);
  const double mean_x = sum_x.value() / n;
  const double mean_y = sum_y.value() / n;
  for (std::size_t i = 0; i < x.size(); ++i) {
    xx.add((x[i] - mean_x) * (x[i] - mean_x));
    yy.add((y[i] - mean_y) * (y[i] - mean_y));
    xy.add((x[i] - mean_x) * (y[i] - mean_y));
  }
  // Squares of levels that differ in their last bits only may vanish.
  const double scale = std::sqrt(xx.value()) * std::sqrt(yy.value());
  if (!(scale > 0.0)) return std::nullopt;
  return std::clamp(xy.value() / scale, -1.0, 1.0);
}

Stream with_models_reordered(const Stream& stream, std::uint64_t seed, std::size_t index) {
  if (index == 0) return stream;
  std::vector<ModelId> place(stream.models.size());
  std::iota(place.begin(), place.end(), 0U);
  Random random = Random::stream(seed, index);
  random.shuffle(std::span(place));

  Stream reordered = stream;
  for (const Stream::Task& task : stream.tasks) {
    std::vector<std::size_t> rows(task.rows);
    std::iota(rows.begin(), rows.end(), std::size_t{task.first_row});
    std::sort(rows.begin(), rows.end(), [&](std::size_t a, std::size_t b) { return place[stream.model[a]] < place[stream.model[b]]; });
    std::map<std::uint32_t, std::uint32_t> groups;  // answers are numbered in the order of their first row
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const std::size_t to = task.first_row + i;
      reordered.model[to] = stream.model[rows[i]];
      reordered.confidence[to] = stream.confidence[rows[i]];
      reordered.outcome[to] = stream.outcome[rows[i]];
      reordered.weight[to] = stream.weight[rows[i]];
      reordered.log_row[to] = stream.log_row[rows[i]];
      const std::uint32_t answer = stream.answer[rows[i]];
      reordered.answer[to] =
          answer == kNoAnswer ? kNoAnswer : groups.try_emplace(answer, static_cast<std::uint32_t>(groups.size())).first->second;
    }
  }
  return reordered;
}

std::size_t inversion_work(std::size_t entrants, std::size_t subsets, const InversionOptions& options) {
  return pieces_of({.passes = entrants, .statistics = subsets + 1}, options.passes) + entrants * options.model_orders;
}

Result<std::optional<InversionResult>> run_inversion(const Stream& stream, std::span<const ModelSubset> subsets,
                                                     std::span<const Entrant> entrants, const Vote& vote, const InversionOptions& options,
                                                     Progress* progress) {
  const std::optional<InversionResult> stopped;
  InversionResult result{.channel = stream.channel, .tasks = stream.tasks.size(), .rows = stream.rows()};
  const std::vector<Sums> sums = sums_of(stream, std::vector<std::uint8_t>(stream.tasks.size(), 1));
  for (ModelId model = 0; model < stream.models.size(); ++model) {
    ModelLevel level{.name = stream.models[model], .rows = static_cast<std::size_t>(sums[model].weight)};
    if (level.rows > 0) {
      level.confidence = sums[model].confidence / sums[model].weight;
      level.accuracy = sums[model].outcome / sums[model].weight;
    }
    result.levels.push_back(std::move(level));
  }

  const Resampling resampling(stream.tasks.size(), options.passes, progress);
  const auto correlate = [&](const std::string& name, const std::vector<ModelId>& models) {
    const auto graded = [&](ModelId model) { return sums[model].weight > 0.0; };
    result.correlations.push_back({name,
                                   static_cast<std::size_t>(std::count_if(models.begin(), models.end(), graded)),
                                   {correlation(sums, models), resampling.of([&](std::span<const std::uint8_t> counts) {
                                      return correlation(sums_of(stream, counts), models);
                                    })}});
  };
  std::vector<ModelId> everyone(stream.models.size());
  std::iota(everyone.begin(), everyone.end(), 0U);
  correlate("all models", everyone);
  for (const ModelSubset& subset : subsets) {
    const Result<std::vector<ModelId>> models = ids_of(stream, subset);
    if (!models) return models.error();
    correlate(subset.name, *models);
  }

  const GradedStream graded(stream);
  using Values = std::vector<std::optional<double>>;
  for (const Entrant& entrant : entrants) {
    Values picks(options.passes.passes()), contests = picks, factors = picks;
    bool finished = for_each_pass(stream, *entrant.method, vote, options.passes, progress, [&](std::size_t number, const Pass& pass) {
      picks[number] = share_of_tied_picks(stream, pass);
      contests[number] = share_of_tied_contests(graded, pass);
      factors[number] = mean_top_factor(stream, order_of_pass(stream, options.passes, number), *entrant.method);
    });
    if (!finished) return stopped;
    Values pass1(options.model_orders);
    finished = parallel_for(options.model_orders, options.passes.threads, progress, [&](std::size_t number) {
      const Stream reordered = with_models_reordered(stream, options.passes.seed, number);
      const Pass pass = replay(reordered, file_order(reordered), *entrant.method, vote, options.passes.pass);
      pass1[number] = mean_over_tasks(selected_outcomes(GradedStream(reordered), pass)).value;
    });
    if (!finished) return stopped;
    result.methods.push_back({entrant.label, spread_of(picks).mean, spread_of(contests).mean, spread_of(factors).mean, spread_of(pass1)});
  }
  if (progress != nullptr && progress->stop) return stopped;
  return std::optional(std::move(result));
}

}  // namespace margin::experiment
