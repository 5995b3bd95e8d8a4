// Properties that hold for every legal input, searched for counterexamples by RapidCheck. What has a closed form or a twin is tested
// elsewhere.
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "margin/answer.h"
#include "margin/calibrator.h"
#include "margin/exact_sum.h"
#include "margin/parameter.h"
#include "margin/random.h"
#include "margin/vote.h"

namespace margin {
namespace {

// Probabilities as people and adversaries state them: round numbers, edges, the smallest and the nearly largest double.
rc::Gen<double> probability() {
  return rc::gen::oneOf(rc::gen::element(0.0, 5e-324, 1e-300, 1e-16, 1.0 / 3.0, 0.5, 2.0 / 3.0, 0.95, 1.0 - 1e-16, 1.0),
                        rc::gen::map(rc::gen::inRange(0, 101), [](int percent) { return percent / 100.0; }),
                        rc::gen::map(rc::gen::inRange<std::uint64_t>(0, (std::uint64_t{1} << 53) + 1),
                                     [](std::uint64_t bits) { return static_cast<double>(bits) * 0x1p-53; }));
}

rc::Gen<std::vector<Observation>> stream() {
  const auto weight = rc::gen::oneOf(rc::gen::just(1.0), rc::gen::element(1e-300, 0.01, 0.5, 0.999));
  return rc::gen::container<std::vector<Observation>>(rc::gen::build<Observation>(
      rc::gen::set(&Observation::model, rc::gen::inRange<ModelId>(0, 4)), rc::gen::set(&Observation::confidence, probability()),
      rc::gen::set(&Observation::outcome, probability()), rc::gen::set(&Observation::weight, weight)));
}

std::unique_ptr<Calibrator> pool_of_four(const std::string& method) {
  auto calibrator = std::move(make_calibrator(method)).value();
  for (ModelId model = 0; model < 4; ++model) calibrator->join(model);
  return calibrator;
}

class EveryCalibrator : public testing::TestWithParam<std::string> {};

TEST_P(EveryCalibrator, StaysAProbabilityAndRestoresAnywhere) {
  const bool held = rc::check("calibrated values are probabilities; a restored calibrator goes on with the same bits", [&] {
    const auto rows = *stream();
    const auto cut = *rc::gen::inRange<std::size_t>(0, rows.size() + 1);
    auto whole = pool_of_four(GetParam());
    auto parted = pool_of_four(GetParam());
    for (std::size_t r = 0; r < rows.size(); ++r) {
      if (r == cut) parted = std::move(restore_calibrator(parted->snapshot())).value();
      const double p = whole->calibrate(rows[r].model, rows[r].confidence);
      RC_ASSERT(p >= 0.0);
      RC_ASSERT(p <= 1.0);
      RC_ASSERT(parted->calibrate(rows[r].model, rows[r].confidence) == p);
      for (auto* calibrator : {whole.get(), parted.get()}) RC_ASSERT(calibrator->observe(rows[r]).ok());
    }
    RC_ASSERT(whole->digest() == parted->digest());
  });
  EXPECT_TRUE(held);
}

TEST_P(EveryCalibrator, LearnsTheSameFromABatch) {
  const bool held = rc::check("a batch gives and teaches the same bits as its rows one by one", [&] {
    const auto rows = *stream();
    auto single = pool_of_four(GetParam());
    auto batch = pool_of_four(GetParam());
    std::vector<double> calibrated(rows.size());
    RC_ASSERT(batch->prequential_batch(rows, calibrated).ok());
    for (std::size_t r = 0; r < rows.size(); ++r) {
      RC_ASSERT(single->calibrate(rows[r].model, rows[r].confidence) == calibrated[r]);
      RC_ASSERT(single->observe(rows[r]).ok());
    }
    RC_ASSERT(single->digest() == batch->digest());
  });
  EXPECT_TRUE(held);
}

std::vector<std::string> methods() {
  std::vector<std::string> names;
  for (const auto* info : calibrator_catalog()) names.push_back(info->identifier);
  return names;
}
INSTANTIATE_TEST_SUITE_P(Methods, EveryCalibrator, testing::ValuesIn(methods()), [](const auto& i) { return i.param; });

rc::Gen<std::vector<double>> numbers() {
  return rc::gen::container<std::vector<double>>(rc::gen::map(
      rc::gen::pair(rc::gen::inRange<std::int64_t>(-(std::int64_t{1} << 53), std::int64_t{1} << 53), rc::gen::inRange(-1100, 9)),
      [](const std::pair<std::int64_t, int>& parts) { return std::ldexp(static_cast<double>(parts.first), parts.second); }));
}

RC_GTEST_PROP(ExactSum, DoesNotDependOnTheOrder, ()) {
  auto values = *numbers();
  ExactSum forward;
  for (const double value : values) forward.add(value);
  Random(7).shuffle(std::span(values));
  ExactSum shuffled;
  for (const double value : values) shuffled.add(value);
  RC_ASSERT(forward == shuffled);
  for (const double value : values) shuffled.subtract(value);
  RC_ASSERT(shuffled == ExactSum{});
}

RC_GTEST_PROP(Parameter, ReadsBackWhatItPrints, ()) {
  auto values = *rc::gen::nonEmpty(numbers());
  if (values.size() > 6) values.resize(6);
  ParameterSpec spec = number_parameter("x", 0.0, -1e300, 1e300, "");
  spec.kind = ParameterSpec::Kind::kList;
  spec.length_max = 6;
  const ParameterValue value = values;
  const auto back = parse_parameter("test", spec, to_text(value));
  RC_ASSERT(back.ok());
  RC_ASSERT(*back == value);
}

RC_GTEST_PROP(Answers, AreEqualExactlyWhenTheirFormsAre, ()) {
  const auto kind = *rc::gen::element(AnswerKind::kExact, AnswerKind::kCode, AnswerKind::kChoice, AnswerKind::kMath, AnswerKind::kText);
  const auto piece = rc::gen::oneOf(rc::gen::arbitrary<std::string>(),
                                    rc::gen::element<std::string>("1/2", "\\frac{1}{2}", "0.5", "50%", "(B)", "b", "The answer",
                                                                  "the answer.", "\\boxed{7}", "1,000", "1000", " 7 ", "{", "\xff\xfe"));
  const auto answers = *rc::gen::container<std::vector<std::string>>(piece);
  std::vector<std::optional<std::string_view>> views(answers.begin(), answers.end());
  const AnswerGroups groups = group_answers(kind, views);
  for (std::size_t i = 0; i < answers.size(); ++i) {
    RC_ASSERT(groups.canonical[groups.group[i]] == canonical_answer(kind, answers[i]));
    for (std::size_t j = 0; j < i; ++j) {
      RC_ASSERT((groups.group[i] == groups.group[j]) == (canonical_answer(kind, answers[i]) == canonical_answer(kind, answers[j])));
    }
  }
}

class EveryVote : public testing::TestWithParam<std::string> {};

TEST_P(EveryVote, GivesTheLargestScoreAndSharesThatAreProbabilities) {
  constexpr std::uint32_t kAnswers = 3;
  const bool held = rc::check("winner and shares are sound before and after any learning", [&] {
    auto vote = std::move(make_vote(GetParam())).value();
    Tally tally;
    const auto tasks = *rc::gen::container<std::vector<std::vector<std::pair<double, std::pair<std::uint32_t, double>>>>>(
        rc::gen::container<std::vector<std::pair<double, std::pair<std::uint32_t, double>>>>(
            rc::gen::pair(probability(), rc::gen::pair(rc::gen::inRange<std::uint32_t>(0, kAnswers + 1), probability()))));
    for (const auto& task : tasks) {
      std::vector<Ballot> ballots;
      std::vector<double> outcomes;
      for (const auto& [confidence, rest] : task) {
        ballots.push_back({.model = static_cast<ModelId>(ballots.size() % 8),
                           .answer = rest.first == kAnswers ? kNoAnswer : rest.first,
                           .confidence = confidence});
        outcomes.push_back(rest.second);
      }
      vote->tally(ballots, kAnswers, tally);
      const bool anybody = std::any_of(ballots.begin(), ballots.end(), [](const Ballot& b) { return b.answer != kNoAnswer; });
      RC_ASSERT(anybody == (tally.winner != kNoAnswer));
      if (anybody) {
        RC_ASSERT(tally.votes[tally.winner] > 0U);
        for (std::uint32_t answer = 0; answer < kAnswers; ++answer) {
          RC_ASSERT(std::isfinite(tally.scores[answer]));
          if (tally.votes[answer] > 0) RC_ASSERT(tally.scores[answer] <= tally.scores[tally.winner]);
        }
        RC_ASSERT(ballots[tally.ballot].answer == tally.winner);
        RC_ASSERT(tally.share >= 0.0);
        RC_ASSERT(std::accumulate(tally.shares.begin(), tally.shares.end(), 0.0) <= 1.0 + 1e-12);
      }
      vote->learn(ballots, kAnswers, outcomes);
    }
    RC_ASSERT(std::move(restore_vote(vote->snapshot())).value()->digest() == vote->digest());
  });
  EXPECT_TRUE(held);
}

std::vector<std::string> votes() {
  std::vector<std::string> names;
  for (const auto* info : vote_catalog()) names.push_back(info->identifier);
  return names;
}
INSTANTIATE_TEST_SUITE_P(Votes, EveryVote, testing::ValuesIn(votes()), [](const auto& i) { return i.param; });

}  // namespace
}  // namespace margin
