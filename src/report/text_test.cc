#include "report/text.h"

#include <gtest/gtest.h>

#include <array>
#include <limits>

#include "report/report_fixture.h"

namespace margin::report {
namespace {

TEST(ReportText, NumbersAreRoundedAndNeverMinusZero) {
  EXPECT_EQ(fixed(0.12345, 3), "0.123");
  EXPECT_EQ(fixed(-0.0004, 3), "0.000");
  EXPECT_EQ(fixed(-0.0006, 3), "-0.001");
  EXPECT_EQ(fixed(2.0, 0), "2");
  EXPECT_EQ(fixed(1.2345e20, 5), "1.234e+20");
  EXPECT_EQ(fixed(std::numeric_limits<double>::infinity(), 2), "-");
}

TEST(ReportText, CountsHaveTheirThousandsApart) {
  EXPECT_EQ(with_commas(0), "0");
  EXPECT_EQ(with_commas(999), "999");
  EXPECT_EQ(with_commas(51360), "51,360");
  EXPECT_EQ(with_commas(-1234567), "-1,234,567");
  EXPECT_EQ(with_commas(-123), "-123");
  EXPECT_EQ(compact(9999), "9,999");
  EXPECT_EQ(compact(51360), "51k");
  EXPECT_EQ(compact(1234567), "1.2M");
  EXPECT_EQ(compact(7.2e12), "7,200G");
}

TEST(ReportText, DigitsShowAllOfTheValues) {
  EXPECT_EQ(digits_for(std::array{10.0, 164.0, 0.0}, 6), 0);
  EXPECT_EQ(digits_for(std::array{0.005, 0.32}, 6), 3);
  EXPECT_EQ(digits_for(std::array{1.0 / 3.0}, 6), 6);
}

TEST(ReportText, HostileTextIsEscapedForEachOutput) {
  EXPECT_EQ(escape_markup("<a href='x' title=\"y\">&amp;\x01"), "&lt;a href=&#39;x&#39; title=&quot;y&quot;&gt;&amp;amp;\\x01");
  EXPECT_EQ(escape_markdown("a|b`c`<b>*_[x](y)\n"), "a\\|b\\`c\\`&lt;b&gt;\\*\\_\\[x\\](y)\\\\x0a");
  EXPECT_EQ(escape_latex("100% \\input{x} a_b ~^#&$"),
            "100\\% \\textbackslash{}input\\{x\\} a\\_b \\textasciitilde{}\\textasciicircum{}\\#\\&\\$");
  test::expect_tame(escape_markup(test::kHostile));
  test::expect_tame(escape_markdown(test::kHostile));
  test::expect_tame(escape_latex(test::kHostile));
  test::expect_tame(csv_field(test::kHostile));
}

TEST(ReportText, FormulasAreDefusedInCsv) {
  EXPECT_EQ(csv_field("=1+1"), "'=1+1");
  EXPECT_EQ(csv_field("+x"), "'+x");
  EXPECT_EQ(csv_field("-x"), "'-x");
  EXPECT_EQ(csv_field("@SUM(A1)"), "'@SUM(A1)");
  EXPECT_EQ(csv_field("\t=1"), "'\\x09=1");
  EXPECT_EQ(csv_field("\r=1"), "'\\x0d=1");
  EXPECT_EQ(csv_field("＝1"), "'＝1");
  EXPECT_EQ(csv_field("=HYPERLINK(\"x\",1)"), "\"'=HYPERLINK(\"\"x\"\",1)\"");
  EXPECT_EQ(csv_field("a=b"), "a=b");
}

TEST(ReportText, WidthIsCountedInColumns) {
  EXPECT_EQ(columns_of("abc"), 3U);
  EXPECT_EQ(columns_of("modèle"), 6U);
  EXPECT_EQ(columns_of("mode\u0300le"), 6U);
  EXPECT_EQ(columns_of("漢字"), 4U);
}

TEST(ReportText, LongTextIsCutToItsColumns) {
  EXPECT_EQ(shortened("abcdef", 6), "abcdef");
  EXPECT_EQ(shortened("abcdefg", 6), "abcde…");
  EXPECT_EQ(shortened("漢字漢字", 6), "漢字…");
  EXPECT_EQ(shortened("\x1b[2J", 20), "\\x1b[2J");
}

}  // namespace
}  // namespace margin::report
