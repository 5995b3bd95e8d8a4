// JsonWriter: JSON text, appended piece by piece to one string. Commas come by themselves; hostile text is escaped as json_string does.
//
//   JsonWriter out;
//   out.open('{').key("n").number(3).key("names").open('[').text("a").close(']').close('}');
#pragma once

#include <algorithm>
#include <charconv>
#include <cmath>
#include <concepts>
#include <cstring>
#include <string>
#include <string_view>

#include "base/text.h"

namespace margin::internal {

class JsonWriter {
 public:
  JsonWriter& open(char bracket) {
    char* to = separated(1);
    *to++ = bracket;
    return written(to, true);
  }
  JsonWriter& close(char bracket) {
    char* to = room(1);
    *to++ = bracket;
    return written(to, false);
  }
  // `name` is ours: letters that need no escaping.
  JsonWriter& key(std::string_view name) {
    char* to = quoted(separated(name.size() + 3), name);
    *to++ = ':';
    return written(to, true);
  }
  // Most names are literals, whose length the compiler knows.
  template <std::size_t kSize>
  [[gnu::always_inline]] JsonWriter& key(const char (&name)[kSize]) {
    char* to = separated(kSize + 2);
    *to = '"';
    std::memcpy(to + 1, name, kSize - 1);
    to[kSize] = '"';
    to[kSize + 1] = ':';
    return written(to + kSize + 2, true);
  }
  // A key that came from outside.
  JsonWriter& foreign_key(std::string_view name) {
    text(name);
    char* to = room(1);
    *to++ = ':';
    return written(to, true);
  }
  JsonWriter& text(std::string_view value) {
    if (!json_plain(value)) return raw(json_string(value));
    return written(quoted(separated(value.size() + 2), value), false);
  }
  // The shortest decimal that reads back to the same bits; null for what is not finite.
  JsonWriter& number(double value) {
    if (!std::isfinite(value)) return null();
    return written(write_shortest(separated(kShortestMax), value), false);
  }
  // To twelve places (write_rounded).
  JsonWriter& rounded(double value) {
    if (!std::isfinite(value)) return null();
    return written(write_rounded(separated(kRoundedMax), value), false);
  }
  JsonWriter& number(std::integral auto value) {
    constexpr std::size_t kDigitsMax = 20;
    char* to = separated(kDigitsMax);
    return written(std::to_chars(to, to + kDigitsMax, value).ptr, false);
  }
  JsonWriter& flag(bool value) { return raw(value ? "true" : "false"); }
  JsonWriter& null() { return raw("null"); }
  // JSON made elsewhere.
  JsonWriter& raw(std::string_view json) { return written(std::copy(json.begin(), json.end(), separated(json.size())), false); }

  [[nodiscard]] std::string_view str() const { return {out_.data(), at_}; }
  [[nodiscard]] std::string take() {
    out_.resize(at_);
    at_ = 0;
    return std::move(out_);
  }
  void reserve(std::size_t bytes) { room(bytes); }
  // Begins anew in the same memory.
  void clear() {
    at_ = 0;
    first_ = true;
  }

 private:
  // Where `bytes` more may be written.
  [[gnu::always_inline]] char* room(std::size_t bytes) {
    if (out_.size() - at_ < bytes) [[unlikely]]
      grow(bytes);
    return out_.data() + at_;
  }
  [[gnu::noinline]] void grow(std::size_t bytes) { out_.resize(std::max(2 * out_.size(), at_ + bytes)); }
  // The same, behind the comma that is due.
  [[gnu::always_inline]] char* separated(std::size_t bytes) {
    char* to = room(bytes + 1);
    *to = ',';
    return to + (first_ ? 0 : 1);
  }
  static char* quoted(char* to, std::string_view plain) {
    *to++ = '"';
    to = std::copy(plain.begin(), plain.end(), to);
    *to++ = '"';
    return to;
  }
  JsonWriter& written(const char* end, bool first) {
    at_ = static_cast<std::size_t>(end - out_.data());
    first_ = first;
    return *this;
  }

  std::string out_;  // longer than what was written
  std::size_t at_ = 0;
  bool first_ = true;
};

}  // namespace margin::internal
