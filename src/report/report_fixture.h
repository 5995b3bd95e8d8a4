// What the tests of this layer share: hostile text, and golden files that a reviewer reads (tests/report/golden).
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <limits>
#include <sstream>
#include <string>

#include "report/table.h"

namespace margin::report::test {

extern const std::string kGoldenFolder;  // in table_test.cc

// Markup, a formula, an escape sequence, a bell, a carriage return, a direction override, the ends of a Markdown and a LaTeX cell, a byte
// that is not UTF-8.
inline const std::string kHostile = "<script>\"'&]]>=1+1\x1b[2J\x07\r\xe2\x80\xae|`\\end{tabular}%\xff";

// Set MARGIN_UPDATE_GOLDEN=1 to write the files instead; then read the difference before committing it.
inline void expect_golden(const std::string& name, const std::string& actual) {
  const std::string path = kGoldenFolder + "/" + name;
  if (std::getenv("MARGIN_UPDATE_GOLDEN") != nullptr) std::ofstream(path, std::ios::binary) << actual;
  std::ifstream file(path, std::ios::binary);
  ASSERT_TRUE(file) << path;
  std::ostringstream expected;
  expected << file.rdbuf();
  EXPECT_EQ(actual, expected.str()) << path;
}

// No byte that a terminal would act on.
inline void expect_tame(const std::string& text) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    const bool line_end = text[i] == '\n' || (text[i] == '\r' && i + 1 < text.size() && text[i + 1] == '\n');
    EXPECT_TRUE((byte >= 0x20 && byte != 0x7f) || line_end) << "byte " << int{byte} << " at " << i;
  }
  EXPECT_EQ(text.find("\xe2\x80\xae"), std::string::npos);
  EXPECT_EQ(text.find('\xff'), std::string::npos);
}

// Every kind of column and cell.
inline Table scores() {
  Table table{.title = "Scores by method",
              .columns = {{.name = "method"},
                          {.name = "ECE", .kind = Kind::kPercent},
                          {.name = "Brier", .kind = Kind::kNumber, .digits = 4},
                          {.name = "rows", .kind = Kind::kCount},
                          {.name = "remark", .alignment = Alignment::kCentre}},
              .rows = {{"raw", Estimate{0.3232, Interval{0.3191, 0.3275}}, 0.33711, 51360, "stated"},
                       {"margin", Estimate{0.0127, Interval{0.0102, 0.0163}}, 0.2134, 51360, Cell()},
                       {"modèle_été", 0.0074, std::numeric_limits<double>::quiet_NaN(), 128, "a, \"b\""}},
              .notes = {"95% intervals."}};
  mark_best_in_column(table, 1, Best::kLowest);
  return table;
}

}  // namespace margin::report::test
