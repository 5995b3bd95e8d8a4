// What the watch over a pool is shown, and what it reports by name and time.
#include <gtest/gtest.h>

#include <algorithm>

#include "pool/pool_fixture.h"

namespace margin {
namespace {

class AlarmsTest : public PoolTest {
 protected:
  // One task of six models, each right with its own chance; graded at once by each source in turn.
  void task(const std::vector<double>& chances, const std::vector<std::string>& sources = {"alice"}, double lies = 0.0) {
    Question asked;
    std::vector<Grade> grades;
    for (std::size_t i = 0; i < chances.size(); ++i) {
      const bool right = random_.chance(chances[i]);
      const std::string model(1, static_cast<char>('a' + i));
      asked.responses.push_back(
          {.model = model, .answer = right ? "right" : "wrong" + std::to_string(random_.below(3)), .confidence = 0.9});
      grades.push_back({model, right ? 1.0 : 0.0});
    }
    const Event made = event(std::move(*pool_.decide(asked)));
    apply(made);
    advance(1000);
    for (const std::string& source : sources) {
      std::vector<Grade> said = grades;
      for (Grade& grade : said) {
        if (source == "mallory" && random_.chance(lies)) grade.outcome = 1.0 - grade.outcome;
      }
      outcome(made.id, said, source);
    }
  }
  [[nodiscard]] bool reported(WatchKind kind, const std::string& subject) const {
    const auto alarms = pool_.alarms();
    return std::any_of(alarms.begin(), alarms.end(),
                       [&](const Alarm& alarm) { return alarm.report.kind == kind && alarm.subject == subject; });
  }
};

TEST_F(AlarmsTest, CollapseIsReportedByNameWithTheTimeOfTheEvent) {
  for (int i = 0; i < 300; ++i) task({0.9, 0.8, 0.8, 0.8, 0.8, 0.8});
  EXPECT_TRUE(pool_.alarms().empty());
  const std::int64_t fall_ms = now_;
  while (pool_.alarms().empty() && now_ < fall_ms + 200'000) task({0.2, 0.8, 0.8, 0.8, 0.8, 0.8});
  ASSERT_FALSE(pool_.alarms().empty());
  const Alarm alarm = pool_.alarms().front();
  EXPECT_EQ(alarm.report.kind, WatchKind::kDrift);
  EXPECT_EQ(alarm.subject, "a");
  EXPECT_EQ(alarm.time_ms, now_);
  EXPECT_GT(alarm.report.at, 300U);
  EXPECT_LT(alarm.report.observed, 0.5);
}

TEST_F(AlarmsTest, AlarmsChangeNothingElse) {
  configure({.watched_models_max = 0});
  Pool watched;
  for (int i = 0; i < 400; ++i) task({i < 300 ? 0.9 : 0.1, 0.8, 0.8});
  EXPECT_TRUE(pool_.alarms().empty());
  for (const Event& event : log_) {
    if (std::holds_alternative<PoolConfigured>(event.body)) continue;
    watched.apply(event);
  }
  EXPECT_FALSE(watched.alarms().empty());
  EXPECT_EQ(calibration(watched), calibration(pool_));
}

TEST_F(AlarmsTest, LyingSourceIsReportedWhereThreeGradeTheSame) {
  for (int i = 0; i < 200; ++i) task({0.8, 0.8, 0.8}, {"alice", "bob", "mallory"}, 0.4);
  EXPECT_TRUE(reported(WatchKind::kSourceDisagrees, "mallory"));
  EXPECT_FALSE(reported(WatchKind::kSourceDisagrees, "alice"));
  EXPECT_FALSE(reported(WatchKind::kSourceDisagrees, "bob"));
}

TEST_F(AlarmsTest, LiarWhoSpeaksFirstIsReportedAndAnHonestPoolIsNot) {
  for (int i = 0; i < 200; ++i) task({0.8, 0.8, 0.8}, {"alice", "bob", "carol"});
  EXPECT_TRUE(pool_.alarms().empty());
  for (int i = 0; i < 200; ++i) task({0.8, 0.8, 0.8}, {"mallory", "alice", "bob"}, 0.4);
  EXPECT_TRUE(reported(WatchKind::kSourceDisagrees, "mallory"));
}

TEST_F(AlarmsTest, RevertedStatementWasNeverHeard) {
  const Uuid made = decide({{"a", "x"}, {"b", "y"}});
  outcome(made, {{"a", 1.0}, {"b", 0.0}}, "alice");
  const Event contradiction = feedback(made, {{"a", 0.0}}, "mallory");
  EXPECT_EQ(apply(contradiction).status, ApplyStatus::kConflict);
  EXPECT_EQ(revert(contradiction.id).status, ApplyStatus::kRefold) << "the watch has heard it";
  EXPECT_TRUE(pool_.needs_fold());
  const Pool folded = fold(Pool(), log_);
  EXPECT_FALSE(folded.needs_fold());
  std::vector<Event> without;
  std::copy_if(log_.begin(), log_.end(), std::back_inserter(without), [&](const Event& event) { return event.id != contradiction.id; });
  EXPECT_EQ(calibration(folded), calibration(fold(Pool(), without)));
}

TEST_F(AlarmsTest, DecisionIsShownWhenItExpiresIfItsOutcomesNeverCame) {
  // Nobody is ever graded, but who stays away shows all the same.
  configure({.pending_ms_max = 1000});
  for (int i = 0; i < 400; ++i) {
    advance(100);
    if (i % 5 == 0)
      decide({{"a", "x"}, {"b", "x"}, {"c", "x"}});
    else
      decide({{"a", "x"}, {"b", "x"}});
  }
  EXPECT_TRUE(reported(WatchKind::kLowParticipation, "c"));
}

TEST_F(AlarmsTest, WithARemedyTheSettledDecisionIsShownAtOnce) {
  configure({.remedy = "implied"});
  for (int i = 0; i < 500; ++i) {
    const bool falls = i >= 300;
    const bool right = random_.chance(0.9);
    const Uuid made = decide({{"a", falls ? "z" : "x"}, {"b", "x"}, {"c", "x"}});
    apply(OutcomeObserved{.decision = made, .selected = right ? 1.0 : 0.0});
  }
  EXPECT_TRUE(reported(WatchKind::kDrift, "a")) << "what is implied is known";
}

TEST_F(AlarmsTest, RestoredPoolKeepsItsAlarms) {
  for (int i = 0; i < 400; ++i) task({i < 300 ? 0.9 : 0.1, 0.8, 0.8}, {"alice", "bob"});
  const auto restored = Pool::restore(pool_.snapshot());
  ASSERT_TRUE(restored.ok()) << restored.error().message;
  ASSERT_EQ(restored->alarms().size(), pool_.alarms().size());
  ASSERT_FALSE(pool_.alarms().empty());
  for (std::size_t i = 0; i < pool_.alarms().size(); ++i) {
    EXPECT_EQ(restored->alarms()[i].subject, pool_.alarms()[i].subject);
    EXPECT_EQ(restored->alarms()[i].time_ms, pool_.alarms()[i].time_ms);
  }
}

TEST_F(AlarmsTest, ModelsBeyondTheBoundAreNotWatchedAndStillLearn) {
  configure({.watched_models_max = 1});
  for (int i = 0; i < 400; ++i) task({0.8, i < 300 ? 0.9 : 0.1});
  EXPECT_FALSE(reported(WatchKind::kDrift, "b"));
  EXPECT_LT(trust("b"), trust("a"));
}

}  // namespace
}  // namespace margin
