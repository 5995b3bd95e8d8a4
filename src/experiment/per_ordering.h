// The scores of every ordering, one line each: what means and deviations were made of, for those who analyse further.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "experiment/regime.h"
#include "experiment/score.h"
#include "experiment/shift.h"

namespace margin::experiment {

struct OrderingScores {
  std::string condition;
  std::string regime;  // the way of learning, where an experiment has several; empty: none
  std::string method;
  std::span<const Scores> by_ordering;  // borrowed
};

// One for each method of `result`; its labels after `prefix`.
void append_orderings(std::vector<OrderingScores>& all, const ConditionResult& result, const std::string& regime = "",
                      const std::string& prefix = "");

void append_orderings(std::vector<OrderingScores>& all, const RegimeResults& results);

enum class OrderingFormat { kCsv, kJsonLines };
// condition, regime where there is one, method, ordering (from 0), then the metrics by their names; fractions with all digits.
[[nodiscard]] std::string ordering_lines(std::span<const OrderingScores> all, OrderingFormat format);

}  // namespace margin::experiment
