// The forms `code` and `text`, and what counts as whitespace in all of them.
#include <cstdint>

#include "answer/answer_forms.h"

namespace margin::internal {
namespace {

std::uint8_t byte_at(std::string_view text, std::size_t at) { return at < text.size() ? static_cast<std::uint8_t>(text[at]) : 0; }

// Bytes of the punctuation character at `at`: ASCII, or the dashes, quotes, bullets and primes of U+2010..2027 and U+2030..205E.
std::size_t punctuation_bytes(std::string_view text, std::size_t at) {
  const std::uint8_t first = byte_at(text, at);
  if (first < 0x80) return first > ' ' && first < 0x7f && !is_digit(text[at]) && !is_letter(text[at]) ? 1 : 0;
  if (first != 0xe2) return 0;
  const std::uint8_t second = byte_at(text, at + 1);
  const std::uint8_t third = byte_at(text, at + 2);
  const bool general = second == 0x80 && ((third >= 0x90 && third <= 0xa7) || (third >= 0xb0 && third <= 0xbf));
  const bool more = second == 0x81 && third >= 0x80 && third <= 0x9e;
  return general || more ? 3 : 0;
}

bool is_article(std::string_view word) { return word == "a" || word == "an" || word == "the"; }

}  // namespace

std::size_t space_bytes(std::string_view text, std::size_t at) {
  const std::uint8_t first = byte_at(text, at);
  if (first < 0x80) return at < text.size() && (first == ' ' || (first >= '\t' && first <= '\r')) ? 1 : 0;
  const std::uint8_t second = byte_at(text, at + 1);
  if (first == 0xc2) return second == 0x85 || second == 0xa0 ? 2 : 0;  // next line, no-break space
  const std::uint8_t third = byte_at(text, at + 2);
  const auto is = [&](std::uint8_t a, std::uint8_t b, std::uint8_t c) { return first == a && second == b && third == c; };
  if (first == 0xe2 && second == 0x80 && third >= 0x80 && third <= 0x8a) return 3;                             // U+2000..200A
  if (is(0xe2, 0x80, 0xa8) || is(0xe2, 0x80, 0xa9) || is(0xe2, 0x80, 0xaf) || is(0xe2, 0x81, 0x9f)) return 3;  // U+2028, 2029, 202F, 205F
  return is(0xe1, 0x9a, 0x80) || is(0xe3, 0x80, 0x80) ? 3 : 0;                                                 // U+1680, 3000
}

std::string code_form(std::string_view answer) {
  std::string form;
  for (std::size_t i = 0; i < answer.size();) {
    if (const std::size_t space = space_bytes(answer, i); space != 0) {
      i += space;
    } else {
      form += answer[i++];
    }
  }
  return form;
}

std::string text_form(std::string_view answer) {
  std::string form;
  std::size_t word = 0;  // where the current word begins in `form`
  const auto end_word = [&] {
    if (is_article(std::string_view(form).substr(word))) form.resize(word);
    if (form.size() > word) form += ' ';
    word = form.size();
  };
  for (std::size_t i = 0; i < answer.size();) {
    if (const std::size_t space = space_bytes(answer, i); space != 0) {
      end_word();
      i += space;
    } else if (const std::size_t mark = punctuation_bytes(answer, i); mark != 0) {
      i += mark;
    } else {
      form += lower(answer[i++]);
    }
  }
  end_word();
  if (form.empty()) return std::string(answer);
  form.pop_back();
  return form;
}

}  // namespace margin::internal
