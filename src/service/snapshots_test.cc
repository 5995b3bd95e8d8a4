// Which snapshots are kept, what a restart makes of them, and what retention takes out behind them.
#include <algorithm>
#include <future>
#include <utility>

#include "service/service_fixture.h"

namespace margin::service {
namespace {

TEST_F(ServiceTest, ALargeStateIsKeptLessOften) {
  open(10);
  for (int i = 0; i < 1000; ++i) {
    decide();
    loop_.run_until([this] { return !pool().snapshotting; });
  }
  const auto offsets = log_.snapshots("default").value();
  ASSERT_GE(offsets.size(), 2);
  for (std::size_t i = 0; i + 1 < offsets.size(); ++i) {
    const std::size_t bytes = log_.latest_snapshot("default", offsets[i]).value()->bytes.size();
    EXPECT_GT(bytes / 256, 10);
    EXPECT_GE(offsets[i + 1] - offsets[i], bytes / 256);
  }
}

// What makes it hurry is that the next one is due.
TEST_F(ServiceTest, ALargeSnapshotIsWrittenAtLeisureForAsLongAsItsSizeWarrants) {
  open(10);
  int looked_at = 0;
  for (int i = 0; i < 1000; ++i) {
    decide();
    if (!pool().snapshotting) continue;
    loop_.run_until([this] { return !pool().snapshot_under_way(); });
    ASSERT_TRUE(pool().snapshotting) << "it is copied, and not said to be kept";
    const std::uint64_t due = pool().next_snapshot;
    loop_.run_until([this] { return !pool().snapshotting; });
    const StoredSnapshot kept = log_.latest_snapshot("default").value().value();
    EXPECT_GT(kept.bytes.size() / 128, 10);
    EXPECT_EQ(due, kept.offset + kept.bytes.size() / 128);
    ++looked_at;
  }
  EXPECT_GE(looked_at, 3);
}

// Copying takes a tenth of the loop's time, and all of it when the next one is due.
TEST_F(ServiceTest, ASnapshotIsCopiedWithRestsUntilTheNextOneIsDue) {
  std::vector<std::function<void()>> resting;
  std::size_t rests = 0;
  post_after_ = [&](std::chrono::microseconds rest, std::function<void()> work) {
    EXPECT_GT(rest.count(), 0);
    ++rests;
    resting.push_back(std::move(work));
  };
  const auto go_on = [&] {
    const auto next = std::exchange(resting, {});
    for (const auto& each : next) each();
  };
  open(100);
  while (!pool().snapshotting) decide();
  const std::uint64_t first = pool().next_offset();
  decide();
  EXPECT_EQ(resting.size(), 1U) << "64 are copied";
  EXPECT_TRUE(pool().snapshot_under_way());
  const Digest then = pool().pool().digest();
  go_on();
  loop_.run_until([this] { return !pool().snapshotting; });
  EXPECT_EQ(rests, 1U) << "of some more than 100";
  EXPECT_EQ(log_.latest_snapshot("default").value().value().offset, first);
  EXPECT_EQ(pool().pool().digest(), then);

  // As many events as the last one was worth are no reason for haste, though more than `snapshot_every`.
  const std::uint64_t worth = log_.latest_snapshot("default").value().value().bytes.size() / 128;
  ASSERT_GT(worth, 110U);
  while (!pool().snapshotting) decide();
  const std::uint64_t second = pool().next_offset();
  EXPECT_EQ(second, first + worth);
  for (std::uint64_t i = 1; i < worth; ++i) decide();
  ASSERT_EQ(resting.size(), 1U);
  go_on();
  EXPECT_EQ(resting.size(), 1U);
  decide();
  go_on();
  rests = 0;
  loop_.run_until([this] { return !pool().snapshotting; });
  EXPECT_EQ(rests, 0U) << "the next one was due";
  EXPECT_EQ(log_.latest_snapshot("default").value().value().offset, second);
  EXPECT_EQ(folded(), pool().pool().digest());
}

TEST_F(ServiceTest, ASnapshotThatCouldNotBeKeptIsTriedAgainSoon) {
  open(10);
  for (int i = 0; i < 300; ++i) {
    decide();
    loop_.run_until([this] { return !pool().snapshotting; });
  }
  log_.full = true;
  while (complaints_.empty()) {
    decide();
    loop_.run_until([this] { return !pool().snapshotting; });
  }
  EXPECT_NE(complaints_[0].find("the disk is full"), std::string::npos) << complaints_[0];
  EXPECT_EQ(pool().next_snapshot, pool().next_offset() + 10);
  log_.full = false;
  for (int i = 0; i < 10; ++i) decide();
  loop_.run_until([this] { return !pool().snapshotting; });
  EXPECT_EQ(log_.snapshots("default").value().back(), pool().next_offset());
  EXPECT_EQ(complaints_.size(), 1U);
}

TEST_F(ServiceTest, ARestartComesToTheSameBitsWithAndWithoutASnapshot) {
  for (int i = 0; i < 30; ++i) static_cast<void>(grade(decide(), 1.0));
  const Digest before = pool().pool().digest();
  open();
  EXPECT_EQ(pool().pool().digest(), before);
  EXPECT_EQ(pool().scores().at("a").count(), 30U);
  service_->keep_snapshots();
  open();
  EXPECT_EQ(pool().pool().digest(), before);
  EXPECT_EQ(complaints_, std::vector<std::string>{});
}

TEST_F(ServiceTest, SnapshotsAreKeptOnTheWay) {
  open(10);
  for (int i = 0; i < 30; ++i) static_cast<void>(grade(decide(), 1.0));
  loop_.run_until([this] { return !pool().snapshotting; });
  EXPECT_FALSE(log_.snapshots("default")->empty());
  EXPECT_EQ(complaints_, std::vector<std::string>{});
  EXPECT_EQ(pool().pool().digest(), folded());
}

TEST_F(ServiceTest, TheEarliestStateIsOfASnapshotWhereNoneStandsAtTheFirstEvent) {
  const std::vector<Uuid> feedback = teach_often(5);
  service_->keep_snapshots();
  ASSERT_TRUE(log_.compact("default", 3, AuditKept::kEverything).ok());
  EXPECT_EQ(service_->can_revert(pool(), feedback[3]).error().code, ErrorCode::kUnsupported);
  const Uuid later = teach();
  EXPECT_TRUE(service_->can_revert(pool(), later).ok());
}

TEST_F(ServiceTest, RetentionTakesOldEventsOutAndWhatStaysCanBeReverted) {
  const std::vector<Uuid> feedback = teach_often(10);
  ASSERT_TRUE(commit(OutcomeReverted{.feedback = feedback[2], .source = ""}).ok()) << "from before the horizon, reverted behind it";
  const std::vector<Event> all = events();
  // Of the seventh decision on.
  service_->retain(clock_ms_ - 3500, AuditKept::kNothing);
  service_->keep_snapshots();
  const PoolPosition position = log_.pools()->front();
  EXPECT_EQ(position.first, 13U);
  EXPECT_EQ(log_.snapshots("default")->front(), 13U);
  EXPECT_EQ(pool().pool().digest(), folded());
  EXPECT_EQ(service_->can_revert(pool(), feedback[5]).error().code, ErrorCode::kNotFound);
  ASSERT_TRUE(service_->can_revert(pool(), feedback[6]).ok());
  for (int i = 0; i < 6; ++i) {
    teach();
    service_->keep_snapshots();
  }
  EXPECT_EQ(log_.snapshots("default")->front(), 13U) << "however many come later";
  std::vector<Event> later = events();
  const auto reverted = commit(OutcomeReverted{.feedback = feedback[6], .source = ""});
  ASSERT_TRUE(reverted.ok()) << reverted.error().message;
  std::vector<Event> whole(all.begin(), all.begin() + 13);
  later = events();
  whole.insert(whole.end(), later.begin(), later.end());
  EXPECT_EQ(pool().pool().digest(), fold(Pool(), whole).digest());
  EXPECT_EQ(pool().pool().digest(), folded());
  EXPECT_TRUE(verify(log_)->sound());
  EXPECT_EQ(complaints_, std::vector<std::string>{});
}

TEST_F(ServiceTest, ASnapshotThatHoldsWhatWasRevertedBehindTheHorizonIsNoDamage) {
  const std::vector<Uuid> feedback = teach_often(10);
  service_->keep_snapshots();
  const std::uint64_t stale = pool().next_offset();
  ASSERT_TRUE(commit(OutcomeReverted{.feedback = feedback[2], .source = ""}).ok());
  service_->retain(clock_ms_ - 3500, AuditKept::kNothing);
  service_->keep_snapshots();
  const auto offsets = log_.snapshots("default").value();
  ASSERT_NE(std::find(offsets.begin(), offsets.end(), stale), offsets.end());
  const Verification verified = verify(log_).value();
  EXPECT_TRUE(verified.sound());
  EXPECT_EQ(std::count(verified.pools.at(0).snapshots.begin(), verified.pools.at(0).snapshots.end(), stale), 0) << "nor is it vouched for";
  EXPECT_EQ(pool().pool().digest(), folded());
}

TEST_F(ServiceTest, RetentionLeavesWhatIsNotOldEnough) {
  teach_often(5);
  service_->retain(clock_ms_ - 3'600'000, AuditKept::kNothing);
  service_->keep_snapshots();
  EXPECT_EQ(log_.pools()->front().first, 0U);
}

// Retention that has read the log and made the state that is to stand for what it takes out, and has not taken it out yet.
class RetentionUnderWayTest : public ServiceTest {
 protected:
  void SetUp() override {
    ServiceTest::SetUp();
    feedback_ = teach_often(10);
    log_.before_compaction = [this] {
      reached_.set_value();
      go_on_.get_future().wait();
    };
    service_->retain(clock_ms_ - 3500, AuditKept::kEverything);
    reached_.get_future().wait();
  }
  void TearDown() override {
    finish();
    // All that was asked for, and no fold that cannot be had.
    EXPECT_EQ(log_.pools()->front().first, kHorizon);
    EXPECT_FALSE(pool().needs_fold());
    EXPECT_EQ(pool().pool().digest(), folded());
    EXPECT_TRUE(verify(log_)->sound());
    EXPECT_EQ(complaints_, std::vector<std::string>{});
  }
  void finish() {
    if (!std::exchange(finished_, true)) go_on_.set_value();
    service_->keep_snapshots();
  }
  // As the server does it.
  Error revert(Uuid feedback) {
    auto permit = service_->can_revert(pool(), feedback);
    if (!permit) return permit.error();
    return revert(OutcomeReverted{.feedback = feedback, .source = ""}, std::move(*permit));
  }
  Error revert(OutcomeReverted body, RevertPermit permit) {
    Prepared prepared = service_->prepare(pool(), std::move(body));
    prepared.permit = std::move(permit);
    std::optional<Result<Applied>> answer;
    EXPECT_TRUE(service_->commit(std::move(prepared), [&](Result<Applied> applied) { answer = std::move(applied); }).ok());
    // The fold that it waits for comes behind retention.
    loop_.run_until([&] { return answer.has_value() || pool().folding; });
    finish();
    loop_.run_until([&] { return answer.has_value(); });
    return *answer ? Error() : answer->error();
  }

  static constexpr std::uint64_t kHorizon = 13;  // of the seventh decision
  std::vector<Uuid> feedback_;
  std::promise<void> reached_;
  std::promise<void> go_on_;
  bool finished_ = false;
};

TEST_F(RetentionUnderWayTest, ARevertOfWhatItPassesOverIsRefusedBeforeItIsInTheLog) {
  const std::uint64_t next = pool().next_offset();
  EXPECT_EQ(revert(feedback_[5]).code, ErrorCode::kUnsupported);
  EXPECT_EQ(pool().next_offset(), next);
}

TEST_F(RetentionUnderWayTest, ARevertOfWhatStaysIsCarriedOut) {
  EXPECT_EQ(revert(feedback_[6]).message, "");
  EXPECT_EQ(service_->can_revert(pool(), feedback_[5]).error().code, ErrorCode::kUnsupported) << "afterwards as before";
}

TEST_F(RetentionUnderWayTest, ARevertOfASourceWaitsForItAndIsHeldAgainstWhatItLeaves) {
  const std::uint64_t next = pool().next_offset();
  std::optional<Result<RevertPermit>> answer;
  service_->can_revert(pool(), "grader", [&](Result<RevertPermit> permit) { answer = std::move(permit); });
  EXPECT_FALSE(answer.has_value());
  finish();
  loop_.run_until([&] { return answer.has_value(); });
  ASSERT_FALSE(answer->ok());
  EXPECT_EQ(answer->error().code, ErrorCode::kUnsupported);
  EXPECT_EQ(pool().next_offset(), next);
}

class RevertUnderWayTest : public ServiceTest {};

TEST_F(RevertUnderWayTest, RetentionLeavesItsPoolForTheNextTime) {
  ASSERT_TRUE(service_->find_or_make("law").ok());
  const std::vector<Uuid> feedback = teach_often(10);
  const auto retain = [&] {
    service_->retain(clock_ms_ - 3500, AuditKept::kEverything);
    service_->keep_snapshots();
  };
  const auto first = [&](std::size_t pool) { return log_.pools()->at(pool).first; };
  auto permit = service_->can_revert(pool(), feedback[2]);
  ASSERT_TRUE(permit.ok());
  retain();
  EXPECT_EQ(first(0), 0U);
  EXPECT_EQ(first(1), 1U) << "the other pool does not wait";

  // Given to the log, and not yet in it.
  Prepared prepared = service_->prepare(pool(), OutcomeReverted{.feedback = feedback[2], .source = ""});
  prepared.permit = std::move(*permit);
  std::optional<Result<Applied>> answer;
  ASSERT_TRUE(service_->commit(std::move(prepared), [&](Result<Applied> applied) { answer = std::move(applied); }).ok());
  retain();
  EXPECT_EQ(first(0), 0U);

  loop_.run_until([&] { return answer.has_value(); });
  ASSERT_TRUE(answer->ok()) << answer->error().message;
  retain();
  EXPECT_EQ(first(0), 13U);
  EXPECT_EQ(pool().pool().digest(), folded());
  EXPECT_FALSE(pool().needs_fold());
  EXPECT_TRUE(verify(log_)->sound());
  EXPECT_EQ(complaints_, std::vector<std::string>{});
}

TEST_F(RevertUnderWayTest, WhatIsNotCarriedOutHoldsNothingUp) {
  const std::vector<Uuid> feedback = teach_often(10);
  {
    const auto allowed = service_->can_revert(pool(), feedback[2]);
    ASSERT_TRUE(allowed.ok());
    EXPECT_FALSE(service_->can_revert(pool(), Uuid{1, 2}).ok());
  }
  service_->retain(clock_ms_ - 3500, AuditKept::kEverything);
  service_->keep_snapshots();
  EXPECT_EQ(log_.pools()->front().first, 13U);
}

TEST_F(RevertUnderWayTest, ARevertOfASourceThatIsAllowedHoldsRetentionUp) {
  teach_often(10);
  std::optional<Result<RevertPermit>> answer;
  service_->can_revert(pool(), "grader", [&](Result<RevertPermit> permit) { answer = std::move(permit); });
  loop_.run_until([&] { return answer.has_value(); });
  ASSERT_TRUE(answer->ok());
  service_->retain(clock_ms_ - 3500, AuditKept::kEverything);
  service_->keep_snapshots();
  EXPECT_EQ(log_.pools()->front().first, 0U);
}

}  // namespace
}  // namespace margin::service
