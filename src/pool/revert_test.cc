// Reverts by id and by source, before and after arrival, and the fold that puts the state right.
#include <gtest/gtest.h>

#include <algorithm>

#include "pool/pool_fixture.h"

namespace margin {
namespace {

class RevertTest : public PoolTest {
 protected:
  // What the pool would be had these never come.
  [[nodiscard]] Pool without(std::initializer_list<Uuid> ids) const {
    Pool pool;
    for (const Event& happened : log_) {
      if (std::find(ids.begin(), ids.end(), happened.id) == ids.end()) pool.apply(happened);
    }
    return pool;
  }
  void refold() { pool_ = fold(Pool(), log_); }
  Event grade(Uuid decision, double value, std::string source = "") { return feedback(decision, {{"a", value}}, std::move(source)); }
};

TEST_F(RevertTest, ByIdThenRefoldIsAsIfItNeverCame) {
  teach("a", 1.0, 2);
  const Event wrong = grade(decide({{"a", "x"}}), 0.0);
  apply(wrong);
  teach("a", 1.0, 2);
  const ApplyResult result = revert(wrong.id);
  EXPECT_EQ(result.status, ApplyStatus::kRefold);
  EXPECT_EQ(result.reverted, std::vector<Uuid>{wrong.id});
  EXPECT_TRUE(pool_.needs_fold());
  refold();
  EXPECT_FALSE(pool_.needs_fold());
  EXPECT_EQ(calibration(pool_), calibration(without({wrong.id})));
}

TEST_F(RevertTest, RefoldFromALaterSnapshotEqualsRefoldFromTheBeginning) {
  teach("a", 1.0, 2);
  const std::string snapshot = pool_.snapshot();
  const std::size_t position = log_.size();
  const Event wrong = grade(decide({{"a", "x"}}), 0.0);
  apply(wrong);
  teach("a", 1.0, 2);
  revert(wrong.id);
  const Pool from_snapshot = fold(Pool::restore(snapshot).value(), std::span(log_).subspan(position));
  refold();
  EXPECT_EQ(pool_.digest(), from_snapshot.digest());
}

TEST_F(RevertTest, FoldFromASnapshotThatHoldsTheOutcomeSaysSo) {
  const Event wrong = grade(decide({{"a", "x"}}), 0.0);
  apply(wrong);
  const std::string too_late = pool_.snapshot();
  revert(wrong.id);
  EXPECT_TRUE(fold(Pool::restore(too_late).value(), std::span(log_).last(1)).needs_fold());
}

TEST_F(RevertTest, BySourceTakesBackAllEarlierFeedbackOfIt) {
  const Event first = grade(decide({{"a", "x"}}), 0.0, "mallory");
  const Event second = grade(decide({{"a", "x"}}), 0.0, "mallory");
  const Event honest = grade(decide({{"a", "x"}}), 1.0, "alice");
  const Event after = grade(decide({{"a", "x"}}), 1.0, "mallory");
  for (const Event& each : {first, second, honest}) apply(each);
  EXPECT_EQ(revert_source("mallory").reverted, (std::vector<Uuid>{first.id, second.id}));
  refold();
  EXPECT_EQ(apply(after).status, ApplyStatus::kApplied);
  EXPECT_EQ(calibration(pool_), calibration(without({first.id, second.id})));
}

TEST_F(RevertTest, BeforeArrivalStopsTheOutcome) {
  const Event wrong = grade(decide({{"a", "x"}}), 0.0);
  EXPECT_EQ(revert(wrong.id).status, ApplyStatus::kApplied);
  EXPECT_EQ(apply(wrong).status, ApplyStatus::kReverted);
  EXPECT_EQ(trust("a"), 0.9);
  const Digest live = pool_.digest();
  refold();
  EXPECT_EQ(pool_.digest(), live);
}

TEST_F(RevertTest, OfAnOutcomeThatWaitsForItsDecisionNeedsNoRefold) {
  const Event made = plan({{"a", "x"}});
  const Event wrong = grade(made.id, 0.0);
  apply(wrong);
  EXPECT_EQ(revert(wrong.id).status, ApplyStatus::kApplied);
  EXPECT_TRUE(apply(made).learned.empty());
  EXPECT_EQ(trust("a"), 0.9);
  const Digest live = pool_.digest();
  refold();
  EXPECT_EQ(pool_.digest(), live);
}

TEST_F(RevertTest, OfAContradictionNeedsNoRefold) {
  const Uuid decision = decide({{"a", "x"}});
  apply(grade(decision, 1.0));
  const Event contradiction = grade(decision, 0.0);
  EXPECT_EQ(apply(contradiction).status, ApplyStatus::kConflict);
  EXPECT_EQ(revert(contradiction.id).status, ApplyStatus::kApplied);
  const Digest live = pool_.digest();
  refold();
  EXPECT_EQ(pool_.digest(), live);
}

TEST_F(RevertTest, TwiceIsADuplicate) {
  const Event wrong = grade(decide({{"a", "x"}}), 0.0, "mallory");
  apply(wrong);
  revert(wrong.id);
  EXPECT_EQ(revert(wrong.id).status, ApplyStatus::kDuplicate);
  EXPECT_EQ(revert_source("mallory").status, ApplyStatus::kDuplicate);
  const Uuid awaited = Uuid::make(now_, random_);
  revert(awaited);
  EXPECT_EQ(revert(awaited).status, ApplyStatus::kDuplicate);
}

TEST_F(RevertTest, OfTheUnknownAndOldIsRefused) {
  EXPECT_EQ(revert(Uuid::make(now_ - pool_.config().pending_ms_max - 1, random_)).error->code, ErrorCode::kNotFound);
  EXPECT_EQ(revert_source("nobody").error->code, ErrorCode::kNotFound);
  EXPECT_EQ(apply(OutcomeReverted{}).error->code, ErrorCode::kInvalidArgument);
}

TEST_F(RevertTest, BelowTheHorizonIsRefusedAndAReplayRefusesItToo) {
  const Event wrong = grade(decide({{"a", "x"}}), 0.0);
  apply(wrong);
  advance(pool_.config().pending_ms_max + 1);
  EXPECT_EQ(revert(wrong.id).status, ApplyStatus::kRefused);
  const Event other = grade(decide({{"a", "x"}}), 1.0);
  apply(other);
  revert(other.id);
  refold();
  EXPECT_EQ(calibration(pool_), calibration(without({other.id}))) << "what the old one taught stays";
}

TEST_F(RevertTest, MarkOfAnAwaitedRevertExpires) {
  const Event wrong = grade(decide({{"a", "x"}}), 0.0);
  revert(wrong.id);
  advance(pool_.config().pending_ms_max + 1);
  const Uuid fresh = decide({{"a", "x"}});
  Event late = wrong;
  late.time_ms = now_;
  std::get<OutcomeObserved>(late.body).decision = fresh;
  EXPECT_EQ(apply(late).status, ApplyStatus::kApplied);
}

TEST_F(RevertTest, RevertedResponseMayBeGradedAgain) {
  const Uuid decision = decide({{"a", "x"}});
  const Event wrong = grade(decision, 0.0);
  apply(wrong);
  revert(wrong.id);
  refold();
  EXPECT_EQ(pool_.pending_decisions(), 1U);
  EXPECT_EQ(apply(grade(decision, 1.0)).status, ApplyStatus::kApplied);
  EXPECT_GT(trust("a"), 0.9);
}

TEST_F(RevertTest, OfTheFirstOfTwoMakesTheSecondCount) {
  const Uuid decision = decide({{"a", "x"}});
  const Event first = grade(decision, 0.0);
  const Event second = grade(decision, 1.0);
  apply(first);
  EXPECT_EQ(apply(second).status, ApplyStatus::kConflict);
  revert(first.id);
  refold();
  EXPECT_GT(trust("a"), 0.9);
  EXPECT_EQ(revert(second.id).status, ApplyStatus::kRefold);
  refold();
  EXPECT_EQ(trust("a"), 0.9);
}

}  // namespace
}  // namespace margin
