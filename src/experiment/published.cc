#include "experiment/published.h"

#include <simdjson.h>

#include "base/check.h"

namespace margin::experiment {
namespace {

using simdjson::dom::element;

// Parsed once; afterwards only read.
const element& root() {
  static simdjson::dom::parser parser;
  static const element parsed = [] {
    element document;
    const auto error = parser.parse(simdjson::padded_string(published_tables())).get(document);
    MARGIN_CHECK(!error, "the published tables are JSON");
    return document;
  }();
  return parsed;
}

element at(PublishedPath path) {
  element found = root();
  for (const std::string_view key : path) {
    element inner;
    MARGIN_CHECK(!found.at_key(key).get(inner), "the published tables have what is asked for");
    found = inner;
  }
  return found;
}

template <class T>
T as(const element& value) {
  T read{};
  MARGIN_CHECK(!value.get(read), "the published tables hold what is asked for");
  return read;
}

std::optional<double> number_of(const element& value) { return value.is_null() ? std::nullopt : std::optional(as<double>(value)); }

std::string text_of(const element& value) { return value.is_string() ? std::string(as<std::string_view>(value)) : simdjson::minify(value); }

}  // namespace

std::optional<double> published_number(PublishedPath path) { return number_of(at(path)); }

std::vector<std::optional<double>> published_numbers(PublishedPath path) {
  const element found = at(path);
  std::vector<std::optional<double>> numbers;
  if (found.is_null()) return numbers;
  for (const element value : as<simdjson::dom::array>(found)) numbers.push_back(number_of(value));
  return numbers;
}

std::vector<std::string> published_texts(PublishedPath path) {
  std::vector<std::string> texts;
  for (const element value : as<simdjson::dom::array>(at(path))) texts.push_back(text_of(value));
  return texts;
}

std::string published_text(PublishedPath path) { return text_of(at(path)); }

std::vector<std::string> published_keys(PublishedPath path) {
  std::vector<std::string> keys;
  for (const auto field : as<simdjson::dom::object>(at(path))) {
    if (!field.key.starts_with('_')) keys.emplace_back(field.key);
  }
  return keys;
}

}  // namespace margin::experiment
