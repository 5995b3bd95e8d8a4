#include "dataset/json_row.h"

#include <simdjson.h>

#include <charconv>
#include <optional>
#include <string>

#include "dataset/line_source.h"
#include "dataset/row_fields.h"
#include "dataset/text.h"
#include "dataset/timestamp.h"

namespace margin::dataset {
namespace {

namespace ondemand = simdjson::ondemand;

static_assert(simdjson::SIMDJSON_PADDING <= kLinePadding);

// The longest number that simdjson certainly reads to the last bit.
constexpr std::size_t kDigitsExact = 19;

// The value as it stands in the line, without the spaces behind it.
std::string_view token_of(ondemand::value& value) {
  std::string_view token = value.raw_json_token();
  const auto is_space = [](char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; };
  while (!token.empty() && is_space(token.back())) token.remove_suffix(1);
  return token;
}

Error malformed(std::string_view line, simdjson::error_code error) {
  if (error == simdjson::UTF8_ERROR) return {ErrorCode::kInvalidArgument, "got bytes that are not UTF-8, expected a JSON object in UTF-8"};
  return {ErrorCode::kInvalidArgument,
          "got " + printable(line, 60) + ", expected one JSON object (" + simdjson::error_message(error) + ")"};
}

// Walks a value that is not needed, so that malformed JSON is refused wherever it stands.
simdjson::error_code check_value(ondemand::value value) {
  ondemand::json_type type;
  if (const auto error = value.type().get(type)) return error;
  switch (type) {
    case ondemand::json_type::array: {
      ondemand::array array;
      if (const auto error = value.get_array().get(array)) return error;
      for (auto element : array) {
        ondemand::value inner;
        if (const auto error = element.get(inner)) return error;
        if (const auto error = check_value(inner)) return error;
      }
      return simdjson::SUCCESS;
    }
    case ondemand::json_type::object: {
      ondemand::object object;
      if (const auto error = value.get_object().get(object)) return error;
      for (auto field : object) {
        std::string_view key;
        if (const auto error = field.unescaped_key().get(key)) return error;
        if (const auto error = check_value(field.value())) return error;
      }
      return simdjson::SUCCESS;
    }
    case ondemand::json_type::number: {
      double number = 0.0;
      return value.get_double().get(number);
    }
    case ondemand::json_type::string: {
      std::string_view text;
      return value.get_string().get(text);
    }
    case ondemand::json_type::boolean: {
      bool flag = false;
      return value.get_bool().get(flag);
    }
    case ondemand::json_type::null: break;
  }
  return token_of(value) == "null" ? simdjson::SUCCESS : simdjson::N_ATOM_ERROR;
}

bool is_missing_token(std::string_view token) { return token == "null" || token == "NaN"; }

Status read_number(Field field, ondemand::value& value, std::string_view token, double& number) {
  if (value.get_double().get(number) != simdjson::SUCCESS) return refused(field, token);
  // simdjson 3.0 misreads some numbers of more than 19 digits; it has checked the grammar, so the library's own reader takes those.
  if (token.size() > kDigitsExact) std::from_chars(token.data(), token.data() + token.size(), number);
  return {};
}

Status read_text(Field field, ondemand::value& value, std::string_view token, std::string_view& text) {
  if (token.empty() || token.front() != '"' || value.get_string().get(text) != simdjson::SUCCESS) return refused(field, token);
  return {};
}

Status read_kind(ondemand::value& value, std::string_view token, std::optional<AnswerKind>& kind) {
  std::string_view text;
  if (Status status = read_text(kKind, value, token, text); !status) return status;
  const Result<AnswerKind> parsed = parse_answer_kind(text);
  if (!parsed) return refused(kKind, token);
  kind = *parsed;
  return {};
}

Status read_time(ondemand::value& value, std::string_view token, double& t) {
  if (token.empty() || token.front() != '"') return read_number(kT, value, token, t);
  std::string_view text;
  if (Status status = read_text(kT, value, token, text); !status) return status;
  const std::optional<double> seconds = parse_timestamp(text);
  if (!seconds) return refused(kT, token);
  t = *seconds;
  return {};
}

Status read_field(Field field, ondemand::value& value, Row& row) {
  const std::string_view token = token_of(value);
  const bool missing = is_missing_token(token);
  switch (field) {
    case kTask: return read_text(field, value, token, row.task);
    case kModel: return read_text(field, value, token, row.model);
    case kConfidence:
      if (missing) return {};
      return read_number(field, value, token, row.confidence);
    case kCorrect:
      if (missing) return {};
      if (token == "true" || token == "false") {
        row.correct = token == "true" ? 1.0 : 0.0;
        return {};
      }
      return read_number(field, value, token, row.correct);
    case kAnswer: {
      if (token == "null") return {};
      std::string_view text;
      Status status = read_text(field, value, token, text);
      if (status) row.answer = text;
      return status;
    }
    // The rest is optional, and null means not stated.
    case kPhase: return token == "null" ? Status() : read_text(field, value, token, row.phase);
    case kChannel: return token == "null" ? Status() : read_text(field, value, token, row.channel);
    case kSegment: return token == "null" ? Status() : read_text(field, value, token, row.segment);
    case kKind: return token == "null" ? Status() : read_kind(value, token, row.kind);
    case kWeight: return token == "null" ? Status() : read_number(field, value, token, row.weight);
    case kT: return missing ? Status() : read_time(value, token, row.t);
    case kAbstained:
      if (token != "true" && token != "false" && token != "null") return refused(field, token);
      row.abstained = token == "true";
      return {};
    case kFields: break;
  }
  return {};
}

}  // namespace

struct JsonRowParser::Implementation {
  ondemand::parser parser;
  // By place, the field that stood there in an earlier row: rows of one file mostly have one layout. Only a guess.
  std::array<Field, kFields> layout = {};

  // The field at `place` of the row; nullopt for an unknown key.
  simdjson::error_code read_key(ondemand::field& entry, std::size_t place, std::optional<Field>& field) {
    Field* const guess = place < layout.size() ? &layout[place] : nullptr;
    if (guess != nullptr && entry.key().unsafe_is_equal(kFieldNames[*guess])) {
      field = *guess;
      return simdjson::SUCCESS;
    }
    std::string_view key;
    if (const auto error = entry.unescaped_key().get(key)) return error;
    field = field_of(key);
    if (field && guess != nullptr) *guess = *field;
    return simdjson::SUCCESS;
  }
};

JsonRowParser::JsonRowParser() : implementation_(std::make_unique<Implementation>()) {}
JsonRowParser::~JsonRowParser() = default;

Status JsonRowParser::parse(std::string_view line, Row& row) {
  ondemand::document document;
  const simdjson::padded_string_view padded(line, line.size() + kLinePadding);
  if (const auto error = implementation_->parser.iterate(padded).get(document)) return malformed(line, error);
  ondemand::object object;
  if (const auto error = document.get_object().get(object)) return malformed(line, error);

  unsigned seen = 0;
  std::size_t place = 0;
  for (auto next : object) {
    if (next.error() != simdjson::SUCCESS) return malformed(line, next.error());
    ondemand::field&& entry = std::move(next).value_unsafe();  // in place: to copy it would wait for its stores
    std::optional<Field> field;
    if (const auto error = implementation_->read_key(entry, place++, field)) return malformed(line, error);
    ondemand::value& value = entry.value();
    if (!field) {
      if (const auto error = check_value(value)) return malformed(line, error);
      continue;
    }
    if ((seen >> *field & 1U) != 0) return refused(*field, token_of(value), "to see it once in a row");
    seen |= 1U << *field;
    if (Status status = read_field(*field, value, row); !status) return status;
  }
  const char* behind = nullptr;
  if (document.current_location().get(behind) != simdjson::OUT_OF_BOUNDS) return malformed(line, simdjson::TRAILING_CONTENT);

  for (const Field field : kRequired) {
    const bool optional = row.abstained && (field == kConfidence || field == kCorrect);
    if ((seen >> field & 1U) == 0 && !optional) return absent(field, "it in every row (null where it is not known)");
  }
  return {};
}

}  // namespace margin::dataset
