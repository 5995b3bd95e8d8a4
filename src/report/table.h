// Table: what the experiments print, as plain values. Renderers turn it into text, CSV, Markdown, LaTeX, JSON (here) and HTML (html.h).
// All text in it is taken to be hostile; each renderer escapes it.
#pragma once

#include <concepts>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "margin/result.h"
#include "report/estimate.h"

namespace margin::report {

enum class Kind {
  kText,
  kNumber,
  kPercent,  // given as a fraction; multiplied by 100 only where a person reads it
  kCount,    // a whole number, with thousands separated
};

enum class Alignment { kByKind, kLeft, kRight, kCentre };  // by kind: text to the left, numbers to the right

struct Column {
  std::string name;
  Kind kind = Kind::kText;
  std::optional<int> digits = {};  // behind the point, for people; 2 for percent, else 3; files for programs have them all
  Alignment alignment = Alignment::kByKind;
};

// Text, a number (perhaps with its interval), or missing. A number that is not finite is missing.
struct Cell {
  Cell() = default;
  Cell(std::string text) : content(std::move(text)) {}         // NOLINT(google-explicit-constructor)
  Cell(std::string_view text) : content(std::string(text)) {}  // NOLINT(google-explicit-constructor)
  Cell(const char* text) : content(std::string(text)) {}       // NOLINT(google-explicit-constructor)
  Cell(const Estimate& estimate);                              // NOLINT(google-explicit-constructor)
  Cell(const std::optional<double>& value);                    // NOLINT(google-explicit-constructor)
  Cell(double value) : Cell(Estimate{value, {}}) {}            // NOLINT(google-explicit-constructor)
  template <std::integral T>
  requires(!std::same_as<T, bool>) Cell(T count) : Cell(static_cast<double>(count)) {}  // NOLINT(google-explicit-constructor)

  [[nodiscard]] const std::string* text() const { return std::get_if<std::string>(&content); }
  [[nodiscard]] const Estimate* estimate() const { return std::get_if<Estimate>(&content); }

  std::variant<std::monostate, std::string, Estimate> content;
  bool best = false;  // shown in bold, or with a star where there is no bold
};

struct Table {
  std::string title;
  std::vector<Column> columns;
  std::vector<std::vector<Cell>> rows;  // each as long as `columns`
  std::vector<std::string> notes;
};

enum class Best { kLowest, kHighest };
// Marks the best number, and all that equal it; text and missing cells take no part.
void mark_best_in_column(Table& table, std::size_t column, Best which);
void mark_best_in_row(Table& table, std::size_t row, Best which, std::size_t first_column = 0);

// What a person reads in a cell, not escaped: "12.30% [11.90, 12.75]", "51,360", "-" for missing.
[[nodiscard]] std::string cell_text(const Cell& cell, const Column& column);
[[nodiscard]] bool stands_right(const Column& column);

struct TextStyle {
  bool colour = false;                // bold and colour by escape sequences: only for a terminal
  std::size_t text_columns_max = 48;  // longer names are cut, with "…"
};
[[nodiscard]] std::string to_text(const Table& table, const TextStyle& style = {});
// One line of names, then the rows; fractions and all digits; NAME_low and NAME_high beside a column that has intervals.
[[nodiscard]] std::string to_csv(const Table& table);
[[nodiscard]] std::string to_markdown(const Table& table);
// A table environment for the package booktabs.
[[nodiscard]] std::string to_latex(const Table& table);
// {"title","columns":[{"name","kind"}],"rows":[[cell]],"notes"}: a cell is a text, a number, null, or {"value","low","high"}.
[[nodiscard]] std::string to_json(const Table& table);

enum class Format { kText, kCsv, kMarkdown, kLatex, kJson };
// text, csv, markdown, latex or json. kInvalidArgument: another name.
[[nodiscard]] Result<Format> parse_format(std::string_view name);
// Several tables one after the other, an empty line between them; JSON: an array.
[[nodiscard]] std::string render(std::span<const Table> tables, Format format, const TextStyle& style = {});

}  // namespace margin::report
