// Snapshots and events applied twice: the same bits, or a clear refusal.
#include <gtest/gtest.h>

#include "base/encoding.h"
#include "pool/pool_fixture.h"

namespace margin {
namespace {

class SnapshotTest : public PoolTest {
 protected:
  // A bit of everything a pool can hold.
  void live() {
    configure({.vote = "stacked"});
    teach("a", 0.0, 3);
    teach("b", 1.0, 3, "law", "consistency");
    const Uuid open = decide({{"a", "x"}, {"b", "y", 0.5}, {"c", "", 0.7}, {"d", "x", std::nullopt}});
    const Event wrong = feedback(open, {{"b", 0.5}}, "mallory");
    apply(wrong);
    const Event early = plan({{"a", "x"}});
    outcome(early.id, {{"a", 1.0}});
    apply(OutcomeObserved{.decision = early.id, .gold = "x", .weight = 0.25, .source = "alice"});
    revert(Uuid::make(now_, random_));
    join("e", "a");
    leave("b");
    apply(FactorPinned{"a", 0.5});
    apply(LearningFrozen{});
    outcome(open, {{"a", 1.0}});
    apply(LearningResumed{});
    apply(OutcomeReverted{.feedback = wrong.id});
    apply(early);
  }
};

TEST_F(SnapshotTest, RestoresToTheSameBits) {
  live();
  const auto copy = Pool::restore(pool_.snapshot());
  ASSERT_TRUE(copy.ok()) << copy.error().message;
  EXPECT_EQ(copy->snapshot(), pool_.snapshot());
}

TEST_F(SnapshotTest, MidwayAnywhereEqualsNoSnapshot) {
  live();
  for (std::size_t cut = 0; cut <= log_.size(); ++cut) {
    Pool first;
    for (std::size_t i = 0; i < cut; ++i) first.apply(log_[i]);
    auto second = Pool::restore(first.snapshot());
    ASSERT_TRUE(second.ok()) << second.error().message;
    for (std::size_t i = cut; i < log_.size(); ++i) second->apply(log_[i]);
    EXPECT_EQ(second->digest(), pool_.digest()) << "cut at " << cut;
  }
}

std::string joined(const std::vector<std::string>& pieces) {
  std::string all;
  for (const std::string& piece : pieces) all += piece;
  return all;
}

// Whatever is applied while it is copied, and however much is copied at a time.
TEST_F(SnapshotTest, CopiedBitByBitIsTheMomentItBegan) {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    Random random(seed);
    pool_ = Pool();
    configure({.remedy = "implied", .audit_rate = 0.3, .decisions_max = 200, .remembered_events_max = 50});
    std::vector<Uuid> made;
    std::vector<Uuid> feedbacks;
    std::string wanted;
    int kept = 0;
    for (int i = 0; i < 600; ++i) {
      advance(static_cast<std::int64_t>(random.below(3)));
      const std::uint64_t what = random.below(100);
      if (what < 55 || made.empty()) {
        made.push_back(decide({{"a", "x"}, {"b", random.chance(0.5) ? "x" : "y", random.uniform()}}));
      } else if (what < 90) {
        const Event said = feedback(made[made.size() - 1 - random.below(std::min<std::size_t>(made.size(), 250))],
                                    {{random.chance(0.5) ? "a" : "b", random.chance(0.5) ? 1.0 : 0.0}}, "s" + std::to_string(what % 3));
        feedbacks.push_back(said.id);
        apply(said);
      } else if (what < 94 && !feedbacks.empty()) {
        revert(feedbacks[random.below(feedbacks.size())]);
      } else if (what < 95) {
        revert_source("s1");
      } else if (what < 96) {
        configure({.calibrator = random.chance(0.5) ? "margin" : "margin_adaptive",
                   .audit_rate = 0.3,
                   .decisions_max = 200,
                   .remembered_events_max = 50,
                   .watched_models_max = random.chance(0.5) ? 64U : 1U});
      } else if (what < 97) {
        advance(random.chance(0.1) ? 31 * kDay : 1000);
      }
      if (!pool_.snapshot_under_way() && random.below(10) == 0) {
        wanted = pool_.snapshot();
        pool_.begin_snapshot();
      }
      const auto pieces = pool_.continue_snapshot(random.below(8));
      if (!pieces) continue;
      ASSERT_EQ(joined(*pieces), wanted) << "seed " << seed << " event " << i;
      ++kept;
    }
    EXPECT_GT(kept, 2) << "seed " << seed;
  }
}

TEST_F(SnapshotTest, CopiesAnEmptyPoolAndBeginsAnew) {
  const std::string empty = Pool().snapshot();
  Pool pool;
  EXPECT_FALSE(pool.continue_snapshot(1)) << "none has begun";
  pool.begin_snapshot();
  EXPECT_EQ(joined(pool.continue_snapshot(0).value()), empty);
  EXPECT_FALSE(pool.snapshot_under_way());
  live();
  pool_.begin_snapshot();
  EXPECT_FALSE(pool_.continue_snapshot(1));
  decide({{"a", "x"}});
  const std::string later = pool_.snapshot();
  pool_.begin_snapshot();
  decide({{"a", "x"}});
  EXPECT_EQ(joined(pool_.continue_snapshot(1'000).value()), later);
}

TEST_F(SnapshotTest, EveryEventAppliedTwiceChangesNothing) {
  live();
  Pool twice;
  for (const Event& happened : log_) {
    twice.apply(happened);
    const Digest once = twice.digest();
    EXPECT_EQ(twice.apply(happened).status, ApplyStatus::kDuplicate);
    EXPECT_EQ(twice.digest(), once) << "event of type " << happened.body.index();
  }
  for (const Event& happened : log_) twice.apply(happened);
  EXPECT_EQ(twice.digest(), pool_.digest());
}

TEST_F(SnapshotTest, DecisionsAndFeedbackAreRecognisedBeyondTheWindow) {
  configure({.remembered_events_max = 1});
  const Event made = plan({{"a", "x"}});
  const Event early = feedback(made.id, {{"a", 1.0}});
  for (const Event& happened : {early, event(ModelJoined{"b"})}) apply(happened);
  EXPECT_EQ(pool_.apply(early).status, ApplyStatus::kDuplicate);
  for (const Event& happened : {made, event(ModelJoined{"c"})}) apply(happened);
  const Digest before = pool_.digest();
  EXPECT_EQ(pool_.apply(made).status, ApplyStatus::kDuplicate);
  EXPECT_EQ(pool_.apply(early).status, ApplyStatus::kDuplicate);
  EXPECT_EQ(pool_.digest(), before);
}

TEST_F(SnapshotTest, TruncatedBytesAreRefused) {
  live();
  const std::string bytes = pool_.snapshot();
  for (std::size_t length = 0; length < bytes.size(); ++length) {
    EXPECT_FALSE(Pool::restore(std::string_view(bytes).substr(0, length)).ok()) << length;
  }
  EXPECT_EQ(Pool::restore(bytes + "x").error().code, ErrorCode::kCorrupt);
}

// A flipped bit may give another legal state; it must never give a pool that stops the program.
TEST_F(SnapshotTest, FlippedBitsGiveARefusalOrAPoolThatWorks) {
  live();
  const std::string bytes = pool_.snapshot();
  const Question asked = question({{"a", "x"}, {"c", "y"}, {"new", "x"}}, "law");
  std::size_t refused = 0;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    std::string bad = bytes;
    bad[i] = static_cast<char>(bad[i] ^ (1 << random_.below(8)));
    auto pool = Pool::restore(bad);
    if (!pool.ok()) {
      ++refused;
      continue;
    }
    const auto decision = pool->decide(asked);
    if (!decision.ok()) continue;
    const Event made = event(*decision);
    pool->apply(made);
    pool->apply(event(OutcomeObserved{.decision = made.id, .gold = "x"}));
    for (const Event& happened : log_) pool->apply(happened);
    for (const FactorRow& row : pool->factors()) {
      EXPECT_TRUE(row.explanation.calibrated >= 0.0 && row.explanation.calibrated <= 1.0) << "byte " << i;
    }
  }
  EXPECT_GT(refused, bytes.size() / 4);
}

TEST_F(SnapshotTest, CellsWithNamesThatNoDecisionCouldGiveAreRefused) {
  live();
  std::string bytes = pool_.snapshot();
  ASSERT_TRUE(Pool::restore(bytes).ok());
  const std::size_t channel = bytes.find("verbalized");
  ASSERT_NE(channel, std::string::npos);
  bytes[channel] = 'V';
  EXPECT_TRUE(Pool::restore(bytes).ok());
  bytes[channel] = '\n';
  EXPECT_EQ(Pool::restore(bytes).error().code, ErrorCode::kCorrupt);
}

// Where it is not used the bytes are those of before it was there: tests/determinism/expected.txt has their digests.
TEST_F(SnapshotTest, OnlyAPoolWithAnErrorOfItsOwnIsOfTheFormatThatHasIt) {
  live();
  const std::string without = pool_.snapshot();
  EXPECT_EQ(without.substr(0, 4), "3LPM");
  PoolConfigured config = pool_.config();
  config.max_error = 0.25;
  configure(config);
  const std::string with = pool_.snapshot();
  EXPECT_EQ(with.substr(0, 4), "4LPM");
  const auto copy = Pool::restore(with);
  ASSERT_TRUE(copy.ok()) << copy.error().message;
  EXPECT_EQ(copy->config().max_error, 0.25);
  EXPECT_EQ(copy->snapshot(), with);
  config.max_error = 1.0;
  configure(config);
  EXPECT_EQ(pool_.snapshot().substr(0, 4), "3LPM");

  // One state, one encoding.
  internal::Encoder one;
  one.real(1.0);
  internal::Encoder quarter;
  quarter.real(0.25);
  std::string bad = with;
  bad.replace(bad.find(quarter.take()), 8, one.take());
  EXPECT_EQ(Pool::restore(bad).error().code, ErrorCode::kCorrupt);
}

TEST_F(SnapshotTest, AStateWithAnErrorOfItsOwnIsTakenOver) {
  teach("a", 1.0, 3);
  PoolConfigured config = pool_.config();
  config.max_error = 0.25;
  configure(config);
  Pool other;
  config.max_error = 1.0;
  other.apply(event(config));
  const ApplyResult imported = other.apply(event(StateImported{.state = pool_.snapshot(), .trust = 1.0}));
  EXPECT_EQ(imported.status, ApplyStatus::kApplied) << (imported.error ? imported.error->message : "");
  EXPECT_EQ(other.config().max_error, 1.0) << "the configuration is not";
}

TEST_F(SnapshotTest, ANewerFormatIsNamed) {
  std::string bytes = pool_.snapshot();
  bytes[0] = '5';
  const auto pool = Pool::restore(bytes);
  ASSERT_FALSE(pool.ok());
  EXPECT_EQ(pool.error().code, ErrorCode::kUnsupported);
  EXPECT_EQ(pool.error().message, "pool: a snapshot of format MPL5, this binary reads up to MPL4: it needs a newer margin");
  bytes[0] = '\x7f';
  EXPECT_EQ(Pool::restore(bytes).error().code, ErrorCode::kCorrupt);
}

TEST_F(SnapshotTest, UnknownCalibratorVersionIsNamed) {
  std::string bytes = pool_.snapshot();
  const std::size_t version = bytes.find("margin") + 6;
  bytes[version] = 99;
  const auto pool = Pool::restore(bytes);
  ASSERT_FALSE(pool.ok());
  EXPECT_EQ(pool.error().code, ErrorCode::kNotFound);
  EXPECT_NE(pool.error().message.find("99"), std::string::npos);
}

}  // namespace
}  // namespace margin
