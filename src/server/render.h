// What handlers show: pools, decisions and factors as JSON. Shapes are those of openapi.json.
#pragma once

#include <functional>
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

// The text of a response's answer; nullopt where it gave none, or where the log does not keep it.
using AnswerText = std::function<std::optional<std::string_view>(std::size_t response)>;

// The members of a decision, without the brackets: {"decision_id", "answer", "model", "p_correct", ...}.
void render_decision(JsonWriter& out, Uuid id, const DecisionMade& decision, const AnswerText& text);

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
