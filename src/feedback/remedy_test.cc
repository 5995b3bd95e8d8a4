#include "margin/remedy.h"

#include <gtest/gtest.h>

#include <cmath>

#include "margin/math.h"
#include "margin/random.h"

namespace margin {
namespace {

using Origin = Lesson::Origin;
constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

Remedy remedy(const char* name) { return std::move(make_remedy(name)).value(); }

std::vector<Lesson> learn(Remedy& remedy, const std::vector<TaskResponse>& task) {
  std::vector<Lesson> lessons;
  remedy.learn(task, lessons);
  EXPECT_EQ(lessons.size(), task.size());
  return lessons;
}

// Two supporters of the selected answer, of which the second's outcome is not known, and two responses beside it.
std::vector<TaskResponse> selected_only(double outcome) {
  return {{.model = 0, .confidence = 0.9, .selected = true, .outcome = outcome},
          {.model = 1, .confidence = 0.8, .selected = true},
          {.model = 2, .confidence = 0.7, .propensity = 0.0},
          {.model = 3, .confidence = 0.6, .propensity = 0.0}};
}

TEST(RemedyTest, WithoutOneOnlyWhatArrivedIsLearned) {
  Remedy none = remedy("none");
  const auto lessons = learn(none, selected_only(1.0));
  EXPECT_EQ(lessons[0].origin, Origin::kKnown);
  EXPECT_EQ(lessons[0].outcome, 1.0);
  for (const std::size_t i : {1U, 2U, 3U}) EXPECT_EQ(lessons[i].origin, Origin::kNothing);
}

TEST(RemedyTest, ARightSelectionProvesTheOthersWrong) {
  Remedy implied = remedy("implied");
  const auto lessons = learn(implied, selected_only(1.0));
  EXPECT_EQ(lessons[1].origin, Origin::kImplied);
  EXPECT_EQ(lessons[1].outcome, 1.0);
  for (const std::size_t i : {2U, 3U}) {
    EXPECT_EQ(lessons[i].origin, Origin::kImplied);
    EXPECT_EQ(lessons[i].outcome, 0.0);
  }
}

TEST(RemedyTest, BesideAWrongSelectionAQuarterIsRightUntilMoreIsKnown) {
  Remedy implied = remedy("implied");
  const auto lessons = learn(implied, selected_only(0.0));
  EXPECT_EQ(lessons[1].origin, Origin::kImplied);
  EXPECT_EQ(lessons[1].outcome, 0.0);
  for (const std::size_t i : {2U, 3U}) {
    EXPECT_EQ(lessons[i].origin, Origin::kEstimated);
    EXPECT_EQ(lessons[i].outcome, 0.25);
  }
}

TEST(RemedyTest, TheRateBesideAWrongSelectionIsLearnedWhereFeedbackIsComplete) {
  Remedy implied = remedy("implied");
  Random random(4);
  for (int task = 0; task < 2000; ++task) {
    auto complete = selected_only(random.chance(0.5) ? 1.0 : 0.0);
    for (TaskResponse& response : complete) {
      response.propensity = 1.0;
      if (response.selected)
        response.outcome = complete[0].outcome;
      else
        response.outcome = complete[0].outcome == 1.0 ? 0.0 : random.chance(0.6) ? 1.0 : 0.0;
    }
    for (const Lesson& lesson : learn(implied, complete)) EXPECT_EQ(lesson.origin, Origin::kKnown);
  }
  // 100 responses of weight decaying by 0.01, beside 20 of rate 1/4: mean and standard deviation of the estimate.
  const double mean = (100.0 * 0.6 + 5.0) / 120.0;
  const double deviation = std::sqrt(0.6 * 0.4 / (1.0 - 0.99 * 0.99)) / 120.0;
  EXPECT_NEAR(learn(implied, selected_only(0.0))[2].outcome, mean, 4.0 * deviation);
}

TEST(RemedyTest, NothingIsMadeOfATaskWhoseSelectionIsNotGraded) {
  for (const char* name : {"implied", "estimated"}) {
    Remedy one = remedy(name);
    auto task = selected_only(kUnknown);
    task[2].outcome = 1.0;
    const auto lessons = learn(one, task);
    EXPECT_EQ(lessons[2].origin, Origin::kKnown) << name;
    for (const std::size_t i : {0U, 1U, 3U}) EXPECT_EQ(lessons[i].origin, Origin::kNothing) << name;
  }
}

// Truth: supporters are right with chance 0.9, the others with 0.3. An estimate from what arrives, weighted, is that of all responses.
TEST(RemedyTest, WeightsUndoTheSelection) {
  Remedy weighted = remedy("weighted");
  Random random(11);
  double sum = 0.0, weights = 0.0, naive = 0.0, count = 0.0;
  for (int t = 0; t < 40000; ++t) {
    std::vector<TaskResponse> task = {{.model = 0, .confidence = 0.5, .selected = true, .outcome = random.chance(0.9) ? 1.0 : 0.0}};
    for (ModelId model = 1; model < 4; ++model) {
      const double outcome = random.chance(0.3) ? 1.0 : 0.0;
      task.push_back({.model = model, .confidence = 0.5, .outcome = random.chance(0.1) ? outcome : kUnknown, .propensity = 0.1});
    }
    for (const Lesson& lesson : learn(weighted, task)) {
      if (lesson.origin != Origin::kKnown) continue;
      EXPECT_LE(lesson.weight, 1.0);
      sum += lesson.weight * lesson.outcome;
      weights += lesson.weight;
      naive += lesson.outcome;
      count += 1.0;
    }
  }
  EXPECT_NEAR(sum / weights, (0.9 + 3 * 0.3) / 4.0, 0.01);
  EXPECT_GT(naive / count, 0.7);
}

// How often a response is right, in the world of the tests below.
double truth(bool selection_right, ModelId model, double level) { return sigmoid(level + (selection_right ? 1.0 : -1.0) + 0.5 * model); }

// A task of that world with audits; the mean of |estimate - truth| over what is estimated.
double error_of_task(Remedy& remedy, Random& random, double level, double audit_rate) {
  const bool right = random.chance(0.6);
  std::vector<TaskResponse> task = {{.model = 3, .confidence = 0.85, .selected = true, .outcome = right ? 1.0 : 0.0}};
  for (ModelId model = 0; model < 3; ++model) {
    const double outcome = random.chance(truth(right, model, level)) ? 1.0 : 0.0;
    const bool audited = random.chance(audit_rate);
    task.push_back({.model = model, .confidence = 0.85, .outcome = audited ? outcome : kUnknown, .propensity = audit_rate});
  }
  const auto lessons = learn(remedy, task);
  double error = 0.0, count = 0.0;
  for (std::size_t i = 1; i < lessons.size(); ++i) {
    if (lessons[i].origin != Origin::kEstimated) continue;
    EXPECT_GE(lessons[i].outcome, 0.0);
    EXPECT_LE(lessons[i].outcome, 1.0);
    error += std::fabs(lessons[i].outcome - truth(right, task[i].model, level));
    count += 1.0;
  }
  return count == 0.0 ? 0.0 : error / count;
}

double mean_error(Remedy& remedy, Random& random, double level, double audit_rate, int tasks) {
  double sum = 0.0;
  for (int t = 0; t < tasks; ++t) sum += error_of_task(remedy, random, level, audit_rate);
  return sum / tasks;
}

TEST(RemedyTest, EstimatesFindTheChancesFromAuditsAlone) {
  Random random(21);
  Remedy estimated = remedy("estimated");
  const double first = mean_error(estimated, random, -0.5, 0.1, 20);
  mean_error(estimated, random, -0.5, 0.1, 2000);
  const double later = mean_error(estimated, random, -0.5, 0.1, 500);
  EXPECT_LT(later, first);
  // Whoever knows how often the others are right, and nothing else, does best with the median chance.
  double constant = 0.0;
  for (ModelId model = 0; model < 3; ++model) {
    for (const bool right : {true, false})
      constant += (right ? 0.6 : 0.4) / 3.0 * std::fabs(truth(right, model, -0.5) - truth(true, 0, -0.5));
  }
  EXPECT_LT(later, 0.5 * constant);
}

TEST(RemedyTest, MoreAuditsEstimateBetter) {
  double few = 0.0, many = 0.0;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    Random a(seed), b(seed);
    Remedy with_few = remedy("estimated"), with_many = remedy("estimated");
    few += mean_error(with_few, a, -1.5, 0.02, 300);
    many += mean_error(with_many, b, -1.5, 0.5, 300);
  }
  EXPECT_LT(many, 0.8 * few);
}

TEST(RemedyTest, EstimatesFollowAShift) {
  Random random(31);
  Remedy estimated = remedy("estimated");
  mean_error(estimated, random, 1.5, 1.0, 300);
  const double at_once = mean_error(estimated, random, -1.5, 0.1, 5);
  mean_error(estimated, random, -1.5, 0.1, 100);
  EXPECT_LT(mean_error(estimated, random, -1.5, 0.1, 100), 0.5 * at_once);
}

TEST(RemedyTest, OutcomesThatCameByThemselvesSayNothingAboutTheOthers) {
  for (const char* name : {"implied", "estimated"}) {
    Remedy with = remedy(name), without = remedy(name);
    auto task = selected_only(0.0);
    learn(without, task);
    task[2].outcome = 1.0;  // propensity 0
    EXPECT_EQ(learn(with, task)[2].origin, Origin::kKnown) << name;
    EXPECT_EQ(with.digest(), without.digest()) << name;
    task[2].propensity = 0.5;
    Remedy audited = remedy(name);
    learn(audited, task);
    EXPECT_NE(audited.digest(), without.digest()) << name;
  }
}

// An audit that was twice as likely counts half.
TEST(RemedyTest, AuditsCountByTheInverseOfTheirPropensity) {
  const auto rate_after = [](double propensity) {
    Remedy implied = remedy("implied");
    auto task = selected_only(0.0);
    task[2].outcome = 1.0;
    task[2].propensity = propensity;
    task[3].propensity = 0.2;
    learn(implied, task);
    return learn(implied, selected_only(0.0))[2].outcome;
  };
  EXPECT_DOUBLE_EQ(rate_after(0.2), (5.0 + 1.0) / 21.0);
  EXPECT_DOUBLE_EQ(rate_after(0.4), (5.0 + 0.5) / 20.5);
}

TEST(RemedyTest, GoesOnBitForBitFromASnapshot) {
  for (const std::string_view name : kRemedyNames) {
    Remedy one = std::move(make_remedy(name)).value();
    Random random(7);
    mean_error(one, random, 0.0, 0.3, 50);
    Remedy two = std::move(restore_remedy(one.snapshot())).value();
    EXPECT_EQ(two.kind(), one.kind());
    Random a(8), b(8);
    EXPECT_EQ(mean_error(one, a, 0.0, 0.3, 50), mean_error(two, b, 0.0, 0.3, 50)) << name;
    EXPECT_EQ(one.digest(), two.digest()) << name;
  }
}

TEST(RemedyTest, BytesThatAreNoSnapshotAreRefused) {
  Remedy one = remedy("estimated");
  Random random(7);
  mean_error(one, random, 0.0, 0.3, 5);
  const std::string bytes = one.snapshot();
  for (std::size_t size = 0; size < bytes.size(); ++size) EXPECT_FALSE(restore_remedy(bytes.substr(0, size)).ok()) << size;
  EXPECT_FALSE(restore_remedy(bytes + "x").ok());
  std::string negative = bytes;
  negative[bytes.size() - 1] = static_cast<char>(negative[bytes.size() - 1] | '\x80');  // the sign of a variance
  EXPECT_FALSE(restore_remedy(negative).ok());
}

TEST(RemedyTest, AnUnknownNameSuggestsTheNearest) {
  EXPECT_EQ(make_remedy("implyed").error().message, "remedy: no implyed (did you mean implied?)");
}

}  // namespace
}  // namespace margin
