// Feedback that waits for its decision, which is made in another pool of the tenant.
#include "service/service_fixture.h"

namespace margin::service {
namespace {

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

TEST_F(EarlyElsewhereTest, AnOutcomeOfAModelThatTurnsOutToHaveGivenTwoAnswersGradesNeither) {
  for (const char* waits : {"law", "default"}) {
    const Uuid id{id_.high, std::string_view(waits) == "law" ? 2U : 3U};
    EXPECT_EQ(commit_to(waits, OutcomeObserved{.decision = id, .grades = {{"a", 1.0}}}), ApplyStatus::kPendingDecision);
    const auto said = [](const char* channel, const char* answer) {
      return Response{.model = "a", .answer = answer, .confidence = 0.9, .channel = channel};
    };
    commit_to("law", *pool().pool().decide({.responses = {said("x", "Paris"), said("y", "Rome")}}), id);
    const auto view = service_->find("law")->pool().decision(id);
    ASSERT_EQ(view->responses.size(), 2U);
    for (const ResponseView& response : view->responses) EXPECT_EQ(response.outcome, std::nullopt);
    EXPECT_EQ(service_->find(waits)->pool().waiting_outcomes(), 0U);
  }
  EXPECT_EQ(complaints_.size(), 2U);
  const Uuid same{id_.high, 1};
  commit_to("law", OutcomeObserved{.decision = same, .grades = {{"a", 1.0}}});
  commit_to("law", decision(), same);
  EXPECT_EQ(outcome("law", same), 1.0);
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
