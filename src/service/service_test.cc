// The service over a memory log: what is applied when, what a failing store leaves, what reverts and restarts come to.
#include "service/service.h"

#include <gtest/gtest.h>

#include <atomic>
#include <condition_variable>
#include <deque>
#include <mutex>

#include "log/memory_log.h"
#include "log/recovery.h"

namespace margin::service {
namespace {

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

// A log that keeps no snapshots while it is told so.
class TestLog final : public MemoryLog {
 public:
  using EventLog::keep_snapshot;
  Status keep_snapshot(std::string_view pool, SnapshotToKeep snapshot, const Pause& pause) override {
    if (full) return {ErrorCode::kUnavailable, "the disk is full"};
    return MemoryLog::keep_snapshot(pool, std::move(snapshot), pause);
  }
  std::atomic<bool> full = false;
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
    service_->can_revert(pool(), source, [&](Status possible) { answer = std::move(possible); });
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
  std::vector<std::string> complaints_;
  std::vector<std::string> told_;  // what the operator's configuration changed
  std::unique_ptr<Service> service_;
};

TEST_F(ServiceTest, WhatTheLogTookWithoutSayingSoIsAppliedInItsPlace) {
  decide();
  Prepared unsaid = service_->prepare(pool(), ModelJoined{.model = "unsaid"});
  ASSERT_TRUE(log_.append({.pool = "default", .event = unsaid.event}, {}).ok());
  log_.flush();
  decide();
  EXPECT_EQ(pool().pool().digest(), folded());
  EXPECT_EQ(pool().next_offset(), log_.pools()->front().next);
  EXPECT_TRUE(complaints_.empty());
}

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

TEST_F(ServiceTest, TheStateIsTheFoldOfTheLog) {
  for (int i = 0; i < 20; ++i) {
    const Uuid id = decide();
    EXPECT_EQ(grade(id, i % 3 == 0 ? 1.0 : 0.0)->result.status, ApplyStatus::kApplied);
  }
  EXPECT_EQ(pool().pool().digest(), folded());
  EXPECT_EQ(pool().scores().at("a").count(), 20U);
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

TEST_F(ServiceTest, ErasedTextsAreInNeitherLogNorMemoryAndTheStateStays) {
  std::vector<Uuid> ids;
  for (int i = 0; i < 3; ++i) {
    DecisionMade decision = *pool().pool().decide({.task = "secret", .responses = {{.model = "a", .answer = "secret", .confidence = 0.9}}});
    decision.responses[0].answer_text = "secret";
    Prepared prepared = service_->prepare(pool(), std::move(decision));
    ids.push_back(prepared.event.id);
    ASSERT_TRUE(service_->commit(std::move(prepared), [](const Result<Applied>&) {}).ok());
  }
  loop_.run_until([this] { return service_->in_flight() == 0; });
  const Digest before = pool().pool().digest();
  std::vector<std::uint64_t> erased;
  for (const Uuid id : ids) {
    service_->erase(pool(), id, "by test", [&](const Result<Erasure>& one) { erased.push_back(one->records); });
  }
  EXPECT_TRUE(erased.empty()) << "never before the call has returned";
  loop_.run_until([&] { return erased.size() == ids.size(); });
  EXPECT_EQ(erased, (std::vector<std::uint64_t>{1, 1, 1}));
  for (const Uuid id : ids) {
    const Record record = *service_->look_up(pool(), id).value();
    EXPECT_EQ(record.note, "by test");
    EXPECT_EQ(std::get<DecisionMade>(record.event.body).responses[0].answer_text, "");
  }
  EXPECT_TRUE(pool().insight().decisions().search({.text = "secret"}, 10).empty());
  EXPECT_EQ(pool().insight().decisions().search({}, 10).size(), 3U);
  EXPECT_EQ(pool().pool().digest(), before);
  EXPECT_EQ(folded(), before);
}

TEST_F(ServiceTest, SnapshotsAreKeptOnTheWay) {
  open(10);
  for (int i = 0; i < 30; ++i) static_cast<void>(grade(decide(), 1.0));
  loop_.run_until([this] { return !pool().snapshotting; });
  EXPECT_FALSE(log_.snapshots("default")->empty());
  EXPECT_EQ(complaints_, std::vector<std::string>{});
  EXPECT_EQ(pool().pool().digest(), folded());
}

TEST_F(ServiceTest, ARevertIsDoneWhenTheStateIsWithoutIt) {
  std::vector<Uuid> feedback;
  for (int i = 0; i < 6; ++i) {
    Prepared prepared =
        service_->prepare(pool(), OutcomeObserved{.decision = decide(), .grades = {{"a", i < 3 ? 1.0 : 0.0}}, .source = "grader"});
    feedback.push_back(prepared.event.id);
    bool done = false;
    ASSERT_TRUE(service_->commit(std::move(prepared), [&](const Result<Applied>&) { done = true; }).ok());
    loop_.run_until([&] { return done; });
  }
  const auto reverted = commit(OutcomeReverted{.feedback = feedback[1], .source = ""});
  ASSERT_TRUE(reverted.ok());
  EXPECT_EQ(reverted->result.status, ApplyStatus::kApplied);
  EXPECT_EQ(reverted->result.reverted, (std::vector<Uuid>{feedback[1]}));
  EXPECT_FALSE(pool().pool().needs_fold());
  EXPECT_EQ(pool().pool().digest(), folded());
  EXPECT_EQ(pool().scores().at("a").count(), 5U);
}

TEST_F(ServiceTest, WhatTheEarliestStateHoldsCannotBeReverted) {
  const std::vector<Uuid> feedback = teach_often(5);  // event 2i + 2
  compact(7);
  for (const Uuid id : {feedback[0], feedback[2]}) {
    const Status refused = service_->can_revert(pool(), id);
    ASSERT_FALSE(refused.ok());
    EXPECT_EQ(refused.error().code, ErrorCode::kUnsupported);
    EXPECT_NE(refused.error().message.find("before what the log retains"), std::string::npos) << refused.error().message;
  }
  EXPECT_TRUE(service_->can_revert(pool(), feedback[3]).ok());
  const Status all = can_revert("grader");
  ASSERT_FALSE(all.ok());
  EXPECT_EQ(all.error().code, ErrorCode::kUnsupported);
  EXPECT_TRUE(can_revert("somebody else").ok());
}

TEST_F(ServiceTest, TheEarliestStateIsOfASnapshotWhereNoneStandsAtTheFirstEvent) {
  const std::vector<Uuid> feedback = teach_often(5);
  service_->keep_snapshots();
  ASSERT_TRUE(log_.compact("default", 3, AuditKept::kEverything).ok());
  EXPECT_EQ(service_->can_revert(pool(), feedback[3]).error().code, ErrorCode::kUnsupported);
  const Uuid later = teach();
  EXPECT_TRUE(service_->can_revert(pool(), later).ok());
}

TEST_F(ServiceTest, WithAllEventsEverySourceCanBeReverted) {
  teach_often(5);
  service_->keep_snapshots();
  EXPECT_TRUE(can_revert("grader").ok());
}

// A store may have one, of a time when they were written unasked.
TEST_F(ServiceTest, ARevertOutOfReachIsAnsweredAndWithinReachStillDone) {
  const std::vector<Uuid> feedback = teach_often(5);
  compact(7);
  const auto refused = commit(OutcomeReverted{.feedback = feedback[0], .source = ""});
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, ErrorCode::kUnsupported);
  ASSERT_FALSE(complaints_.empty());
  EXPECT_NE(complaints_[0].find("reaches back behind"), std::string::npos) << complaints_[0];
  EXPECT_FALSE(pool().folding);
  const auto done = commit(OutcomeReverted{.feedback = feedback[4], .source = ""});
  ASSERT_TRUE(done.ok()) << done.error().message;
  EXPECT_EQ(done->result.status, ApplyStatus::kApplied);
  EXPECT_EQ(pool().pool().digest(), folded()) << "a restart comes to the same";
  EXPECT_FALSE(verify(log_)->sound()) << "and it can be found";
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

TEST_F(ServiceTest, RetentionLeavesWhatIsNotOldEnough) {
  teach_often(5);
  service_->retain(clock_ms_ - 3'600'000, AuditKept::kNothing);
  service_->keep_snapshots();
  EXPECT_EQ(log_.pools()->front().first, 0U);
}

TEST_F(ServiceTest, AnOutcomeThatReplacesAnotherCountsAfterTheFold) {
  const Uuid id = decide();
  Prepared first = service_->prepare(pool(), OutcomeObserved{.decision = id, .grades = {{"a", 0.0}}});
  const Uuid first_id = first.event.id;
  bool done = false;
  ASSERT_TRUE(service_->commit(std::move(first), [&](const Result<Applied>&) { done = true; }).ok());
  loop_.run_until([&] { return done; });

  // Both at once, as a replacing request does: the second contradicts what the live state still holds.
  std::optional<ApplyStatus> replaced;
  ASSERT_TRUE(
      service_->commit(service_->prepare(pool(), OutcomeReverted{.feedback = first_id, .source = ""}), [](const Result<Applied>&) {}).ok());
  ASSERT_TRUE(service_
                  ->commit(service_->prepare(pool(), OutcomeObserved{.decision = id, .grades = {{"a", 1.0}}}),
                           [&](const Result<Applied>& applied) { replaced = applied->result.status; })
                  .ok());
  loop_.run_until([&] { return replaced.has_value(); });
  EXPECT_EQ(*replaced, ApplyStatus::kApplied);
  EXPECT_EQ(pool().pool().decision(id)->responses[0].outcome, 1.0);
  EXPECT_EQ(pool().pool().digest(), folded());
}

TEST_F(ServiceTest, AContradictionIsAConflict) {
  const Uuid id = decide();
  static_cast<void>(grade(id, 1.0));
  const auto other = grade(id, 0.0);
  EXPECT_EQ(other->result.status, ApplyStatus::kConflict);
  EXPECT_TRUE(other->result.error.has_value());
}

TEST_F(ServiceTest, TimeNeverGoesBackWithTheClock) {
  decide();
  const std::int64_t before = pool().pool().time_ms();
  const Uuid earlier = service_->new_id();
  clock_ms_ -= 3'600'000;
  const Uuid id = decide();
  EXPECT_GE(pool().pool().time_ms(), before);
  EXPECT_GE(id.time_ms(), earlier.time_ms());
  std::int64_t last = 0;
  for (const Event& event : events()) {
    EXPECT_GE(event.time_ms, last) << "what halving and other readers of the log go by";
    last = event.time_ms;
  }
  EXPECT_EQ(last, before);
}

TEST_F(ServiceTest, APoolThatTheOperatorDoesNotNameStaysWhatItWasMadeAs) {
  pools_.clear();
  open();
  ASSERT_TRUE(commit(PoolConfigured{.vote = "majority", .audit_rate = 0.5}).ok());
  ASSERT_TRUE(grade(decide(), 1.0).ok());
  const Digest taught = pool().pool().digest();
  service_->reconfigure({}, defaults_);
  loop_.run_until([this] { return service_->in_flight() == 0; });
  EXPECT_EQ(pool().pool().digest(), taught) << "after a reload";
  open();
  EXPECT_EQ(pool().pool().digest(), taught) << "after a restart";
  EXPECT_TRUE(told_.empty());
}

TEST_F(ServiceTest, BoundsReachTheDefaultPoolWhoeverConfiguredIt) {
  pools_.clear();
  open();
  ASSERT_TRUE(commit(PoolConfigured{.vote = "majority"}).ok());
  defaults_.models_max = 7;
  open();
  EXPECT_EQ(pool().pool().config().models_max, 7);
  EXPECT_EQ(pool().pool().config().vote, "majority");
  EXPECT_EQ(told_, (std::vector<std::string>{"default|limits.models: 1000 -> 7|"}));
}

TEST_F(ServiceTest, WhatTheOperatorChangesOfAPoolIsToldWithWhatIsLost) {
  pools_["default"].vote = "majority";
  pools_["default"].audit_rate = 0.25;
  open();
  EXPECT_EQ(pool().pool().config().vote, "majority");
  EXPECT_EQ(told_, (std::vector<std::string>{"default|vote: sum@1 -> majority@1, audit_rate: 0 -> 0.25|the decisions' probability"}));
  told_.clear();
  pools_["default"].calibrator_parameters = {{"alpha", 0.5}};
  service_->reconfigure(pools_, defaults_);
  ASSERT_EQ(told_.size(), 1);
  EXPECT_TRUE(told_[0].starts_with("default|calibrator_parameters.alpha: ")) << told_[0];
  EXPECT_TRUE(told_[0].ends_with("|factors and the decisions' probability")) << told_[0];
}

TEST_F(ServiceTest, PoolsAreBounded) {
  service_.reset();
  ServiceOptions options;
  options.pools = {{"default", PoolConfigured{}}};
  options.bounds.pools_max = 2;
  options.clock_ms = [this] { return clock_ms_; };
  options.post = [this](std::function<void()> work) { loop_.post(std::move(work)); };
  options.complain = [](const std::string&) {};
  auto opened = Service::open(log_, std::move(options));
  ASSERT_TRUE(opened.ok());
  EXPECT_TRUE((*opened)->find_or_make("one").ok());
  const auto beyond = (*opened)->find_or_make("two");
  ASSERT_FALSE(beyond.ok());
  EXPECT_EQ(beyond.error().code, ErrorCode::kLimit);
  EXPECT_EQ(*(*opened)->find_or_make("one"), (*opened)->find("one"));
}

TEST_F(ServiceTest, RequestsAreRememberedAcrossARestart) {
  auto decision = pool().pool().decide({.responses = {{.model = "a", .answer = "x", .confidence = 0.9}}});
  Prepared prepared = service_->prepare(pool(), *decision);
  prepared.mark = RequestMark{.key = {1, 2}, .body = {3, 4}};
  const Uuid id = prepared.event.id;
  bool done = false;
  ASSERT_TRUE(service_->commit(std::move(prepared), [&](const Result<Applied>&) { done = true; }).ok());
  EXPECT_FALSE(pool().requests().find({1, 2})->settled);
  loop_.run_until([&] { return done; });
  EXPECT_TRUE(pool().requests().find({1, 2})->settled);
  open();
  ASSERT_NE(pool().requests().find({1, 2}), nullptr);
  EXPECT_EQ(pool().requests().find({1, 2})->event, id);
  EXPECT_EQ(pool().requests().find({1, 2})->body, (Digest{3, 4}));
}

TEST_F(ServiceTest, AsManyRequestsAsMayBeAreRememberedHoweverManyEventsCameWithoutAKey) {
  const auto keyed = [this](std::uint64_t key) {
    Prepared prepared = service_->prepare(pool(), ModelJoined{.model = "m"});
    prepared.mark = RequestMark{.key = {key, 0}, .body = {0, key}};
    const Uuid id = prepared.event.id;
    EXPECT_TRUE(service_->commit(std::move(prepared), [](const Result<Applied>&) {}).ok());
    loop_.run_until([this] { return service_->in_flight() == 0; });
    return id;
  };
  keyed(1);
  const Uuid second = keyed(2);
  for (int i = 0; i < 5000; ++i) {
    ASSERT_TRUE(log_.append({.pool = "default", .event = service_->prepare(pool(), ModelJoined{.model = "m"}).event}, {}).ok());
  }
  log_.flush();
  keyed(3);
  requests_max_ = 2;
  open();
  ASSERT_NE(pool().requests().find({2, 0}), nullptr);
  EXPECT_EQ(pool().requests().find({2, 0})->event, second);
  EXPECT_NE(pool().requests().find({3, 0}), nullptr);
  EXPECT_EQ(pool().requests().find({1, 0}), nullptr) << "no more than two";
  keyed(4);
  EXPECT_EQ(pool().requests().find({2, 0}), nullptr) << "the oldest goes first";
  EXPECT_NE(pool().requests().find({3, 0}), nullptr);
}

TEST_F(ServiceTest, WhatCouldNotBeWrittenIsNotApplied) {
  const Digest before = pool().pool().digest();
  log_.close();
  const Status taken =
      service_->commit(service_->prepare(pool(), ModelJoined{.model = "z", .predecessor = ""}), [](const Result<Applied>&) { FAIL(); });
  ASSERT_FALSE(taken.ok());
  EXPECT_EQ(taken.error().code, ErrorCode::kUnavailable);
  EXPECT_EQ(pool().pool().digest(), before);
}

// Two pools of one tenant, and one of another.
class EarlyElsewhereTest : public ServiceTest {
 protected:
  void SetUp() override {
    ServiceTest::SetUp();
    for (const char* name : {"law", "acme/law"}) ASSERT_TRUE(service_->find_or_make(name).ok());
  }
  ApplyStatus commit_to(const std::string& name, EventBody body, std::optional<Uuid> id = {}) {
    std::optional<Result<Applied>> answer;
    EXPECT_TRUE(service_
                    ->commit(service_->prepare(*service_->find(name), std::move(body), id),
                             [&](Result<Applied> applied) { answer = std::move(applied); })
                    .ok());
    loop_.run_until([&] { return answer.has_value(); });
    return (*answer)->result.status;
  }
  DecisionMade decision() { return *pool().pool().decide({.responses = {{.model = "a", .answer = "x", .confidence = 0.9}}}); }
  std::optional<double> outcome(const std::string& name, Uuid id) {
    const auto view = service_->find(name)->pool().decision(id);
    return view ? view->responses.at(0).outcome : std::nullopt;
  }
  const Uuid id_{0x0123456789ab4000, 0x8000000000000001};
};

TEST_F(EarlyElsewhereTest, FeedbackJoinsItsDecisionInWhicheverPoolOfTheTenantItIsMade) {
  EXPECT_EQ(commit_to("default", OutcomeObserved{.decision = id_, .gold = "x", .source = "s"}), ApplyStatus::kPendingDecision);
  commit_to("acme/law", decision(), id_);
  EXPECT_EQ(outcome("acme/law", id_), std::nullopt) << "another tenant's";
  commit_to("law", decision(), id_);
  EXPECT_EQ(outcome("law", id_), 1.0) << "before the decision is answered";
  EXPECT_TRUE(service_->find("default")->pool().take_over(id_, pool().pool()).empty());
  const Digest live = service_->find("law")->pool().digest();
  open();
  EXPECT_EQ(service_->find("law")->pool().digest(), live);
}

TEST_F(EarlyElsewhereTest, FeedbackThatDoesNotFitIsNamed) {
  commit_to("default", OutcomeObserved{.decision = id_, .grades = {{"stranger", 1.0}}});
  commit_to("law", decision(), id_);
  ASSERT_EQ(complaints_.size(), 1U);
  EXPECT_NE(complaints_[0].find("does not fit"), std::string::npos);
  EXPECT_EQ(service_->find("law")->counts().dropped, 1U);
}

TEST_F(EarlyElsewhereTest, FeedbackThatComesBesideItsDecisionJoinsItToo) {
  int open = 2;
  const auto done = [&](const Result<Applied>&) { --open; };
  ASSERT_TRUE(service_->commit(service_->prepare(*service_->find("law"), decision(), id_), done).ok());
  std::optional<ApplyStatus> status;
  ASSERT_TRUE(service_
                  ->commit(service_->prepare(pool(), OutcomeObserved{.decision = id_, .selected = 1.0}),
                           [&](const Result<Applied>& applied) {
                             status = applied->result.status;
                             --open;
                           })
                  .ok());
  loop_.run_until([&] { return open == 0; });
  EXPECT_EQ(status, ApplyStatus::kApplied);
  EXPECT_EQ(outcome("law", id_), 1.0);
}

TEST_F(EarlyElsewhereTest, WhatAServerThatEndedHadBegunIsFinishedAtTheNextStart) {
  commit_to("default", OutcomeObserved{.decision = id_, .selected = 1.0});
  // As if it had ended between the decision and the joining.
  const Event made = service_->prepare(*service_->find("law"), decision(), id_).event;
  service_.reset();
  ASSERT_TRUE(log_.append({.pool = "law", .event = made}, {}).ok());
  log_.flush();
  open();
  EXPECT_EQ(outcome("law", id_), 1.0);
}

TEST_F(ServiceTest, ARightAnswerThatWaitsForADecisionWithoutItsAnswersGradesNobody) {
  const Uuid id{0x0123456789ab4000, 0x8000000000000001};
  ASSERT_TRUE(commit(OutcomeObserved{.decision = id, .gold = "x"}).ok());
  auto decision = *pool().pool().decide({.responses = {{.model = "a", .answer = "x", .confidence = 0.9}}});
  decision.answers = {unkept_answer(0)};
  bool done = false;
  ASSERT_TRUE(service_->commit(service_->prepare(pool(), decision, id), [&](const Result<Applied>&) { done = true; }).ok());
  loop_.run_until([&] { return done; });
  EXPECT_EQ(pool().pool().decision(id)->responses.at(0).outcome, std::nullopt);
  EXPECT_EQ(complaints_.size(), 1U);
}

}  // namespace
}  // namespace margin::service
