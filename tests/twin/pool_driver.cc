// Reads commands as JSON lines, drives a pool with them and prints an answer per line; pool_against_twin.py compares. Folds again when a
// revert asks for it.
#include <simdjson.h>

#include <cstdio>
#include <iostream>
#include <optional>
#include <string>
#include <vector>

#include "margin/pool.h"

namespace margin {
namespace {

using simdjson::dom::element;

std::string text(element object, const char* key, const char* fallback = "") {
  element value;
  return object[key].get(value) == simdjson::SUCCESS ? std::string(std::string_view(value)) : fallback;
}

double real(element value) { return value.is_double() ? double(value) : static_cast<double>(std::int64_t(value)); }

std::optional<double> maybe_real(element object, const char* key) {
  element value;
  if (object[key].get(value) != simdjson::SUCCESS || value.is_null()) return std::nullopt;
  return real(value);
}

std::optional<std::string> maybe_text(element object, const char* key) {
  element value;
  if (object[key].get(value) != simdjson::SUCCESS || value.is_null()) return std::nullopt;
  return std::string(std::string_view(value));
}

std::string json(double value) {
  char buffer[40];
  std::snprintf(buffer, sizeof buffer, "%.17g", value);
  return buffer;
}

std::string json(const std::vector<std::string>& names) {
  std::string out = "[";
  for (const std::string& name : names) out += (out.size() > 1 ? ",\"" : "\"") + name + "\"";
  return out + "]";
}

std::string list(const std::vector<std::string>& values) {
  std::string out = "[";
  for (const std::string& value : values) out += (out.size() > 1 ? "," : "") + value;
  return out + "]";
}

class Driver {
 public:
  std::string answer(element command) {
    const std::string op = text(command, "op");
    if (op == "factors") return factors();
    if (op == "decide") return decide(command);
    return outcome_of(apply(command, body(op, command)));
  }

 private:
  static EventBody body(const std::string& op, element command) {
    if (op == "join") return ModelJoined{text(command, "model"), text(command, "predecessor")};
    if (op == "leave") return ModelLeft{text(command, "model")};
    if (op == "freeze") return LearningFrozen{};
    if (op == "resume") return LearningResumed{};
    if (op == "pin") return FactorPinned{text(command, "model"), *maybe_real(command, "factor")};
    if (op == "unpin") return FactorUnpinned{text(command, "model")};
    if (op == "revert") {
      if (const auto feedback = maybe_text(command, "feedback")) return OutcomeReverted{.feedback = *Uuid::parse(*feedback)};
      return OutcomeReverted{.source = text(command, "source")};
    }
    if (op == "outcome") return outcome(command);
    return configuration(command);
  }

  static OutcomeObserved outcome(element command) {
    OutcomeObserved observed{.decision = *Uuid::parse(text(command, "decision")),
                             .gold = maybe_text(command, "gold"),
                             .selected = maybe_real(command, "selected"),
                             .weight = *maybe_real(command, "weight"),
                             .source = text(command, "source")};
    for (const element grade : command["grades"].get_array()) {
      observed.grades.push_back({text(grade, "model"), *maybe_real(grade, "outcome"), text(grade, "channel")});
    }
    return observed;
  }

  static PoolConfigured configuration(element command) {
    PoolConfigured config{.calibrator = text(command, "calibrator"),
                          .calibrator_version = static_cast<int>(std::int64_t(command["version"])),
                          .remedy = text(command, "remedy"),
                          .audit_rate = *maybe_real(command, "audit_rate"),
                          .pending_ms_max = std::int64_t(command["pending_ms_max"]),
                          .watched_models_max = 0};  // the twin knows no watch
    for (const auto [key, value] : command["parameters"].get_object()) {
      config.calibrator_parameters[std::string(key)] =
          value.is_string() ? ParameterValue(std::string(std::string_view(value))) : ParameterValue(real(value));
    }
    return config;
  }

  ApplyResult apply(element command, EventBody body) {
    log_.push_back({.id = *Uuid::parse(text(command, "id")), .time_ms = std::int64_t(command["time"]), .body = std::move(body)});
    ApplyResult result = pool_.apply(log_.back());
    if (result.status == ApplyStatus::kRefold) pool_ = fold(Pool(), log_);
    return result;
  }

  static std::string outcome_of(const ApplyResult& result) {
    return "{\"status\":\"" + std::string(name_of(result.status)) + "\",\"learned\":" + json(result.learned) +
           ",\"implied\":" + json(result.implied) + ",\"unlearned\":" + json(result.unlearned) +
           ",\"dropped\":" + std::to_string(result.dropped.size()) + "}";
  }

  std::string decide(element command) {
    Question question{.task = text(command, "id"), .segment = text(command, "segment"), .max_error = maybe_real(command, "max_error")};
    for (const element said : command["responses"].get_array()) {
      question.responses.push_back({.model = text(said, "model"),
                                    .answer = maybe_text(said, "answer"),
                                    .confidence = maybe_real(said, "confidence"),
                                    .channel = text(said, "channel"),
                                    .abstained = bool(said["abstained"])});
    }
    const auto made = pool_.decide(question);
    if (!made) return "{\"refused\":true}";
    std::vector<std::string> calibrated, audits, why, scores, decisive;
    std::vector<std::string> answers(made->answers.size());
    for (const RecordedResponse& response : made->responses) {
      calibrated.push_back(json(response.calibrated));
      audits.push_back(json(response.audit));
      why.push_back("[" + json(response.factor) + "," + std::to_string(response.band) + "," + json(response.n) + "," +
                    json(response.weight) + "]");
      if (response.answer != kNoAnswer) answers[response.answer] = response.answer_text;
    }
    const auto answer = [&](std::uint32_t group) { return group == kNoAnswer ? "" : answers[group]; };
    for (const double score : made->scores) scores.push_back(json(score));
    for (const DecisiveModel& each : made->decisive) decisive.push_back(json(std::vector{each.model, answer(each.answer)}));
    const Sureness& sure = made->sure;
    std::string out = "{\"calibrated\":" + list(calibrated) + ",\"audits\":" + list(audits) + ",\"why\":" + list(why) +
                      ",\"answers\":" + json(answers) + ",\"scores\":" + list(scores) + ",\"decisive\":" + list(decisive) +
                      ",\"selected\":\"" + answer(made->selected) + "\",\"share\":" + json(made->share) +
                      ",\"gap\":" + json(made->runner_up_gap) + ",\"p_correct\":" + json(sure.p_correct) + ",\"low\":" + json(sure.low) +
                      ",\"high\":" + json(sure.high) + ",\"effective_n\":" + json(sure.effective_n) + ",\"status\":\"" +
                      std::string(name_of(sure.status)) + "\",\"abstained\":" + (made->abstained ? "true" : "false");
    return out + ",\"event\":" + outcome_of(apply(command, *made)) + "}";
  }

  [[nodiscard]] std::string factors() const {
    std::string out = "[";
    for (const FactorRow& row : pool_.factors()) {
      const Explanation& why = row.explanation;
      out += (out.size() > 1 ? ",[\"" : "[\"") + row.model + "\",\"" + row.channel + "\",\"" + row.segment + "\"," +
             std::to_string(why.band) + "," + (row.present ? "1" : "0") + "," + json(row.pinned.value_or(-1.0)) + "," +
             json(row.evidence->effective_n) + "," + json(row.evidence->stated) + "," + json(why.calibrated) + "," + json(why.factor) +
             "," + json(why.observations) + "]";
    }
    return out + "]";
  }

  Pool pool_;
  std::vector<Event> log_;
};

}  // namespace
}  // namespace margin

int main() {
  margin::Driver driver;
  simdjson::dom::parser parser;
  for (std::string line; std::getline(std::cin, line);) {
    if (line == "new")
      driver = margin::Driver();
    else
      std::cout << driver.answer(parser.parse(line)) << "\n";
  }
  return 0;
}
