// A service over a memory log, on a loop that runs where the test stands.
#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <condition_variable>
#include <deque>
#include <mutex>

#include "log/memory_log.h"
#include "log/recovery.h"
#include "service/service.h"

namespace margin::service {

// A loop that runs where the test stands.
class TestLoop {
 public:
  void post(std::function<void()> work) {
    const std::lock_guard lock(mutex_);
    work_.push_back(std::move(work));
    posted_.notify_all();
  }
  // Runs what is posted until `done` says so; a minute is for ever.
  void run_until(const std::function<bool()>& done) {
    while (!done()) {
      std::unique_lock lock(mutex_);
      ASSERT_TRUE(posted_.wait_for(lock, std::chrono::minutes(1), [this] { return !work_.empty(); })) << "nothing happens any more";
      const std::function<void()> next = std::move(work_.front());
      work_.pop_front();
      lock.unlock();
      next();
    }
  }

 private:
  std::mutex mutex_;
  std::condition_variable posted_;
  std::deque<std::function<void()>> work_;
};

// A log that keeps no snapshots, or takes no events, while it is told so, and lets others go first before it compacts or reads.
class TestLog final : public MemoryLog {
 public:
  using EventLog::keep_snapshot;
  Status keep_snapshot(std::string_view pool, SnapshotToKeep snapshot, const Pause& pause) override {
    if (full) return {ErrorCode::kUnavailable, "the disk is full"};
    return MemoryLog::keep_snapshot(pool, std::move(snapshot), pause);
  }
  Status compact(std::string_view pool, std::uint64_t before, AuditKept kept) override {
    if (before_compaction) before_compaction();
    return MemoryLog::compact(pool, before, kept);
  }
  Status append(const Entry& entry, Acknowledge acknowledge) override {
    if (takes_nothing) return {ErrorCode::kUnavailable, "the disk is full"};
    return MemoryLog::append(entry, std::move(acknowledge));
  }
  Result<std::vector<Record>> read(std::string_view pool, std::uint64_t from, std::size_t records_max) override {
    if (before_read) before_read(records_max);
    return MemoryLog::read(pool, from, records_max);
  }
  std::atomic<bool> full = false;
  std::atomic<bool> takes_nothing = false;
  std::function<void()> before_compaction;                   // on the thread that compacts; set while nothing does
  std::function<void(std::size_t records_max)> before_read;  // on the thread that reads; likewise
};

class ServiceTest : public ::testing::Test {
 protected:
  void open(std::uint64_t snapshot_every = 1000) {
    service_.reset();
    ServiceOptions options;
    options.pools = pools_;
    options.pool_defaults = defaults_;
    options.reconfigured = [this](const std::string& pool, const PoolChanges& changes) {
      told_.push_back(pool + "|" + changes.keys + "|" + changes.lost);
    };
    options.bounds.snapshot_every = snapshot_every;
    options.bounds.requests_max = requests_max_;
    options.clock_ms = [this] { return clock_ms_; };
    options.seed = ++seed_;
    options.post = [this](std::function<void()> work) { loop_.post(std::move(work)); };
    options.post_after = post_after_;
    options.complain = [this](const std::string& message) { complaints_.push_back(message); };
    auto opened = Service::open(log_, std::move(options));
    ASSERT_TRUE(opened.ok()) << opened.error().message;
    service_ = std::move(*opened);
    loop_.run_until([this] { return service_->in_flight() == 0; });
  }
  void SetUp() override { open(); }

  ServedPool& pool() { return *service_->find("default"); }

  Result<Applied> commit(EventBody body) {
    std::optional<Result<Applied>> answer;
    const Status taken =
        service_->commit(service_->prepare(pool(), std::move(body)), [&](Result<Applied> applied) { answer = std::move(applied); });
    EXPECT_TRUE(taken.ok());
    EXPECT_FALSE(answer.has_value()) << "never before the call has returned";
    loop_.run_until([&] { return answer.has_value(); });
    return std::move(*answer);
  }

  Uuid decide() {
    auto decision = pool().pool().decide(
        {.responses = {{.model = "a", .answer = "x", .confidence = 0.9}, {.model = "b", .answer = "y", .confidence = 0.6}}});
    Prepared prepared = service_->prepare(pool(), *decision);
    const Uuid id = prepared.event.id;
    bool done = false;
    EXPECT_TRUE(service_->commit(std::move(prepared), [&](const Result<Applied>& applied) { done = applied.ok(); }).ok());
    loop_.run_until([&] { return done; });
    return id;
  }

  // The outcome of "a".
  Result<Applied> grade(Uuid decision, double outcome) {
    return commit(OutcomeObserved{.decision = decision, .grades = {{"a", outcome}}, .source = "grader"});
  }

  // A decision and its outcome, a second after the one before; the id of the feedback.
  Uuid teach(double outcome = 1.0) {
    clock_ms_ += 1000;
    Prepared prepared = service_->prepare(pool(), OutcomeObserved{.decision = decide(), .grades = {{"a", outcome}}, .source = "grader"});
    const Uuid id = prepared.event.id;
    bool done = false;
    EXPECT_TRUE(service_->commit(std::move(prepared), [&](const Result<Applied>& applied) { done = applied.ok(); }).ok());
    loop_.run_until([&] { return done; });
    return id;
  }
  std::vector<Uuid> teach_often(int times) {
    std::vector<Uuid> feedback;
    for (int i = 0; i < times; ++i) feedback.push_back(teach(i % 3 == 0 ? 0.0 : 1.0));
    return feedback;
  }
  Status can_revert(const std::string& source) {
    std::optional<Status> answer;
    service_->can_revert(pool(), source, [&](const Result<RevertPermit>& permit) { answer = permit ? Status() : Status(permit.error()); });
    loop_.run_until([&] { return answer.has_value(); });
    return std::move(*answer);
  }
  // What `margin state compact` does; a snapshot stands where the events begin.
  void compact(std::uint64_t before) {
    const Pool state = recover_horizon(log_, "default", before).value();
    const std::string bytes = state.snapshot();
    ASSERT_TRUE(log_.keep_snapshot("default", {before, bytes, digest_of(bytes)}).ok());
    ASSERT_TRUE(log_.compact("default", before, AuditKept::kEverything).ok());
  }
  std::vector<Event> events() {
    std::vector<Event> events;
    const auto records = log_.read("default", log_.pools()->front().first, 100'000);
    for (const Record& record : *records) events.push_back(record.event);
    return events;
  }

  Digest folded() {
    auto recovered = recover(log_, "default");
    EXPECT_TRUE(recovered.ok());
    return recovered->pool.digest();
  }

  TestLog log_;
  TestLoop loop_;
  std::int64_t clock_ms_ = 1'700'000'000'000;
  std::uint64_t seed_ = 0;
  std::map<std::string, PoolConfigured> pools_ = {{"default", PoolConfigured{}}};  // the operator's
  PoolConfigured defaults_;
  std::size_t requests_max_ = 100'000;
  decltype(ServiceOptions::post_after) post_after_;
  std::vector<std::string> complaints_;
  std::vector<std::string> told_;  // what the operator's configuration changed
  std::unique_ptr<Service> service_;
};

}  // namespace margin::service
