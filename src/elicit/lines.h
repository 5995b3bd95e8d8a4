// A reply as lines that know what they are part of: only plain text may state a confidence or an answer; code, quotations and reasoning
// may contain anything.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace margin::elicit {

enum class Place : std::uint8_t {
  kText,
  kQuote,      // begins with ">"
  kIndented,   // by four columns or more: Markdown's other way to show code
  kFence,      // the ``` or ~~~ line itself
  kCode,       // between fences; an unclosed fence lasts to the end
  kReasoning,  // <think>...</think> and its relatives, one piece; unclosed: to the end
};

struct Line {
  std::string_view text;  // with its line break: all lines of a reply joined are the reply
  Place place = Place::kText;

  // Without the line break and the spaces around.
  [[nodiscard]] std::string_view content() const;
};

// One line after the other, in one pass and constant memory.
class LineReader {
 public:
  explicit LineReader(std::string_view reply);
  [[nodiscard]] std::optional<Line> next();
  // After the last line: whether a fence was never closed.
  [[nodiscard]] bool fence_open() const { return fence_size_ > 0; }

 private:
  struct FromStart {};
  LineReader(std::string_view reply, FromStart) : rest_(reply) {}

  [[nodiscard]] Line take(std::size_t size, Place place);
  [[nodiscard]] static std::size_t unopened_reasoning(std::string_view reply);

  std::string_view rest_;
  std::size_t unopened_ = 0;  // bytes before a closing tag whose opening tag stood in the prompt
  std::size_t fence_size_ = 0;
  char fence_ = 0;
};

// Without whitespace (ASCII's) around.
[[nodiscard]] std::string_view trimmed(std::string_view text);

}  // namespace margin::elicit
