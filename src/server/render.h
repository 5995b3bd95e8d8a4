// What handlers show: pools, decisions and factors as JSON. Shapes are those of openapi.json.
#pragma once

#include <concepts>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "base/json_writer.h"
#include "margin/event.h"
#include "margin/pool.h"
#include "server/caller.h"
#include "service/served_pool.h"

namespace margin::server {

using internal::JsonWriter;

// The text of a response's answer; nullopt where it gave none, or where the log does not keep it. Any function of a response's number,
// which must live as long as this.
class AnswerText {
 public:
  template <class F>
  requires(!std::same_as<F, AnswerText>) AnswerText(const F& text)  // NOLINT(google-explicit-constructor)
      : text_(&text), call_([](const void* f, std::size_t response) { return (*static_cast<const F*>(f))(response); }) {}

  [[nodiscard]] std::optional<std::string_view> operator()(std::size_t response) const { return call_(text_, response); }

 private:
  const void* text_;
  std::optional<std::string_view> (*call_)(const void* text, std::size_t response);
};

// The members of a decision, without the brackets: {"decision_id", "answer", "model", "p_correct", ...}.
void render_decision(JsonWriter& out, Uuid id, const DecisionMade& decision, AnswerText text);

// One short line of a list.
void render_decision_summary(JsonWriter& out, std::string_view pool, const service::DecisionRow& row);

void render_pool(JsonWriter& out, std::string_view shown_name, const service::ServedPool& pool, std::int64_t now_ms);

// `trend`: by how much it moved of late.
void render_factor(JsonWriter& out, const FactorRow& row, std::optional<double> trend);

// A report of drift or gaming, with its evidence.
void render_alarm(JsonWriter& out, const Alarm& alarm);

// Scores of the latest outcomes: {"outcomes", "accuracy", "stated": {...}, "calibrated": {...}}.
void render_scores(JsonWriter& out, const service::ScoreWindow& scores, bool with_bins);
// `outcomes`: that ever came.
void render_scores(JsonWriter& out, std::uint64_t outcomes, const service::ScoreSums& scores, bool with_bins);

void render_time(JsonWriter& out, std::string_view key, std::int64_t time_ms);

}  // namespace margin::server
