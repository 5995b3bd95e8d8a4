#include "journal/redact.h"

#include <algorithm>

namespace margin::journal {
namespace {

constexpr std::string_view kMask = "***";

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }
bool word_character(char c) { return (lower(c) >= 'a' && lower(c) <= 'z') || (c >= '0' && c <= '9') || c == '_'; }
// What keys and tokens are made of.
bool token_character(char c) { return word_character(c) || std::string_view("-.~+/=").find(c) != std::string_view::npos; }

bool starts_with_word(std::string_view text, std::string_view lower_word) {
  return text.size() >= lower_word.size() &&
         std::equal(lower_word.begin(), lower_word.end(), text.begin(), [](char a, char b) { return a == lower(b); });
}

std::size_t token_length(std::string_view text) {
  return static_cast<std::size_t>(std::find_if_not(text.begin(), text.end(), token_character) - text.begin());
}

// How much of a token may stay: the public part of our own keys.
std::size_t public_length(std::string_view token) {
  constexpr std::string_view kOurs = "sk-mg-";
  constexpr std::size_t kPublic = kOurs.size() + 12;
  const bool ours = token.size() > kPublic && token.starts_with(kOurs) && token[kPublic] == '-';
  return ours ? kPublic + 1 : 0;
}

// The length of a name and its separators at the start of `text` after which a secret stands; 0: none does.
std::size_t announcement(std::string_view text) {
  for (const std::string_view scheme : {"bearer", "basic"}) {
    if (!starts_with_word(text, scheme)) continue;
    const std::size_t end = std::min(text.find_first_not_of(' ', scheme.size()), text.size());
    if (end > scheme.size()) return end;
  }
  for (const std::string_view header : {"authorization", "api-key", "api_key"}) {
    if (!starts_with_word(text, header)) continue;
    const std::size_t end = std::min(text.find_first_not_of("\"' :=", header.size()), text.size());
    if (text.substr(header.size(), end - header.size()).find_first_of(":=") != std::string_view::npos) return end;
  }
  return 0;
}

}  // namespace

std::string redact(std::string_view text) {
  constexpr std::size_t kKeyLengthMin = 11;  // shorter "sk-" words are words
  std::string out;
  bool at_word = true;
  bool secret_next = false;
  while (!text.empty()) {
    const std::size_t announced = at_word ? announcement(text) : 0;
    if (announced > 0) {
      out += text.substr(0, announced);
      text.remove_prefix(announced);
      secret_next = true;
      continue;
    }
    const std::size_t length = token_length(text);
    const bool key = at_word && text.starts_with("sk-") && length >= kKeyLengthMin;
    if (length > 0 && (secret_next || key)) {
      const std::size_t kept = public_length(text.substr(0, length));
      out += kept > 0 ? text.substr(0, kept) : key ? text.substr(0, 3) : "";
      out += kMask;
      text.remove_prefix(length);
      at_word = false;
    } else {
      at_word = !word_character(text.front());
      out += text.front();
      text.remove_prefix(1);
    }
    secret_next = false;
  }
  return out;
}

}  // namespace margin::journal
