// Seeded rows for the tests of this folder: rounded confidences with ties and both ends of [0, 1], some graded outcomes.
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include "margin/metric.h"
#include "margin/random.h"

namespace margin::test {

struct Rows {
  std::vector<double> p;
  std::vector<double> o;
  std::vector<std::uint32_t> task;
  std::vector<ModelId> model;

  void add(double probability, double outcome, std::uint32_t task_id = 0, ModelId model_id = 0) {
    p.push_back(probability);
    o.push_back(outcome);
    task.push_back(task_id);
    model.push_back(model_id);
  }
  [[nodiscard]] Predictions view() const { return {p, o}; }
};

// `tasks` tasks of one to five rows each; half of the probabilities are multiples of 0.05, every eighth outcome is a quarter or a half.
inline Rows sample_rows(std::uint64_t seed, std::uint32_t tasks) {
  Random random(seed);
  Rows rows;
  for (std::uint32_t task = 0; task < tasks; ++task) {
    const auto models = static_cast<ModelId>(1 + random.below(5));
    for (ModelId model = 0; model < models; ++model) {
      const double u = random.uniform();
      const double p = random.chance(0.5) ? std::round(u * 20.0) / 20.0 : u;
      const double o = random.chance(0.125) ? 0.25 * static_cast<double>(1 + random.below(2)) : (random.chance(0.2 + 0.5 * p) ? 1.0 : 0.0);
      rows.add(p, o, task, model);
    }
  }
  return rows;
}

// The same rows in another order.
inline Rows shuffled(const Rows& rows, std::uint64_t seed) {
  std::vector<std::size_t> order(rows.p.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  Random(seed).shuffle(std::span(order));
  Rows other;
  for (const std::size_t i : order) other.add(rows.p[i], rows.o[i], rows.task[i], rows.model[i]);
  return other;
}

}  // namespace margin::test
