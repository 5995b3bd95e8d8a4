#include "experiment/per_ordering.h"

#include <algorithm>

#include "dataset/text.h"
#include "report/table.h"

namespace margin::experiment {
namespace {

using dataset::json_number;
using dataset::json_string;

std::string json_line(const OrderingScores& one, std::size_t ordering) {
  std::string line = "{\"condition\":" + json_string(one.condition);
  if (!one.regime.empty()) line += ",\"regime\":" + json_string(one.regime);
  line += ",\"method\":" + json_string(one.method) + ",\"ordering\":" + std::to_string(ordering);
  for (std::size_t metric = 0; metric < kMetrics; ++metric) {
    const std::optional<double>& value = one.by_ordering[ordering][metric];
    line.append(",\"").append(kMetricNames[metric]).append("\":").append(value ? json_number(*value) : "null");
  }
  return line + "}\n";
}

}  // namespace

void append_orderings(std::vector<OrderingScores>& all, const ConditionResult& result, const std::string& regime,
                      const std::string& prefix) {
  for (const EntrantResult& entrant : result.entrants) all.push_back({result.name, regime, prefix + entrant.label, entrant.by_ordering});
}

void append_orderings(std::vector<OrderingScores>& all, const RegimeResults& results) {
  for (std::size_t i = 0; i < results.labels.size(); ++i) append_orderings(all, results.results[i], results.labels[i]);
}

std::string ordering_lines(std::span<const OrderingScores> all, OrderingFormat format) {
  if (format == OrderingFormat::kJsonLines) {
    std::string out;
    for (const OrderingScores& one : all) {
      for (std::size_t ordering = 0; ordering < one.by_ordering.size(); ++ordering) out += json_line(one, ordering);
    }
    return out;
  }
  const bool regimes = std::any_of(all.begin(), all.end(), [](const OrderingScores& one) { return !one.regime.empty(); });
  report::Table table{.columns = {{.name = "condition"}}};
  if (regimes) table.columns.push_back({.name = "regime"});
  table.columns.push_back({.name = "method"});
  table.columns.push_back({.name = "ordering", .kind = report::Kind::kCount});
  for (const std::string_view metric : kMetricNames) table.columns.push_back({.name = std::string(metric), .kind = report::Kind::kNumber});
  for (const OrderingScores& one : all) {
    for (std::size_t ordering = 0; ordering < one.by_ordering.size(); ++ordering) {
      std::vector<report::Cell>& row = table.rows.emplace_back();
      row.emplace_back(one.condition);
      if (regimes) row.emplace_back(one.regime);
      row.emplace_back(one.method);
      row.emplace_back(ordering);
      for (const std::optional<double>& value : one.by_ordering[ordering]) row.emplace_back(value);
    }
  }
  return to_csv(table);
}

}  // namespace margin::experiment
