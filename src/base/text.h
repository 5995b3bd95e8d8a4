// Text for people and for JSON. Names and answers of a log are hostile: nothing of them reaches a terminal or a file unescaped.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace margin::internal {

// The UTF-8 sequence at the start of a text that is not empty; length 0 when the bytes are not UTF-8.
struct Utf8 {
  std::size_t length = 0;
  std::uint32_t point = 0;
};
[[nodiscard]] Utf8 first_utf8(std::string_view text);

// For a terminal: control characters (C0, DEL, C1), direction marks, code points that are no characters and bytes that are not UTF-8
// become \xNN, a longer text is cut after `bytes_max` bytes with "...".
[[nodiscard]] std::string printable(std::string_view text, std::size_t bytes_max = 80);

// A JSON string with its quotes. What printable() makes visible is escaped, so JSON may be looked at on a terminal too; bytes that are
// not UTF-8 become U+FFFD.
[[nodiscard]] std::string json_string(std::string_view text);

// The shortest decimal that reads back to the same bits.
[[nodiscard]] std::string shortest(double value);
inline constexpr std::size_t kShortestMax = 24;  // bytes
// Writes it; returns the end.
char* write_shortest(char* to, double value);
// The nearest decimal of at most twelve places, within 1e-12 of the value; the shortest one for what is below 0.0001, or 1000 and more, and
// no whole number. As JSON has it: "null" for NaN and infinities. For figures that are told and not computed with: it takes a small part of
// the time.
inline constexpr std::size_t kRoundedMax = kShortestMax;
char* write_rounded(char* to, double value);
// "null" for NaN and infinities, which JSON does not have.
[[nodiscard]] std::string json_number(double value);

}  // namespace margin::internal
