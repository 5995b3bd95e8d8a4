#include "experiment/beside.h"

#include <algorithm>

namespace margin::experiment {
namespace {

using report::Cell;

constexpr const char* kParts[] = {"simulated", "published", "difference"};
constexpr std::size_t kSimulated = 0, kPublished = 1;

Cell part_of(const Beside& figure, std::size_t part) {
  if (part == kSimulated) return figure.simulated ? Cell(*figure.simulated) : Cell();
  return part == kPublished ? Cell(figure.published) : Cell(figure.difference());
}

}  // namespace

void BesideTable::add(std::string name, const std::vector<std::optional<report::Estimate>>& simulated,
                      const std::vector<std::optional<double>>& published) {
  Row row{.name = std::move(name), .figures = std::vector<Beside>(columns.size())};
  for (std::size_t i = 0; i < std::min(simulated.size(), columns.size()); ++i) row.figures[i].simulated = simulated[i];
  for (std::size_t i = 0; i < std::min(published.size(), columns.size()); ++i) row.figures[i].published = from_publication(published[i]);
  rows.push_back(std::move(row));
}

report::Table to_table(const BesideTable& beside) {
  report::Table table{.title = beside.title, .columns = {{.name = beside.heading}}, .rows = {}, .notes = beside.notes};
  if (beside.columns.size() == 1) {
    for (const char* part : kParts) table.columns.push_back({.name = part, .kind = beside.kind});
    for (const BesideTable::Row& row : beside.rows) {
      table.rows.push_back({row.name});
      for (std::size_t part = 0; part < std::size(kParts); ++part) table.rows.back().push_back(part_of(row.figures.front(), part));
    }
    return table;
  }
  table.columns.push_back({.name = "from"});
  for (const std::string& column : beside.columns) table.columns.push_back({.name = column, .kind = beside.kind});
  for (const BesideTable::Row& row : beside.rows) {
    const bool any = std::any_of(row.figures.begin(), row.figures.end(), [](const Beside& figure) { return figure.simulated.has_value(); });
    for (std::size_t part = 0; part < std::size(kParts); ++part) {
      if (!any && part != kPublished) continue;
      table.rows.push_back({row.name, kParts[part]});
      for (const Beside& figure : row.figures) table.rows.back().push_back(part_of(figure, part));
    }
  }
  return table;
}

}  // namespace margin::experiment
