// A decision's own probability: its status, its promise, and how often its interval holds the truth where the truth is known.
#include "margin/decision.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>

#include "margin/random.h"

namespace margin {
namespace {

DecisionTrust trust() { return std::move(DecisionTrust::make("margin_adaptive")).value(); }

void decide_and_learn(DecisionTrust& trust, double share, double outcome) {
  trust.decided();
  ASSERT_TRUE(trust.observe({.share = share, .outcome = outcome}).ok());
}

TEST(DecisionTrust, IsColdThenCalibratedThenStale) {
  DecisionTrust pool = trust();
  Random random(1);
  EXPECT_EQ(pool.of(0.8).status, TrustStatus::kCold);
  EXPECT_EQ(pool.of(0.8).effective_n, 0.0);
  for (int i = 0; i < 60; ++i) decide_and_learn(pool, 0.8, random.chance(0.8) ? 1.0 : 0.0);
  EXPECT_EQ(pool.of(0.8).status, TrustStatus::kCalibrated);
  for (std::uint32_t i = 0; i + 1 < DecisionTrust::kStaleAfter; ++i) pool.decided();
  EXPECT_EQ(pool.of(0.8).status, TrustStatus::kCalibrated);
  pool.decided();
  EXPECT_EQ(pool.of(0.8).status, TrustStatus::kStale);
  ASSERT_TRUE(pool.observe({.share = 0.8, .outcome = 1.0}).ok());
  EXPECT_EQ(pool.of(0.8).status, TrustStatus::kCalibrated);
}

TEST(DecisionTrust, ACollapseIsDriftForAWhile) {
  DecisionTrust pool = trust();
  Random random(2);
  for (int i = 0; i < 400; ++i) decide_and_learn(pool, 0.9, random.chance(0.9) ? 1.0 : 0.0);
  ASSERT_EQ(pool.of(0.9).status, TrustStatus::kCalibrated);
  int delay = 0;
  for (; delay < 60 && pool.of(0.9).status != TrustStatus::kDrifting; ++delay) decide_and_learn(pool, 0.9, random.chance(0.3) ? 1.0 : 0.0);
  EXPECT_LT(delay, 60);
  for (int i = 0; i < 300; ++i) decide_and_learn(pool, 0.9, random.chance(0.3) ? 1.0 : 0.0);
  EXPECT_EQ(pool.of(0.9).status, TrustStatus::kCalibrated);
}

TEST(DecisionTrust, StationaryPoolsAreSeldomCalledDrifting) {
  int drifting = 0, decisions = 0;
  for (std::uint64_t stream = 0; stream < 20; ++stream) {
    DecisionTrust pool = trust();
    Random random = Random::stream(3, stream);
    for (int i = 0; i < 1000; ++i) {
      const double share = 0.4 + 0.6 * random.uniform();
      drifting += pool.of(share).status == TrustStatus::kDrifting ? 1 : 0;
      ++decisions;
      decide_and_learn(pool, share, random.chance(share) ? 1.0 : 0.0);
    }
  }
  EXPECT_LT(drifting, decisions / 20);
}

TEST(DecisionTrust, PromisesOnlyWhatItSays) {
  const Sureness sure{.p_correct = 0.9};
  EXPECT_TRUE(sure.promises(0.2));
  EXPECT_TRUE(sure.promises(0.1000001));
  EXPECT_FALSE(sure.promises(0.05));
}

TEST(DecisionTrust, IntervalsHoldTheTruthAboutNineTimesInTen) {
  // Shares that over- and understate: what they are worth is known, so coverage can be counted.
  double covered = 0.0, decisions = 0.0;
  for (std::uint64_t stream = 0; stream < 30; ++stream) {
    Random random = Random::stream(4, stream);
    DecisionTrust pool = trust();
    for (int i = 0; i < 1200; ++i) {
      const double share = 0.3 + 0.7 * std::sqrt(random.uniform());
      const double truth = stream % 3 == 0 ? share : stream % 3 == 1 ? 0.2 + 0.6 * share : share * share;
      const Sureness sure = pool.of(share);
      ASSERT_LE(sure.low, sure.p_correct);
      ASSERT_GE(sure.high, sure.p_correct);
      if (i >= 100) {
        covered += sure.low <= truth && truth <= sure.high ? 1.0 : 0.0;
        decisions += 1.0;
      }
      decide_and_learn(pool, share, random.chance(truth) ? 1.0 : 0.0);
    }
  }
  EXPECT_GT(covered / decisions, 0.86);
  EXPECT_LT(covered / decisions, 0.94);
}

// Only what looks better than the promise is answered, so noise near the limit counts one way.
TEST(DecisionTrust, WhatIsAnsweredErrsLittleMoreThanItPromises) {
  double promised = 0.0, truly = 0.0, answered = 0.0;
  for (std::uint64_t stream = 0; stream < 40; ++stream) {
    Random random = Random::stream(77, stream);
    DecisionTrust pool = trust();
    for (int i = 0; i < 1500; ++i) {
      const double u = random.uniform();
      const double share = random.chance(0.5) ? 0.8 + 0.2 * u : 0.5 + 0.15 * u;
      const double truth = 0.15 + 0.8 * share;
      const Sureness sure{.p_correct = pool.p_correct(share)};
      const bool right = random.chance(truth);
      if (i >= 200 && sure.promises(0.1)) {
        promised += 1.0 - sure.p_correct;
        truly += 1.0 - truth;
        answered += 1.0;
      }
      decide_and_learn(pool, share, right ? 1.0 : 0.0);
    }
  }
  ASSERT_GT(answered, 1000.0);
  EXPECT_GT(truly / answered, promised / answered);
  EXPECT_LT(truly / answered, promised / answered + 0.02);
  EXPECT_LT(truly / answered, 0.1);
}

TEST(DecisionTrust, BadValuesAndFittedMethodsAreRefused) {
  DecisionTrust pool = trust();
  EXPECT_EQ(pool.observe({.share = 1.5, .outcome = 1.0}).error().code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(pool.observe({.share = 0.5, .outcome = -1.0}).error().code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(pool.observe({.share = 0.5, .outcome = 1.0, .weight = 0.0}).error().code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(DecisionTrust::make("platt_scaling").error().code, ErrorCode::kUnsupported);
  EXPECT_EQ(DecisionTrust::make("margn").error().code, ErrorCode::kNotFound);
}

// A state with something in every field.
DecisionTrust experienced(int outcomes) {
  DecisionTrust pool = trust();
  Random random(5);
  for (int i = 0; i < outcomes; ++i) decide_and_learn(pool, random.uniform(), random.chance(i < 200 ? 0.9 : 0.3) ? 1.0 : 0.0);
  pool.decided();
  return pool;
}

TEST(DecisionTrust, GoesOnFromItsSnapshotToTheBit) {
  for (const int outcomes : {0, 10, 250}) {
    DecisionTrust pool = experienced(outcomes);
    auto copy = DecisionTrust::restore(pool.snapshot());
    ASSERT_TRUE(copy.ok()) << copy.error().message;
    EXPECT_EQ(copy->digest(), pool.digest());
    for (int i = 0; i < 50; ++i) {
      decide_and_learn(pool, 0.7, i % 2);
      decide_and_learn(*copy, 0.7, i % 2);
    }
    EXPECT_EQ(copy->digest(), pool.digest());
  }
}

TEST(DecisionTrust, TruncatedOrLengthenedSnapshotsAreRefused) {
  const std::string bytes = experienced(250).snapshot();
  for (std::size_t length = 0; length < bytes.size(); ++length) {
    EXPECT_FALSE(DecisionTrust::restore(std::string_view(bytes).substr(0, length)).ok()) << length;
  }
  EXPECT_EQ(DecisionTrust::restore(bytes + "x").error().code, ErrorCode::kCorrupt);
}

TEST(DecisionTrust, StatesThatNoStreamReachesAreRefused) {
  const std::string bytes = experienced(250).snapshot();
  // From the end: since_alarm, since_outcome (4 bytes each), deficit, surplus, then the bins' squares and weights (8 each).
  const auto spoilt = [&](std::size_t from_end, double value) {
    std::string bad = bytes;
    const auto bits = std::bit_cast<std::uint64_t>(value);
    for (std::size_t i = 0; i < 8; ++i) bad[bad.size() - from_end + i] = static_cast<char>(bits >> (8 * i));
    return DecisionTrust::restore(bad);
  };
  EXPECT_TRUE(spoilt(24, 3.0).ok());  // a surplus that may be
  for (const double bad : {-1.0, 1e3, std::numeric_limits<double>::quiet_NaN()}) {
    for (const std::size_t field : {16U, 24U, 32U, 40U}) EXPECT_FALSE(spoilt(field, bad).ok()) << bad << " at " << field;
  }
  std::string counts = bytes;
  counts[counts.size() - 4] = 101;
  EXPECT_FALSE(DecisionTrust::restore(counts).ok());
}

TEST(DecisionTrust, ASnapshotOfAFittedOrCrowdedCalibratorIsRefused) {
  const auto with = [](const Calibrator& calibrator) {
    const DecisionTrust pool = trust();
    const std::string own = pool.calibrator().snapshot();
    std::string bytes = pool.snapshot();
    const std::string other = calibrator.snapshot();
    bytes.replace(4 + 8, own.size(), other);
    for (std::size_t i = 0; i < 8; ++i) bytes[4 + i] = static_cast<char>(other.size() >> (8 * i));
    return DecisionTrust::restore(bytes).ok();
  };
  auto calibrator = std::move(make_calibrator("margin")).value();
  EXPECT_FALSE(with(*calibrator));
  calibrator->join(0);
  EXPECT_TRUE(with(*calibrator));
  calibrator->join(1);
  EXPECT_FALSE(with(*calibrator));
  auto fitted = std::move(make_calibrator("platt_scaling")).value();
  fitted->join(0);
  EXPECT_FALSE(with(*fitted));
}

}  // namespace
}  // namespace margin
