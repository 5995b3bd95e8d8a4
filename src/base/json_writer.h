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
#include <memory>
#include <string>
#include <string_view>
#include <utility>

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
  JsonWriter& text(std::string_view value);
  // The shortest decimal that reads back to the same bits; null for what is not finite.
  JsonWriter& number(double value) {
    if (!std::isfinite(value)) return null();
    return written(write_shortest(separated(kShortestMax), value), false);
  }
  // To twelve places (write_rounded).
  JsonWriter& rounded(double value) { return written(write_rounded(separated(kRoundedMax), value), false); }
  JsonWriter& number(std::integral auto value) {
    constexpr std::size_t kDigitsMax = 20;
    char* to = separated(kDigitsMax);
    if (std::cmp_greater_equal(value, 0) && std::cmp_less(value, 10)) {
      *to = static_cast<char>('0' + value);
      return written(to + 1, false);
    }
    return written(std::to_chars(to, to + kDigitsMax, value).ptr, false);
  }
  JsonWriter& flag(bool value) { return raw(value ? "true" : "false"); }
  JsonWriter& null() { return raw("null"); }
  // JSON made elsewhere.
  JsonWriter& raw(std::string_view json) { return written(std::copy(json.begin(), json.end(), separated(json.size())), false); }

  // A piece of JSON that is written by hand: where it begins, with room for `bytes`, and where it ended.
  [[nodiscard]] char* begin(std::size_t bytes) { return separated(bytes); }
  JsonWriter& end(char* at) { return written(at, false); }
  // It ended with a name or a bracket, behind which no comma is due.
  JsonWriter& end_open(char* at) { return written(at, true); }

  [[nodiscard]] std::string_view str() const { return {out_.get(), static_cast<std::size_t>(at_ - out_.get())}; }
  // What was written; begins anew, without the comma that would be due.
  [[nodiscard]] std::string take() {
    std::string text(str());
    clear();
    return text;
  }
  void reserve(std::size_t bytes) { room(bytes); }
  // Begins anew in the same memory.
  void clear() {
    at_ = out_.get();
    first_ = true;
  }

 private:
  [[nodiscard]] std::size_t left() const { return static_cast<std::size_t>(end_ - at_); }
  // Than a short one for which there is room: that takes no call.
  [[gnu::noinline]] JsonWriter& other_text(std::string_view value);
  // Where `bytes` more may be written.
  [[gnu::always_inline]] char* room(std::size_t bytes) {
    if (left() < bytes) [[unlikely]]
      grow(bytes);
    return at_;
  }
  [[gnu::noinline]] void grow(std::size_t bytes) {
    const std::string_view so_far = str();
    const std::size_t size = std::max(2 * static_cast<std::size_t>(end_ - out_.get()), so_far.size() + bytes);
    auto larger = std::make_unique_for_overwrite<char[]>(size);
    at_ = std::copy(so_far.begin(), so_far.end(), larger.get());
    end_ = larger.get() + size;
    out_ = std::move(larger);
  }
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
  JsonWriter& written(char* end, bool first) {
    at_ = end;
    first_ = first;
    return *this;
  }

  std::unique_ptr<char[]> out_;
  char* at_ = nullptr;   // behind what was written
  char* end_ = nullptr;  // of the room
  bool first_ = true;
};

}  // namespace margin::internal
