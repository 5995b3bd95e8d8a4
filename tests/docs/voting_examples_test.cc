// The tables of examples in docs/voting.md: every answer of a row has the row's form.
#include <gtest/gtest.h>

#include <fstream>
#include <string>
#include <vector>

#include "margin/answer.h"

namespace margin {
namespace {

std::vector<std::string> quoted(const std::string& cell) {
  std::vector<std::string> texts;
  for (std::size_t open = cell.find('`'); open != std::string::npos;) {
    const std::size_t close = cell.find('`', open + 1);
    texts.push_back(cell.substr(open + 1, close - open - 1));
    open = close == std::string::npos ? close : cell.find('`', close + 1);
  }
  return texts;
}

struct Row {
  std::vector<std::string> answers;
  std::vector<std::string> form;  // empty: the form of kind text
};

// The rows with a quoted first cell in the section "### HEADING".
std::vector<Row> examples(const std::string& heading) {
  std::ifstream file(MARGIN_DOCS "/voting.md");
  std::vector<Row> rows;
  bool inside = false;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("#")) inside = line == "### " + heading;
    if (!inside || !line.starts_with("| `")) continue;
    const std::size_t middle = line.find(" | ", 2);
    rows.push_back({quoted(line.substr(0, middle)), quoted(line.substr(middle))});
  }
  return rows;
}

TEST(VotingExamples, MathRowsHaveOneForm) {
  const std::vector<Row> rows = examples("Math");
  EXPECT_GE(rows.size(), 8U);
  for (const Row& row : rows) {
    ASSERT_EQ(row.form.size(), 1U) << row.answers[0];
    for (const std::string& answer : row.answers) EXPECT_EQ(canonical_answer(AnswerKind::kMath, answer), row.form[0]) << answer;
  }
}

TEST(VotingExamples, ChoiceRowsNameTheirLetter) {
  const std::vector<Row> rows = examples("Choice");
  EXPECT_GE(rows.size(), 6U);
  for (const Row& row : rows) {
    for (const std::string& answer : row.answers) {
      const std::string expected = row.form.empty() ? canonical_answer(AnswerKind::kText, answer) : row.form[0];
      EXPECT_EQ(canonical_answer(AnswerKind::kChoice, answer), expected) << answer;
    }
  }
}

}  // namespace
}  // namespace margin
