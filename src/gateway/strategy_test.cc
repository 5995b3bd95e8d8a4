// Whom each strategy asks, and when it has heard enough.
#include "gateway/strategy.h"

#include <gtest/gtest.h>

#include <map>

#include "gateway/gateway.h"

namespace margin::gateway {
namespace {

struct Scene {
  std::vector<Contender> contenders;
  DecisionMade decision;
  Standing standing;

  explicit Scene(std::vector<Contender> all) : contenders(std::move(all)) { standing.contenders = contenders; }
  Scene& decided(double p_correct, bool settled = false) {
    decision.selected = 0;
    decision.sure.p_correct = p_correct;
    standing.decision = &decision;
    standing.settled = settled;
    return *this;
  }
};

using Indices = std::vector<std::size_t>;

TEST(VoteStrategy, AsksEverybodyAtOnceAndStopsWhenSettled) {
  const Strategy& vote = find_strategy(config::Strategy::kVote);
  EXPECT_EQ(vote.next(Scene({{}, {}, {}}).standing).ask, (Indices{0, 1, 2}));
  const std::vector<Contender> waiting = {{Progress::kAnswered}, {Progress::kAnswered}, {Progress::kAsked}};
  EXPECT_FALSE(vote.next(Scene(waiting).decided(0.9, false).standing).done);
  EXPECT_TRUE(vote.next(Scene(waiting).decided(0.9, true).standing).done);
  EXPECT_TRUE(vote.next(Scene({{Progress::kAnswered}, {Progress::kFailed}}).standing).done);
}

TEST(CascadeStrategy, AsksTheCheapestFirstUntilTheTargetIsReached) {
  const Strategy& cascade = find_strategy(config::Strategy::kCascade);
  Scene scene({{Progress::kIdle, 3.0}, {Progress::kIdle, 1.0}, {Progress::kIdle, 2.0}});
  scene.standing.target = 0.8;
  EXPECT_EQ(cascade.next(scene.standing).ask, Indices{1});
  scene.contenders[1].progress = Progress::kAsked;
  EXPECT_TRUE(cascade.next(scene.standing).ask.empty());
  scene.contenders[1].progress = Progress::kAnswered;
  EXPECT_EQ(cascade.next(scene.decided(0.79).standing).ask, Indices{2});
  EXPECT_TRUE(cascade.next(scene.decided(0.8).standing).done);
  scene.contenders[2].progress = Progress::kFailed;
  EXPECT_EQ(cascade.next(scene.decided(0.79).standing).ask, Indices{0});
  scene.contenders[0].progress = Progress::kFailed;
  EXPECT_TRUE(cascade.next(scene.decided(0.79).standing).done);
}

// Asked a hundred thousand times, each model's share is the propensity that is recorded for it.
TEST(SingleStrategy, RecordsTheChanceWithWhichItAskedWhom) {
  const Strategy& single = find_strategy(config::Strategy::kSingle);
  Scene scene({{Progress::kIdle, 0, 0.5}, {Progress::kIdle, 0, 0.9}, {Progress::kIdle, 0, 0.7}});
  scene.standing.explore = 0.1;
  std::map<std::size_t, int> times;
  std::map<std::size_t, double> propensity;
  Random random(7);
  constexpr int kRounds = 100'000;
  for (int i = 0; i < kRounds; ++i) {
    scene.standing.chance = random.uniform();
    const Step step = single.next(scene.standing);
    ASSERT_EQ(step.ask.size(), 1U);
    ++times[step.ask[0]];
    propensity[step.ask[0]] = step.propensity;
  }
  EXPECT_EQ(propensity[1], 0.9);
  EXPECT_EQ(propensity[0], 0.05);
  EXPECT_EQ(propensity[2], 0.05);
  for (const auto& [model, count] : times) EXPECT_NEAR(count / static_cast<double>(kRounds), propensity[model], 0.005);
}

TEST(SingleStrategy, GoesOnToTheNextBestWhenTheFirstFails) {
  const Strategy& single = find_strategy(config::Strategy::kSingle);
  Scene scene({{Progress::kIdle, 0, 0.5}, {Progress::kFailed, 0, 0.9}, {Progress::kIdle, 0, 0.7}});
  EXPECT_EQ(single.next(scene.standing).ask, Indices{2});
  scene.contenders[2].progress = Progress::kAnswered;
  EXPECT_TRUE(single.next(scene.decided(0.2).standing).done);
}

TEST(ShadowStrategy, AnswersWithThePrimaryAndHearsTheRest) {
  const Strategy& shadow = find_strategy(config::Strategy::kShadow);
  Scene scene({{}, {}});
  scene.standing.primary = 1;
  EXPECT_EQ(shadow.next(scene.standing).ask, (Indices{0, 1}));
  scene.contenders = {{Progress::kAnswered}, {Progress::kAsked}};
  scene.standing.contenders = scene.contenders;
  EXPECT_FALSE(shadow.next(scene.standing).answer);
  scene.contenders = {{Progress::kAsked}, {Progress::kAnswered}};
  scene.standing.contenders = scene.contenders;
  EXPECT_TRUE(shadow.next(scene.standing).answer);
  EXPECT_FALSE(shadow.next(scene.standing).done);
  EXPECT_TRUE(shadow.follows_primary());
}

TEST(PoolName, PoolAndStrategy) {
  EXPECT_EQ(parse_pool_name("margin/law")->pool, "law");
  EXPECT_FALSE(parse_pool_name("margin/law")->strategy);
  EXPECT_EQ(parse_pool_name("margin/law/cascade")->pool, "law");
  EXPECT_EQ(parse_pool_name("margin/law/cascade")->strategy, config::Strategy::kCascade);
  EXPECT_EQ(parse_pool_name("margin/cascade")->pool, "cascade");
  EXPECT_EQ(parse_pool_name("margin/law/other")->pool, "law/other");
  EXPECT_FALSE(parse_pool_name("gpt"));
  EXPECT_FALSE(parse_pool_name("margin/"));
}

TEST(Ledger, BeginsAnewEachDay) {
  constexpr std::int64_t kDay = 86'400'000;
  Ledger ledger;
  ledger.add("k", 5 * kDay, 1.5, 100);
  ledger.add("k", 6 * kDay - 1, 0.5, 10);
  EXPECT_EQ(ledger.of("k", 6 * kDay - 1).spend, 2.0);
  EXPECT_EQ(ledger.of("k", 6 * kDay - 1).tokens, 110U);
  EXPECT_EQ(ledger.of("other", 5 * kDay).spend, 0.0);
  EXPECT_EQ(ledger.of("k", 6 * kDay).spend, 0.0);
  ledger.add("k", 6 * kDay, 0.25, 1);
  EXPECT_EQ(ledger.of("k", 6 * kDay).spend, 0.25);
}

}  // namespace
}  // namespace margin::gateway
