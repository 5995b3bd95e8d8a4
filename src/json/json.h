// Json: a text as a tree of values that know where they stand, so that an error names the field. Used for request bodies and for what
// upstreams reply.
// Numbers are read to the last bit whatever their length; depth, size and duplicate keys are checked once, while parsing.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "margin/result.h"

namespace margin {

// What is wrong with a request, in the terms of the one error shape.
struct Fault {
  std::string param;  // the field, "responses[3].confidence"; empty: the request as a whole
  std::string message;
};

class JsonParser;

// A value inside a parsed document; valid until the parser parses again.
class Json {
 public:
  enum class Type : std::uint8_t { kNull, kFlag, kNumber, kText, kList, kObject };

  [[nodiscard]] Type type() const { return type_; }
  [[nodiscard]] bool is_null() const { return type_ == Type::kNull; }
  [[nodiscard]] double number() const { return number_; }
  [[nodiscard]] bool flag() const { return number_ != 0.0; }
  [[nodiscard]] std::string_view text() const {
    return type_ == Type::kText ? std::string_view(static_cast<const char*>(content_), size_) : std::string_view();
  }
  [[nodiscard]] std::string_view key() const { return key_; }
  // The value as it was written, byte for byte.
  [[nodiscard]] std::string_view raw() const { return raw_; }
  // Elements or members, in their order.
  [[nodiscard]] std::span<const Json> items() const {
    return holds_others() ? std::span(static_cast<const Json*>(content_), size_) : std::span<const Json>();
  }
  [[nodiscard]] const Json* find(std::string_view key) const;

 private:
  friend class JsonParser;
  friend class ObjectReader;

  // One bit for a key; two that are the same have the same.
  static constexpr std::uint32_t mark_of(std::string_view key) {
    return key.empty() ? 1 : std::uint32_t{1} << (key.size() + static_cast<std::size_t>(key.front())) % 32;
  }

  [[nodiscard]] bool holds_others() const { return type_ == Type::kList || type_ == Type::kObject; }
  void hold(std::string_view text) { content_ = text.data(), size_ = text.size(); }
  void hold(std::span<const Json> items) { content_ = items.data(), size_ = items.size(); }

  // A body may have as many as it has bytes, so they are kept small.
  Type type_ = Type::kNull;
  std::uint32_t marks_ = 0;  // of the members' keys, all together
  double number_ = 0.0;
  const void* content_ = nullptr;  // a text's characters, or the first item
  std::size_t size_ = 0;           // of them
  std::string_view key_;
  std::string_view raw_;
};

class JsonParser {
 public:
  explicit JsonParser(std::size_t depth_max);
  ~JsonParser();
  JsonParser(const JsonParser&) = delete;
  JsonParser& operator=(const JsonParser&) = delete;
  void set_depth_max(std::size_t depth_max);

  // kInvalidArgument: not one JSON value in UTF-8, nested deeper than depth_max, or an object with a key twice.
  [[nodiscard]] Result<const Json*> parse(std::string_view body);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// Reads the members of an object one by one; the first problem is kept and names its field. Members nobody asked for are refused at the
// end: an option that is accepted and ignored would be a lie.
class ObjectReader {
 public:
  // `path`: where the object stands, "" for the body; with an index, which element of that list it is. The path must live as long as this.
  ObjectReader(const Json& object, std::string_view path, std::optional<std::size_t> index = {})
      : object_(&object), next_(object.items().data()), end_(next_ + object.items().size()), path_(path), index_(index) {
    if (object.type() != Json::Type::kObject) refuse_other_type();
  }

  [[nodiscard]] bool has(std::string_view key) const;
  // Absent and null are the same: nullopt.
  [[gnu::always_inline]] std::optional<std::string_view> text(std::string_view key) {
    const Json* member = typed(key, Json::Type::kText, "text");
    return member == nullptr ? std::nullopt : std::optional(member->text());
  }
  [[gnu::always_inline]] std::optional<double> number(std::string_view key) {
    const Json* member = typed(key, Json::Type::kNumber, "a number");
    return member == nullptr ? std::nullopt : std::optional(member->number());
  }
  [[gnu::always_inline]] std::optional<bool> flag(std::string_view key) {
    const Json* member = typed(key, Json::Type::kFlag, "true or false");
    return member == nullptr ? std::nullopt : std::optional(member->flag());
  }
  const Json* list(std::string_view key);
  const Json* object(std::string_view key);
  [[gnu::always_inline]] std::optional<std::string_view> required_text(std::string_view key) {
    const auto value = text(key);
    if (!value) fail_absent(key);
    return value;
  }
  [[gnu::always_inline]] std::optional<double> in_range(std::string_view key, double low, double high) {
    const auto value = number(key);
    if (value && !(*value >= low && *value <= high)) fail_range(key, *value, low, high);
    return value;
  }
  // Takes a member whatever its type.
  const Json* any(std::string_view key);

  void fail(std::string_view key, std::string message);
  [[nodiscard]] std::string path_of(std::string_view key) const;

  // The first problem, among them a member that was not asked for.
  [[nodiscard]] std::optional<Fault> finish() {
    if (!fault_ && (next_ != end_ || out_of_order_)) look_for_unknown();
    return fault_;
  }

 private:
  // Members are mostly asked for in the order they came. Keys are literals, whose comparison with the next one is a few instructions here.
  [[gnu::always_inline]] const Json* take(std::string_view key) {
    asked_ < asked_first_.size() ? void(asked_first_[asked_++] = {key.data(), key.size()}) : note(key);
    const auto is_next = [&](std::string_view name) {
      return name.size() == key.size() && std::memcmp(name.data(), key.data(), key.size()) == 0;
    };
    if (next_ == end_ || !is_next(next_->key())) {
      return (object_->marks_ & Json::mark_of(key)) == 0 ? nullptr : search(key);
    }
    const Json* member = next_++;
    return member->is_null() ? nullptr : member;
  }
  [[gnu::always_inline]] const Json* typed(std::string_view key, Json::Type type, std::string_view expected) {
    const Json* member = take(key);
    if (member == nullptr || member->type() == type) return member;
    fail_type(key, member->type(), expected);
    return nullptr;
  }
  void note(std::string_view key);
  const Json* search(std::string_view key);
  void refuse_other_type();
  void fail_absent(std::string_view key);
  void fail_range(std::string_view key, double got, double low, double high);
  void fail_type(std::string_view key, Json::Type got, std::string_view expected);
  void look_for_unknown();

  [[nodiscard]] std::string path() const;
  [[nodiscard]] bool was_asked_for(std::string_view key) const;

  const Json* object_;
  const Json* next_;  // the member that is looked at first
  const Json* end_;   // behind the last
  std::string_view path_;
  std::optional<std::size_t> index_;
  bool out_of_order_ = false;  // whether one was asked for that was not the next: others may have been passed over
  // Keys, which are literals; the first ones here, so that a small object needs no memory of its own. Not set before they are asked for.
  struct Key {
    const char* data;
    std::size_t size;
    [[nodiscard]] std::string_view text() const { return {data, size}; }
  };
  std::array<Key, 12> asked_first_;
  std::size_t asked_ = 0;
  std::vector<std::string_view> asked_then_;
  std::optional<Fault> fault_;
};

// Reads an object that is written as most are: nothing is wrong with it, and its members stand in the order in which they are asked for,
// each once. Has neither a place to name nor keys to remember, and so costs a few instructions a member. What it does not read is to be
// read by an ObjectReader.
class PlainReader {
 public:
  explicit PlainReader(const Json& object)
      : next_(object.items().data()), end_(next_ + object.items().size()), plain_(object.type() == Json::Type::kObject) {}

  // As those of ObjectReader; what they say counts when finish() is true.
  std::optional<std::string_view> text(std::string_view key) {
    const Json* member = take(key, Json::Type::kText);
    return member == nullptr ? std::nullopt : std::optional(member->text());
  }
  std::optional<double> number(std::string_view key) {
    const Json* member = take(key, Json::Type::kNumber);
    return member == nullptr ? std::nullopt : std::optional(member->number());
  }
  std::optional<bool> flag(std::string_view key) {
    const Json* member = take(key, Json::Type::kFlag);
    return member == nullptr ? std::nullopt : std::optional(member->flag());
  }
  const Json* list(std::string_view key) { return take(key, Json::Type::kList); }
  std::optional<std::string_view> required_text(std::string_view key) {
    const auto value = text(key);
    plain_ &= value.has_value();
    return value;
  }
  std::optional<double> in_range(std::string_view key, double low, double high) {
    const auto value = number(key);
    plain_ &= !value || (*value >= low && *value <= high);
    return value;
  }
  void fail(std::string_view, const std::string&) { plain_ = false; }

  // Whether every member was taken, and nothing was wrong. Each was taken by its own key, so that a key that was not found has no member.
  [[nodiscard]] bool finish() const { return plain_ && next_ == end_; }

 private:
  [[gnu::always_inline]] const Json* take(std::string_view key, Json::Type type) {
    if (next_ == end_ || next_->key().size() != key.size() || next_->type() != type) return nullptr;
    return std::memcmp(next_->key().data(), key.data(), key.size()) == 0 ? next_++ : nullptr;
  }

  const Json* next_;
  const Json* end_;
  bool plain_;
};

// "a number", "text", ...: what a value is, for messages.
[[nodiscard]] std::string_view name_of(Json::Type type);

}  // namespace margin
