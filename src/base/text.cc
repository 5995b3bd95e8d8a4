#include "base/text.h"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>

#include "base/hex.h"

namespace margin::internal {
namespace {

void append_byte(std::string& out, unsigned char byte) {
  out += "\\x";
  out += kHexDigits[byte >> 4];
  out += kHexDigits[byte & 15];
}

bool safe(std::uint32_t point) {
  const bool control = point < 0x20 || (point >= 0x7f && point <= 0x9f);
  // Line and paragraph separators, and marks that reverse the direction of what follows.
  const bool layout = (point >= 0x2028 && point <= 0x202e) || (point >= 0x2066 && point <= 0x2069) || point == 0x200e || point == 0x200f ||
                      point == 0x061c || point == 0xfeff;
  const bool no_character = point == 0xfffe || point == 0xffff;  // XML forbids them
  return !control && !layout && !no_character;
}

bool plain(char c) { return c >= 0x20 && c < 0x7f && c != '"' && c != '\\'; }

// Some byte of the word is not plain. Eight bytes at a time, by the compiler's own vectors; those from 0x80 on are negative there.
bool any_special(std::uint64_t word) {
  using Bytes = signed char __attribute__((vector_size(sizeof word)));
  const auto all = [](signed char c) { return Bytes{c, c, c, c, c, c, c, c}; };
  const auto bytes = std::bit_cast<Bytes>(word);
  return std::bit_cast<std::uint64_t>((bytes < all(0x20)) | (bytes == all('"')) | (bytes == all('\\')) | (bytes == all(0x7f))) != 0;
}

// Two digits.
void write_pair(char* to, std::uint64_t number) {
  static constexpr auto kPairs = [] {
    std::array<char, 200> pairs{};
    for (std::size_t i = 0; i < 100; ++i) {
      pairs[2 * i] = static_cast<char>('0' + i / 10);
      pairs[2 * i + 1] = static_cast<char>('0' + i % 10);
    }
    return pairs;
  }();
  std::memcpy(to, &kPairs[2 * number], 2);
}

// Six digits, by pairs: each is what stands before the point, and 100 times what stands behind it gives the next. The fraction has 32 bits
// and is by less than 0.3 / 2^32 of the number too large, which is less than one in its last digit.
void write_six(char* to, std::uint64_t number) {
  constexpr std::uint64_t kTenThousandth = 429'497;  // 2^32 / 10^4, rounded up
  std::uint64_t fixed = number * kTenThousandth;
  write_pair(to, fixed >> 32);
  fixed = (fixed & 0xffff'ffff) * 100;
  write_pair(to + 2, fixed >> 32);
  fixed = (fixed & 0xffff'ffff) * 100;
  write_pair(to + 4, fixed >> 32);
}

// Behind the last digit of a fraction that counts; there is one.
char* without_zeros(char* end) {
  while (end[-1] == '0') --end;
  return end;
}

}  // namespace

Utf8 first_utf8(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text[0]);
  if (lead < 0x80) return {1, lead};
  const std::size_t length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  if (lead < 0xc2 || lead > 0xf4 || text.size() < length) return {};
  std::uint32_t point = lead & (0xffU >> (length + 1));
  for (std::size_t i = 1; i < length; ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if ((byte & 0xc0U) != 0x80) return {};
    point = (point << 6) | (byte & 0x3fU);
  }
  constexpr std::uint32_t kSmallest[] = {0, 0, 0x80, 0x800, 0x10000};
  const bool surrogate = point >= 0xd800 && point <= 0xdfff;
  if (point < kSmallest[length] || point > 0x10ffff || surrogate) return {};
  return {length, point};
}

std::string printable(std::string_view text, std::size_t bytes_max) {
  std::string out;
  while (!text.empty()) {
    if (out.size() >= bytes_max) return out + "...";
    const Utf8 sequence = first_utf8(text);
    const std::size_t length = sequence.length == 0 ? 1 : sequence.length;
    if (sequence.length != 0 && safe(sequence.point)) {
      out += text.substr(0, length);
    } else {
      for (const char byte : text.substr(0, length)) append_byte(out, static_cast<unsigned char>(byte));
    }
    text.remove_prefix(length);
  }
  return out;
}

char* write_plain(char* to, std::string_view text) {
  // Returns the word that it moves.
  const auto move = []<class Word>(char* there, const char* here, Word word) {
    std::memcpy(&word, here, sizeof word);
    std::memcpy(there, &word, sizeof word);
    return std::uint64_t{word};
  };
  const char* from = text.data();
  const char* const last = from + text.size();
  char* const end = to + text.size();
  if (text.size() < 4) {
    for (; from < last; ++from, ++to) {
      if (!plain(*from)) return nullptr;
      *to = *from;
    }
    return end;
  }
  // The last word may overlap the one before.
  if (text.size() < 8) {
    const std::uint64_t both = move(to, from, std::uint32_t{}) | move(end - 4, last - 4, std::uint32_t{}) << 32;
    return any_special(both) ? nullptr : end;
  }
  for (; from < last - 8; from += 8, to += 8) {
    if (any_special(move(to, from, std::uint64_t{}))) return nullptr;
  }
  return any_special(move(end - 8, last - 8, std::uint64_t{})) ? nullptr : end;
}

std::string json_string(std::string_view text) {
  std::string out = "\"";
  while (!text.empty()) {
    // Most text is plain: taken in one piece.
    const auto piece = static_cast<std::size_t>(std::find_if_not(text.begin(), text.end(), plain) - text.begin());
    out += text.substr(0, piece);
    text.remove_prefix(piece);
    if (text.empty()) break;
    const Utf8 sequence = first_utf8(text);
    const std::size_t length = sequence.length == 0 ? 1 : sequence.length;
    if (sequence.length == 0 || !safe(sequence.point)) {
      // Every unsafe point is below 0x10000, so one escape holds it; U+FFFD stands for what is not UTF-8.
      const std::uint32_t point = sequence.length == 0 ? 0xfffd : sequence.point;
      out += "\\u";
      for (int shift = 12; shift >= 0; shift -= 4) out += kHexDigits[(point >> shift) & 15];
    } else {
      if (text[0] == '"' || text[0] == '\\') out += '\\';
      out += text.substr(0, length);
    }
    text.remove_prefix(length);
  }
  out += '"';
  return out;
}

std::string shortest(double value) {
  char buffer[kShortestMax];
  return {buffer, write_shortest(buffer, value)};
}

char* write_shortest(char* to, double value) {
  // What people and models write, 0.95: no other decimal of so few digits reads back to the same bits. Below 0.001 an exponent is shorter.
  if (value >= 0.001 && value < 1.0) {
    const double nearest = value * 10'000 + 0.5;
    const auto digits = static_cast<unsigned>(static_cast<int>(nearest));
    if (digits / 10'000.0 == value && digits < 10'000) {
      to[0] = '0';
      to[1] = '.';
      write_pair(to + 2, digits / 100);
      write_pair(to + 4, digits % 100);
      return without_zeros(to + 6);
    }
  }
  return std::to_chars(to, to + kShortestMax, value).ptr;
}

char* write_rounded(char* to, double value) {
  constexpr std::uint64_t kMillion = 1'000'000;
  const double size = std::fabs(value);
  if (!(size >= 1e-4 && size < 1e3)) {
    if (size == 0.0) {
      *to = '0';
      return to + 1;
    }
    const bool whole = size < 1e9 && size == static_cast<double>(static_cast<std::int64_t>(size));
    return whole ? std::to_chars(to, to + kRoundedMax, static_cast<std::int64_t>(value)).ptr : write_shortest(to, value);
  }
  if (value < 0.0) *to++ = '-';
  const double nearest = size * 1e12 + 0.5;
  const auto units = static_cast<std::uint64_t>(static_cast<std::int64_t>(nearest));
  const std::uint64_t ones = units / (kMillion * kMillion);
  const std::uint64_t places = units % (kMillion * kMillion);
  if (ones < 10) {
    *to++ = static_cast<char>('0' + ones);
  } else {
    to = std::to_chars(to, to + 4, ones).ptr;
  }
  if (places == 0) return to;
  *to = '.';
  write_six(to + 1, places / kMillion);
  write_six(to + 7, places % kMillion);
  return without_zeros(to + 13);
}

std::string json_number(double value) { return std::isfinite(value) ? shortest(value) : "null"; }

}  // namespace margin::internal
