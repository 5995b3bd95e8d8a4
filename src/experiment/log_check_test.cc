#include "experiment/log_check.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "dataset/observation_log.h"
#include "experiment/split.h"

namespace margin::experiment {
namespace {

using dataset::ObservationLog;
using dataset::Row;

// A log of `tasks` tasks that two models answer; `change` spoils rows before they are appended.
template <class Change>
LogFacts facts_of(std::size_t tasks, Change change) {
  ObservationLog log;
  for (std::size_t number = 0; number < tasks; ++number) {
    const std::string task = "t" + std::to_string(number);
    for (const char* model : {"a", "b"}) {
      Row row{.task = task, .model = model, .confidence = 0.5 + 0.1 * static_cast<double>(number % 5), .t = static_cast<double>(number)};
      const bool right = (number + (row.model == "a" ? 0 : 1)) % 3 == 0;
      row.correct = right ? 1.0 : 0.0;
      row.answer = right ? "yes" : "no";
      change(number, row);
      EXPECT_TRUE(log.append(row, static_cast<std::uint32_t>(log.rows() + 1)).ok());
    }
  }
  auto streams = make_streams(log);
  EXPECT_TRUE(streams.ok());
  return check_log(streams->front(), task_moments(streams->front(), log));
}

TEST(LogCheck, FindsNothingToSayAboutAGoodLog) {
  const LogFacts facts = facts_of(60, [](std::size_t, Row&) {});
  EXPECT_EQ(facts.for_voting(), Health::kOk);
  EXPECT_EQ(facts.rows, 120U);
  EXPECT_EQ(facts.outcomes, 120U);
  EXPECT_EQ(facts.graded_tasks, 60U);
  EXPECT_EQ(facts.check(Aspect::kDisagreement).count, 40U);  // one of three numbers makes both wrong alike
  EXPECT_EQ(facts.check(Aspect::kTimeOrder).count, 60U);
}

struct Spoiled {
  const char* what;
  Aspect aspect;
  Health health;
  void (*change)(std::size_t, Row&);
  std::size_t count, of;
};

TEST(LogCheck, NamesWhatIsWrong) {
  constexpr double kNan = dataset::kMissing;
  const Spoiled cases[] = {
      {"confidences missing", Aspect::kConfidence, Health::kWarn,
       [](std::size_t n, Row& row) {
         if (n < 10) row.confidence = kNan;
       },
       100, 120},
      {"outcomes missing", Aspect::kOutcome, Health::kWarn,
       [](std::size_t n, Row& row) {
         if (n < 10) row.correct = kNan;
       },
       100, 120},
      {"no outcome", Aspect::kOutcome, Health::kBad, [](std::size_t, Row& row) { row.correct = kNan; }, 0, 120},
      {"all right", Aspect::kBothOutcomes, Health::kBad, [](std::size_t, Row& row) { row.correct = 1.0; }, 0, 2},
      {"one always wrong", Aspect::kBothOutcomes, Health::kWarn,
       [](std::size_t, Row& row) {
         if (row.model == "b") row.correct = 0.0;
       },
       1, 2},
      {"one seldom graded", Aspect::kOutcomesPerModel, Health::kWarn,
       [](std::size_t n, Row& row) {
         if (row.model == "b" && n >= 29) row.correct = kNan;
       },
       1, 2},
      {"a constant", Aspect::kVariation, Health::kWarn,
       [](std::size_t, Row& row) {
         if (row.model == "b") row.confidence = 0.9;
       },
       1, 2},
      {"scaled twice", Aspect::kScale, Health::kBad, [](std::size_t, Row& row) { row.confidence /= 100.0; }, 0, 120},
      {"no answers", Aspect::kAnswer, Health::kBad, [](std::size_t, Row& row) { row.answer.reset(); }, 0, 120},
      {"never two models", Aspect::kSeveralModels, Health::kBad,
       [](std::size_t n, Row& row) {
         if ((n % 2 == 0) == (row.model == "a")) row.abstained = true;
       },
       0, 60},
      {"never different", Aspect::kDisagreement, Health::kBad, [](std::size_t, Row& row) { row.answer = "same"; }, 0, 60},
      {"no time", Aspect::kTime, Health::kWarn, [](std::size_t, Row& row) { row.t = kNan; }, 0, 60},
      {"time runs backwards", Aspect::kTimeOrder, Health::kWarn, [](std::size_t, Row& row) { row.t = -row.t; }, 1, 60},
  };
  for (const Spoiled& one : cases) {
    const LogFacts facts = facts_of(60, one.change);
    const LogCheck& check = facts.check(one.aspect);
    EXPECT_EQ(check.health, one.health) << one.what;
    EXPECT_EQ(check.count, one.count) << one.what;
    EXPECT_EQ(check.of, one.of) << one.what;
  }
}

TEST(LogCheck, NamesTheModelsThatFallShort) {
  const LogFacts facts = facts_of(60, [](std::size_t, Row& row) {
    if (row.model == "b") row.confidence = 0.9;
  });
  EXPECT_EQ(facts.check(Aspect::kVariation).models, std::vector<std::string>{"b"});
}

TEST(LogCheck, WantOfAnswersConcernsVotingAlone) {
  const LogFacts facts = facts_of(60, [](std::size_t, Row& row) { row.answer.reset(); });
  EXPECT_EQ(facts.for_calibration(), Health::kOk);
  EXPECT_EQ(facts.for_voting(), Health::kBad);
}

TEST(LogCheck, ThinBandsAreCounted) {
  // Confidences 0.5 and 0.6 are of the middle band, 24 outcomes a model; 0.7 to 0.9 of the top one, 36.
  const LogFacts facts = facts_of(60, [](std::size_t, Row&) {});
  EXPECT_EQ(facts.check(Aspect::kOutcomesPerBand).count, 2U);
  EXPECT_EQ(facts.check(Aspect::kOutcomesPerBand).of, 4U);
}

}  // namespace
}  // namespace margin::experiment
