// Elicitation: how a model is asked for an answer with its confidence, and how both are read from what it replies. Text in, values out;
// the gateway does the asking. docs/elicitation.md describes the rules and every template.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "margin/answer.h"
#include "margin/result.h"

namespace margin::elicit {

// What kind of task a model is asked; each has its template and its equivalence of answers.
enum class Task { kCode, kCompetitionCode, kChoice, kShortAnswer, kMath, kFree };
inline constexpr Task kTasks[] = {Task::kCode, Task::kCompetitionCode, Task::kChoice, Task::kShortAnswer, Task::kMath, Task::kFree};
[[nodiscard]] std::string_view name_of(Task task);            // "code", "competition_code", "choice", "short_answer", "math", "free"
[[nodiscard]] Result<Task> find_task(std::string_view name);  // with a suggestion
[[nodiscard]] AnswerKind equivalence(Task task);

enum class Mode {
  kOff,     // nothing is asked for: the prompt stays as it is and no confidence is read
  kLine,    // the answer, then "Confidence: NN" on a line of its own
  kSchema,  // a JSON object {"answer", "confidence"} by response_format json_schema
};
[[nodiscard]] std::string_view name_of(Mode mode);  // "off", "line", "schema"
[[nodiscard]] Result<Mode> find_mode(std::string_view name);

// What is said to the model, as an additional system message at the end of the conversation's leading system messages.
struct Template {
  std::string_view name;             // "choice/line@1": recorded with each response; another text is another version
  std::string_view instructions;     // empty for kOff
  std::string_view response_format;  // JSON for "response_format"; empty but for kSchema
  std::string_view example;          // a reply as asked for; empty for kOff
};
[[nodiscard]] const Template& find_template(Task task, Mode mode);

// Why there is no confidence.
enum class Missing {
  kNone,
  kNotAsked,
  kAbsent,       // the last line is not a confidence line; the object has no "confidence"
  kOutOfRange,   // a number, but not of 0 to 100
  kConflicting,  // two lines state different numbers
  kMalformed,    // stated in words, or in a reply that was cut off
  kRefused,      // stated about a refusal, which is right or wrong about nothing
};
[[nodiscard]] std::string_view name_of(Missing missing);

struct Reading {
  std::string shown;                 // what the client sees: the reply without its confidence line; kSchema: the object's answer
  std::string answer;                // what votes: the canonical part of it (the letter, the value, the code), empty when there is none
  std::optional<double> confidence;  // 0 to 1
  Missing missing = Missing::kNone;
  bool refused = false;    // the model declined, or said that it does not know; then there is no answer and no confidence
  bool malformed = false;  // no answer of the task's form could be found, or the reply was cut off
};

// Reads one reply. `cut_off`: the upstream says it stopped for length. Linear in the length of the reply.
[[nodiscard]] Reading read_reply(Task task, Mode mode, std::string_view reply, bool cut_off = false);

// The consistency channel: the share of samples (the first included) whose answer equals the first's by the task's equivalence; nothing
// when the first has no answer. A sample without an answer agrees with nobody.
[[nodiscard]] std::optional<double> agreement(Task task, std::span<const std::string> answers);

}  // namespace margin::elicit
