// Which snapshots are kept, what a restart makes of them, and what retention takes out behind them.
#include <algorithm>

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

}  // namespace
}  // namespace margin::service
