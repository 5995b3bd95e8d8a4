// Beside: figures of ours with the published ones and the difference, as a table. What `margin experiment paper` prints.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "report/estimate.h"
#include "report/table.h"

namespace margin::experiment {

struct Beside {
  std::optional<report::Estimate> simulated;  // nullopt: the cohort cannot give it
  std::optional<double> published;            // nullopt: not published

  [[nodiscard]] std::optional<double> difference() const {
    return simulated && published ? std::optional(simulated->value - *published) : std::nullopt;
  }
};

[[nodiscard]] inline std::optional<report::Estimate> plain(const std::optional<double>& value) {
  return value ? std::optional(report::Estimate{*value, std::nullopt}) : std::nullopt;
}

struct BesideTable {
  struct Row {
    std::string name;
    std::vector<Beside> figures;  // by column
  };
  std::string title;
  std::string heading;  // of the names of the rows
  report::Kind kind = report::Kind::kPercent;
  std::vector<std::string> columns;
  std::vector<Row> rows = {};
  std::vector<std::string> notes = {};

  // Published figures in the unit of the publication: percent becomes a fraction.
  [[nodiscard]] std::optional<double> from_publication(const std::optional<double>& figure) const {
    return figure && kind == report::Kind::kPercent ? std::optional(*figure / 100.0) : figure;
  }
  // A row; a list that is too short is missing at its end.
  void add(std::string name, const std::vector<std::optional<report::Estimate>>& simulated,
           const std::vector<std::optional<double>>& published);
};

// With one column three columns: simulated, published, difference. With several three lines per row, or the published one alone where
// nothing is simulated.
[[nodiscard]] report::Table to_table(const BesideTable& beside);

}  // namespace margin::experiment
