// Erasing one decision: its texts are in none of the store's files, and nothing else has changed.
#include "log/erasure.h"

#include <gtest/gtest.h>
#include <sqlite3.h>

#include <array>
#include <atomic>
#include <fstream>
#include <iterator>
#include <optional>
#include <thread>

#include "log/codec.h"
#include "log/log_fixture.h"
#include "log/recovery.h"
#include "log/sqlite_log.h"

namespace margin {
namespace {

const std::string kSecret = "the patient has flu";

class ErasureTest : public testing::Test {
 protected:
  void SetUp() override { open(); }
  void open() {
    live_.reset();
    log_.reset();
    auto log = SqliteLog::open(path());
    ASSERT_TRUE(log.ok()) << log.error().message;
    log_ = std::move(*log);
  }
  [[nodiscard]] std::string path() const { return folder_.file("store"); }

  // Every byte of the store and what stands beside it.
  [[nodiscard]] std::string files() const {
    std::string all;
    for (const char* suffix : {"", "-wal", "-shm", ".head", ".lock", ".tail0", ".tail1"}) {
      std::ifstream file(path() + suffix, std::ios::binary);
      all.append(std::istreambuf_iterator<char>(file), {});
    }
    return all;
  }
  [[nodiscard]] bool stored(const std::string& text) const { return files().find(text) != std::string::npos; }

  // A task whose name and answers say `text`.
  Uuid decide(const std::string& text) {
    Question question{.task = text + " (task)"};
    for (const char* model : {"ada", "bob"}) {
      question.responses.push_back({.model = model, .answer = text + " " + model, .confidence = 0.7});
    }
    DecisionMade made = live().pool().decide(question).value();
    for (std::size_t i = 0; i < made.responses.size(); ++i) made.responses[i].answer_text = *question.responses[i].answer;
    return live().put(std::move(made));
  }
  LivePool& live() {
    if (!live_) live_.emplace(*log_, "p");
    return *live_;
  }
  Result<Erasure> erase(const Uuid& decision, const std::string& note = "") {
    auto erased = log_->erase(std::array{ErasureWanted{.decision = decision, .note = note}});
    if (!erased) return erased.error();
    return erased->front();
  }
  std::vector<Record> events() { return log_->read("p", 0, 10'000).value(); }
  Digest recovered() { return recover(*log_, "p").value().pool.digest(); }

  TemporaryFolder folder_;
  std::unique_ptr<SqliteLog> log_;
  std::optional<LivePool> live_;
};

TEST_F(ErasureTest, TheTextsAreGoneAndNothingElseHasChanged) {
  live().tasks(5);
  const Uuid other = decide("another task");
  const Uuid decision = decide(kSecret);
  live().put(OutcomeObserved{.decision = decision, .grades = {{"ada", 1.0}, {"bob", 0.0}}});
  live().keep_snapshot();
  live().tasks(5);
  const std::vector<Record> before = events();
  const Digest digest = recovered();
  ASSERT_TRUE(stored(kSecret));

  const Result<Erasure> erased = erase(decision, "erased by ada");
  ASSERT_TRUE(erased.ok()) << erased.error().message;
  EXPECT_EQ(erased->records, 1U);
  EXPECT_TRUE(erased->needed.empty());
  EXPECT_FALSE(stored(kSecret));
  EXPECT_TRUE(stored("another task"));

  const std::vector<Record> after = events();
  ASSERT_EQ(after.size(), before.size());
  for (std::size_t i = 0; i < before.size(); ++i) {
    Record expected = before[i];
    if (expected.event.id == decision) {
      auto& made = std::get<DecisionMade>(expected.event.body);
      made.task.clear();
      expected.note = "erased by ada";
      for (RecordedResponse& response : made.responses) response.answer_text.clear();
    }
    EXPECT_EQ(after[i], expected) << i;
  }
  EXPECT_EQ(recovered(), digest);
  EXPECT_TRUE(log_->find("p", other).value().has_value());

  // It goes on from there, and a later start finds everything sound.
  live().tasks(2);
  const Digest later = live().pool().digest();
  open();
  EXPECT_EQ(recovered(), later);
  const auto verified = verify(*log_);
  ASSERT_TRUE(verified.ok());
  EXPECT_TRUE(verified->sound());
  EXPECT_TRUE(log_->check_file().ok());
  EXPECT_FALSE(stored(kSecret));
}

TEST_F(ErasureTest, ASecondTimeThereIsNothingLeftToErase) {
  const Uuid decision = decide(kSecret);
  EXPECT_EQ(erase(decision, "first").value().records, 1U);
  const std::vector<Record> before = events();
  EXPECT_EQ(erase(decision, "second").value().records, 0U);
  EXPECT_EQ(events(), before) << "nor was it erased by somebody else";
  Random random(9);
  EXPECT_FALSE(erase(Uuid::make(1, random)).value().found);
}

TEST_F(ErasureTest, TheAuditForgetsTooWithTheRightAnswerOfEarlyFeedback) {
  Random random(3);
  const Uuid early = Uuid::make(1'600'000'000'000, random);
  const Uuid feedback = live().put(OutcomeObserved{.decision = early, .gold = kSecret});
  const Uuid decision = decide(kSecret);
  live().tasks(3);
  EXPECT_EQ(erase(decision).value().records, 1U);
  const Erasure held = erase(early).value();
  EXPECT_EQ(held.records, 0U);
  EXPECT_EQ(held.needed, std::vector<Uuid>{feedback}) << "its decision may still come, and be compared with it";
  EXPECT_TRUE(stored(kSecret));
  const Uuid second = decide(kSecret);

  live().keep_snapshot();
  ASSERT_TRUE(log_->compact("p", live().next(), AuditKept::kEverything).ok());
  EXPECT_EQ(erase(early).value().records, 1U);
  EXPECT_EQ(erase(second).value().records, 1U);
  EXPECT_FALSE(stored(kSecret));
  EXPECT_EQ(std::get<DecisionMade>(log_->find("p", second).value()->event.body).responses.size(), 2U);
  EXPECT_TRUE(log_->check_file().ok());
  EXPECT_EQ(recovered(), live().pool().digest());
}

TEST_F(ErasureTest, SeveralAtOnceAndOnlyInThePoolThatIsNamed) {
  const Uuid first = decide(kSecret);
  const Uuid second = decide("of another person");
  const auto erased = log_->erase(std::array{ErasureWanted{.decision = first, .pool = "p"}, ErasureWanted{.decision = second, .pool = "q"},
                                             ErasureWanted{.decision = first}});
  ASSERT_TRUE(erased.ok());
  EXPECT_TRUE((*erased)[0].found);
  EXPECT_FALSE((*erased)[1].found);
  EXPECT_TRUE((*erased)[2].found);
  EXPECT_FALSE(stored(kSecret));
  EXPECT_TRUE(stored("of another person"));
}

TEST_F(ErasureTest, EventsGoOnComingMeanwhile) {
  const Uuid decision = decide(kSecret);
  live().tasks(200);
  live_.reset();
  std::atomic<bool> over = false;
  std::atomic<std::uint64_t> acknowledged = 0;
  std::jthread appender([&] {
    for (std::uint64_t n = 0; !over; ++n) {
      EXPECT_TRUE(log_->append({.pool = "other", .event = numbered_event(n)},
                               [&](const Result<std::uint64_t>& at) {
                                 EXPECT_TRUE(at.ok());
                                 ++acknowledged;
                               })
                      .ok());
      if (n % 16 == 0) log_->flush();
    }
  });
  for (int round = 0; round < 5; ++round) {
    const Result<Erasure> erased = erase(decision);
    EXPECT_TRUE(erased.ok()) << erased.error().message;
  }
  over = true;
  appender.join();
  log_->flush();
  EXPECT_GT(acknowledged, 0U);
  EXPECT_EQ(log_->pools().value().front().next, acknowledged) << "the pool named other";
  open();
  const auto verified = verify(*log_);
  ASSERT_TRUE(verified.ok());
  EXPECT_TRUE(verified->sound());
  EXPECT_FALSE(stored(kSecret));
}

TEST_F(ErasureTest, AReaderThatHoldsTheStoreIsNamedAndTheSecondTimeSucceeds) {
  const Uuid decision = decide(kSecret);
  sqlite3* reader = nullptr;
  ASSERT_EQ(sqlite3_open(path().c_str(), &reader), SQLITE_OK);
  ASSERT_EQ(sqlite3_exec(reader, "BEGIN; SELECT count(*) FROM events", nullptr, nullptr, nullptr), SQLITE_OK);
  const Result<Erasure> held = erase(decision);
  ASSERT_FALSE(held.ok());
  EXPECT_EQ(held.error().code, ErrorCode::kUnavailable);
  EXPECT_NE(held.error().message.find("another program reads the store"), std::string::npos) << held.error().message;
  sqlite3_close(reader);
  EXPECT_TRUE(erase(decision).ok());
  EXPECT_FALSE(stored(kSecret));
}

// A record that this binary would write in other bytes: of an earlier format, or with a field of a later one.
TEST_F(ErasureTest, WhatHasNoTextsIsNotErasedHoweverItWasWritten) {
  Random random(6);
  const Uuid decision = Uuid::make(1'700'000'000'000, random);
  const ErasureWanted wanted{.decision = decision, .note = "erased by ada"};
  const auto erased = [&](const std::string& answer) {
    DecisionMade made{.responses = {{.model = "ada", .channel = "c", .confidence = 0.7}}};
    made.responses[0].answer_text = answer;
    std::string record;
    internal::encode({.id = decision, .time_ms = 1, .body = made}, std::nullopt, "", record);
    record += std::string("\x78\x05", 2);  // field 15, which nobody knows
    internal::TextEraser eraser({&wanted, 1});
    const bool changed = eraser.erase(record, "p", 0, internal::TextEraser::Folded::kStill).value();
    EXPECT_EQ(internal::decode(record, "p", 0).value().note, changed ? "erased by ada" : "");
    const Erasure erasure = std::move(eraser).erased().front();
    EXPECT_TRUE(erasure.found);
    EXPECT_EQ(erasure.records, changed ? 1U : 0U);
    return changed;
  };
  EXPECT_TRUE(erased(kSecret));
  EXPECT_FALSE(erased(""));
}

TEST_F(ErasureTest, ADamagedStoreIsLeftAsItIs) {
  const Uuid decision = decide(kSecret);
  live().tasks(2);
  log_->close();
  sqlite3* handle = nullptr;
  ASSERT_EQ(sqlite3_open(path().c_str(), &handle), SQLITE_OK);
  ASSERT_EQ(
      sqlite3_exec(handle, "UPDATE events SET chain = chain + 1 WHERE row = (SELECT max(row) FROM events)", nullptr, nullptr, nullptr),
      SQLITE_OK);
  sqlite3_close(handle);
  open();
  EXPECT_EQ(erase(decision).error().code, ErrorCode::kCorrupt);
  EXPECT_TRUE(stored(kSecret));
}

}  // namespace
}  // namespace margin
