// A pool that starts from another's state, two states merged, and two states compared.
#include <gtest/gtest.h>

#include <array>
#include <bit>

#include "margin/state.h"
#include "pool/pool_fixture.h"

namespace margin {
namespace {

class ImportTest : public PoolTest {
 protected:
  // A pool with two models in two segments; `seed` says what they experienced.
  std::string life(std::uint64_t seed, const PoolConfigured& config = {}, const std::string& other_model = "b") {
    pool_ = Pool();
    log_.clear();
    configure(config);
    Random world(seed);
    for (int i = 0; i < 120; ++i) {
      const std::string segment = world.chance(0.3) ? "law" : "";
      const Uuid task = decide({{"a", "x", world.uniform()}, {other_model, "y", world.uniform()}}, segment);
      outcome(task, {{"a", world.chance(0.6) ? 1.0 : 0.0}, {other_model, world.chance(0.4) ? 1.0 : 0.0}});
    }
    return pool_.snapshot();
  }
  ApplyResult import_into_fresh(const std::string& state, double trust_value, const PoolConfigured& config = {}) {
    pool_ = Pool();
    log_.clear();
    configure(config);
    return apply(StateImported{.state = state, .trust = trust_value});
  }
};

TEST_F(ImportTest, ImportedStateGoesOnWhereTheOtherStopped) {
  const std::string state = life(1);
  const auto there = calibration(pool_);
  EXPECT_EQ(import_into_fresh(state, 1.0).status, ApplyStatus::kApplied);
  EXPECT_EQ(calibration(pool_), there);
  EXPECT_EQ(pool_.present_models(), (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(pool_.pending_decisions(), 0U);
  EXPECT_TRUE(pool_.latest_decisions(9).empty()) << "decisions stay where they were made";
  EXPECT_EQ(fold(Pool(), log_).digest(), pool_.digest());
}

TEST_F(ImportTest, TrustDiscountsEvidenceAndLeavesEstimates) {
  const std::string state = life(2);
  const auto there = pool_.factors();
  ASSERT_EQ(import_into_fresh(state, 0.25).status, ApplyStatus::kApplied);
  const auto here = pool_.factors();
  ASSERT_EQ(here.size(), there.size());
  for (std::size_t i = 0; i < here.size(); ++i) {
    const Explanation& now = here[i].explanation;
    const Explanation& then = there[i].explanation;
    EXPECT_EQ(now.observations, 0.25 * then.observations);
    EXPECT_EQ(now.terms[0].value, then.terms[0].value) << "accuracy";
    EXPECT_EQ(now.terms[2].value, then.terms[2].value) << "band factor";
    const double n = now.observations;
    EXPECT_NEAR(now.terms[3].value, n / (n + 100.0), 1e-15) << "the band's own factor counts for less";
    EXPECT_NEAR(now.terms[4].value, then.terms[4].value, 1e-12) << "the model's factor is a ratio";
  }
}

TEST_F(ImportTest, MarginAdaptiveIsDiscountedTowardsItsPriors) {
  const PoolConfigured config{.calibrator = "margin_adaptive", .calibrator_version = 2};
  const std::string state = life(3, config);
  double previous = -1.0;
  std::vector<double> observations;
  for (const double trust_value : {1.0, 0.5, 0.01}) {
    ASSERT_EQ(import_into_fresh(state, trust_value, config).status, ApplyStatus::kApplied);
    observations.push_back(pool_.factors()[0].explanation.observations);
    const double now = trust("a");
    EXPECT_NE(now, previous);
    previous = now;
  }
  EXPECT_NEAR(observations[1], 0.5 * observations[0], 1e-12);
  EXPECT_NEAR(observations[2], 0.01 * observations[0], 1e-12);
}

TEST_F(ImportTest, StateIsRefusedWithTheReason) {
  const std::string state = life(4);
  const auto refusal = [&](const std::string& bytes, double trust_value, const PoolConfigured& config = {}) {
    const ApplyResult result = import_into_fresh(bytes, trust_value, config);
    EXPECT_EQ(result.status, ApplyStatus::kRefused);
    return result.error ? result.error->message : "";
  };
  EXPECT_EQ(refusal(state, 0.0), "trust: got 0, expected a number in (0, 1]");
  EXPECT_EQ(refusal(state, 1.0, {.calibrator_parameters = {{"alpha", 0.1}}}),
            "calibrator: got a state of margin@1, expected margin@1 with alpha = 0.1 instead of 0.04");
  EXPECT_EQ(refusal(state, 1.0, {.calibrator = "raw"}), "calibrator: got a state of margin@1, expected raw@1");
  EXPECT_EQ(refusal(state, 1.0, {.models_max = 1}), "models: 2 together, expected at most models_max = 1");
  EXPECT_EQ(refusal(state.substr(0, 100), 1.0).substr(0, 5), "pool:");

  const PoolConfigured platt{.calibrator = "online_platt"};
  const std::string other = life(4, platt);
  EXPECT_EQ(refusal(other, 0.5, platt), "online_platt keeps no counts of evidence that could be discounted");
  EXPECT_EQ(import_into_fresh(other, 1.0, platt).status, ApplyStatus::kApplied);

  life(5);
  const ApplyResult late = apply(StateImported{.state = state});
  EXPECT_EQ(late.error->message, "state: this pool has made decisions of its own or taken over a state before; expected one that has not");
}

TEST_F(ImportTest, ModelsThatJoinedBeforeStay) {
  const std::string state = life(6);
  pool_ = Pool();
  join("z");
  leave("z");
  join("b");
  ASSERT_EQ(apply(StateImported{.state = state}).status, ApplyStatus::kApplied);
  EXPECT_EQ(pool_.present_models(), (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(leave("z").status, ApplyStatus::kDuplicate) << "it is known, and away";
}

TEST_F(ImportTest, MergedEstimatesAreAveragedByTheirEvidence) {
  const std::string first = life(7);
  const auto ours = pool_.factors();
  const std::string second = life(8);
  const auto theirs = pool_.factors();
  const auto merged = merge_states(first, second);
  ASSERT_TRUE(merged.ok()) << merged.error().message;
  const auto pool = Pool::restore(*merged);
  ASSERT_TRUE(pool.ok()) << pool.error().message;
  const auto rows = pool->factors();
  ASSERT_EQ(rows.size(), ours.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const double n = ours[i].explanation.observations, m = theirs[i].explanation.observations;
    EXPECT_NEAR(rows[i].explanation.observations, n + m, 1e-12);
    for (const std::size_t term : {0U, 1U}) {  // accuracy and mean stated confidence
      const double expected = (n * ours[i].explanation.terms[term].value + m * theirs[i].explanation.terms[term].value) / (n + m);
      EXPECT_NEAR(rows[i].explanation.terms[term].value, expected, 1e-12) << rows[i].model << " " << rows[i].explanation.band;
    }
  }
}

TEST_F(ImportTest, MergingIsTheSameFromBothSidesAndWithNothingACopy) {
  for (const char* calibrator : {"margin", "margin_adaptive"}) {
    const PoolConfigured config{.calibrator = calibrator};
    pool_ = Pool();
    configure(config);
    const std::string nothing = pool_.snapshot();
    const std::string first = life(9, config);
    const auto alone = calibration(pool_);
    const std::string second = life(10, config, "c");
    const auto one = merge_states(first, second);
    const auto other = merge_states(second, first);
    ASSERT_TRUE(one.ok() && other.ok());
    const auto rows = diff_states(*one, *other);
    ASSERT_TRUE(rows.ok());
    EXPECT_EQ(rows->size(), 3U * 2U * 3U) << "three models, two segments, three bands";
    for (const BandDifference& row : *rows) {
      ASSERT_TRUE(row.first && row.second);
      EXPECT_NEAR(row.first->factor, row.second->factor, 1e-9) << row.model;
      EXPECT_NEAR(row.first->n, row.second->n, 1e-9) << row.model;
    }
    for (const auto& [a, b] : {std::pair(first, nothing), std::pair(nothing, first)}) {
      const auto copy = merge_states(a, b);
      ASSERT_TRUE(copy.ok());
      EXPECT_EQ(calibration(*Pool::restore(*copy)), alone) << calibrator;
    }
  }
}

TEST_F(ImportTest, CountsThatNobodyCanHaveSeenAreRefused) {
  configure({.calibrator = "margin_adaptive"});
  for (int i = 0; i < 23; ++i) outcome(decide({{"a", "x", 0.1}}), {{"a", 1.0}});
  teach("a", 1.0, 37);
  const auto with_counts = [state = pool_.snapshot()](double instead) {
    const auto bytes_of = [](double number) {
      const auto bytes = std::bit_cast<std::array<char, sizeof number>>(number);
      return std::string(bytes.begin(), bytes.end());
    };
    std::string changed = state;
    for (const double count : {23.0, 37.0}) {
      const std::size_t at = changed.find(bytes_of(count));
      EXPECT_NE(at, std::string::npos);
      changed.replace(at, sizeof count, bytes_of(instead));
    }
    return changed;
  };
  EXPECT_TRUE(merge_states(with_counts(1e17), with_counts(1e17)).ok());
  EXPECT_FALSE(Pool::restore(with_counts(1.7e308)).ok()) << "their sum is no number";
  EXPECT_FALSE(merge_states(with_counts(1.7e308), with_counts(1.7e308)).ok());
  const std::string much = with_counts(9e17);
  EXPECT_TRUE(Pool::restore(much).ok());
  const auto together = merge_states(much, much);
  ASSERT_FALSE(together.ok()) << "a state that could not be restored";
  EXPECT_EQ(together.error().code, ErrorCode::kCorrupt);
}

TEST_F(ImportTest, StatesThatCannotBeMergedAreRefusedByName) {
  const std::string state = life(11, {.calibrator = "online_platt"});
  const auto merged = merge_states(state, state);
  ASSERT_FALSE(merged.ok());
  EXPECT_EQ(merged.error().message, "online_platt has a state with one history, which cannot be merged with another");
  EXPECT_FALSE(merge_states(state, life(12)).ok());
  EXPECT_FALSE(merge_states("", state).ok());
}

TEST_F(ImportTest, DifferenceNamesWhatOnlyOneKnows) {
  const std::string first = life(13);
  const std::string second = life(14, {}, "c");
  const auto rows = diff_states(first, second);
  ASSERT_TRUE(rows.ok());
  for (const BandDifference& row : *rows) {
    EXPECT_EQ(row.first.has_value(), row.model != "c");
    EXPECT_EQ(row.second.has_value(), row.model != "b");
  }
}

}  // namespace
}  // namespace margin
