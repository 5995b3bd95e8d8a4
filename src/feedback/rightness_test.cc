// The regressions behind the remedy `estimated` and how they share their weight.
#include "feedback/rightness.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>

#include "margin/random.h"

namespace margin::internal {
namespace {

constexpr std::size_t kExperts = 3;

// Tasks of one selected response that is right with this chance.
void live(Rightness& rightness, Random& random, double chance, int tasks) {
  for (int i = 0; i < tasks; ++i) {
    rightness.begin_task();
    rightness.meet(0);
    rightness.learn(kSelected, 0, 0.9, random.chance(chance) ? 1.0 : 0.0, 1.0);
  }
}

std::array<double, kExperts> weights(const Rightness& rightness) {
  Encoder out;
  rightness.save(out);
  Decoder in(out.bytes());
  const auto models = static_cast<std::size_t>(in.integer<std::uint64_t>());
  std::array<double, kExperts> weights{};
  for (double& weight : weights) {
    weight = in.real();
    for (std::size_t belief = 0; belief < 2 + kSituations + models; ++belief) in.real(), in.real();
  }
  EXPECT_TRUE(in.finish("rightness").ok());
  return weights;
}

TEST(Rightness, NoExpertLosesItsShareHoweverLongItLoses) {
  Rightness rightness;
  Random random(3);
  live(rightness, random, 0.9, 5000);
  const auto shares = weights(rightness);
  EXPECT_NEAR(shares[0] + shares[1] + shares[2], 1.0, 1e-9);
  for (const double share : shares) EXPECT_GE(share, 0.005 / kExperts);
  EXPECT_GT(shares[0], 0.5) << "in a calm stream the slowest is believed";
}

TEST(Rightness, ShiftAfterALongCalmIsFollowedWithinSomeTenTasks) {
  // What a single slow regression would take far longer for: the fast ones are still there.
  int slowest = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    Rightness rightness;
    Random random(seed);
    live(rightness, random, 0.9, 5000);
    int tasks = 0;
    while (rightness.chance(kSelected, 0, 0.9) > 0.5 && tasks < 200) {
      live(rightness, random, 0.1, 1);
      ++tasks;
    }
    slowest = std::max(slowest, tasks);
  }
  EXPECT_LE(slowest, 15);
}

}  // namespace
}  // namespace margin::internal
