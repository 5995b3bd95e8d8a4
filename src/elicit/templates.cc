// What models are told, per task and mode. Another text needs another version: responses are calibrated per template.
#include <array>
#include <map>

#include "elicit/elicit.h"

namespace margin::elicit {
namespace {

struct TaskText {
  Task task;
  std::string_view line;    // how to answer, in line mode
  std::string_view schema;  // what belongs into "answer"
  std::string_view answer;  // of the example, in line mode
  std::string_view quoted;  // of the example, as a JSON string's content
};

constexpr std::array<TaskText, std::size(kTasks)> kTexts = {
    TaskText{
        Task::kCode,
        "Write the requested code. Give it complete, in a single fenced code block, with nothing left out.",
        "the complete code and nothing else, without fences",
        "```python\ndef double(x):\n    return 2 * x\n```",
        R"(def double(x):\n    return 2 * x)",
    },
    TaskText{
        Task::kCompetitionCode,
        "Solve the programming problem. Give one complete program in a single fenced code block; it is run against hidden tests, so it has "
        "to read and print exactly what the problem says.",
        "the complete program and nothing else, without fences",
        "```python\nprint(sum(map(int, input().split())))\n```",
        "print(sum(map(int, input().split())))",
    },
    TaskText{
        Task::kChoice,
        "Answer the multiple-choice question. Begin with a line of the form \"Answer: X\" where X is the letter of your choice. You may "
        "add a "
        "short reason below it.",
        "the letter of your choice and nothing else",
        "Answer: B\nIron rusts because it takes up oxygen.",
        "B",
    },
    TaskText{
        Task::kShortAnswer,
        "Answer the question. Begin with a line of the form \"Answer: ...\" that holds the answer alone, in as few words as it needs. You "
        "may "
        "add a short reason below it.",
        "the answer alone, in as few words as it needs",
        "Answer: Lima",
        "Lima",
    },
    TaskText{
        Task::kMath,
        "Solve the problem. Work it out as you need, then put the final result, and only the result, into \\boxed{}.",
        "the final result alone, as a number or a LaTeX expression",
        "Half of 3/2 is $\\boxed{\\frac{3}{4}}$.",
        R"(\\frac{3}{4})",
    },
    TaskText{
        Task::kFree,
        "Answer as you normally would.",
        "your whole answer",
        "Because it is lighter than water.",
        "Because it is lighter than water.",
    },
};

constexpr std::string_view kConfidenceLine =
    "\n\nAfter the answer, end your reply with one more line, of exactly this form:\nConfidence: N\nHere N is a whole number from 0 to "
    "100: "
    "how likely you think it is, in percent, that your answer is right. Of all the answers you give with N = 70, seven in ten should turn "
    "out right. Write nothing after that line.";

constexpr std::string_view kConfidenceMember = "Reply with one JSON object of two members and nothing around it. \"answer\" holds ";
constexpr std::string_view kConfidenceMemberEnd =
    ". \"confidence\" comes after it: a whole number from 0 to 100, how likely you think it is, in percent, that the answer is right. Of "
    "all the answers you give with 70, seven in ten should turn out right.";

// Ranges are left to the description: not every endpoint with strict schemas knows "minimum".
constexpr std::string_view kResponseFormat =
    R"({"type":"json_schema","json_schema":{"name":"answer_with_confidence","strict":true,"schema":{"type":"object","properties":)"
    R"({"answer":{"type":"string"},"confidence":{"type":"integer","description":"0 to 100: percent chance that the answer is right"}},)"
    R"("required":["answer","confidence"],"additionalProperties":false}}})";

// Templates are views, so their texts are kept here.
struct Kept {
  std::string name;
  std::string instructions;
  std::string example;
  Template shown;
};

using Table = std::map<std::pair<Task, Mode>, Kept>;

Table make_table() {
  Table table;
  const auto add = [&](const TaskText& text, Mode mode, std::string instructions, std::string example) {
    Kept& kept = table[{text.task, mode}];
    kept.name = std::string(name_of(text.task)) + '/' + std::string(name_of(mode)) + "@1";
    kept.instructions = std::move(instructions);
    kept.example = std::move(example);
    kept.shown = {.name = kept.name,
                  .instructions = kept.instructions,
                  .response_format = mode == Mode::kSchema ? kResponseFormat : std::string_view(),
                  .example = kept.example};
  };
  for (const TaskText& text : kTexts) {
    add(text, Mode::kOff, "", "");
    add(text, Mode::kLine, std::string(text.line) + std::string(kConfidenceLine), std::string(text.answer) + "\n\nConfidence: 80");
    add(text, Mode::kSchema, std::string(kConfidenceMember) + std::string(text.schema) + std::string(kConfidenceMemberEnd),
        R"({"answer":")" + std::string(text.quoted) + R"(","confidence":80})");
  }
  return table;
}

}  // namespace

const Template& find_template(Task task, Mode mode) {
  static const Table kTable = make_table();
  return kTable.at({task, mode}).shown;
}

}  // namespace margin::elicit
