// The canonical forms behind canonical_answer(), one per kind of task. Each is linear in the answer and uses no recursion.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace margin::internal {

[[nodiscard]] std::string code_form(std::string_view answer);
[[nodiscard]] std::string text_form(std::string_view answer);
[[nodiscard]] std::string choice_form(std::string_view answer);
[[nodiscard]] std::string math_form(std::string_view answer);

// Bytes of the whitespace character at `at` (Unicode's White_Space in UTF-8), or 0 when there is none.
[[nodiscard]] std::size_t space_bytes(std::string_view text, std::size_t at);

// No locale, unlike <cctype>.
[[nodiscard]] constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }
[[nodiscard]] constexpr bool is_upper(char c) { return c >= 'A' && c <= 'Z'; }
[[nodiscard]] constexpr bool is_lower(char c) { return c >= 'a' && c <= 'z'; }
[[nodiscard]] constexpr bool is_letter(char c) { return is_upper(c) || is_lower(c); }
[[nodiscard]] constexpr char lower(char c) { return is_upper(c) ? static_cast<char>(c - 'A' + 'a') : c; }
[[nodiscard]] constexpr char upper(char c) { return is_lower(c) ? static_cast<char>(c - 'a' + 'A') : c; }

// The LaTeX command name at `at`, which stands just behind a backslash: its letters, or nothing.
[[nodiscard]] inline std::string_view command_name(std::string_view text, std::size_t at) {
  std::size_t end = at;
  while (end < text.size() && is_letter(text[end])) ++end;
  return text.substr(at, end - at);
}

// \text{...} and its relatives: they change how their argument looks, not what it says.
[[nodiscard]] inline bool is_text_command(std::string_view name) {
  return name == "text" || name == "textbf" || name == "textit" || name == "textrm" || name == "mathrm" || name == "mathbf" ||
         name == "mbox";
}

[[nodiscard]] inline bool is_box_command(std::string_view name) { return name == "boxed" || name == "fbox"; }

}  // namespace margin::internal
