#include "json/json.h"

#include <simdjson.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>

#include "base/chars.h"
#include "base/suggest.h"
#include "base/text.h"

namespace margin {
namespace {

namespace ondemand = simdjson::ondemand;

// The longest number that simdjson certainly reads to the last bit.
constexpr std::size_t kDigitsExact = 19;
// So many keys are compared each with each.
constexpr std::size_t kKeysFew = 8;

bool is_digit(char c) { return c >= '0' && c <= '9'; }

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

std::string_view trimmed(std::string_view token) {
  while (!token.empty() && is_space(token.back())) token.remove_suffix(1);
  return token;
}

// Reads on over digits; `value` wraps around where there are more than it can hold.
[[gnu::always_inline]] inline const char* past_digits(const char* at, std::uint64_t& value) {
  for (unsigned digit = 0; (digit = static_cast<unsigned>(*at) - '0') < 10; ++at) value = 10 * value + digit;
  return at;
}

// With a power of ten, which would come at `at`, or with so many digits that they need care.
[[gnu::noinline]] const char* read_other_decimal(const char* const begin, const char* at, double& out) {
  if (*at == 'e' || *at == 'E') {
    ++at;
    if (*at == '+' || *at == '-') ++at;
    std::uint64_t power = 0;
    const char* const end = past_digits(at, power);
    if (end == at) return nullptr;
    at = end;
  }
  return std::from_chars(begin, at, out).ec == std::errc() ? at : nullptr;
}

// Where the number ends whose first digit stands here; nullptr: not a number as JSON writes it, or too large or too small. A leading 0 ends
// the digits before the point: one that follows all the same is refused by whoever reads on.
[[gnu::always_inline]] inline const char* read_decimal(const char* const begin, double& out) {
  // Up to 15 digits and their power of ten are both exact, so that their quotient is the nearest double.
  static constexpr std::array kPowers{1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15};
  std::uint64_t value = 0;
  const char* at = *begin == '0' ? begin + 1 : past_digits(begin, value);
  std::size_t fraction = 0;
  if (*at == '.') {
    const char* const end = past_digits(at + 1, value);
    fraction = static_cast<std::size_t>(end - at) - 1;
    if (fraction == 0) return nullptr;
    at = end;
  }
  const bool power = (*at | 0x20) == 'e';
  if (power || at - begin >= static_cast<std::ptrdiff_t>(kPowers.size())) [[unlikely]]
    return read_other_decimal(begin, at, out);
  out = static_cast<double>(static_cast<std::int64_t>(value)) / kPowers[fraction];
  return at;
}

[[gnu::noinline]] const char* skip_spaces(const char* at) {
  while (is_space(*at)) ++at;
  return at;
}

// Bodies are mostly written without any.
const char* past_space(const char* at) { return static_cast<unsigned char>(*at) > ' ' ? at : skip_spaces(at); }

// Whether `sign` comes next, behind any spaces; `at` is then there.
bool reach(char sign, const char*& at) { return *at == sign || *(at = past_space(at)) == sign; }

using internal::Chars;
using internal::chars_at;

// How many stand before the first quote, backslash or control character.
std::size_t plain_in(Chars chars) { return internal::leading((chars != '"') & (chars != '\\') & (chars >= ' ')); }

// The same, where one beyond ASCII ends them too. With one bit turned a quote is a blank, and only the backslash is above that of all that
// end them.
std::size_t plain_ascii_in(Chars chars) {
  static_assert(('"' ^ 2) == ' ' && ('\\' ^ 2) > ' ');
  return internal::leading(internal::above(chars ^ 2, ' ') ^ (chars == '\\'));
}

bool beyond_ascii(Chars chars) { return internal::leading(chars < 0x80) < sizeof chars; }

}  // namespace

const Json* Json::find(std::string_view key) const {
  if (type_ != Type::kObject) return nullptr;
  const std::span<const Json> members = items();
  const auto found = std::find_if(members.begin(), members.end(), [key](const Json& member) { return member.key_ == key; });
  return found == members.end() ? nullptr : &*found;
}

struct JsonParser::State {
  std::size_t depth_max = 0;
  ondemand::parser parser;
  ondemand::document* at_work = nullptr;  // while parsing
  std::string padded;
  std::size_t body_bytes = 0;
  Json root;
  std::vector<std::unique_ptr<std::vector<Json>>> lists;  // children of every list and object, which keep their addresses
  std::size_t lists_used = 0;
  std::string problem;  // when a value is legal JSON and still refused
  std::vector<std::string_view> keys;

  // Of the quick way.
  Chars seen{};           // of the longer texts, all of them and some behind, combined by or
  std::string unescaped;  // texts whose escapes are replaced, one after the other
  std::size_t unescaped_bytes = 0;

  void begin(std::string_view body) {
    lists_used = 0;
    root = Json();
    root.raw_ = body;
    problem.clear();
  }

  std::vector<Json>& new_list() {
    if (lists_used == lists.size()) lists.push_back(std::make_unique<std::vector<Json>>());
    std::vector<Json>& list = *lists[lists_used++];
    list.clear();
    return list;
  }

  // The quick way, one pass over what is written as it should be. False: something is wrong or unusual, and is left to the thorough way.
  // Behind the body stands a 0, which ends whatever is read.
  bool read_quickly() {
    seen = Chars{};
    unescaped_bytes = 0;
    const char* at = past_space(padded.data());
    if (*at != '{' && *at != '[') return false;
    at = *at == '{' ? quick_object(at, root, depth_max) : quick_list(at, root, depth_max);
    if (at == nullptr || past_space(at) != padded.data() + body_bytes) return false;
    return !beyond_ascii(seen) || simdjson::validate_utf8(padded.data(), body_bytes);
  }

  // Each of these returns where what begins at `at` ends; nullptr when it is not read.
  const char* quick_list(const char* at, Json& out, std::size_t depth) {
    if (depth == 0) return nullptr;
    std::vector<Json>& items = new_list();
    out.type_ = Json::Type::kList;
    at = past_space(at + 1);
    if (*at == ']') return at + 1;
    while ((at = quick_value(at, items.emplace_back(), depth - 1)) != nullptr && reach(',', at)) at = past_space(at + 1);
    if (at == nullptr || *at != ']') return nullptr;
    out.hold(items);
    return at + 1;
  }

  const char* quick_object(const char* at, Json& out, std::size_t depth) {
    if (depth == 0) return nullptr;
    std::vector<Json>& members = new_list();
    out.type_ = Json::Type::kObject;
    at = past_space(at + 1);
    if (*at == '}') return at + 1;
    std::uint32_t marks = 0;
    std::uint64_t sum = 0;  // of the marks: more than all together where two keys have the same
    while (true) {
      if (*at != '"') return nullptr;
      Json& member = members.emplace_back();
      const Quoted key = quick_text(at);
      if ((at = key.end) == nullptr || !reach(':', at)) return nullptr;
      member.key_ = {key.text.data(), key.text.size()};
      const std::uint32_t mark = Json::mark_of(key.text);
      marks |= mark;
      sum += mark;
      at = quick_value(past_space(at + 1), member, depth - 1);
      if (at == nullptr) return nullptr;
      if (!reach(',', at)) break;
      at = past_space(at + 1);
    }
    if (*at != '}' || (sum != marks && !distinct_keys(members))) return nullptr;
    out.hold(members);
    out.marks_ = marks;
    return at + 1;
  }

  [[gnu::always_inline]] const char* quick_value(const char* const begin, Json& out, std::size_t depth) {
    const char* end = nullptr;
    if (*begin == '"') {
      const Quoted quoted = quick_text(begin);
      out.type_ = Json::Type::kText;
      out.hold(quoted.text);
      end = quoted.end;
    } else if (is_digit(*begin)) {
      out.type_ = Json::Type::kNumber;
      end = read_decimal(begin, out.number_);
    } else {
      end = *begin == '{' ? quick_object(begin, out, depth) : *begin == '[' ? quick_list(begin, out, depth) : quick_other(begin, out);
    }
    if (end != nullptr) out.raw_ = std::string_view(begin, end);
    return end;
  }

  [[gnu::noinline]] static const char* quick_other(const char* at, Json& out) {
    if (*at == '-') {
      if (!is_digit(at[1])) return nullptr;
      out.type_ = Json::Type::kNumber;
      at = read_decimal(at + 1, out.number_);
      out.number_ = -out.number_;
      return at;
    }
    const auto is = [at](std::string_view word) { return std::memcmp(at, word.data(), word.size()) == 0; };
    if (is("null")) return at + 4;
    out.type_ = Json::Type::kFlag;
    out.number_ = *at == 't' ? 1.0 : 0.0;
    return is("true") ? at + 4 : is("false") ? at + 5 : nullptr;
  }

  struct Quoted {
    std::string_view text;
    const char* end;  // behind the closing quote; nullptr: not read
  };
  // Keys and most texts are short and ASCII.
  [[gnu::always_inline]] Quoted quick_text(const char* const quoted) {
    const char* const begin = quoted + 1;
    const char* const end = begin + plain_ascii_in(chars_at(begin));
    if (*end != '"') [[unlikely]] {
      const Quoted other = quick_long_text(quoted);
      return {{other.text.data(), other.text.size()}, other.end};
    }
    return {std::string_view(begin, end), end + 1};
  }

  [[gnu::noinline]] Quoted quick_long_text(const char* const quoted) {
    const char* at = quoted + 1;
    bool escapes = false;
    while (true) {
      const Chars chars = chars_at(at);
      seen |= chars;
      const std::size_t plain = plain_in(chars);
      at += plain;
      if (plain == sizeof chars) continue;
      if (*at != '\\') break;
      escapes = true;
      at += 2;  // what is escaped ends nothing; whether it may be is seen later
    }
    std::string_view text(quoted + 1, at);
    const bool read = *at == '"' && (!escapes || unescape(text));
    return {text, read ? at + 1 : nullptr};
  }

  // `text` has a quote behind it.
  [[gnu::noinline]] bool unescape(std::string_view& text) {
    // Never longer than it was written. simdjson writes some bytes further than it needs.
    if (unescaped_bytes == 0) unescaped.resize(padded.size());
    if (parser.capacity() == 0 && parser.allocate(simdjson::SIMDJSON_PADDING) != simdjson::SUCCESS) return false;
    auto* const begin = reinterpret_cast<std::uint8_t*>(unescaped.data()) + unescaped_bytes;
    std::uint8_t* end = begin;
    if (parser.unescape(reinterpret_cast<const std::uint8_t*>(text.data()), end).get(text) != simdjson::SUCCESS) return false;
    unescaped_bytes += static_cast<std::size_t>(end - begin);
    return true;
  }

  // The thorough way, which says what is wrong. `value` is an ondemand value or the document itself.
  template <class Value>
  simdjson::error_code read(Value&& value, Json& out, std::size_t depth) {
    ondemand::json_type type;
    if (const auto error = value.type().get(type)) return error;
    switch (type) {
      case ondemand::json_type::object: return read_object(value, out, depth);
      case ondemand::json_type::array: return read_array(value, out, depth);
      case ondemand::json_type::number: return read_number(value, out);
      case ondemand::json_type::string: {
        std::string_view text;
        if (const auto error = value.get_string().get(text)) return error;
        out.type_ = Json::Type::kText;
        out.hold(text);
        return simdjson::SUCCESS;
      }
      case ondemand::json_type::boolean: {
        bool flag = false;
        if (const auto error = value.get_bool().get(flag)) return error;
        out.type_ = Json::Type::kFlag;
        out.number_ = flag ? 1.0 : 0.0;
        return simdjson::SUCCESS;
      }
      case ondemand::json_type::null: {
        out.type_ = Json::Type::kNull;
        return is_null(value);
      }
    }
    return simdjson::INCORRECT_TYPE;
  }

  // Reads it and keeps where its text stands.
  simdjson::error_code read_child(ondemand::value& value, Json& out, std::size_t depth) {
    out.raw_ = trimmed(value.raw_json_token());
    if (const auto error = read(value, out, depth)) return error;
    if (out.holds_others()) {
      const char* end = nullptr;
      if (at_work->current_location().get(end) != simdjson::SUCCESS) end = padded.data() + body_bytes;
      out.raw_ = trimmed(std::string_view(out.raw_.data(), static_cast<std::size_t>(end - out.raw_.data())));
    }
    return simdjson::SUCCESS;
  }

  static simdjson::error_code is_null(ondemand::value& value) {
    return trimmed(value.raw_json_token()) == "null" ? simdjson::SUCCESS : simdjson::N_ATOM_ERROR;
  }
  static simdjson::error_code is_null(ondemand::document& document) {
    std::string_view token;
    if (const auto error = document.raw_json_token().get(token)) return error;
    return trimmed(token) == "null" ? simdjson::SUCCESS : simdjson::N_ATOM_ERROR;
  }

  simdjson::error_code read_number(ondemand::value& value, Json& out) { return read_number_token(value.raw_json_token(), value, out); }
  simdjson::error_code read_number(ondemand::document& document, Json& out) {
    std::string_view token;
    if (const auto error = document.raw_json_token().get(token)) return error;
    return read_number_token(token, document, out);
  }
  template <class Value>
  simdjson::error_code read_number_token(std::string_view token, Value& value, Json& out) {
    token = trimmed(token);
    const std::string kept(token.size() > kDigitsExact ? token : std::string_view());
    if (const auto error = value.get_double().get(out.number_)) return error;
    if (!kept.empty()) {
      const auto [end, status] = std::from_chars(kept.data(), kept.data() + kept.size(), out.number_);
      if (status != std::errc() || end != kept.data() + kept.size()) return simdjson::NUMBER_ERROR;
    }
    out.type_ = Json::Type::kNumber;
    return simdjson::SUCCESS;
  }

  template <class Value>
  simdjson::error_code read_array(Value& value, Json& out, std::size_t depth) {
    if (depth == 0) return simdjson::DEPTH_ERROR;
    ondemand::array array;
    if (const auto error = value.get_array().get(array)) return error;
    std::vector<Json>& children = new_list();
    for (auto element : array) {
      ondemand::value inner;
      if (const auto error = element.get(inner)) return error;
      if (const auto error = read_child(inner, children.emplace_back(), depth - 1)) return error;
    }
    out.type_ = Json::Type::kList;
    out.hold(children);
    return simdjson::SUCCESS;
  }

  template <class Value>
  simdjson::error_code read_object(Value& value, Json& out, std::size_t depth) {
    if (depth == 0) return simdjson::DEPTH_ERROR;
    ondemand::object object;
    if (const auto error = value.get_object().get(object)) return error;
    std::vector<Json>& children = new_list();
    for (auto field : object) {
      Json& child = children.emplace_back();
      if (const auto error = field.unescaped_key().get(child.key_)) return error;
      out.marks_ |= Json::mark_of(child.key_);
      ondemand::value inner;
      if (const auto error = field.value().get(inner)) return error;
      if (const auto error = read_child(inner, child, depth - 1)) return error;
    }
    if (!distinct_keys(children)) return simdjson::INCORRECT_TYPE;
    out.type_ = Json::Type::kObject;
    out.hold(children);
    return simdjson::SUCCESS;
  }

  bool distinct_keys(const std::vector<Json>& members) {
    if (members.size() > kKeysFew) return distinct_when_sorted(members);
    for (const Json& member : members) {
      for (const Json* earlier = members.data(); earlier < &member; ++earlier) {
        if (earlier->key_ == member.key_) return distinct_when_sorted(members);
      }
    }
    return true;
  }

  // In the time of a sort: an object of a million keys must not cost their square.
  bool distinct_when_sorted(const std::vector<Json>& members) {
    keys.clear();
    for (const Json& member : members) keys.push_back(member.key_);
    std::sort(keys.begin(), keys.end());
    const auto twice = std::adjacent_find(keys.begin(), keys.end());
    if (twice == keys.end()) return true;
    problem = "the key " + internal::printable(*twice, 60) + " stands twice in one object";
    return false;
  }
};

JsonParser::JsonParser(std::size_t depth_max) : state_(std::make_unique<State>()) { state_->depth_max = depth_max; }
void JsonParser::set_depth_max(std::size_t depth_max) { state_->depth_max = depth_max; }
JsonParser::~JsonParser() = default;

Result<const Json*> JsonParser::parse(std::string_view body) {
  State& state = *state_;
  state.padded.assign(body);
  state.padded.append(simdjson::SIMDJSON_PADDING, '\0');
  state.body_bytes = body.size();
  state.begin(body);
  if (state.read_quickly()) return &state.root;

  state.begin(body);
  ondemand::document document;
  state.at_work = &document;
  auto error = state.parser.iterate(state.padded.data(), body.size(), state.padded.size()).get(document);
  std::string_view first;  // token; all there is, where it is neither an object nor a list
  if (error == simdjson::SUCCESS) error = document.raw_json_token().get(first);
  if (error == simdjson::SUCCESS) error = state.read(document, state.root, state.depth_max);
  const char* behind = nullptr;
  const bool whole = state.root.holds_others() ? document.current_location().get(behind) == simdjson::OUT_OF_BOUNDS
                                               : first.data() + first.size() == state.padded.data() + body.size();
  if (error == simdjson::SUCCESS && !whole) error = simdjson::TRAILING_CONTENT;
  if (error == simdjson::SUCCESS) return &state.root;

  if (!state.problem.empty()) return {ErrorCode::kInvalidArgument, "body: " + state.problem};
  if (error == simdjson::DEPTH_ERROR) {
    return {ErrorCode::kInvalidArgument, "body: nested too deep, expected at most " + std::to_string(state.depth_max) + " levels"};
  }
  if (error == simdjson::UTF8_ERROR) return {ErrorCode::kInvalidArgument, "body: expected JSON in UTF-8"};
  return {ErrorCode::kInvalidArgument, std::string("body: expected one JSON value (") + simdjson::error_message(error) + ")"};
}

std::string_view name_of(Json::Type type) {
  switch (type) {
    case Json::Type::kNull: return "null";
    case Json::Type::kFlag: return "true or false";
    case Json::Type::kNumber: return "a number";
    case Json::Type::kText: return "text";
    case Json::Type::kList: return "a list";
    case Json::Type::kObject: return "an object";
  }
  return "";
}

void ObjectReader::refuse_other_type() {
  next_ = end_;
  const std::string place = path();
  fault_ = Fault{place, (place.empty() ? "body" : place) + ": got " + std::string(name_of(object_->type())) + ", expected an object"};
}

// Put together only for those who will read it.
std::string ObjectReader::path() const { return std::string(path_) + (index_ ? "[" + std::to_string(*index_) + "]" : ""); }

std::string ObjectReader::path_of(std::string_view key) const { return path_.empty() ? std::string(key) : path() + "." + std::string(key); }

void ObjectReader::fail(std::string_view key, std::string message) {
  if (!fault_) fault_ = Fault{path_of(key), path_of(key) + ": " + std::move(message)};
}

bool ObjectReader::has(std::string_view key) const {
  const Json* member = object_->find(key);
  return member != nullptr && !member->is_null();
}

const Json* ObjectReader::any(std::string_view key) { return take(key); }

void ObjectReader::note(std::string_view key) { asked_then_.push_back(key); }

const Json* ObjectReader::search(std::string_view key) {
  for (const Json& member : object_->items()) {
    const std::string_view name = member.key();
    if (name.size() != key.size() || std::mismatch(name.begin(), name.end(), key.begin()).first != name.end()) continue;
    out_of_order_ = true;
    next_ = &member + 1;
    return member.is_null() ? nullptr : &member;
  }
  return nullptr;
}

void ObjectReader::fail_type(std::string_view key, Json::Type got, std::string_view expected) {
  fail(key, "got " + std::string(name_of(got)) + ", expected " + std::string(expected));
}

const Json* ObjectReader::list(std::string_view key) { return typed(key, Json::Type::kList, "a list"); }
const Json* ObjectReader::object(std::string_view key) { return typed(key, Json::Type::kObject, "an object"); }

void ObjectReader::fail_absent(std::string_view key) { fail(key, "expected text"); }

void ObjectReader::fail_range(std::string_view key, double got, double low, double high) {
  fail(key, "got " + internal::json_number(got) + ", expected a number in [" + internal::json_number(low) + ", " +
                internal::json_number(high) + "]");
}

bool ObjectReader::was_asked_for(std::string_view key) const {
  const std::span<const Key> first(asked_first_.data(), asked_);
  return std::any_of(first.begin(), first.end(), [key](const Key& asked) { return asked.text() == key; }) ||
         std::find(asked_then_.begin(), asked_then_.end(), key) != asked_then_.end();
}

void ObjectReader::look_for_unknown() {
  for (const Json& member : object_->items()) {
    if (was_asked_for(member.key())) continue;
    std::string shown = internal::printable(member.key(), 60);
    std::vector<std::string> known(asked_then_.begin(), asked_then_.end());
    for (std::size_t i = 0; i < asked_; ++i) known.emplace_back(asked_first_[i].text());
    fail(shown, "unknown field" + internal::suggestion(member.key(), known));
    break;
  }
}

}  // namespace margin
