// What is maintained as events are applied, against the same counted anew over all of them.
#include "service/insight.h"

#include <gtest/gtest.h>

#include <cmath>
#include <deque>

#include "margin/random.h"
#include "margin/selection_metric.h"
#include "service/served_pool.h"

namespace margin::service {
namespace {

constexpr std::int64_t kStart = 1'700'000'000'000;

// A pool with three models whose outcomes come with the next tick.
class InsightTest : public ::testing::Test {
 protected:
  struct Played {
    DecisionMade made;
    DecisionView view;
  };

  Uuid new_id() { return Uuid::make(now_ms_, random_); }
  void apply(Uuid id, EventBody body) { served_.apply(served_.next_offset(), {id, now_ms_, std::move(body)}); }

  Uuid decide() {
    Question question{.task = "Task-" + std::to_string(++tasks_), .kind = AnswerKind::kChoice};
    for (const char* model : {"a", "b", "c"}) {
      const std::string answer(1, static_cast<char>('A' + random_.below(3)));
      question.responses.push_back({.model = model, .answer = answer, .confidence = random_.uniform()});
    }
    auto made = served_.pool().decide(question);
    EXPECT_TRUE(made.ok());
    for (std::size_t i = 0; i < 3; ++i) made->responses[i].answer_text = *question.responses[i].answer;
    const Uuid id = new_id();
    made_.push_back(*made);
    apply(id, *made);
    return id;
  }
  // "A" is right.
  void grade(Uuid id) {
    OutcomeObserved outcome{.decision = id};
    for (const RecordedResponse& response : made_.back().responses) {
      outcome.grades.push_back({response.model, response.answer_text == "A" ? 1.0 : 0.0});
    }
    apply(new_id(), outcome);
    played_.push_back({made_.back(), *served_.pool().decision(id)});
  }
  void play(int decisions, std::int64_t step_ms = 700) {
    for (int i = 0; i < decisions; ++i) {
      now_ms_ += step_ms;
      grade(decide());
    }
  }
  const Insight& insight() { return served_.insight(); }

  std::int64_t now_ms_ = kStart;
  int tasks_ = 0;
  Random random_{11};
  ServedPool served_{"p", Pool(), 0, {}};
  std::vector<DecisionMade> made_;
  std::vector<Played> played_;
};

TEST_F(InsightTest, PairsEqualTheLibrarysResolution) {
  play(500);
  std::vector<std::vector<GradedResponse>> stated_rows, calibrated_rows;
  std::size_t same_wrong = 0;
  for (const Played& played : played_) {
    auto& stated = stated_rows.emplace_back();
    auto& calibrated = calibrated_rows.emplace_back();
    for (const ResponseView& r : played.view.responses) {
      stated.push_back({.answer = r.answer, .stated = r.confidence, .calibrated = r.confidence, .outcome = r.outcome});
      calibrated.push_back({.answer = r.answer, .stated = r.confidence, .calibrated = r.calibrated, .outcome = r.outcome});
    }
    for (std::size_t i = 0; i < 3; ++i) {
      for (std::size_t j = 0; j < i; ++j) {
        const auto& responses = played.view.responses;
        same_wrong += responses[i].answer == responses[j].answer && *responses[i].outcome == 0.0 ? 1U : 0U;
      }
    }
  }
  const auto points = [](const std::vector<std::vector<GradedResponse>>& rows) {
    Resolution sum;
    for (const auto& task : rows) sum += resolution(task);
    return sum;
  };
  PairCounts sum;
  for (std::size_t second = 1; second < 3; ++second) {
    for (std::size_t first = 0; first < second; ++first) sum.add(insight().pairs().counts(first, second));
  }
  EXPECT_EQ(sum.together, 3U * 500U);
  EXPECT_EQ(0.5 * sum.stated, points(stated_rows).points);
  EXPECT_EQ(0.5 * sum.calibrated, points(calibrated_rows).points);
  EXPECT_EQ(sum.both_wrong, points(stated_rows).both_wrong);
  EXPECT_EQ(sum.same_wrong, same_wrong);
  EXPECT_GT(same_wrong, 0U);
}

// Outcomes one by one, as they come from several people.
TEST_F(InsightTest, PairsAreCountedOnceHoweverTheirOutcomesAreTold) {
  const auto together = [](const ServedPool& pool) { return pool.insight().pairs().counts(0, 1).together; };
  const auto say = [this](Uuid decision) {
    for (const char* model : {"a", "b"}) apply(new_id(), OutcomeObserved{.decision = decision, .grades = {{model, 1.0}}});
  };
  say(decide());
  EXPECT_EQ(together(served_), 1U);
  // Before the decision.
  decide();
  const Uuid early = new_id();
  say(early);
  apply(early, made_.back());
  EXPECT_EQ(together(served_), 2U);
  // By the state, after a start and after a new fold.
  const std::string state = served_.pool().snapshot();
  EXPECT_EQ(together(ServedPool("p", Pool::restore(state).value(), served_.next_offset(), {})), 2U);
  served_.swap_state(Pool::restore(state).value());
  EXPECT_EQ(together(served_), 2U);
}

TEST_F(InsightTest, ADecisionIsSettledOnceHoweverManyOfItsSupportersAreGraded) {
  Question question;
  for (const char* model : {"a", "b", "c"}) question.responses.push_back({.model = model, .answer = "x", .confidence = 0.9});
  const Uuid id = new_id();
  apply(id, *served_.pool().decide(question));
  for (const char* model : {"b", "a", "c"}) apply(new_id(), OutcomeObserved{.decision = id, .grades = {{model, 1.0}}});
  const auto settled = [this](const ServedPool& pool) { return pool.insight().activity().find(now_ms_ / Activity::kStepMs)->settled; };
  EXPECT_EQ(settled(served_), 1U);
  EXPECT_EQ(served_.scores().at(std::string(ServedPool::kDecisions)).count(), 1U);
  const ServedPool again("p", Pool::restore(served_.pool().snapshot()).value(), served_.next_offset(), {});
  EXPECT_EQ(settled(again), 1U);
  EXPECT_EQ(again.scores().at(std::string(ServedPool::kDecisions)).count(), 1U);
}

TEST_F(InsightTest, ActivityCountsWhatGradesSomebodyBeforeAndAfterAStart) {
  decide();
  const Uuid id = new_id();
  const auto say = [&](Uuid decision, double outcome, double weight) {
    apply(new_id(), OutcomeObserved{.decision = decision, .grades = {{"a", outcome}}, .weight = weight});
  };
  for (const auto& [outcome, weight] : {std::pair(0.0, 0.0), std::pair(1.0, 1.0), std::pair(1.0, 0.5), std::pair(0.0, 1.0)})
    say(id, outcome, weight);
  apply(id, made_.back());
  say(id, 0.0, 0.0);
  const auto outcomes = [this](const ServedPool& pool) { return pool.insight().activity().find(now_ms_ / Activity::kStepMs)->outcomes; };
  EXPECT_EQ(outcomes(served_), 1U) << "nobody is graded by what has no weight, comes again or contradicts";
  EXPECT_EQ(outcomes(ServedPool("p", Pool::restore(served_.pool().snapshot()).value(), served_.next_offset(), {})), 1U);
}

TEST_F(InsightTest, PairsAreOverTheLatestHalves) {
  play(static_cast<int>(2 * PairTally::kHalf) + 10, 1);
  EXPECT_EQ(insight().pairs().counts(0, 1).together, PairTally::kHalf + 10);
}

TEST_F(InsightTest, VotesWonAreThoseOfTheLatestHalves) {
  play(static_cast<int>(2 * VoteTally::kHalf) + 10, 1);
  std::map<std::string, VoteCounts> expected;
  for (auto made = made_.end() - static_cast<std::ptrdiff_t>(VoteTally::kHalf + 10); made != made_.end(); ++made) {
    for (const RecordedResponse& response : made->responses) {
      VoteCounts& counts = expected[response.model];
      ++counts.responses;
      counts.won += response.answer == made->selected ? 1U : 0U;
      counts.led += response.model == made->selected_model ? 1U : 0U;
      ++counts.stated[std::min<std::size_t>(19, static_cast<std::size_t>(std::floor(20.0 * *response.confidence)))];
    }
  }
  const auto counts = insight().votes().counts();
  ASSERT_EQ(counts.size(), 3U);
  for (const auto& [model, tally] : counts) {
    EXPECT_EQ(tally.responses, VoteTally::kHalf + 10);
    EXPECT_EQ(tally.won, expected[model].won);
    EXPECT_EQ(tally.led, expected[model].led);
    EXPECT_EQ(tally.stated, expected[model].stated);
  }
}

TEST_F(InsightTest, ActivityHasEveryDecisionAndItsError) {
  play(100);
  std::uint32_t decisions = 0, settled = 0;
  double promised = 0.0, realised = 0.0, expected_promised = 0.0, expected_realised = 0.0;
  for (std::int64_t number = kStart / Activity::kStepMs; number <= now_ms_ / Activity::kStepMs; ++number) {
    const ActivityStep* step = insight().activity().find(number);
    ASSERT_NE(step, nullptr);
    decisions += step->decisions;
    settled += step->settled;
    promised += step->promised_error;
    realised += step->realised_error;
  }
  for (const Played& played : played_) {
    expected_promised += 1.0 - played.made.sure.p_correct;
    for (const ResponseView& response : played.view.responses) {
      if (response.model == played.made.selected_model) expected_realised += 1.0 - *response.outcome;
    }
  }
  EXPECT_EQ(decisions, 100U);
  EXPECT_EQ(settled, 100U);
  EXPECT_NEAR(promised, expected_promised, 1e-9);
  EXPECT_NEAR(realised, expected_realised, 1e-9);
  // One each 700 ms.
  EXPECT_NEAR(insight().activity().decisions_per_minute(now_ms_), 60'000.0 / 700.0, 5.0);
  EXPECT_EQ(insight().activity().decisions_per_minute(now_ms_ + 120'000), 0.0);
}

TEST_F(InsightTest, OldStepsMakeRoom) {
  play(1);
  now_ms_ += static_cast<std::int64_t>(Activity::kSteps) * Activity::kStepMs;
  play(1);
  EXPECT_EQ(insight().activity().find(kStart / Activity::kStepMs), nullptr);
  Activity activity;
  ASSERT_NE(activity.at(now_ms_), nullptr);
  EXPECT_EQ(activity.at(now_ms_ - static_cast<std::int64_t>(Activity::kSteps) * Activity::kStepMs), nullptr);
}

TEST_F(InsightTest, HistoryIsThePoolsFactorsInBoundedPoints) {
  for (int round = 0; round < 40; ++round) {
    play(10, 1000);
    const FactorHistory& history = insight().history();
    ASSERT_LE(history.times().size(), FactorHistory::kPoints);
    EXPECT_TRUE(std::is_sorted(history.times().begin(), history.times().end()));
    for (const FactorRow& row : served_.pool().factors()) {
      const auto found = std::find_if(history.series().begin(), history.series().end(), [&](const FactorSeries& one) {
        return one.model == row.model && one.bands == row.explanation.bands;
      });
      ASSERT_NE(found, history.series().end());
      EXPECT_EQ(found->values.size(), (history.times().size() - found->born) * static_cast<std::size_t>(found->bands));
      // The step between samples has grown; while it was one decision long, the last point is the state.
      if (round < 10) {
        EXPECT_NEAR(found->value(history.times().size() - 1, row.explanation.band), row.explanation.factor, 1e-5);
      }
    }
  }
  // It reaches back to the first minutes: what is dropped is every second point, not the oldest.
  EXPECT_LT(insight().history().times().front(), kStart + 10'000);
  EXPECT_EQ(insight().history().marks().front().kind, "joined");
}

TEST_F(InsightTest, ComingAndGoingIsMarked) {
  play(10);
  apply(new_id(), ModelLeft{.model = "b"});
  const auto& marks = insight().history().marks();
  ASSERT_EQ(marks.size(), 4U);
  EXPECT_EQ(marks.front().kind + " " + marks.front().model, "joined a");
  EXPECT_EQ(marks.back().kind + " " + marks.back().model, "left b");
}

TEST_F(InsightTest, DecisionsAreFoundByWhatTheyAre) {
  play(20);
  const Uuid open = decide();
  const DecisionIndex& index = insight().decisions();
  EXPECT_EQ(index.search({}, 100).size(), 21U);
  EXPECT_EQ(index.search({}, 100).front()->id, open);
  ASSERT_EQ(index.search({.text = "task-7"}, 100).size(), 1U);
  EXPECT_EQ(index.search({.text = "task-7"}, 100).front()->task, "Task-7");
  EXPECT_EQ(index.search({.graded = false}, 100).size(), 1U);
  EXPECT_EQ(index.search({.graded = true}, 100).size(), 20U);
  EXPECT_EQ(index.search({.answered = false}, 100).size(), 0U);
  std::size_t named = 0;
  for (const char* model : {"a", "b", "c"}) named += index.search({.model = model}, 100).size();
  EXPECT_EQ(named, 21U);
  const auto older = index.search({.before = open}, 5);
  ASSERT_EQ(older.size(), 5U);
  EXPECT_EQ(older.front()->task, "Task-20");
  EXPECT_TRUE(index.search({.before = Uuid{1, 2}}, 5).empty());
}

TEST_F(InsightTest, TheOldestDecisionsMakeRoom) {
  for (std::size_t i = 0; i < DecisionIndex::kRows + 5; ++i) decide();
  const auto all = insight().decisions().search({}, 2 * DecisionIndex::kRows);
  ASSERT_EQ(all.size(), DecisionIndex::kRows);
  EXPECT_EQ(all.front()->task, "Task-" + std::to_string(DecisionIndex::kRows + 5));
  EXPECT_EQ(all.back()->task, "Task-6");
  EXPECT_EQ(insight().decisions().search({.before = all[10]->id}, 1).front(), all[11]);
}

TEST_F(InsightTest, TheQueueIsByWhatTeachesMostAndGradedOnesLeaveIt) {
  play(50);
  std::vector<Uuid> open;
  for (int i = 0; i < 10; ++i) open.push_back(decide());
  auto queue = served_.queue(100, now_ms_);
  ASSERT_EQ(queue.size(), 10U);
  for (std::size_t i = 1; i < queue.size(); ++i) EXPECT_GE(queue[i - 1]->teaches, queue[i]->teaches);
  grade(open.back());
  queue = served_.queue(100, now_ms_);
  EXPECT_EQ(queue.size(), 9U);
  EXPECT_EQ(served_.queue(3, now_ms_).size(), 3U);
}

TEST_F(InsightTest, WhatIsKnownLessTeachesMore) {
  DecisionMade decision{.responses = {{.model = "a", .channel = "", .confidence = 0.9, .answer = 0, .calibrated = 0.5, .n = 0.0}},
                        .selected = 0,
                        .sure = {.p_correct = 0.5, .effective_n = 0.0}};
  const double unsure = teaches(decision);
  EXPECT_DOUBLE_EQ(unsure, 0.5);
  decision.responses[0].n = 99.0;
  EXPECT_DOUBLE_EQ(teaches(decision), 0.25 + 0.0025);
  decision.sure.p_correct = decision.responses[0].calibrated = 1.0;
  EXPECT_EQ(teaches(decision), 0.0);
}

TEST_F(InsightTest, ANewFoldCountsNothingTwice) {
  play(80);
  const PairCounts before = insight().pairs().counts(0, 1);
  const double ece = insight().responses().ece(ScoreSums::Stage::kStated);
  auto folded = Pool::restore(served_.pool().snapshot());
  ASSERT_TRUE(folded.ok());
  served_.swap_state(std::move(*folded));
  EXPECT_EQ(insight().pairs().counts(0, 1).together, before.together);
  EXPECT_EQ(insight().pairs().counts(0, 1).calibrated, before.calibrated);
  EXPECT_NEAR(insight().responses().ece(ScoreSums::Stage::kStated), ece, 1e-12);
  std::uint32_t settled = 0;
  for (std::int64_t number = kStart / Activity::kStepMs; number <= now_ms_ / Activity::kStepMs; ++number) {
    if (const ActivityStep* step = insight().activity().find(number)) settled += step->settled;
  }
  EXPECT_EQ(settled, 80U);
  EXPECT_EQ(insight().decisions().search({.graded = true}, 100).size(), 80U);
}

TEST_F(InsightTest, AStartFromTheStateHasTheOutcomesWhenTheyCame) {
  play(30);
  const Uuid late = decide();
  now_ms_ += 10 * 60'000;
  grade(late);
  auto restored = Pool::restore(served_.pool().snapshot());
  ASSERT_TRUE(restored.ok());
  const ServedPool again("p", std::move(*restored), served_.next_offset(), {});
  std::uint32_t outcomes = 0;
  for (std::int64_t number = kStart / Activity::kStepMs; number <= now_ms_ / Activity::kStepMs; ++number) {
    const ActivityStep* live = insight().activity().find(number);
    if (live == nullptr || live->outcomes == 0) continue;
    const ActivityStep* step = again.insight().activity().find(number);
    ASSERT_NE(step, nullptr);
    EXPECT_EQ(step->outcomes, live->outcomes);
    EXPECT_EQ(step->settled, live->settled);
    EXPECT_NEAR(step->ece_stated, live->ece_stated, 1e-12);
    EXPECT_NEAR(step->ece_calibrated, live->ece_calibrated, 1e-12);
    outcomes += step->outcomes;
  }
  EXPECT_EQ(outcomes, 31U);
  const auto scored = [&](const Insight& of) { return of.timed().at("a").sums(TimedScores::Span::kHour, now_ms_ + 55 * 60'000).count(); };
  EXPECT_EQ(scored(again.insight()), scored(insight())) << "by when the outcome came, not its decision";
}

TEST(TimedScores, HoldTheSpanAndNoMore) {
  constexpr std::int64_t kMinute = TimedScores::kMinuteMs;
  TimedScores scores;
  Random random(3);
  std::deque<std::pair<std::int64_t, Scored>> rows;
  std::int64_t now = kStart;
  for (int i = 0; i < 5000; ++i) {
    now += 20'000;
    const Scored row{random.uniform(), random.uniform(), random.chance(0.5) ? 1.0 : 0.0};
    scores.add(now, row);
    rows.emplace_back(now, row);
  }
  for (const auto& [span, slot] : {std::pair{TimedScores::Span::kHour, 5 * kMinute}, std::pair{TimedScores::Span::kDay, 60 * kMinute}}) {
    const std::int64_t slots = span == TimedScores::Span::kHour ? 13 : 25;
    ScoreSums expected;
    for (const auto& [time_ms, row] : rows) {
      if (time_ms / slot > now / slot - slots) expected.add(row);
    }
    const ScoreSums sums = scores.sums(span, now);
    EXPECT_EQ(sums.count(), expected.count());
    EXPECT_LT(sums.count(), rows.size());
    EXPECT_NEAR(sums.ece(ScoreSums::Stage::kStated), expected.ece(ScoreSums::Stage::kStated), 1e-12);
    EXPECT_NEAR(sums.brier(ScoreSums::Stage::kCalibrated), expected.brier(ScoreSums::Stage::kCalibrated), 1e-12);
  }
  EXPECT_EQ(scores.sums(TimedScores::Span::kHour, now + 120 * kMinute).count(), 0U);
  EXPECT_GT(scores.sums(TimedScores::Span::kDay, now + 120 * kMinute).count(), 0U);
}

}  // namespace
}  // namespace margin::service
