// sample and schema: the table of fields as a documented file and as a JSON Schema.
#include "base/text.h"
#include "config/config.h"
#include "config/fields.h"
#include "config/pool_check.h"

namespace margin::config {
namespace {

constexpr std::string_view kOpening =
    "# A configuration of MARGIN with every key and its default. A key may be left out; one that is not known is refused.\n"
    "# MARGIN_<SECTION>__<KEY> of the environment wins over the file: MARGIN_SERVER__LISTEN=127.0.0.1:9000.\n"
    "# Check a file with `margin config check FILE`.\n";

constexpr std::string_view kUpstreamOpening =
    "\n# A model endpoint that chats are passed to, one section each: [upstreams.gpt]. Its name is the model's name in pools.\n"
    "# [upstreams.gpt]\n";

constexpr std::string_view kPoolOpening =
    "\n# A pool of models. `default` is always there; others are named the same way: [pools.law].\n"
    "[pools.default]\n";

constexpr std::string_view kPoolClosing =
    "# Parameters of the calibrator and the vote, as `margin methods` lists them:\n"
    "# [pools.default.calibrator_parameters]\n"
    "# clocks = [8, 48, 288]\n"
    "# [pools.default.vote_parameters]\n";

template <class Owner>
std::string documented(const Field<Owner>& field, const Owner& defaults) {
  const std::string choices = choices_text(field);
  return "# " + std::string(field.meaning) + (choices.empty() ? "" : " (" + choices + ")") + ".\n" + std::string(field.key) + " = " +
         toml_value(field.get(defaults)) + "\n";
}

// Lines that are there to be read only.
std::string commented(const std::string& lines) {
  std::string out;
  for (std::size_t begin = 0; begin < lines.size();) {
    const std::size_t end = lines.find('\n', begin) + 1;
    out += "# " + lines.substr(begin, end - begin);
    begin = end;
  }
  return out;
}

template <class Owner>
std::string property(const Field<Owner>& field, const Owner& defaults) {
  std::string json = internal::json_string(field.key) + ":{\"description\":" + internal::json_string(field.meaning);
  switch (field.kind) {
    case FieldKind::kText: json += R"(,"type":"string","maxLength":)" + std::to_string(kTextBytesMax); break;
    case FieldKind::kReference:
      json += R"(,"type":"string","pattern":"^$|^(env|file)::","maxLength":)" + std::to_string(kTextBytesMax);
      break;
    case FieldKind::kNames:
      json += R"(,"type":"array","uniqueItems":true,"items":{"type":"string","minLength":1},"maxItems":)" + std::to_string(kNamesMax);
      break;
    case FieldKind::kChoice: {
      std::string words;
      for (const std::string_view choice : field.choices) words += (words.empty() ? "" : ",") + internal::json_string(choice);
      json += ",\"enum\":[" + words + "]";
      break;
    }
    default:
      json += std::string(",\"type\":") + (field.kind == FieldKind::kInteger ? "\"integer\"" : "\"number\"") +
              (field.range.without_low ? ",\"exclusiveMinimum\":" : ",\"minimum\":") + internal::json_number(field.range.low) +
              ",\"maximum\":" + internal::json_number(field.range.high);
  }
  return json + ",\"default\":" + toml_value(field.get(defaults)) + "}";
}

// An object that has these properties and no others.
std::string closed_object(const std::string& properties, std::string_view required = "") {
  const std::string must = required.empty() ? "" : "\"required\":[" + internal::json_string(required) + "],";
  return R"({"type":"object","additionalProperties":false,)" + must + "\"properties\":{" + properties + "}}";
}

// Numbers, words and lists of numbers, by the names that the method gives them.
std::string parameters_schema(std::string_view key) {
  return internal::json_string(key) +
         R"(:{"type":"object","additionalProperties":{"anyOf":[{"type":"number"},{"type":"string"},{"type":"array","items":{"type":"number"}}]}})";
}

}  // namespace

std::string sample() {
  const Config defaults = default_config();
  std::string text(kOpening);
  std::string_view section;
  for (const Field<Config>& field : fields()) {
    if (field.section != section) text += "\n[" + std::string(field.section) + "]\n";
    section = field.section;
    text += documented(field, defaults);
  }
  text += kUpstreamOpening;
  for (const Field<UpstreamSettings>& field : upstream_fields()) text += commented(documented(field, UpstreamSettings{}));
  text += kPoolOpening;
  for (const Field<PoolSettings>& field : pool_fields()) text += documented(field, PoolSettings{});
  return text + std::string(kPoolClosing);
}

std::string schema() {
  const Config defaults = default_config();
  std::string sections;
  std::string properties;
  for (std::size_t i = 0; i < fields().size(); ++i) {
    const Field<Config>& field = fields()[i];
    properties += (properties.empty() ? "" : ",") + property(field, defaults);
    const bool last = i + 1 == fields().size() || fields()[i + 1].section != field.section;
    if (!last) continue;
    sections += internal::json_string(field.section) + ":" + closed_object(properties) + ",\n";
    properties.clear();
  }
  std::string upstream;
  for (const Field<UpstreamSettings>& field : upstream_fields()) {
    upstream += (upstream.empty() ? "" : ",") + property(field, UpstreamSettings{});
  }
  sections += R"("upstreams":{"type":"object","additionalProperties":)" + closed_object(upstream, "url") + "},\n";
  std::string pool;
  for (const Field<PoolSettings>& field : pool_fields()) pool += property(field, PoolSettings{}) + ",";
  pool += parameters_schema(kCalibratorParameters) + "," + parameters_schema(kVoteParameters);
  return R"({"$schema":"https://json-schema.org/draft/2020-12/schema","title":"margin.toml",)"
         "\n\"type\":\"object\",\"additionalProperties\":false,\"properties\":{\n" +
         sections + R"("pools":{"type":"object","additionalProperties":)" + closed_object(pool) + "}}}\n";
}

}  // namespace margin::config
