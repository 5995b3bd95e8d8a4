#include "report/heat_map.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/check.h"
#include "report/text.h"

namespace margin::report {
namespace {

constexpr std::size_t kRowNameColumns = 28;
constexpr double kColumnNamesHeight = 46.0;
constexpr double kRowHeight = 38.0;
constexpr double kNarrowest = 52.0;
constexpr double kWidest = 112.0;
constexpr double kKeyHeight = 56.0;

struct Colour {
  std::string_view fill;
  std::string_view ink;
};
// By quarters of a doubling, from a half to the double.
constexpr std::array<Colour, 9> kSteps = {{{"n4", "on-4"},
                                           {"n3", "on-3"},
                                           {"n2", "on-mid"},
                                           {"n1", "on-mid"},
                                           {"z0", "on-mid"},
                                           {"p1", "on-mid"},
                                           {"p2", "on-mid"},
                                           {"p3", "on-3"},
                                           {"p4", "on-4"}}};

const Colour& colour_of(double ratio) {
  const double step = ratio > 0.0 ? std::clamp(std::round(4.0 * std::log2(ratio)), -4.0, 4.0) : -4.0;
  return kSteps[static_cast<std::size_t>(step + 4.0)];
}

void draw_key(Canvas& canvas, Point corner, double centre) {
  constexpr double kStep = 46.0;
  for (std::size_t i = 0; i < kSteps.size(); ++i) {
    const Box box{{corner.x + kStep * static_cast<double>(i), corner.y}, {kStep, 14.0}};
    canvas.box(box, kSteps[i].fill);
    std::string label = fixed(centre * std::exp2((static_cast<double>(i) - 4.0) / 4.0), 2);
    if (i == 0) label.insert(0, "≤ ");
    if (i + 1 == kSteps.size()) label.insert(0, "≥ ");
    canvas.text({box.centre().x, box.bottom() + 14.0}, label, {.anchor = Anchor::kMiddle, .style = "soft small"});
  }
}

}  // namespace

std::string to_svg(const HeatMap& map) {
  MARGIN_CHECK(map.centre > 0.0 && std::isfinite(map.centre), "the centre of a heat map is positive");
  double names_width = text_width(shortened(map.row_label, kRowNameColumns));
  for (const auto& row : map.rows) names_width = std::max(names_width, text_width(shortened(row.name, kRowNameColumns)));
  const double left = names_width + 20.0;
  const auto columns = static_cast<double>(std::max<std::size_t>(1, map.columns.size()));
  const double cell_width = std::clamp((kPictureWidth - left - 12.0) / columns, kNarrowest, kWidest);
  const Box area{{left, kColumnNamesHeight},
                 {cell_width * columns, kRowHeight * static_cast<double>(std::max<std::size_t>(2, map.rows.size()))}};
  const double width = std::max(area.right() + 12.0, kPictureWidth);

  Canvas canvas({width, area.bottom() + kKeyHeight}, map.words);
  canvas.text({area.centre().x, 16.0}, map.column_label, {.anchor = Anchor::kMiddle, .columns_max = 60});
  canvas.text({left - 10.0, kColumnNamesHeight - 8.0}, map.row_label, {.anchor = Anchor::kEnd, .columns_max = kRowNameColumns});
  const auto name_columns = static_cast<std::size_t>(cell_width / 7.2);
  for (std::size_t c = 0; c < map.columns.size(); ++c) {
    const double middle = left + cell_width * (static_cast<double>(c) + 0.5);
    canvas.text({middle, kColumnNamesHeight - 8.0}, map.columns[c],
                {.anchor = Anchor::kMiddle, .style = "soft", .columns_max = name_columns});
  }
  for (std::size_t r = 0; r < map.rows.size(); ++r) {
    const auto& row = map.rows[r];
    MARGIN_CHECK(row.cells.size() == map.columns.size(), "a row of a heat map has one cell per column");
    const double top = kColumnNamesHeight + kRowHeight * static_cast<double>(r);
    canvas.text({left - 10.0, top + kRowHeight / 2 + 4.0}, row.name, {.anchor = Anchor::kEnd, .columns_max = kRowNameColumns});
    for (std::size_t c = 0; c < row.cells.size(); ++c) {
      const Box box{{left + cell_width * static_cast<double>(c) + 1.0, top + 1.0}, {cell_width - 2.0, kRowHeight - 2.0}};
      const auto& cell = row.cells[c];
      if (!cell || !std::isfinite(cell->value)) {
        canvas.box(box, "missing");
        canvas.text({box.centre().x, box.centre().y + 4.0}, "-", {.anchor = Anchor::kMiddle, .style = "soft"});
        continue;
      }
      const Colour& colour = colour_of(cell->value / map.centre);
      const std::string count = "n " + with_commas(static_cast<double>(cell->n));
      const bool fits = columns_of(count) <= static_cast<std::size_t>(cell_width / 6.2);
      canvas.box(box, colour.fill, row.name + ", " + map.columns[c] + ": " + fixed(cell->value, 3) + ", " + count);
      canvas.text({box.centre().x, box.centre().y}, fixed(cell->value, 2), {.anchor = Anchor::kMiddle, .style = colour.ink});
      const std::string small = "small " + std::string(colour.ink);
      canvas.text({box.centre().x, box.centre().y + 13.0}, fits ? count : "n " + compact(static_cast<double>(cell->n)),
                  {.anchor = Anchor::kMiddle, .style = small});
    }
  }
  if (map.rows.empty() || map.columns.empty()) canvas.nothing(area);
  draw_key(canvas, {left, area.bottom() + 16.0}, map.centre);
  return std::move(canvas).finish();
}

Table to_table(const HeatMap& map) {
  Table table{.title = map.words.title, .columns = {{.name = map.row_label.empty() ? "row" : map.row_label}}};
  for (const std::string& column : map.columns) {
    table.columns.push_back({.name = column, .kind = Kind::kNumber});
    table.columns.push_back({.name = column + ": n", .kind = Kind::kCount});
  }
  for (const auto& row : map.rows) {
    table.rows.push_back({row.name});
    for (const auto& cell : row.cells) {
      table.rows.back().push_back(cell ? Cell(cell->value) : Cell());
      table.rows.back().push_back(cell ? Cell(cell->n) : Cell());
    }
  }
  return table;
}

}  // namespace margin::report
