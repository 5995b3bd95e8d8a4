#include "report/html.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "report/line_chart.h"
#include "report/report_fixture.h"

namespace margin::report {
namespace {

namespace fs = std::filesystem;

class ReportFile : public testing::Test {
 protected:
  ReportFile() : dir_(fs::temp_directory_path() / ("margin_report_test." + std::to_string(getpid()))) { fs::remove_all(dir_); }
  ~ReportFile() override { fs::remove_all(dir_); }

  std::string content() const {
    std::ostringstream text;
    text << std::ifstream(dir_ / "report.html", std::ios::binary).rdbuf();
    return text.str();
  }
  std::size_t files() const { return static_cast<std::size_t>(std::distance(fs::directory_iterator(dir_), fs::directory_iterator())); }

  fs::path dir_;
};

Report report_titled(const std::string& title) {
  return {.title = title, .summary = {"It helps."}, .sections = {{"First", {"Words."}, {test::scores()}, {}}, {"Second", {}, {}, {}}}};
}

TEST_F(ReportFile, IsWrittenWholeAndReplaced) {
  ASSERT_TRUE(write_report(report_titled("one"), dir_.string()).ok());
  EXPECT_EQ(content(), to_html(report_titled("one")));
  const auto path = write_report(report_titled("two"), dir_.string());
  ASSERT_TRUE(path.ok());
  EXPECT_EQ(*path, (dir_ / "report.html").string());
  EXPECT_EQ(content(), to_html(report_titled("two")));
  EXPECT_EQ(files(), 1U);
}

TEST_F(ReportFile, WhatCannotBeWrittenLeavesNothingBehind) {
  fs::create_directories(dir_ / "report.html");  // a folder stands where the file should be
  const auto path = write_report(report_titled("one"), dir_.string());
  ASSERT_FALSE(path.ok());
  EXPECT_EQ(path.error().code, ErrorCode::kNotFound);
  EXPECT_EQ(files(), 1U);
  const auto below_a_file = write_report(report_titled("one"), "/dev/null/folder");
  ASSERT_FALSE(below_a_file.ok());
  EXPECT_EQ(below_a_file.error().code, ErrorCode::kNotFound);
}

TEST(ReportHtml, SectionsAreListedAndLinked) {
  const std::string html = to_html(report_titled("Title"));
  EXPECT_NE(html.find("<h1>Title</h1>"), std::string::npos);
  EXPECT_NE(html.find("<a href=\"#s2\">Second</a>"), std::string::npos);
  EXPECT_NE(html.find("<h2 id=\"s2\">Second</h2>"), std::string::npos);
  EXPECT_NE(html.find("default-src 'none'"), std::string::npos);
}

TEST(ReportHtml, EveryFigureCarriesItsNumbers) {
  LineChart chart;
  chart.curves = {{"curve", {{1.0, {0.625, {}}}}}};
  const std::string html = to_html(Report{.title = "t", .summary = {}, .sections = {{"s", {}, {}, {figure(chart, "A <caption>.")}}}});
  EXPECT_NE(html.find("<figcaption>A &lt;caption&gt;.</figcaption>"), std::string::npos);
  EXPECT_NE(html.find("<td class=\"right\">0.6250</td>"), std::string::npos);
}

}  // namespace
}  // namespace margin::report
