// The part of a reply that votes, by kind of task.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "elicit/elicit.h"

namespace margin::elicit {

// What one pass over the lines finds, before anybody asks what kind of task it was. The views point into the reply.
struct Outline {
  std::string text;                       // without reasoning and confidence lines
  std::vector<std::string_view> answers;  // what "Answer:" lines state, in their order
  std::string_view first_line;            // of those that say something
  std::string_view last_line;
  std::optional<std::string_view> block;  // what the last closed fence holds
  bool block_open = false;                // a fence was never closed
};

struct Extract {
  std::string answer;   // empty: there is none
  bool marked = false;  // set apart as the answer (a letter, a fence, a box, an "Answer:" line), not only the text at large
};

// What an "Answer:" line states, "" where it stands on the next line; nothing where the line is not one.
[[nodiscard]] std::optional<std::string_view> answer_line(std::string_view line);

[[nodiscard]] Extract extract_answer(Task task, const Outline& outline);

}  // namespace margin::elicit
