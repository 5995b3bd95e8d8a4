#include "server/query.h"

#include <algorithm>
#include <string>
#include <vector>

#include "base/text.h"
#include "http/message.h"

namespace margin::server {
namespace {

std::vector<std::string_view> words_of(std::string_view text, char between) {
  std::vector<std::string_view> words;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(between), text.size());
    if (end > 0) words.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return words;
}

std::string expected(const std::vector<std::string_view>& known) {
  if (known.empty()) return "this path takes none";
  std::string text = "expected";
  for (const std::string_view name : known) text += (name == known.front() ? " " : ", ") + std::string(name);
  return text;
}

}  // namespace

std::optional<Fault> check_query(std::string_view query, std::string_view known_names) {
  const std::vector<std::string_view> known = words_of(known_names, ' ');
  std::vector<std::string> seen;
  for (const std::string_view pair : words_of(query, '&')) {
    const std::size_t equals = std::min(pair.find('='), pair.size());
    std::optional<std::string> name = http::percent_decode(pair.substr(0, equals));
    if (!name || !http::percent_decode(pair.substr(equals))) {
      return Fault{"query", "query: got " + internal::printable(pair) + ", expected two hexadecimal digits behind each %"};
    }
    if (std::find(known.begin(), known.end(), *name) == known.end()) {
      return Fault{"query", "query: no parameter named " + internal::printable(*name) + ", " + expected(known)};
    }
    if (std::find(seen.begin(), seen.end(), *name) != seen.end()) return Fault{*name, *name + ": expected it once"};
    seen.push_back(*std::move(name));
  }
  return std::nullopt;
}

std::optional<Fault> read_flag(std::string_view query, const char* name, std::optional<bool>& flag) {
  const auto value = http::query_value(query, name);
  if (!value) return std::nullopt;
  if (*value != "true" && *value != "false") {
    return Fault{name, std::string(name) + ": got " + internal::printable(*value) + ", expected true or false"};
  }
  flag = *value == "true";
  return std::nullopt;
}

}  // namespace margin::server
