// The service on a log that misbehaves: late, failed, doubled and unsaid appends, crashes. Whatever it does, the live state is the fold of
// what the log holds. The seed is printed first; MARGIN_SEED repeats a run.
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <deque>
#include <mutex>
#include <random>
#include <thread>

#include "log/recovery.h"
#include "log/simulated_log.h"
#include "service/service.h"

namespace margin::service {
namespace {

class Simulation {
 public:
  explicit Simulation(std::uint64_t seed)
      : random_(seed), log_(random_.bits(), {.failed = 0.05, .unknown = 0.05, .twice = 0.1, .late = 0.3}) {
    start();
  }
  ~Simulation() { service_.reset(); }
  Simulation(const Simulation&) = delete;
  Simulation& operator=(const Simulation&) = delete;

  void run(int turns) {
    for (int i = 0; i < turns; ++i) {
      clock_ms_ += static_cast<std::int64_t>(random_.below(3));
      do_something();
      for (std::uint64_t steps = random_.below(4); steps > 0; --steps) log_.step();
      if (random_.chance(0.7)) run_posted();
      if (random_.chance(0.005)) crash();
    }
  }

  // One event comes through, and with it all that the log took before; then no fold is under way.
  void come_to_rest() {
    bool done = false;
    while (!done || service_->in_flight() > 0 || pool().folding) {
      if (!done && service_->in_flight() == 0) {
        ASSERT_TRUE(service_
                        ->commit(service_->prepare(pool(), ModelJoined{.model = "last"}),
                                 [&done](const Result<Applied>& applied) { done = applied.ok(); })
                        .ok());
      }
      log_.flush();
      run_posted();
      std::this_thread::yield();
    }
  }

  // Of the events as they stand in the log, and of a recovery, which may begin at a snapshot.
  void expect_the_fold_of_the_log() {
    const auto records = log_.read("default", 0, 1'000'000);
    ASSERT_TRUE(records.ok());
    std::vector<Event> events;
    for (const Record& record : *records) events.push_back(record.event);
    EXPECT_EQ(pool().pool().digest(), fold(Pool(), events).digest()) << events.size() << " events";
    EXPECT_EQ(pool().pool().digest(), recover(log_, "default")->pool.digest());
    EXPECT_GT(events.size(), 50U);
    for (const auto& [id, offset] : applied_) {
      ASSERT_LT(offset, records->size());
      EXPECT_EQ((*records)[offset].event.id, id) << "what was acknowledged stands where it was said to";
    }
    EXPECT_TRUE(verify(log_)->sound());
  }

 private:
  ServedPool& pool() { return *service_->find("default"); }

  void start() {
    ServiceOptions options;
    options.pools = {{"default", PoolConfigured{}}};
    options.bounds.snapshot_every = 40;
    options.clock_ms = [this] { return clock_ms_; };
    options.seed = random_.bits();
    options.post = [this](std::function<void()> work) {
      const std::lock_guard lock(mutex_);
      posted_.push_back(std::move(work));
    };
    options.complain = [](const std::string&) {};
    // The configuration too may be lost on the way, and is tried at the next start.
    auto opened = Service::open(log_, std::move(options));
    ASSERT_TRUE(opened.ok()) << opened.error().message;
    service_ = std::move(*opened);
  }

  void crash() {
    log_.crash();
    service_.reset();
    {
      const std::lock_guard lock(mutex_);
      posted_.clear();
    }
    start();
  }

  void run_posted() {
    while (true) {
      std::function<void()> next;
      {
        const std::lock_guard lock(mutex_);
        if (posted_.empty()) return;
        next = std::move(posted_.front());
        posted_.pop_front();
      }
      next();
    }
  }

  template <class Body>
  Uuid commit(Body body) {
    Prepared prepared = service_->prepare(pool(), std::move(body));
    const Uuid id = prepared.event.id;
    EXPECT_TRUE(service_
                    ->commit(std::move(prepared),
                             [this, id](const Result<Applied>& applied) {
                               if (applied) applied_[id] = applied->offset;
                             })
                    .ok());
    return id;
  }

  void do_something() {
    const auto any_of = [this](const std::vector<Uuid>& ids) { return ids[static_cast<std::size_t>(random_.below(ids.size()))]; };
    const std::uint64_t dice = random_.below(100);
    if (dice < 50 || decided_.empty()) {
      const auto confidence = [this] { return static_cast<double>(random_.below(21)) / 20.0; };
      auto decision =
          pool().pool().decide({.responses = {{.model = "a", .answer = "x", .confidence = confidence()},
                                              {.model = "b", .answer = random_.chance(0.5) ? "x" : "y", .confidence = confidence()}}});
      decided_.push_back(commit(std::move(*decision)));
    } else if (dice < 92 || graded_.empty()) {
      graded_.push_back(commit(OutcomeObserved{.decision = any_of(decided_),
                                               .grades = {{"a", random_.chance(0.5) ? 1.0 : 0.0}},
                                               .source = random_.chance(0.5) ? "one" : "two"}));
    } else if (dice < 99) {
      commit(OutcomeReverted{.feedback = any_of(graded_), .source = ""});
    } else {
      commit(OutcomeReverted{.feedback = {}, .source = "two"});
    }
  }

  Random random_;
  SimulatedLog log_;
  std::int64_t clock_ms_ = 1'700'000'000'000;
  std::mutex mutex_;
  std::deque<std::function<void()>> posted_;  // guarded by mutex_
  std::vector<Uuid> decided_;                 // or tried to
  std::vector<Uuid> graded_;
  std::map<Uuid, std::uint64_t> applied_;  // by the offset that was told
  std::unique_ptr<Service> service_;
};

TEST(SimulatedService, TheLiveStateIsTheFoldOfWhateverTheLogHolds) {
  const char* given = std::getenv("MARGIN_SEED");
  const std::uint64_t seed = given != nullptr ? std::strtoull(given, nullptr, 10) : std::random_device{}();
  std::printf("seed %llu\n", static_cast<unsigned long long>(seed));
  for (std::uint64_t i = 0; i < 20 && !testing::Test::HasFailure(); ++i) {
    SCOPED_TRACE("round " + std::to_string(i));
    Simulation simulation(seed + i);
    for (int part = 0; part < 2; ++part) {
      simulation.run(300);
      simulation.come_to_rest();
      simulation.expect_the_fold_of_the_log();
    }
  }
}

}  // namespace
}  // namespace margin::service
