// What every EventLog promises (src/log/event_log.h), over each backend.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <filesystem>
#include <future>
#include <latch>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <variant>
#include <vector>

#include "log/event_log.h"
#include "log_backends.h"

namespace margin::conformance {
namespace {

class EventLogConformance : public testing::TestWithParam<LogBackend> {
 protected:
  void SetUp() override {
    std::string pattern = (std::filesystem::temp_directory_path() / "margin_log_XXXXXX").string();
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
    open();
  }
  void TearDown() override {
    log_.reset();
    std::filesystem::remove_all(folder_);
  }

  void open(const QueueLimits& limits = {}) {
    log_.reset();
    log_ = GetParam().open(folder_ + "/store", limits);
    ASSERT_NE(log_, nullptr);
  }

  EventLog& log() { return *log_; }

  // Appends events first .. last-1 and waits for their acknowledgements.
  void append(const std::string& pool, std::uint64_t first, std::uint64_t last) {
    for (std::uint64_t n = first; n < last; ++n) {
      ASSERT_TRUE(
          log()
              .append({.pool = pool, .event = numbered_event(n)}, [](const Result<std::uint64_t>& offset) { ASSERT_TRUE(offset.ok()); })
              .ok());
    }
    log().flush();
  }

  std::vector<Record> read(const std::string& pool, std::uint64_t from = 0, std::size_t records_max = 1000) {
    Result<std::vector<Record>> records = log().read(pool, from, records_max);
    EXPECT_TRUE(records.ok()) << (records ? "" : records.error().message);
    return records ? std::move(records).value() : std::vector<Record>();
  }

  std::optional<Record> find(const std::string& pool, std::uint64_t n) {
    const auto found = log().find(pool, numbered_event(n).id);
    EXPECT_TRUE(found.ok()) << (found ? "" : found.error().message);
    return found ? *found : std::nullopt;
  }

  void keep_snapshot(const std::string& pool, std::uint64_t offset, const std::string& bytes) {
    const Status kept = log().keep_snapshot(pool, {offset, bytes, digest_of(bytes)});
    ASSERT_TRUE(kept.ok()) << kept.error().message;
  }

  std::string folder_;
  std::unique_ptr<EventLog> log_;
};

std::vector<std::uint64_t> offsets_of(const std::vector<Record>& records) {
  std::vector<std::uint64_t> offsets;
  for (const Record& record : records) offsets.push_back(record.offset);
  return offsets;
}

// A log's thread that stands still until it is let go: its acknowledgement waits.
class Held {
 public:
  explicit Held(EventLog& log) {
    EXPECT_TRUE(log.append({.pool = "held", .event = numbered_event(0)},
                           [this](const Result<std::uint64_t>&) {
                             reached_.count_down();
                             release_.wait();
                           })
                    .ok());
    reached_.wait();
  }
  void let_go() { release_.count_down(); }

 private:
  std::latch reached_{1};
  std::latch release_{1};
};

TEST_P(EventLogConformance, OffsetsCountFromZeroPerPool) {
  append("a", 0, 3);
  append("b", 3, 5);
  append("a", 5, 6);
  EXPECT_EQ(offsets_of(read("a")), (std::vector<std::uint64_t>{0, 1, 2, 3}));
  EXPECT_EQ(offsets_of(read("b")), (std::vector<std::uint64_t>{0, 1}));
  EXPECT_EQ(log().pools().value(), (std::vector<PoolPosition>{{"a", 0, 4}, {"b", 0, 2}}));
}

TEST_P(EventLogConformance, EventsComeBackAsTheyWereInTheOrderOfTheCalls) {
  append("a", 0, 300);
  const std::vector<Record> records = read("a");
  ASSERT_EQ(records.size(), 300);
  for (std::uint64_t n = 0; n < 300; ++n) {
    EXPECT_EQ(records[n].event.id, numbered_event(n).id);
    EXPECT_EQ(records[n].event.time_ms, numbered_event(n).time_ms);
    EXPECT_EQ(records[n].event.body.index(), numbered_event(n).body.index());
  }
}

TEST_P(EventLogConformance, MarkAndNoteAreKept) {
  const RequestMark mark{.key = {1, 2}, .body = {3, 4}};
  const std::string note("key \0 ops", 9);
  ASSERT_TRUE(log().append({.pool = "a", .event = numbered_event(0), .mark = mark, .note = note}, {}).ok());
  append("a", 1, 2);
  const std::vector<Record> records = read("a");
  ASSERT_EQ(records.size(), 2);
  EXPECT_EQ(records[0].mark, mark);
  EXPECT_EQ(records[0].note, note);
  EXPECT_EQ(records[1].mark, std::nullopt);
  EXPECT_EQ(records[1].note, "");
}

TEST_P(EventLogConformance, AcknowledgementsComeInOrderWithTheOffsetsAndAfterTheRecordIsReadable) {
  std::vector<std::uint64_t> acknowledged;
  std::mutex mutex;
  std::atomic<int> unreadable = 0;
  const auto reader = std::async(std::launch::async, [&] {
    for (std::uint64_t n = 0; n < 200; ++n) {
      ASSERT_TRUE(log()
                      .append({.pool = "a", .event = numbered_event(n)},
                              [&](const Result<std::uint64_t>& offset) {
                                const std::lock_guard lock(mutex);
                                acknowledged.push_back(offset.value());
                              })
                      .ok());
      std::uint64_t last = 0;
      {
        const std::lock_guard lock(mutex);
        if (acknowledged.empty()) continue;
        last = acknowledged.back();
      }
      if (log().read("a", last, 1)->empty()) ++unreadable;
    }
  });
  reader.wait();
  log().flush();
  ASSERT_EQ(acknowledged.size(), 200);
  for (std::uint64_t n = 0; n < 200; ++n) EXPECT_EQ(acknowledged[n], n);
  EXPECT_EQ(unreadable, 0);
}

TEST_P(EventLogConformance, TheListenerHearsOnceOfAllThatWaited) {
  std::atomic<int> commits = 0;
  std::atomic<int> acknowledged = 0;
  log().on_commit([&] { ++commits; });
  Held held(log());
  for (std::uint64_t n = 0; n < 100; ++n) {
    ASSERT_TRUE(log()
                    .append({.pool = n % 2 == 0 ? "a" : "b", .event = numbered_event(n)},
                            [&](const Result<std::uint64_t>&) {
                              EXPECT_EQ(commits, 1);
                              ++acknowledged;
                            })
                    .ok());
  }
  held.let_go();
  log().close();
  EXPECT_EQ(acknowledged, 100);
  EXPECT_EQ(commits, 2);  // the held one, and all the others together
}

TEST_P(EventLogConformance, AFullQueueRefusesAtOnceAndTakesAgainWhenItIsEmpty) {
  open({.records_max = 3});
  Held held(log());
  std::atomic<int> acknowledged = 0;
  const auto count = [&](const Result<std::uint64_t>& offset) { acknowledged += offset.ok() ? 1 : 0; };
  EXPECT_TRUE(log().append({.pool = "a", .event = numbered_event(0)}, count).ok());
  EXPECT_TRUE(log().append({.pool = "a", .event = numbered_event(1)}, count).ok());
  const Status refused = log().append({.pool = "a", .event = numbered_event(2)}, count);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, ErrorCode::kLimit);
  EXPECT_EQ(log().figures().waiting, 3);
  held.let_go();
  log().flush();
  EXPECT_EQ(acknowledged, 2);
  EXPECT_EQ(log().figures().waiting, 0);
  append("a", 3, 4);
  EXPECT_EQ(read("a").size(), 3);
}

TEST_P(EventLogConformance, EntriesAppendedTogetherAreTakenTogetherOrNotAtAll) {
  open({.records_max = 3});
  Held held(log());
  const Entry first{.pool = "p", .event = numbered_event(1)};
  const Entry second{.pool = "p", .event = numbered_event(2)};
  const auto group = [&] { return std::vector<EventLog::Grouped>{{&first, {}}, {&second, {}}}; };
  std::vector<EventLog::Grouped> fits = group();
  EXPECT_TRUE(log().append_together(fits).ok());
  const Entry third{.pool = "p", .event = numbered_event(3)};
  EXPECT_EQ(log().append(third, {}).error().code, ErrorCode::kLimit) << "the group counts as two";
  std::vector<EventLog::Grouped> full = group();
  EXPECT_EQ(log().append_together(full).error().code, ErrorCode::kLimit);
  held.let_go();
  log().flush();
  EXPECT_EQ(read("p").size(), 2U);

  open({.records_max = 1});
  std::vector<EventLog::Grouped> alone = group();
  EXPECT_TRUE(log().append_together(alone).ok()) << "an empty queue takes a group of any size";
  log().flush();
}

TEST_P(EventLogConformance, AQueueOfTooManyBytesRefuses) {
  open({.bytes_max = 4096});
  Held held(log());
  Event large = numbered_event(0);
  large.body = ModelLeft{.model = std::string(3000, 'x')};
  EXPECT_TRUE(log().append({.pool = "a", .event = large}, {}).ok());
  const Status refused = log().append({.pool = "a", .event = large}, {});
  held.let_go();
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, ErrorCode::kLimit);
}

TEST_P(EventLogConformance, NamesAndNotesOnePastTheirLengthAreRefused) {
  EXPECT_TRUE(log().append({.pool = std::string(kPoolNameBytesMax, 'p'), .event = numbered_event(0)}, {}).ok());
  EXPECT_EQ(log().append({.pool = std::string(kPoolNameBytesMax + 1, 'p'), .event = numbered_event(0)}, {}).error().code,
            ErrorCode::kInvalidArgument);
  EXPECT_EQ(log().append({.pool = "", .event = numbered_event(0)}, {}).error().code, ErrorCode::kInvalidArgument);
  EXPECT_TRUE(log().append({.pool = "a", .event = numbered_event(0), .note = std::string(kNoteBytesMax, 'n')}, {}).ok());
  EXPECT_EQ(log().append({.pool = "a", .event = numbered_event(0), .note = std::string(kNoteBytesMax + 1, 'n')}, {}).error().code,
            ErrorCode::kLimit);
}

TEST_P(EventLogConformance, AnyBytesMayNameAPool) {
  const std::string name("\0'\"; DROP\xff", 10);
  append(name, 0, 2);
  EXPECT_EQ(read(name).size(), 2);
  EXPECT_EQ(log().pools()->front().pool, name);
}

TEST_P(EventLogConformance, ATailIsReadFromAnOffsetInPieces) {
  append("a", 0, 10);
  EXPECT_EQ(offsets_of(read("a", 4, 3)), (std::vector<std::uint64_t>{4, 5, 6}));
  EXPECT_EQ(offsets_of(read("a", 8, 3)), (std::vector<std::uint64_t>{8, 9}));
  EXPECT_TRUE(read("a", 10).empty());
  EXPECT_TRUE(read("a", 1000).empty());
  EXPECT_TRUE(read("unknown").empty());
}

TEST_P(EventLogConformance, LargeRecordsComeInSeveralReads) {
  Event large = numbered_event(0);
  large.body = ModelLeft{.model = std::string(std::size_t{7} << 20, 'x')};
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(log().append({.pool = "a", .event = large}, {}).ok());
  log().flush();
  std::uint64_t next = 0;
  int reads = 0;
  for (std::vector<Record> piece = read("a"); !piece.empty(); piece = read("a", next)) {
    ASSERT_EQ(piece.front().offset, next);
    next += piece.size();
    ++reads;
  }
  EXPECT_EQ(next, 5);
  EXPECT_GT(reads, 1);
}

TEST_P(EventLogConformance, AnEventIsFoundByItsIdInItsPoolAlone) {
  append("a", 0, 10);
  append("b", 10, 20);
  const auto found = find("a", 7);
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->offset, 7);
  EXPECT_EQ(found->event.id, numbered_event(7).id);
  EXPECT_FALSE(find("b", 7).has_value());
  EXPECT_EQ(find("b", 12)->offset, 2);
  EXPECT_FALSE(find("a", 1000).has_value());
  EXPECT_FALSE(find("unknown", 7).has_value());
}

TEST_P(EventLogConformance, AnIdAppendedTwiceIsFoundWhereItCameFirst) {
  append("a", 0, 3);
  append("a", 1, 2);
  EXPECT_EQ(find("a", 1)->offset, 1);
}

TEST_P(EventLogConformance, TheLatestSnapshotAtOrBeforeAnOffset) {
  append("a", 0, 10);
  EXPECT_FALSE(log().latest_snapshot("a").value().has_value());
  EXPECT_FALSE(log().latest_snapshot("unknown").value().has_value());
  keep_snapshot("a", 3, "three");
  keep_snapshot("a", 10, "ten");
  EXPECT_EQ(log().latest_snapshot("a").value()->bytes, "ten");
  EXPECT_EQ(log().latest_snapshot("a", 10).value()->offset, 10);
  EXPECT_EQ(log().latest_snapshot("a", 9).value()->bytes, "three");
  EXPECT_FALSE(log().latest_snapshot("a", 2).value().has_value());
  EXPECT_FALSE(log().latest_snapshot("b").value().has_value());
  EXPECT_EQ(log().snapshots("a").value(), (std::vector<std::uint64_t>{3, 10}));
  EXPECT_TRUE(log().snapshots("unknown").value().empty());
}

TEST_P(EventLogConformance, OnlyTheLastFewSnapshotsAreKept) {
  append("a", 0, 20);
  for (std::uint64_t offset = 1; offset <= 20; ++offset) keep_snapshot("a", offset, "at " + std::to_string(offset));
  EXPECT_EQ(log().snapshots("a").value(), (std::vector<std::uint64_t>{17, 18, 19, 20}));
}

TEST_P(EventLogConformance, WhereEventsAreCompactedAwayTheEarliestSnapshotStays) {
  append("a", 0, 30);
  keep_snapshot("a", 5, "five");
  keep_snapshot("a", 10, "ten");
  ASSERT_TRUE(log().compact("a", 5, AuditKept::kNothing).ok());
  for (std::uint64_t offset = 11; offset <= 20; ++offset) keep_snapshot("a", offset, "at " + std::to_string(offset));
  EXPECT_EQ(log().snapshots("a").value(), (std::vector<std::uint64_t>{5, 18, 19, 20}));
  keep_snapshot("a", 12, "twelve");
  EXPECT_EQ(log().snapshots("a").value(), (std::vector<std::uint64_t>{5, 12, 19, 20})) << "one that was just kept stays too";
  ASSERT_TRUE(log().compact("a", 12, AuditKept::kNothing).ok());
  for (std::uint64_t offset = 21; offset <= 30; ++offset) keep_snapshot("a", offset, "at " + std::to_string(offset));
  EXPECT_EQ(log().snapshots("a").value(), (std::vector<std::uint64_t>{12, 28, 29, 30}));
}

TEST_P(EventLogConformance, ASnapshotOfManyMegabytesComesBackWhole) {
  append("a", 0, 1);
  std::string bytes;
  for (std::uint64_t n = 0; bytes.size() < (std::size_t{9} << 20); ++n) bytes += std::to_string(n);
  keep_snapshot("a", 1, bytes);
  EXPECT_EQ(log().latest_snapshot("a").value()->bytes, bytes);
}

// Whoever replaces a listener may go at once: no call of the old one is left.
TEST_P(EventLogConformance, AReplacedListenerIsNoLongerUnderWay) {
  std::atomic<bool> entered = false;
  std::atomic<bool> left = false;
  log().on_commit([&] {
    entered = true;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    left = true;
  });
  std::thread appends([&] { append("a", 0, 1); });
  while (!entered) std::this_thread::yield();
  log().on_commit([] {});
  EXPECT_TRUE(left);
  appends.join();
}

TEST_P(EventLogConformance, ASnapshotKeptAgainReplacesItself) {
  append("a", 0, 2);
  keep_snapshot("a", 2, std::string(3 << 20, 'x'));
  keep_snapshot("a", 2, "again");
  EXPECT_EQ(log().latest_snapshot("a").value()->bytes, "again");
}

TEST_P(EventLogConformance, SnapshotsThatCannotBeTrueAreRefused) {
  append("a", 0, 5);
  EXPECT_EQ(log().keep_snapshot("a", {6, "x", digest_of("x")}).error().code, ErrorCode::kConflict);
  EXPECT_EQ(log().keep_snapshot("unknown", {1, "x", digest_of("x")}).error().code, ErrorCode::kConflict);
  EXPECT_EQ(log().keep_snapshot("a", {5, "x", digest_of("y")}).error().code, ErrorCode::kInvalidArgument);
  EXPECT_FALSE(log().latest_snapshot("a").value().has_value());
}

TEST_P(EventLogConformance, CompactionNeverGoesBeyondTheLatestSnapshot) {
  append("a", 0, 10);
  EXPECT_EQ(log().compact("a", 1, AuditKept::kNothing).error().code, ErrorCode::kConflict);
  keep_snapshot("a", 6, "six");
  EXPECT_EQ(log().compact("a", 7, AuditKept::kNothing).error().code, ErrorCode::kConflict);
  EXPECT_EQ(log().compact("unknown", 1, AuditKept::kNothing).error().code, ErrorCode::kConflict);
  EXPECT_EQ(read("a").size(), 10);
  ASSERT_TRUE(log().compact("a", 6, AuditKept::kNothing).ok());
  EXPECT_EQ(offsets_of(read("a", 6)), (std::vector<std::uint64_t>{6, 7, 8, 9}));
}

TEST_P(EventLogConformance, AfterCompactionOffsetsGoOnAndWhatIsGoneIsSaidToBe) {
  append("a", 0, 10);
  append("b", 0, 10);
  keep_snapshot("a", 2, "two");
  keep_snapshot("a", 8, "eight");
  ASSERT_TRUE(log().compact("a", 8, AuditKept::kNothing).ok());
  EXPECT_EQ(log().pools().value(), (std::vector<PoolPosition>{{"a", 8, 10}, {"b", 0, 10}}));
  const auto gone = log().read("a", 7, 1);
  ASSERT_FALSE(gone.ok());
  EXPECT_EQ(gone.error().code, ErrorCode::kNotFound);
  EXPECT_FALSE(find("a", 7).has_value());
  EXPECT_TRUE(find("a", 8).has_value());
  EXPECT_TRUE(find("b", 7).has_value());
  EXPECT_FALSE(log().latest_snapshot("a", 7).value().has_value()) << "what follows it is gone";
  append("a", 10, 11);
  EXPECT_EQ(offsets_of(read("a", 8)), (std::vector<std::uint64_t>{8, 9, 10}));
  EXPECT_TRUE(log().compact("a", 3, AuditKept::kNothing).ok()) << "already done";
}

TEST_P(EventLogConformance, CompactionKeepsTheAuditThatIsAskedFor) {
  append("a", 0, 6);
  keep_snapshot("a", 6, "six");
  ASSERT_TRUE(log().compact("a", 3, AuditKept::kWithoutAnswers).ok());
  ASSERT_TRUE(log().compact("a", 6, AuditKept::kEverything).ok());
  const auto without = find("a", 1);
  const auto whole = find("a", 4);
  ASSERT_TRUE(without && whole);
  EXPECT_EQ(without->offset, 1);
  EXPECT_EQ(std::get<DecisionMade>(without->event.body).task, "task 1");
  EXPECT_EQ(std::get<DecisionMade>(without->event.body).responses[0].answer_text, "");
  EXPECT_EQ(std::get<DecisionMade>(whole->event.body).responses[0].answer_text, "Paris");
  EXPECT_EQ(std::get<OutcomeObserved>(find("a", 2)->event.body).gold, "");
  EXPECT_FALSE(log().read("a", 0, 1).ok());
}

TEST_P(EventLogConformance, ErasedTextsAreGoneFromLogAndAudit) {
  append("a", 0, 6);
  append("b", 0, 6);
  keep_snapshot("a", 3, "three");
  ASSERT_TRUE(log().compact("a", 3, AuditKept::kEverything).ok());
  const Uuid audited = numbered_event(1).id;
  const Uuid retained = numbered_event(4).id;
  const auto erased =
      log().erase(std::array{ErasureWanted{.decision = audited, .pool = "a", .note = "why"},
                             ErasureWanted{.decision = retained, .pool = "a"}, ErasureWanted{.decision = audited, .pool = "none"}});
  ASSERT_TRUE(erased.ok()) << erased.error().message;
  for (const std::uint64_t n : {1U, 4U}) {
    const auto record = find("a", n);
    const auto& made = std::get<DecisionMade>(record->event.body);
    EXPECT_EQ(made.task, "") << n;
    EXPECT_EQ(made.responses[0].answer_text, "") << n;
    EXPECT_EQ(std::get<DecisionMade>(find("b", n)->event.body).task, "task " + std::to_string(n)) << "another pool's";
  }
  EXPECT_EQ(find("a", 1)->note, "why");
  EXPECT_TRUE((*erased)[0].found && (*erased)[1].found);
  EXPECT_FALSE((*erased)[2].found);
  EXPECT_EQ(offsets_of(read("a", 3)), (std::vector<std::uint64_t>{3, 4, 5}));
  append("a", 6, 8);
  EXPECT_EQ(offsets_of(read("a", 3)), (std::vector<std::uint64_t>{3, 4, 5, 6, 7})) << "and it goes on";
}

TEST_P(EventLogConformance, ManyAppendersKeepTheirOrderAndShareCommits) {
  constexpr std::uint64_t kThreads = 4;
  constexpr std::uint64_t kEach = 500;
  std::vector<std::jthread> threads;
  for (std::uint64_t t = 0; t < kThreads; ++t) {
    threads.emplace_back([this, t] {
      for (std::uint64_t n = 0; n < kEach; ++n) {
        ASSERT_TRUE(log().append({.pool = "shared", .event = numbered_event(t * kEach + n)}, {}).ok());
        ASSERT_TRUE(log().append({.pool = "own " + std::to_string(t), .event = numbered_event(n)}, {}).ok());
      }
    });
  }
  threads.clear();
  log().flush();
  EXPECT_EQ(log().figures().appended, 2 * kThreads * kEach);
  EXPECT_LE(log().figures().commits, 2 * kThreads * kEach);
  const std::vector<Record> shared = read("shared", 0, 10'000);
  ASSERT_EQ(shared.size(), kThreads * kEach);
  std::vector<std::uint64_t> next(kThreads, 0);
  for (std::uint64_t i = 0; i < shared.size(); ++i) {
    EXPECT_EQ(shared[i].offset, i);
    bool expected = false;
    for (std::uint64_t t = 0; t < kThreads && !expected; ++t) {
      expected = next[t] < kEach && shared[i].event.id == numbered_event(t * kEach + next[t]).id;
      if (expected) ++next[t];
    }
    ASSERT_TRUE(expected) << "offset " << i;
  }
  for (std::uint64_t t = 0; t < kThreads; ++t) {
    const std::vector<Record> own = read("own " + std::to_string(t));
    ASSERT_EQ(own.size(), kEach);
    for (std::uint64_t n = 0; n < kEach; ++n) ASSERT_EQ(own[n].event.id, numbered_event(n).id);
  }
}

TEST_P(EventLogConformance, AnAcknowledgementMayAppend) {
  std::promise<std::uint64_t> second;
  ASSERT_TRUE(log()
                  .append({.pool = "a", .event = numbered_event(0)},
                          [&](const Result<std::uint64_t>&) {
                            ASSERT_TRUE(log()
                                            .append({.pool = "a", .event = numbered_event(1)},
                                                    [&](const Result<std::uint64_t>& offset) { second.set_value(offset.value()); })
                                            .ok());
                          })
                  .ok());
  EXPECT_EQ(second.get_future().get(), 1);
}

TEST_P(EventLogConformance, ClosingDrainsAndThenRefuses) {
  std::atomic<int> acknowledged = 0;
  for (std::uint64_t n = 0; n < 100; ++n) {
    ASSERT_TRUE(log()
                    .append({.pool = "a", .event = numbered_event(n)},
                            [&](const Result<std::uint64_t>& offset) { acknowledged += offset.ok() ? 1 : 0; })
                    .ok());
  }
  log().close();
  EXPECT_EQ(acknowledged, 100);
  EXPECT_EQ(log().append({.pool = "a", .event = numbered_event(0)}, {}).error().code, ErrorCode::kUnavailable);
}

TEST_P(EventLogConformance, AWorkingLogIsWritableAndCountsItsBytes) {
  const std::uint64_t before = log().figures().stored_bytes;
  append("a", 0, 1000);
  EXPECT_TRUE(log().writable().ok());
  EXPECT_GT(log().figures().stored_bytes, before);
}

// Of the logs that are meant to outlive their process.
class LastingLogConformance : public EventLogConformance {};

TEST_P(LastingLogConformance, EverythingIsThereAfterReopening) {
  append("a", 0, 10);
  append("b", 10, 14);
  keep_snapshot("a", 2, "two");
  keep_snapshot("a", 5, "five");
  ASSERT_TRUE(log().compact("a", 3, AuditKept::kEverything).ok());
  open();
  EXPECT_EQ(log().pools().value(), (std::vector<PoolPosition>{{"a", 3, 10}, {"b", 0, 4}}));
  EXPECT_EQ(log().latest_snapshot("a").value()->bytes, "five");
  EXPECT_TRUE(find("a", 1).has_value());
  append("a", 10, 11);
  EXPECT_EQ(read("a", 3).back().offset, 10);
}

std::vector<LogBackend> lasting_backends() {
  std::vector<LogBackend> backends = log_backends();
  std::erase_if(backends, [](const LogBackend& backend) { return !backend.survives_reopening; });
  return backends;
}

INSTANTIATE_TEST_SUITE_P(, LastingLogConformance, testing::ValuesIn(lasting_backends()),
                         [](const auto& backend) { return backend.param.name; });
INSTANTIATE_TEST_SUITE_P(, EventLogConformance, testing::ValuesIn(log_backends()), [](const auto& backend) { return backend.param.name; });

}  // namespace
}  // namespace margin::conformance
