// How much one source of feedback may teach: the cap, what it leaves open, and what it is worth against a source that lies.
#include <gtest/gtest.h>

#include <cmath>

#include "pool/pool_fixture.h"

namespace margin {
namespace {

using Names = std::vector<std::string>;

class InfluenceTest : public PoolTest {
 protected:
  // A model that is right 8 times of 10, graded once per task: one time of four by one of twelve users, else by mallory, who turns every
  // outcome around.
  // The mean calibrated confidence over the last 400 of 1200 tasks.
  double mean_trust(double share_max, bool mallory) {
    pool_ = Pool();
    Random world(11);
    configure({.source_share_max = share_max});
    double sum = 0.0;
    for (int i = 0; i < 1200; ++i) {
      const double right = world.chance(0.8) ? 1.0 : 0.0;
      const bool lie = world.chance(0.75);
      const Uuid task = decide({{"a", "x"}});
      if (lie && mallory) outcome(task, {{"a", 1.0 - right}}, "mallory");
      if (!lie) outcome(task, {{"a", right}}, "user" + std::to_string(world.below(12)));
      if (i >= 800) sum += trust("a") / 400.0;
    }
    return sum;
  }
};

TEST_F(InfluenceTest, CapBoundsWhatALyingSourceDoes) {
  const double honest = mean_trust(1.0, false);
  const double uncapped = mean_trust(1.0, true);
  const double capped = mean_trust(0.1, true);
  const double harm = std::fabs(honest - uncapped);
  RecordProperty("honest", std::to_string(honest));
  RecordProperty("uncapped", std::to_string(uncapped));
  RecordProperty("capped", std::to_string(capped));
  EXPECT_NEAR(honest, 0.8, 0.06);
  // Three of four outcomes turned around: 0.75 * 0.2 + 0.25 * 0.8 = 0.35.
  EXPECT_NEAR(uncapped, 0.35, 0.06);
  // At most a tenth of what was learned is turned around: 0.1 * 0.2 + 0.9 * 0.8 = 0.74.
  EXPECT_NEAR(capped, 0.74, 0.06);
  EXPECT_LT(std::fabs(honest - capped), harm / 4.0);
}

TEST_F(InfluenceTest, WhatIsCappedIsSaidAndLeavesTheResponseOpen) {
  configure({.source_share_max = 0.5});
  for (int i = 0; i < 10; ++i) outcome(decide({{"a", "x"}}), {{"a", 1.0}}, "alice");
  const auto before = calibration(pool_);
  const Uuid task = decide({{"a", "x"}});
  const ApplyResult capped = outcome(task, {{"a", 0.0}}, "alice");
  EXPECT_EQ(capped.status, ApplyStatus::kApplied);
  EXPECT_EQ(capped.capped, Names({"a"}));
  EXPECT_TRUE(capped.learned.empty() && capped.unlearned.empty());
  EXPECT_EQ(calibration(pool_), before);
  EXPECT_EQ(pool_.decision(task)->responses[0].outcome, std::nullopt);
  // Another source is not in its way: no conflict.
  EXPECT_EQ(outcome(task, {{"a", 1.0}}, "bob").learned, Names({"a"}));
}

TEST_F(InfluenceTest, SourceMaySpeakAgainWhenOthersHave) {
  configure({.source_share_max = 0.5});
  for (int i = 0; i < 10; ++i) outcome(decide({{"a", "x"}}), {{"a", 1.0}}, "alice");
  EXPECT_EQ(outcome(decide({{"a", "x"}}), {{"a", 1.0}}, "alice").capped, Names({"a"}));
  for (int i = 0; i < 12; ++i) outcome(decide({{"a", "x"}}), {{"a", 1.0}}, i % 2 == 0 ? "bob" : "carol");
  EXPECT_EQ(outcome(decide({{"a", "x"}}), {{"a", 1.0}}, "alice").learned, Names({"a"}));
}

TEST_F(InfluenceTest, CapIsPerModel) {
  configure({.source_share_max = 0.5});
  for (int i = 0; i < 10; ++i) outcome(decide({{"a", "x"}}), {{"a", 1.0}}, "alice");
  const ApplyResult both = outcome(decide({{"a", "x"}, {"b", "x"}}), {{"a", 1.0}, {"b", 1.0}}, "alice");
  EXPECT_EQ(both.capped, Names({"a"}));
  EXPECT_EQ(both.learned, Names({"b"}));
}

TEST_F(InfluenceTest, WhatASourceImpliesCountsAsItsOwn) {
  configure({.remedy = "implied", .source_share_max = 0.5});
  ApplyResult last;
  for (int i = 0; i < 12; ++i) {
    const Uuid task = decide({{"a", "x"}, {"b", "x"}, {"c", "y"}});
    last = outcome(task, {{i % 2 == 0 ? "a" : "b", 1.0}}, "alice");
  }
  EXPECT_EQ(last.status, ApplyStatus::kApplied);
  EXPECT_TRUE(last.implied.empty()) << "c was taught ten times by what alice implied";
}

TEST_F(InfluenceTest, RestoredPoolKeepsTheAccounts) {
  configure({.source_share_max = 0.5});
  for (int i = 0; i < 10; ++i) outcome(decide({{"a", "x"}}), {{"a", 1.0}}, "alice");
  auto restored = Pool::restore(pool_.snapshot());
  ASSERT_TRUE(restored.ok()) << restored.error().message;
  pool_ = std::move(*restored);
  EXPECT_EQ(outcome(decide({{"a", "x"}}), {{"a", 0.0}}, "alice").capped, Names({"a"}));
}

TEST_F(InfluenceTest, CapOutOfRangeIsRefused) {
  for (const double share : {0.0, -0.5, 1.5}) EXPECT_EQ(configure({.source_share_max = share}).status, ApplyStatus::kRefused) << share;
}

}  // namespace
}  // namespace margin
