// The service over a memory log: what is applied when, what a failing store leaves, what reverts come to.
#include <atomic>
#include <functional>
#include <future>
#include <thread>

#include "service/service_fixture.h"

namespace margin::service {
namespace {

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

TEST_F(ServiceTest, TheStateIsTheFoldOfTheLog) {
  for (int i = 0; i < 20; ++i) {
    const Uuid id = decide();
    EXPECT_EQ(grade(id, i % 3 == 0 ? 1.0 : 0.0)->result.status, ApplyStatus::kApplied);
  }
  EXPECT_EQ(pool().pool().digest(), folded());
  EXPECT_EQ(pool().scores().at("a").count(), 20U);
}

TEST_F(ServiceTest, ARevertIsToldOnceAndWhenTheStateIsWithoutWhatItTookBack) {
  const Uuid feedback = teach();
  int told = 0;
  service_->on_applied([&](const Service::Happened& happened) {
    EXPECT_TRUE(std::holds_alternative<OutcomeReverted>(happened.event.body));
    EXPECT_EQ(happened.result.reverted, std::vector<Uuid>{feedback});
    EXPECT_FALSE(happened.pool.needs_fold());
    ++told;
  });
  ASSERT_TRUE(commit(OutcomeReverted{.feedback = feedback, .source = ""}).ok());
  EXPECT_EQ(told, 1);
}

TEST_F(ServiceTest, WhatComesWhileTheStateIsFoldedAnewIsFoldedOnTheSideOrSomeAtATime) {
  teach_often(5);
  const Uuid wrong = teach(0.0);
  std::promise<void> go;
  std::size_t read_by_loop = 0;
  std::atomic<std::size_t> read_on_the_side = 0;
  log_.before_read = [&, may_go = go.get_future().share(), loop = std::this_thread::get_id()](std::size_t records_max) {
    if (std::this_thread::get_id() == loop) {
      read_by_loop = std::max(read_by_loop, records_max);
    } else {
      may_go.wait();
      ++read_on_the_side;
    }
  };
  bool taken_back = false;
  const auto done = [&](const Result<Applied>& applied) { taken_back = applied.ok(); };
  ASSERT_TRUE(service_->commit(service_->prepare(pool(), OutcomeReverted{.feedback = wrong, .source = ""}), done).ok());
  for (int i = 0; i < 1000; ++i) decide();
  ASSERT_TRUE(pool().folding);
  go.set_value();
  loop_.run_until([&] { return taken_back; });
  EXPECT_GE(read_on_the_side, 2U) << "the events of before, and those that came";
  EXPECT_LE(read_by_loop, 128U);
  log_.before_read = nullptr;
  EXPECT_EQ(pool().pool().known_decisions(), 1006U);
  EXPECT_EQ(pool().pool().digest(), folded());
}

TEST_F(ServiceTest, ARevertIsDoneAlsoWhereMoreComesInATurnThanIsFoldedInOne) {
  teach_often(5);
  const Uuid wrong = teach(0.0);
  bool taken_back = false;
  const auto done = [&](const Result<Applied>& applied) { taken_back = applied.ok(); };
  ASSERT_TRUE(service_->commit(service_->prepare(pool(), OutcomeReverted{.feedback = wrong, .source = ""}), done).ok());
  bool by_loop = false;  // what came is no longer folded on the side
  log_.before_read = [&, loop = std::this_thread::get_id()](std::size_t) {
    if (std::this_thread::get_id() == loop) by_loop = true;
  };
  int turns = 0;
  const std::function<void()> crowd = [&] {
    if (by_loop) ++turns;
    if (taken_back || turns == 1000) return;
    for (int i = 0; i < 150; ++i) {
      const auto status = service_->commit(service_->prepare(pool(), ModelJoined{.model = "a"}), [](const Result<Applied>&) {});
      EXPECT_TRUE(status.ok());
    }
    log_.flush();
    loop_.post(crowd);
  };
  loop_.post(crowd);
  loop_.run_until([&] { return taken_back || turns == 1000; });
  EXPECT_LT(turns, 1000);
  loop_.run_until([&] { return taken_back && service_->in_flight() == 0; });
  log_.before_read = nullptr;
  EXPECT_EQ(pool().pool().digest(), folded());
}

TEST_F(ServiceTest, DecisionsOfBeforeTheStartAreCountedAsFarAsLogAndStateTell) {
  teach_often(6);
  open();
  EXPECT_EQ(pool().counts().decisions, 6U);
  decide();
  EXPECT_EQ(pool().counts().decisions, 7U);
  compact(9);
  open();
  EXPECT_EQ(pool().counts().decisions, 7U) << "the state knows them all, the log the last three";
}

TEST_F(ServiceTest, FiguresOfOldDecisionsOutliveAStartAndARevert) {
  std::vector<Uuid> ids;
  for (int i = 0; i < 10'100; ++i) ids.push_back(decide());
  for (int i = 0; i < 50; ++i) EXPECT_EQ(grade(ids[static_cast<std::size_t>(i)], 1.0)->result.status, ApplyStatus::kApplied);
  open();
  EXPECT_EQ(pool().scores().at("a").count(), 50U);
  const Uuid said = teach();
  EXPECT_EQ(pool().scores().at("a").count(), 51U);
  EXPECT_TRUE(commit(OutcomeReverted{.feedback = said, .source = ""}).ok());
  EXPECT_EQ(pool().scores().at("a").count(), 50U);
}

TEST_F(ServiceTest, TheQueueOffersNothingThatHasExpired) {
  const std::int64_t wait_ms = 86'400;
  ASSERT_TRUE(commit(PoolConfigured{.pending_ms_max = wait_ms, .decisions_max = 2}).ok());
  const auto queue = [this] { return pool().queue(10, clock_ms_).size(); };
  for (int i = 0; i < 3; ++i) decide();
  EXPECT_EQ(queue(), 2U) << "the oldest has made room";
  clock_ms_ += wait_ms;
  EXPECT_EQ(queue(), 2U);
  clock_ms_ += 1;
  EXPECT_EQ(pool().pool().pending_decisions(), 2U) << "nothing has happened since";
  EXPECT_EQ(queue(), 0U);
  const Uuid last = decide();
  ASSERT_EQ(queue(), 1U);
  EXPECT_EQ(pool().queue(10, clock_ms_)[0]->id, last);
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
    const auto refused = service_->can_revert(pool(), id);
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

TEST_F(ServiceTest, PoolsThatTheLogDidNotTakeAreConfiguredBeforeAnythingElseIsInThem) {
  log_.takes_nothing = true;
  pools_["law"] = PoolConfigured{.vote = "majority"};
  pools_["default"] = PoolConfigured{.vote = "argmax"};
  service_->reconfigure(pools_, defaults_);
  EXPECT_TRUE(service_->has_unwritten_pools());
  EXPECT_EQ(service_->find_or_make("law").error().code, ErrorCode::kUnavailable);
  log_.takes_nothing = false;
  const auto law = service_->find_or_make("law");
  ASSERT_TRUE(law.ok()) << law.error().message;
  EXPECT_EQ((*law)->pool().config().vote, "majority");
  EXPECT_EQ((*law)->next_offset(), 1U);
  EXPECT_NE(pool().pool().config().vote, "argmax");
  service_->reconfigure(pools_, defaults_);
  loop_.run_until([this] { return service_->in_flight() == 0; });
  EXPECT_FALSE(service_->has_unwritten_pools());
  EXPECT_EQ(pool().pool().config().vote, "argmax");
  EXPECT_EQ((*law)->next_offset(), 1U) << "it is what it is to be";
}

TEST_F(ServiceTest, TheErrorOfTheOperatorsDefaultPoolReachesThoseOfTenants) {
  for (const char* name : {"acme/default", "acme/law", "other/default"}) ASSERT_TRUE(service_->find_or_make(name).ok());
  pools_["default"].max_error = 0.25;
  pools_["other/default"] = PoolConfigured{.max_error = 0.5};
  service_->reconfigure(pools_, defaults_);
  loop_.run_until([this] { return service_->in_flight() == 0; });
  const auto error = [this](const char* name) { return service_->find(name)->pool().config().max_error; };
  EXPECT_EQ(error("default"), 0.25);
  EXPECT_EQ(error("acme/default"), 0.25);
  EXPECT_EQ(error("acme/law"), 1.0);
  EXPECT_EQ(error("other/default"), 0.5) << "the operator's own";
  EXPECT_EQ(told_, (std::vector<std::string>{"default|max_error: 1 -> 0.25|", "other/default|max_error: 1 -> 0.5|",
                                             "acme/default|max_error: 1 -> 0.25|"}));
  open();
  EXPECT_EQ(told_.size(), 3U) << "a restart changes nothing";
  pools_.erase("default");
  open();
  EXPECT_EQ(error("acme/default"), 0.25) << "whose section is taken out stays as it is";
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

}  // namespace
}  // namespace margin::service
