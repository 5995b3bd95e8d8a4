// docs/elicitation.md: its table of confidences is how they are read, and its templates are the ones in use.
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <string>

#include "elicit/elicit.h"

namespace margin::elicit {
namespace {

std::string page() {
  std::ifstream file(MARGIN_DOCS "/elicitation.md");
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

std::string read_as(const std::string& written) {
  const Reading reading = read_reply(Task::kFree, Mode::kLine, "x\nConfidence: " + written);
  if (!reading.confidence) return "`" + std::string(name_of(reading.missing)) + "`";
  std::ostringstream out;
  out << *reading.confidence;
  return out.str();
}

TEST(ElicitationPage, ItsTableOfConfidencesIsHowTheyAreRead) {
  std::istringstream lines(page());
  std::size_t examples = 0;
  bool inside = false;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("#")) inside = line == "## Confidence";
    if (!inside || !line.starts_with("| `")) continue;
    const std::size_t middle = line.find(" | ");
    const std::string expected = line.substr(middle + 3, line.find(" | ", middle + 3) - middle - 3);
    for (std::size_t open = line.find('`'); open < middle; open = line.find('`', open + 1)) {
      const std::size_t close = line.find('`', open + 1);
      EXPECT_EQ(read_as(line.substr(open + 1, close - open - 1)), expected) << line;
      open = close;
      ++examples;
    }
  }
  EXPECT_GE(examples, 20U);
}

TEST(ElicitationPage, HasEveryTemplate) {
  const std::string text = page();
  for (const Task task : kTasks) {
    for (const Mode mode : {Mode::kLine, Mode::kSchema}) {
      const Template& used = find_template(task, mode);
      const std::string section = "### " + std::string(used.name) + "\n```text\n" + std::string(used.instructions) + "\n```\n";
      EXPECT_NE(text.find(section), std::string::npos) << section;
    }
  }
  EXPECT_NE(text.find(find_template(Task::kFree, Mode::kSchema).response_format), std::string::npos);
}

}  // namespace
}  // namespace margin::elicit
