#include "http/plain_head.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/chars.h"

namespace margin::http {
namespace {

// So long that no number of so many digits overflows.
constexpr std::size_t kLengthDigitsMax = 15;

enum Kind : unsigned char { kOther, kVisible, kOfNames };  // each may stand where the one before may

constexpr auto kKinds = [] {
  std::array<Kind, 256> kinds{};
  for (unsigned c = '!'; c <= '~'; ++c) {
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    kinds[c] = letter || (c >= '0' && c <= '9') || c == '-' || c == '_' ? kOfNames : kVisible;
  }
  return kinds;
}();

Kind kind_of(char c) { return kKinds[static_cast<unsigned char>(c)]; }

// The same of 16 at once, 255 where it holds. What is not ASCII is none of these, and of what is above the blank all but the last is
// visible.
using internal::Chars;
constexpr unsigned char kDelete = 0x7f;
Chars are_of_names(Chars c) { return ((c | 0x20) - 'a' < 26) | (c - '0' < 10) | (c == '-') | (c == '_'); }
Chars are_visible(Chars c) { return internal::above(c, ' ') ^ (c == kDelete); }
Chars are_of_values(Chars c) { return internal::above(c, ' ' - 1) ^ (c == kDelete); }

// Reads on; where something else stands than is expected, what is taken is empty. The head's last line ends everything.
struct Scan {
  const char* at;
  const char* end;

  std::string_view name() {
    return while_true(are_of_names, [](char c) { return kind_of(c) == kOfNames; });
  }
  std::string_view visible() {
    return while_true(are_visible, [](char c) { return kind_of(c) != kOther; });
  }
  // Without the spaces around it.
  std::string_view value() {
    while (*at == ' ') ++at;
    std::string_view text = while_true(are_of_values, [](char c) { return c == ' ' || kind_of(c) != kOther; });
    while (text.ends_with(' ')) text.remove_suffix(1);
    return text;
  }
  template <std::size_t kSize>
  bool skip(const char (&expected)[kSize]) {
    if (!std::equal(expected, expected + kSize - 1, at)) return false;
    at += kSize - 1;
    return true;
  }

 private:
  template <class All, class Belongs>
  std::string_view while_true(All all_belong, Belongs belongs) {
    const char* const begin = at;
    while (end - at >= static_cast<std::ptrdiff_t>(sizeof(Chars))) {
      const std::size_t belonging = internal::leading(all_belong(internal::chars_at(at)));
      at += belonging;
      if (belonging < sizeof(Chars)) return {begin, at};
    }
    while (belongs(*at)) ++at;
    return {begin, at};
  }
};

bool read_length(std::string_view digits, std::size_t& length) {
  const bool plain = !digits.empty() && digits.size() <= kLengthDigitsMax && (digits.front() != '0' || digits.size() == 1);
  if (!plain || !std::all_of(digits.begin(), digits.end(), [](char c) { return c >= '0' && c <= '9'; })) return false;
  for (const char digit : digits) length = 10 * length + static_cast<std::size_t>(digit - '0');
  return true;
}

// Headers that say how the rest is to be read.
class Framing {
 public:
  // False: not plain.
  bool take(const Header& header, std::size_t& body_bytes) {
    const auto is = [&](std::string_view name) { return same_name(header.name, name); };
    switch (header.name.size()) {
      case 4: return !is("Host") || !std::exchange(has_host_, true);
      case 6: return !is("Expect");
      case 7: return !is("Upgrade");
      case 10: return !is("Connection") || header.value == "keep-alive";
      case 14: return !is("Content-Length") || (!std::exchange(has_length_, true) && read_length(header.value, body_bytes));
      case 16: return !is("Proxy-Connection");
      case 17: return !is("Transfer-Encoding");
      default: return true;
    }
  }
  [[nodiscard]] bool has_host() const { return has_host_; }

 private:
  bool has_host_ = false;
  bool has_length_ = false;
};

}  // namespace

std::optional<PlainHead> read_plain_head(std::string_view head, std::vector<Header>& headers) {
  headers.clear();
  if (!head.ends_with("\r\n\r\n")) return std::nullopt;
  Scan scan{head.data(), head.data() + head.size()};
  PlainHead plain;
  plain.method = scan.name();
  if (plain.method.empty() || !scan.skip(" ")) return std::nullopt;
  plain.target = scan.visible();
  if (!plain.target.starts_with('/') || !scan.skip(" HTTP/1.1\r\n")) return std::nullopt;
  Framing framing;
  while (*scan.at != '\r') {
    Header header;
    header.name = scan.name();
    if (header.name.empty() || !scan.skip(":")) return std::nullopt;
    header.value = scan.value();
    if (!scan.skip("\r\n") || !framing.take(header, plain.body_bytes)) return std::nullopt;
    headers.push_back(header);
  }
  const bool whole = scan.at + 2 == head.data() + head.size();
  return whole && framing.has_host() ? std::optional(plain) : std::nullopt;
}

}  // namespace margin::http
