// JsonWriter: JSON text, appended piece by piece to one string. Commas come by themselves; hostile text is escaped as json_string does.
//
//   JsonWriter out;
//   out.open('{').key("n").number(3).key("names").open('[').text("a").close(']').close('}');
#pragma once

#include <charconv>
#include <cmath>
#include <concepts>
#include <string>
#include <string_view>

#include "base/text.h"

namespace margin::internal {

class JsonWriter {
 public:
  JsonWriter& open(char bracket) {
    separate();
    out_ += bracket;
    first_ = true;
    return *this;
  }
  JsonWriter& close(char bracket) {
    out_ += bracket;
    first_ = false;
    return *this;
  }
  // `name` is ours: letters that need no escaping.
  JsonWriter& key(std::string_view name) {
    out_ += first_ ? std::string_view("\"") : std::string_view(",\"");
    out_ += name;
    out_ += "\":";
    first_ = true;
    return *this;
  }
  // A key that came from outside.
  JsonWriter& foreign_key(std::string_view name) {
    separate();
    append_json_string(out_, name);
    out_ += ':';
    first_ = true;
    return *this;
  }
  JsonWriter& text(std::string_view value) {
    separate();
    append_json_string(out_, value);
    return *this;
  }
  // The shortest decimal that reads back to the same bits; null for what is not finite.
  JsonWriter& number(double value) { return std::isfinite(value) ? digits(value) : null(); }
  JsonWriter& number(std::integral auto value) { return digits(value); }
  JsonWriter& flag(bool value) {
    separate();
    out_ += value ? "true" : "false";
    return *this;
  }
  JsonWriter& null() {
    separate();
    out_ += "null";
    return *this;
  }
  // JSON made elsewhere.
  JsonWriter& raw(std::string_view json) {
    separate();
    out_ += json;
    return *this;
  }

  [[nodiscard]] const std::string& str() const { return out_; }
  [[nodiscard]] std::string take() { return std::move(out_); }
  void reserve(std::size_t bytes) { out_.reserve(bytes); }

 private:
  void separate() {
    if (!first_) out_ += ',';
    first_ = false;
  }

  JsonWriter& digits(auto value) {
    char buffer[33] = {','};
    char* end = std::to_chars(buffer + 1, buffer + sizeof buffer, value).ptr;
    out_.append(buffer + (first_ ? 1 : 0), end);
    first_ = false;
    return *this;
  }

  std::string out_;
  bool first_ = true;
};

}  // namespace margin::internal
