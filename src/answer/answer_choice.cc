// The form `choice`: the letter of a multiple-choice answer, where the answer plainly names one; else its text form.
// A wrong letter is worse than none, so the grammar of docs/voting.md#choice is narrow.
#include <algorithm>
#include <array>
#include <optional>
#include <span>

#include "answer/answer_forms.h"

namespace margin::internal {
namespace {

// Markup gone, any bracket a round one, whitespace single: "**Answer:** \boxed{\text{B}}" becomes "Answer: ((B))".
std::string plain(std::string_view answer) {
  std::string out;
  for (std::size_t i = 0; i < answer.size();) {
    const char c = answer[i];
    if (const std::size_t space = space_bytes(answer, i); space != 0) {
      if (!out.empty() && out.back() != ' ') out += ' ';
      i += space;
      continue;
    }
    ++i;
    if (c == '\\') {
      const std::string_view name = command_name(answer, i);
      if (is_text_command(name) || is_box_command(name)) {
        i += name.size();
      } else {
        out += c;
      }
    } else if (c == '{' || c == '[') {
      out += '(';
    } else if (c == '}' || c == ']') {
      out += ')';
    } else if (c != '*' && c != '`' && c != '"' && c != '\'' && c != '$') {
      out += c;
    }
  }
  if (!out.empty() && out.back() == ' ') out.pop_back();
  return out;
}

std::string_view skip_spaces(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
  return text;
}

bool is_any_of(std::string_view word, std::span<const std::string_view> words) {
  return std::any_of(words.begin(), words.end(), [&](std::string_view known) {
    return word.size() == known.size() && std::equal(word.begin(), word.end(), known.begin(), [](char a, char b) { return lower(a) == b; });
  });
}

// What follows "The correct answer is", "Final answer:", "Option" and the like; the whole text where it does not begin so.
std::string_view after_marker(std::string_view text) {
  static constexpr std::array<std::string_view, 3> kNouns = {"answer", "option", "choice"};
  static constexpr std::array<std::string_view, 14> kOthers = {"the",   "my", "final", "correct", "best", "right",     "letter",
                                                               "would", "is", "be",    "so",      "thus", "therefore", "hence"};
  bool marked = false;
  std::string_view rest = text;
  for (;;) {
    const std::string_view word = command_name(rest, 0);
    const bool noun = is_any_of(word, kNouns);
    if (!noun && !is_any_of(word, kOthers)) break;
    marked |= noun;
    rest.remove_prefix(word.size());
    rest.remove_prefix(std::min(rest.find_first_not_of(" :,"), rest.size()));
  }
  return marked ? rest : text;
}

bool is_only_punctuation(std::string_view text) { return text.find_first_not_of(" .,:;!)") == std::string_view::npos; }

// Whether what follows a letter names a second choice: "and (B)", "or C", "cats B) dogs", "B".
bool names_another(std::string_view rest, char letter) {
  static constexpr std::array<std::string_view, 2> kConjunctions = {"and", "or"};
  if (rest.find_first_of("&/+,") == 0 || is_any_of(command_name(rest, 0), kConjunctions)) return true;
  if (is_letter(rest[0]) && is_only_punctuation(rest.substr(1))) return true;
  for (std::size_t i = 0; i + 1 < rest.size(); ++i) {
    const bool stands_alone = i == 0 || !(is_letter(rest[i - 1]) || is_digit(rest[i - 1]));
    if (is_upper(rest[i]) && rest[i] != letter && stands_alone && (rest[i + 1] == ')' || rest[i + 1] == ':')) return true;
  }
  return false;
}

std::optional<char> letter_of(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of("( "), text.size()));
  if (text.empty() || !is_letter(text[0])) return std::nullopt;
  const char letter = text[0];
  text.remove_prefix(1);
  if (is_only_punctuation(text)) return upper(letter);

  // An explanation follows. It must be set off from the letter, which must be a capital unless a bracket marks it as a label.
  const bool bracketed = text[0] == ')';
  text.remove_prefix(std::min(text.find_first_not_of(')'), text.size()));
  const bool stop = text[0] == '.';
  const bool set_off = stop || text[0] == ':';
  if (set_off) text.remove_prefix(1);
  if (!(bracketed || (set_off && is_upper(letter))) || text.empty() || text[0] != ' ') return std::nullopt;
  text = skip_spaces(text);
  // "E. coli" and "J. K. Rowling" are names.
  if (!bracketed && stop && (is_lower(text[0]) || (text.size() > 1 && is_letter(text[0]) && text[1] == '.'))) return std::nullopt;
  if (names_another(text, upper(letter))) return std::nullopt;
  return upper(letter);
}

}  // namespace

std::string choice_form(std::string_view answer) {
  const std::string text = plain(answer);
  if (const auto letter = letter_of(after_marker(text))) return std::string(1, *letter);
  return text_form(answer);
}

}  // namespace margin::internal
