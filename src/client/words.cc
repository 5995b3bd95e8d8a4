#include "client/words.h"

#include <fmt/format.h>
#include <simdjson.h>

#include "base/text.h"

namespace margin::client {
namespace {

namespace dom = simdjson::dom;

constexpr std::size_t kTextBytesMax = 1000;

// Empty when there is none.
std::string text_at(const dom::element& object, std::string_view key) {
  std::string_view text;
  return object.at_key(key).get_string().get(text) == simdjson::SUCCESS ? internal::printable(text, kTextBytesMax) : "";
}

// "a, b"; empty when there are none.
std::string names_at(const dom::element& object, std::string_view key) {
  dom::array names;
  std::string words;
  if (object.at_key(key).get_array().get(names) != simdjson::SUCCESS) return words;
  for (const dom::element element : names) {
    std::string_view name;
    if (element.get_string().get(name) == simdjson::SUCCESS) words += (words.empty() ? "" : ", ") + internal::printable(name);
  }
  return words;
}

std::string probability_words(const dom::element& decision) {
  double p_correct = 0.0;
  double low = 0.0;
  double high = 0.0;
  if (decision.at_key("p_correct").get_double().get(p_correct) != simdjson::SUCCESS) return "\n  not known how likely right";
  std::string words = fmt::format("\n  right with probability {:.2f}", p_correct);
  const auto interval = decision.at_key("interval");
  const bool has_interval =
      interval.at(0).get_double().get(low) == simdjson::SUCCESS && interval.at(1).get_double().get(high) == simdjson::SUCCESS;
  return has_interval ? words + fmt::format(", {:.2f} to {:.2f}", low, high) : words;
}

}  // namespace

std::string decision_words(std::string_view json) {
  dom::parser parser;
  dom::element decision;
  if (parser.parse(json.data(), json.size()).get(decision) != simdjson::SUCCESS) return "";
  const std::string id = text_at(decision, "decision_id");
  if (id.empty()) return "";
  bool abstained = false;
  const bool abstains = decision.at_key("abstained").get_bool().get(abstained) == simdjson::SUCCESS && abstained;
  std::string text = (abstains ? "(abstains)" : text_at(decision, "answer")) + probability_words(decision);
  text += " (" + text_at(decision, "status") + ")";
  if (const std::string model = text_at(decision, "model"); !model.empty()) text += ", as " + model + " says";
  text += "\n  decision " + id + "\n";
  const std::string wanted = names_at(decision, "grade_please");
  return wanted.empty() ? text : text + "  please grade: " + wanted + "\n";
}

std::string receipt_words(std::string_view json) {
  dom::parser parser;
  dom::element receipt;
  if (parser.parse(json.data(), json.size()).get(receipt) != simdjson::SUCCESS) return "";
  std::string text = text_at(receipt, "status");
  if (text.empty()) return "";
  if (const std::string names = names_at(receipt, "updated"); !names.empty()) text += ", learned: " + names;
  if (const std::string names = names_at(receipt, "not_learned"); !names.empty()) text += ", not learned: " + names;
  return text + "\n  feedback " + text_at(receipt, "feedback_id") + "\n";
}

std::string erasure_words(std::string_view json) {
  dom::parser parser;
  dom::element erasure;
  std::uint64_t records = 0;
  if (parser.parse(json.data(), json.size()).get(erasure) != simdjson::SUCCESS) return "";
  if (erasure.at_key("erased").get_uint64().get(records) != simdjson::SUCCESS) return "";
  std::string text =
      fmt::format("decision {}: texts of {} event{} erased\n", text_at(erasure, "decision_id"), records, records == 1 ? "" : "s");
  const std::string needed = names_at(erasure, "still_needed");
  if (!needed.empty())
    text += "  the right answer that came before the decision stays until the log is compacted: feedback " + needed + "\n";
  return text;
}

std::string error_words(std::string_view json) {
  dom::parser parser;
  dom::element error;
  std::string message;
  if (parser.parse(json.data(), json.size()).at_key("error").get(error) == simdjson::SUCCESS) message = text_at(error, "message");
  return message.empty() ? internal::printable(json, kTextBytesMax) : message;
}

}  // namespace margin::client
