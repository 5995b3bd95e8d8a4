// The options of margin that are under study: edges that follow what is stated, credibility that is estimated, a chosen number of bands.
#include <gtest/gtest.h>

#include <memory>

#include "base/encoding.h"
#include "base/parameter_encoding.h"
#include "calibrate/confidence_ranks.h"
#include "calibrate/credibility.h"
#include "margin/calibrator.h"
#include "margin/random.h"

namespace margin {
namespace {

using internal::ConfidenceRanks;
using internal::Credibility;

ConfidenceRanks started() {
  ConfidenceRanks ranks;
  ranks.make_room(1);
  ranks.start(0);
  return ranks;
}

TEST(ConfidenceRanks, AreTheConfidenceItselfBeforeAnyData) {
  const ConfidenceRanks ranks = started();
  for (const double c : {0.0, 0.125, 0.5, 0.755, 1.0}) EXPECT_NEAR(ranks.rank(0, c), c, 0.01);
}

TEST(ConfidenceRanks, FollowWhatIsStated) {
  ConfidenceRanks ranks = started();
  Random random(1);
  for (int i = 0; i < 2000; ++i) ranks.learn(0, 0.8 + 0.2 * random.uniform(), 1.0);
  EXPECT_NEAR(ranks.rank(0, 0.9), 0.5, 0.15);
  EXPECT_LT(ranks.rank(0, 0.79), 0.01);
  EXPECT_GT(ranks.rank(0, 1.0), 0.99);
}

// A value that is stated always lies in the middle of itself, so no edge can cut it in two.
TEST(ConfidenceRanks, OneValueForEverRanksInTheMiddle) {
  ConfidenceRanks ranks = started();
  for (int i = 0; i < 3000; ++i) ranks.learn(0, 0.9, 1.0);
  EXPECT_NEAR(ranks.rank(0, 0.9), 0.5, 1e-6);
}

TEST(EffectiveCount, OfAnExponentialAverageIsAtMostTwoOverItsRateMinusOne) {
  internal::SeenWeights weights = internal::both(0.0);
  EXPECT_EQ(internal::effective_count(weights), 0.0);
  weights = internal::seen_one_more(weights, 0.04);
  EXPECT_NEAR(internal::effective_count(weights), 1.0, 1e-12);
  for (int i = 0; i < 1000; ++i) weights = internal::seen_one_more(weights, 0.04);
  EXPECT_NEAR(internal::effective_count(weights), 2.0 / 0.04 - 1.0, 1e-9);
}

TEST(Credibility, StartsWhereTheShrinkageSays) { EXPECT_NEAR(Credibility(100.0).share(100.0), 0.5, 1e-12); }

// Bands of 40 observations whose true accuracies lie `spread` about what is expected of them: n t / (n t + s) is known.
double estimated_share(double spread) {
  constexpr int kObservations = 40;
  Random random(7);
  Credibility credibility(100.0);
  for (int band = 0; band < 20'000; ++band) {
    const double truth = 0.7 + (random.chance(0.5) ? spread : -spread);
    double right = 0.0;
    for (int i = 0; i < kObservations; ++i) right += random.chance(truth) ? 1.0 : 0.0;
    credibility.learn({.accuracy = right / kObservations, .expected = 0.7, .count = kObservations}, 1.0);
  }
  return credibility.share(kObservations);
}

TEST(Credibility, FindsHowMuchBandsDifferBeyondChance) {
  const double s = 0.7 * 0.3 - 0.01;  // a (1 - a), on average over both accuracies
  EXPECT_NEAR(estimated_share(0.1), 40 * 0.01 / (40 * 0.01 + s), 0.05);
  EXPECT_LT(estimated_share(0.0), 0.15) << "bands that differ by chance alone are not believed";
}

TEST(MarginOptions, ChosenBandsAreTheOnesThatServeTheModelBest) {
  auto calibrator = std::move(make_calibrator("margin", {{"bands", 0.0}})).value();
  calibrator->join(0);
  calibrator->join(1);
  Random random(3);
  for (int i = 0; i < 6000; ++i) {
    const double c = random.uniform();
    // Model 0 errs by the same factor everywhere; model 1 is right above 0.7 alone.
    ASSERT_TRUE(calibrator->observe({.model = 0, .confidence = c, .outcome = 0.6 * c}).ok());
    ASSERT_TRUE(calibrator->observe({.model = 1, .confidence = c, .outcome = c > 0.7 ? 1.0 : 0.0}).ok());
  }
  const auto bands_of = [&](ModelId model) { return calibrator->explain(model, 0.5).terms.back().value; };
  EXPECT_EQ(bands_of(0), 1.0);
  EXPECT_EQ(bands_of(1), 10.0);
}

TEST(MarginOptions, AThresholdTurnsGradesIntoRightAndWrong) {
  auto graded = std::move(make_calibrator("margin", {})).value();
  auto passed = std::move(make_calibrator("margin", {{"threshold", 0.5}})).value();
  for (const auto& calibrator : {graded.get(), passed.get()}) {
    calibrator->join(0);
    for (int i = 0; i < 500; ++i) {
      ASSERT_TRUE(calibrator->observe({.model = 0, .confidence = 0.9, .outcome = 0.6}).ok());
    }
  }
  EXPECT_NEAR(graded->calibrate(0, 0.9), 0.6, 1e-6);
  EXPECT_NEAR(passed->calibrate(0, 0.9), 1.0, 1e-6);
}

// Snapshots written before an option existed lack its parameter, which then has its default.
TEST(MarginOptions, SnapshotsWithoutThemAreReadAsBefore) {
  auto calibrator = std::move(make_calibrator("margin", {})).value();
  calibrator->join(0);
  for (int i = 0; i < 20; ++i) ASSERT_TRUE(calibrator->observe({.model = 0, .confidence = 0.9, .outcome = i % 3 == 0 ? 1.0 : 0.0}).ok());
  const auto head = [&](const Parameters& parameters) {
    internal::Encoder out;
    out.integer(std::uint32_t{0x4d434c31});
    out.text("margin");
    out.integer(std::int32_t{1});
    internal::encode(parameters, out);
    return out.take();
  };
  Parameters old = calibrator->parameters();
  for (const char* option : {"edges", "credibility", "threshold"}) old.erase(option);
  ASSERT_EQ(old.size(), 7U);
  const std::string bytes = head(old) + calibrator->snapshot().substr(head(calibrator->parameters()).size());
  const auto restored = restore_calibrator(bytes);
  ASSERT_TRUE(restored.ok()) << restored.error().message;
  EXPECT_EQ((*restored)->digest(), calibrator->digest());
}

}  // namespace
}  // namespace margin
