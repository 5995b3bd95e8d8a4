// The language of the pool's tests: a pool with a clock of its own that speaks of decisions, outcomes and time.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "margin/pool.h"

namespace margin {

inline constexpr std::int64_t kMinute = 60'000;
inline constexpr std::int64_t kDay = std::int64_t{24} * 60 * kMinute;

class PoolTest : public ::testing::Test {
 protected:
  // A model, its answer ("" = none) and its stated confidence.
  struct Says {
    std::string model;
    std::string answer;
    std::optional<double> confidence = 0.9;
    std::string channel = "verbalized";
    bool abstained = false;
  };

  void SetUp() override { configure({}); }

  static Question question(std::initializer_list<Says> responses, std::string segment = "") {
    Question asked{.segment = std::move(segment)};
    for (const Says& says : responses) {
      asked.responses.push_back({.model = says.model,
                                 .answer = says.answer.empty() ? std::nullopt : std::optional(says.answer),
                                 .confidence = says.confidence,
                                 .channel = says.channel,
                                 .abstained = says.abstained});
    }
    return asked;
  }

  Event event(EventBody body) { return {.id = Uuid::make(now_, random_), .time_ms = now_, .body = std::move(body)}; }

  ApplyResult apply(const Event& happened) {
    log_.push_back(happened);
    return pool_.apply(happened);
  }
  ApplyResult apply(EventBody body) { return apply(event(std::move(body))); }

  ApplyResult configure(PoolConfigured config) { return apply(EventBody(std::move(config))); }
  ApplyResult join(std::string model, std::string predecessor = "") { return apply(ModelJoined{std::move(model), std::move(predecessor)}); }
  ApplyResult leave(std::string model) { return apply(ModelLeft{std::move(model)}); }
  void advance(std::int64_t ms) { now_ += ms; }

  // The event of a decision, not yet applied.
  Event plan(std::initializer_list<Says> responses, std::string segment = "") {
    auto decision = pool_.decide(question(responses, std::move(segment)));
    EXPECT_TRUE(decision.ok()) << (decision.ok() ? "" : decision.error().message);
    return event(std::move(*decision));
  }
  // Decides and applies; the decision's id.
  Uuid decide(std::initializer_list<Says> responses, std::string segment = "") {
    const Event made = plan(responses, std::move(segment));
    EXPECT_EQ(apply(made).status, ApplyStatus::kApplied);
    return made.id;
  }

  ApplyResult outcome(Uuid decision, std::vector<Grade> grades, std::string source = "") {
    return apply(feedback(decision, std::move(grades), std::move(source)));
  }
  Event feedback(Uuid decision, std::vector<Grade> grades, std::string source = "") {
    return event(OutcomeObserved{.decision = decision, .grades = std::move(grades), .source = std::move(source)});
  }
  ApplyResult revert(Uuid feedback) { return apply(OutcomeReverted{.feedback = feedback}); }
  ApplyResult revert_source(std::string source) { return apply(OutcomeReverted{.source = std::move(source)}); }

  // `times` decisions of one model, each graded at once.
  void teach(const std::string& model, double outcome_value, int times, const std::string& segment = "",
             const std::string& channel = "verbalized") {
    for (int i = 0; i < times; ++i) outcome(decide({{model, "x", 0.9, channel}}, segment), {{model, outcome_value}});
  }

  [[nodiscard]] double trust(const std::string& model, const std::string& segment = "", const std::string& channel = "verbalized") const {
    const auto calibrated = pool_.calibrate(model, channel, segment, 0.9);
    EXPECT_TRUE(calibrated.ok()) << model;
    return calibrated.ok() ? *calibrated : -1.0;
  }

  // The factors as text: calibration state without what is remembered of events.
  [[nodiscard]] static std::vector<std::string> calibration(const Pool& pool) {
    std::vector<std::string> rows;
    for (const FactorRow& row : pool.factors()) {
      std::string text = row.model + "|" + row.channel + "|" + row.segment + "|" + std::to_string(row.explanation.band);
      for (const Term& term : row.explanation.terms) text += "|" + to_text(term.value);
      rows.push_back(text + "|" + to_text(row.explanation.observations));
    }
    return rows;
  }

  std::int64_t now_ = 1'700'000'000'000;
  Random random_{7};
  Pool pool_;
  std::vector<Event> log_;
};

}  // namespace margin
