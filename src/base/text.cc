#include "base/text.h"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>

#include "base/hex.h"
#include "base/write_plain.h"

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

// Three digits, and a byte behind them that means nothing.
void write_three(char* to, std::uint64_t number) {
  static constexpr auto kThrees = [] {
    std::array<std::array<char, 4>, 1000> threes{};
    for (std::size_t i = 0; i < threes.size(); ++i) {
      threes[i] = {static_cast<char>('0' + i / 100), static_cast<char>('0' + i / 10 % 10), static_cast<char>('0' + i % 10), '#'};
    }
    return threes;
  }();
  std::memcpy(to, kThrees[number].data(), kThrees[number].size());
}

// A decimal in binary: what stands before its point, and 64 bits of what stands behind it. A thousand times the latter brings three digits
// before the point. Made of at most 10^9 parts, it is by less than 10^9 / 2^64 too large, which is less than one in its last digit.
__extension__ using Fixed = unsigned __int128;
constexpr Fixed kThousandth = 18'446'744'073'709'552;  // 2^64 / 10^3, rounded up
constexpr Fixed kMillionth = 18'446'744'073'710;       // 2^64 / 10^6
std::uint64_t before_point(Fixed fixed) { return static_cast<std::uint64_t>(fixed >> 64); }
Fixed thousandfold(Fixed fixed) { return Fixed{static_cast<std::uint64_t>(fixed)} * 1000; }

// Behind the last digit of a fraction that counts, or its point.
char* without_zeros(char* end) {
  while (end[-1] == '0') --end;
  return end;
}

// Of a rounded number what has other places than twelve. Not inlined, as the next: neither is common.
[[gnu::noinline]] char* write_unusual(char* to, double value) {
  if (!std::isfinite(value)) return std::copy_n("null", 4, to);
  const bool whole = std::fabs(value) < 1e9 && value == static_cast<double>(static_cast<std::int64_t>(value));
  return whole ? std::to_chars(to, to + kRoundedMax, static_cast<std::int64_t>(value)).ptr : write_shortest(to, value);
}

// What stands behind the ones: `millionths` is its first six places, behind the point, and `rest` the other six, a whole number.
char* write_places(char* to, Fixed millionths, std::uint64_t rest) {
  *to = '.';
  Fixed next = thousandfold(millionths);
  write_three(to + 1, before_point(next));
  next = thousandfold(next);
  write_three(to + 4, before_point(next));
  next = rest * kThousandth;
  write_three(to + 7, before_point(next));
  next = thousandfold(next);
  write_three(to + 10, before_point(next));
  if (to[12] != '0') return to + 13;
  to = without_zeros(to + (rest == 0 ? 7 : 13));
  return to[-1] == '.' ? to - 1 : to;
}

[[gnu::noinline]] char* write_large(char* to, Fixed millionths, std::uint64_t rest) {
  const std::uint64_t ones = before_point(millionths);
  if (ones < 100) {
    write_pair(to, ones);
    return write_places(to + 2, millionths, rest);
  }
  if (ones == 1000) *to++ = '1';  // the largest of all, rounded
  write_three(to, ones % 1000);
  return write_places(to + 3, millionths, rest);
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

char* write_other_plain(char* to, std::string_view text) {
  const char* from = text.data();
  const char* const last = from + text.size();
  char* const end = to + text.size();
  if (text.empty()) return to;
  const auto move_two = [](char* there, const char* here) {
    const std::uint64_t first = move_word<std::uint64_t>(there, here);
    const Words plain = plain_in(Words{first, move_word<std::uint64_t>(there + 8, here + 8)});
    return (plain[0] & plain[1]) == kAllPlain;
  };
  for (; from < last - 16; from += 16, to += 16) {
    if (!move_two(to, from)) return nullptr;
  }
  return move_two(end - 16, last - 16) ? end : nullptr;  // these may overlap those before
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
    *to = '0';
    return size == 0.0 ? to + 1 : write_unusual(to, value);
  }
  if (value < 0.0) *to++ = '-';
  const double nearest = size * 1e12 + 0.5;
  const auto units = static_cast<std::uint64_t>(static_cast<std::int64_t>(nearest));
  const Fixed millionths = units / kMillion * kMillionth;
  const std::uint64_t ones = before_point(millionths);
  if (ones >= 10) return write_large(to, millionths, units % kMillion);
  *to = static_cast<char>('0' + ones);
  return write_places(to + 1, millionths, units % kMillion);
}

std::string json_number(double value) { return std::isfinite(value) ? shortest(value) : "null"; }

}  // namespace margin::internal
