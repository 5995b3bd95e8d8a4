#include "report/table.h"

#include <gtest/gtest.h>

#include "report/html.h"
#include "report/report_fixture.h"

namespace margin::report::test {
const std::string kGoldenFolder = MARGIN_REPORT_GOLDEN;
}  // namespace margin::report::test

namespace margin::report {
namespace {

using test::expect_golden;
using test::expect_tame;
using test::kHostile;

TEST(ReportTable, TextIsAligned) { expect_golden("scores.txt", to_text(test::scores())); }
TEST(ReportTable, Csv) { expect_golden("scores.csv", to_csv(test::scores())); }
TEST(ReportTable, Markdown) { expect_golden("scores.md", to_markdown(test::scores())); }
TEST(ReportTable, Latex) { expect_golden("scores.tex", to_latex(test::scores())); }
TEST(ReportTable, Json) { expect_golden("scores.json", to_json(test::scores())); }
TEST(ReportTable, Html) { expect_golden("scores.html", to_html(test::scores())); }

Table hostile() {
  return {.title = kHostile,
          .columns = {{.name = kHostile}, {.name = "=cmd", .kind = Kind::kNumber}},
          .rows = {{kHostile, -1.5}, {"-2+3", Cell()}},
          .notes = {kHostile}};
}

TEST(ReportTable, HostileTextStaysTextInEveryFormat) {
  for (const char* name : {"text", "csv", "markdown", "latex", "json"}) {
    SCOPED_TRACE(name);
    const std::string out = render(std::vector{hostile()}, *parse_format(name));
    expect_tame(out);
    expect_golden(std::string("hostile.") + name, out);
  }
  const std::string html = to_html(hostile());
  expect_tame(html);
  expect_golden("hostile.html", html);
}

TEST(ReportTable, EscapeSequencesOnlyWhenAskedFor) {
  EXPECT_EQ(to_text(test::scores()).find('\x1b'), std::string::npos);
  const std::string coloured = to_text(test::scores(), {.colour = true});
  EXPECT_NE(coloured.find("\x1b[1;32m0.74%\x1b[0m"), std::string::npos);
  // Without its escape sequences it is the plain table.
  std::string plain;
  for (std::size_t i = 0; i < coloured.size(); ++i) {
    if (coloured[i] == '\x1b')
      i = coloured.find('m', i);
    else
      plain += coloured[i];
  }
  EXPECT_EQ(plain, to_text(test::scores()));
}

TEST(ReportTable, NumbersStayNumbersInCsv) {
  const Table table{.title = "", .columns = {{.name = "x", .kind = Kind::kNumber}}, .rows = {{-0.5}, {Cell()}, {1e-9}}};
  EXPECT_EQ(to_csv(table), "x\r\n-0.5\r\n\r\n1e-09\r\n");
}

TEST(ReportTable, WhatIsNotFiniteIsMissing) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const Column column{.name = "x", .kind = Kind::kPercent};
  EXPECT_EQ(cell_text(Cell(nan), column), "-");
  EXPECT_EQ(cell_text(Estimate{0.5, Interval{nan, 1.0}}, column), "50.00%");
  EXPECT_EQ(cell_text(std::optional<double>(), column), "-");
}

TEST(ReportTable, AllEqualBestAreMarked) {
  Table table{.title = "",
              .columns = {{.name = "a", .kind = Kind::kNumber}, {.name = "b", .kind = Kind::kNumber}, {.name = "c"}},
              .rows = {{1, 2, "0"}, {1, 3, Cell()}, {4, 5, Cell()}}};
  mark_best_in_column(table, 0, Best::kLowest);
  EXPECT_TRUE(table.rows[0][0].best && table.rows[1][0].best);
  EXPECT_FALSE(table.rows[2][0].best);
  mark_best_in_row(table, 0, Best::kHighest);
  EXPECT_TRUE(table.rows[0][1].best);
  EXPECT_FALSE(table.rows[0][0].best || table.rows[0][2].best);
}

TEST(ReportTable, FormatsAreKnownByName) {
  EXPECT_EQ(*parse_format("latex"), Format::kLatex);
  const auto wrong = parse_format("markdwn");
  ASSERT_FALSE(wrong.ok());
  EXPECT_EQ(wrong.error().message, "format: unknown 'markdwn' (did you mean markdown?)");
}

TEST(ReportTable, SeveralTablesAreOneJsonArray) {
  const Table one{.title = "a"};
  EXPECT_EQ(render(std::vector{one, one}, Format::kJson),
            "[{\"title\":\"a\",\"columns\":[],\"rows\":[],\"notes\":[]},{\"title\":\"a\",\"columns\":[],\"rows\":[],\"notes\":[]}]\n");
}

}  // namespace
}  // namespace margin::report
