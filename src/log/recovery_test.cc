#include "log/recovery.h"

#include <gtest/gtest.h>

#include "log/log_fixture.h"
#include "log/memory_log.h"

namespace margin {
namespace {

class RecoveryTest : public testing::Test {
 protected:
  RecoveredPool recovered(std::uint64_t until = std::numeric_limits<std::uint64_t>::max()) {
    Result<RecoveredPool> result = recover(log_, "p", until);
    EXPECT_TRUE(result.ok()) << (result ? "" : result.error().message);
    return result ? std::move(result).value() : RecoveredPool{};
  }

  MemoryLog log_;
  LivePool live_{log_, "p"};
};

TEST_F(RecoveryTest, AnUnknownPoolIsAnEmptyOne) {
  const RecoveredPool empty = recovered();
  EXPECT_EQ(empty.pool.digest(), Pool().digest());
  EXPECT_EQ(empty.next, 0);
}

TEST_F(RecoveryTest, WithoutASnapshotTheWholeLogIsFolded) {
  live_.tasks(40);
  const RecoveredPool result = recovered();
  EXPECT_EQ(result.pool.digest(), live_.pool().digest());
  EXPECT_EQ(result.next, 80);
  EXPECT_EQ(result.from, 0);
  EXPECT_TRUE(result.findings.empty());
}

TEST_F(RecoveryTest, TheLatestSnapshotAndTheTailGiveTheLiveState) {
  live_.tasks(10);
  live_.keep_snapshot();
  live_.tasks(10);
  live_.keep_snapshot();
  live_.tasks(7);
  const RecoveredPool result = recovered();
  EXPECT_EQ(result.from, 40);
  EXPECT_EQ(result.pool.digest(), live_.pool().digest());
}

TEST_F(RecoveryTest, PausesEveryFewEventsAndComesToTheSame) {
  live_.tasks(500);
  int pauses = 0;
  const auto result = recover(log_, "p", std::numeric_limits<std::uint64_t>::max(), [&] { ++pauses; });
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(result->pool.digest(), live_.pool().digest());
  EXPECT_GE(pauses, 10);
}

TEST_F(RecoveryTest, AnEarlierMomentCanBeRecovered) {
  live_.tasks(5);
  live_.keep_snapshot();
  const Digest then = live_.pool().digest();
  live_.tasks(5);
  live_.keep_snapshot();
  const RecoveredPool result = recovered(10);
  EXPECT_EQ(result.pool.digest(), then);
  EXPECT_EQ(result.next, 10);
}

TEST_F(RecoveryTest, ARevertInTheTailReachesBackBeforeTheSnapshotThatHoldsTheOutcome) {
  live_.tasks(3);
  live_.keep_snapshot();
  const Uuid wrong = live_.task();
  live_.tasks(3);
  live_.keep_snapshot();
  live_.tasks(2);
  live_.put(OutcomeReverted{.feedback = wrong});
  ASSERT_TRUE(live_.pool().needs_fold());
  const RecoveredPool result = recovered();
  EXPECT_EQ(result.from, 6) << "the later snapshot holds what was reverted";
  EXPECT_FALSE(result.pool.needs_fold());
  EXPECT_NE(result.pool.digest(), live_.pool().digest());
  const std::vector<Record> records = log_.read("p", 0, 1000).value();
  std::vector<Event> events;
  for (const Record& record : records) events.push_back(record.event);
  EXPECT_EQ(result.pool.digest(), fold(Pool(), events).digest());
}

TEST_F(RecoveryTest, ARevertOutOfReachIsReported) {
  const Uuid wrong = live_.task();
  live_.tasks(3);
  live_.keep_snapshot();
  ASSERT_TRUE(log_.compact("p", live_.next(), AuditKept::kNothing).ok());
  live_.put(OutcomeReverted{.feedback = wrong});
  const RecoveredPool result = recovered();
  EXPECT_TRUE(result.pool.needs_fold());
  ASSERT_EQ(result.findings.size(), 1);
  EXPECT_NE(result.findings[0].find("reverted"), std::string::npos);
  const Verification verification = verify(log_).value();
  EXPECT_FALSE(verification.sound());
  EXPECT_EQ(verification.pools[0].findings, result.findings);
  EXPECT_EQ(recover_horizon(log_, "p", live_.next()).error().code, ErrorCode::kUnsupported);
}

TEST_F(RecoveryTest, AStateAtTheHorizonIsWithoutWhatWasRevertedSince) {
  const Uuid wrong = live_.task();
  live_.tasks(3);
  const std::uint64_t horizon = live_.next();
  live_.tasks(3);
  live_.put(OutcomeReverted{.feedback = wrong});
  live_.tasks(2);
  const Digest whole = recovered().pool.digest();
  const std::string state = recover_horizon(log_, "p", horizon).value().snapshot();
  EXPECT_NE(digest_of(state), recovered(horizon).pool.digest());
  ASSERT_TRUE(log_.keep_snapshot("p", {horizon, state, digest_of(state)}).ok());
  EXPECT_TRUE(verify(log_)->sound()) << "also before the compaction that it is for";
  ASSERT_TRUE(log_.compact("p", horizon, AuditKept::kNothing).ok());
  EXPECT_EQ(earliest_start(log_, "p").value(), horizon);
  EXPECT_EQ(recovered().pool.digest(), whole);
  EXPECT_FALSE(recovered().pool.needs_fold());
}

TEST_F(RecoveryTest, AfterCompactionTheStateIsTheSame) {
  live_.tasks(10);
  live_.keep_snapshot();
  live_.tasks(10);
  ASSERT_TRUE(log_.compact("p", 20, AuditKept::kNothing).ok());
  EXPECT_EQ(recovered().pool.digest(), live_.pool().digest());
}

TEST_F(RecoveryTest, VerificationChecksEverySnapshotAgainstTheFold) {
  for (int i = 0; i < 3; ++i) {
    live_.tasks(5);
    live_.keep_snapshot();
  }
  live_.tasks(2);
  const Verification verification = verify(log_).value();
  ASSERT_EQ(verification.pools.size(), 1);
  EXPECT_TRUE(verification.sound());
  EXPECT_EQ(verification.pools[0].events, live_.next());
  EXPECT_EQ(verification.pools[0].snapshots, (std::vector<std::uint64_t>{10, 20, 30}));
  EXPECT_EQ(verification.pools[0].digest, live_.pool().digest());
}

TEST_F(RecoveryTest, ASnapshotThatAnOlderMarginKeptIsSound) {
  live_.put(ModelJoined{.model = "ada"});
  const std::string bytes = live_.pool().snapshot();
  ASSERT_TRUE(bytes.starts_with("3LPM"));
  // Without decisions the layouts differ in their name alone.
  const std::string older = "2" + bytes.substr(1);
  ASSERT_TRUE(log_.keep_snapshot("p", {.offset = live_.next(), .bytes = older, .digest = digest_of(older)}).ok());
  live_.tasks(3);
  EXPECT_EQ(recovered().from, 1);
  EXPECT_EQ(recovered().pool.digest(), live_.pool().digest());
  const Verification verification = verify(log_).value();
  EXPECT_TRUE(verification.sound());
  EXPECT_EQ(verification.pools.front().snapshots, std::vector<std::uint64_t>{1});
}

TEST_F(RecoveryTest, VerificationFindsASnapshotOfAnotherState) {
  live_.tasks(5);
  live_.keep_snapshot();
  MemoryLog elsewhere;
  LivePool other(elsewhere, "p");
  other.tasks(6);
  const std::string bytes = other.pool().snapshot();
  live_.tasks(5);
  ASSERT_TRUE(log_.keep_snapshot("p", {15, bytes, digest_of(bytes)}).ok());
  const Verification verification = verify(log_).value();
  EXPECT_FALSE(verification.sound());
  ASSERT_EQ(verification.pools[0].findings.size(), 1);
  EXPECT_NE(verification.pools[0].findings[0].find("snapshot at 15"), std::string::npos);
}

}  // namespace
}  // namespace margin
