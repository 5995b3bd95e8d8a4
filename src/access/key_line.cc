#include "access/key_line.h"

#include <simdjson.h>

#include <algorithm>
#include <set>

#include "base/text.h"

namespace margin::access {
namespace {

namespace dom = simdjson::dom;

constexpr char kHex[] = "0123456789abcdef";

std::string hex_of(const Sha256& digest) {
  std::string text;
  for (const std::uint8_t byte : digest) {
    text += kHex[byte >> 4];
    text += kHex[byte & 15];
  }
  return text;
}

bool read_hex(std::string_view text, Sha256& digest) {
  if (text.size() != 2 * digest.size()) return false;
  for (std::size_t i = 0; i < digest.size(); ++i) {
    const char* high = std::find(kHex, kHex + 16, text[2 * i]);
    const char* low = std::find(kHex, kHex + 16, text[2 * i + 1]);
    if (high == kHex + 16 || low == kHex + 16) return false;
    digest[i] = static_cast<std::uint8_t>((high - kHex) * 16 + (low - kHex));
  }
  return true;
}

bool read_text(const dom::element& value, std::string& text) {
  std::string_view view;
  if (value.get_string().get(view) != simdjson::SUCCESS) return false;
  text = view;
  return true;
}

bool read_scopes(const dom::element& value, Scopes& scopes) {
  std::string_view words;
  if (value.get_string().get(words) != simdjson::SUCCESS) return false;
  const Result<Scopes> parsed = parse_scopes(words);
  if (parsed) scopes = *parsed;
  return parsed.ok();
}

bool read_id(const dom::element& value, std::string& id) {
  return read_text(value, id) && split_key(join_key({id, std::string(kSecretLength, '0')})).has_value();
}

bool read_time(const dom::element& value, std::int64_t& time_ms) { return value.get_int64().get(time_ms) == simdjson::SUCCESS; }

// False: unknown name, or a value that is not what the name says.
bool read_field(std::string_view name, const dom::element& value, Key& key) {
  if (name == "id") return read_id(value, key.id);
  if (name == "name") return read_text(value, key.grant.name);
  if (name == "scopes") return read_scopes(value, key.grant.scopes);
  if (name == "tenant") return read_text(value, key.grant.tenant);
  // Adding 0 turns a negative zero, which would not be read back from "-0", into the plain one.
  const auto read_number = [&](double& number) {
    const bool read = value.get_double().get(number) == simdjson::SUCCESS;
    number += 0.0;
    return read;
  };
  if (name == "weight") return read_number(key.grant.weight);
  if (name == "requests_per_second") return read_number(key.grant.requests_per_second);
  if (name == "created_ms") return read_time(value, key.created_ms);
  if (name == "revoked_ms") return read_time(value, key.revoked_ms.emplace());
  std::string_view digits;
  return name == "sha256" && value.get_string().get(digits) == simdjson::SUCCESS && read_hex(digits, key.secret);
}

Error corrupt(const std::string& what) { return {ErrorCode::kCorrupt, what}; }

}  // namespace

std::string key_line(const Key& key) {
  const KeyGrant& grant = key.grant;
  std::string line = "{\"id\":" + internal::json_string(key.id) + ",\"name\":" + internal::json_string(grant.name) +
                     ",\"scopes\":" + internal::json_string(grant.scopes.text()) + ",\"tenant\":" + internal::json_string(grant.tenant) +
                     ",\"weight\":" + internal::json_number(grant.weight) +
                     ",\"requests_per_second\":" + internal::json_number(grant.requests_per_second) +
                     ",\"created_ms\":" + std::to_string(key.created_ms);
  if (key.revoked_ms) line += ",\"revoked_ms\":" + std::to_string(*key.revoked_ms);
  return line + ",\"sha256\":\"" + hex_of(key.secret) + "\"}";
}

Result<Key> parse_key_line(std::string_view line) {
  static constexpr std::string_view kRequired[] = {"id",         "name",  "scopes", "tenant", "weight", "requests_per_second",
                                                   "created_ms", "sha256"};
  dom::parser parser;
  dom::object object;
  if (parser.parse(line.data(), line.size()).get_object().get(object) != simdjson::SUCCESS)
    return corrupt("expected one JSON object, a key");
  Key key;
  std::set<std::string, std::less<>> seen;
  for (const auto& [name, value] : object) {
    if (!seen.emplace(name).second || !read_field(name, value, key)) {
      return corrupt(internal::printable(name) + ": unknown, stated twice, or not what a key has there");
    }
  }
  for (const std::string_view name : kRequired) {
    if (!seen.contains(name)) return corrupt(std::string(name) + ": missing");
  }
  if (const Status legal = check_grant(key.grant); !legal) return corrupt(legal.error().message);
  return key;
}

}  // namespace margin::access
