// Every bound of a pool, at it and one past it.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>

#include "pool/limits.h"
#include "pool/pool_fixture.h"

namespace margin {
namespace {

class BoundsTest : public PoolTest {
 protected:
  [[nodiscard]] ErrorCode refusal(std::initializer_list<Says> responses, std::string segment = "") const {
    const auto decision = pool_.decide(question(responses, std::move(segment)));
    EXPECT_FALSE(decision.ok());
    return decision.ok() ? ErrorCode::kCorrupt : decision.error().code;
  }
};

TEST_F(BoundsTest, Models) {
  configure({.models_max = 2});
  decide({{"a", "x"}});
  const Event two_more = plan({{"a", "x"}, {"b", "x"}});
  join("b");
  EXPECT_EQ(join("c").error->code, ErrorCode::kLimit);
  EXPECT_EQ(refusal({{"c", "x"}}), ErrorCode::kLimit);
  EXPECT_EQ(refusal({{"c", "x", std::nullopt}}), ErrorCode::kLimit);
  Event third = two_more;
  std::get<DecisionMade>(third.body).responses[1].model = "c";
  EXPECT_EQ(apply(third).error->code, ErrorCode::kLimit);
  EXPECT_EQ(pool_.present_models().size(), 2U);
}

TEST_F(BoundsTest, Cells) {
  configure({.cells_max = 2});
  decide({{"a", "x"}});
  Event third = plan({{"a", "x"}}, "physics");
  decide({{"a", "x"}}, "law");
  EXPECT_EQ(refusal({{"a", "x"}}, "physics"), ErrorCode::kLimit);
  EXPECT_EQ(apply(third).error->code, ErrorCode::kLimit);
  decide({{"a", "x"}}, "law");
}

TEST_F(BoundsTest, Responses) {
  configure({.responses_max = 2});
  Event made = plan({{"a", "x"}, {"b", "x"}});
  EXPECT_EQ(refusal({{"a", "x"}, {"b", "x"}, {"c", "x"}}), ErrorCode::kLimit);
  std::get<DecisionMade>(made.body).responses.push_back({.model = "c", .channel = "verbalized"});
  EXPECT_EQ(apply(made).error->code, ErrorCode::kLimit);
  EXPECT_EQ(refusal({}), ErrorCode::kInvalidArgument);
  EXPECT_EQ(outcome(decide({{"a", "x"}}), {{"a", 1.0}, {"b", 1.0}, {"c", 1.0}}).error->code, ErrorCode::kLimit);
}

TEST_F(BoundsTest, AModelAnswersOncePerChannelHoweverManyAnswer) {
  configure({});
  for (const int responses : {2, 16, 17, 40}) {
    Question all;
    for (int i = 0; i < responses; ++i) all.responses.push_back({.model = "m" + std::to_string(i), .answer = "x", .confidence = 0.5});
    all.responses.back().model = "m0";
    const auto twice = pool_.decide(all);
    ASSERT_FALSE(twice.ok());
    EXPECT_EQ(twice.error().message, "responses[" + std::to_string(responses - 1) + "].model: expected each model once per channel");
    all.responses.back().channel = "other";
    EXPECT_TRUE(pool_.decide(all).ok()) << responses;
  }
}

// They have seats already, which tells it sooner.
TEST_F(BoundsTest, SoDoesAModelThatIsKnown) {
  configure({});
  Question all;
  for (const char* channel : {"verbalized", "other"}) {
    for (int i = 0; i < 40; ++i) {
      all.responses.push_back({.model = "m" + std::to_string(i), .answer = "x", .confidence = 0.5, .channel = channel});
    }
  }
  const Event made{.id = {7, 1}, .time_ms = 1000, .body = pool_.decide(all).value()};
  ASSERT_EQ(apply(made).status, ApplyStatus::kApplied);

  for (const std::size_t repeats : {0U, 38U, 41U, 78U}) {
    Question twice = all;
    twice.responses[79] = twice.responses[repeats];
    EXPECT_EQ(pool_.decide(twice).error().message, "responses[79].model: expected each model once per channel") << repeats;
    Event event = made;
    event.id = {7, 2 + repeats};
    auto& responses = std::get<DecisionMade>(event.body).responses;
    responses[79] = responses[repeats];
    const ApplyResult result = apply(event);
    ASSERT_EQ(result.status, ApplyStatus::kRefused) << repeats;
    EXPECT_EQ(result.error->message, "responses[79].model: expected each model once per channel");
  }
}

TEST_F(BoundsTest, NobodyIsRefusedByWhatIsWrongFirst) {
  configure({});
  EXPECT_EQ(pool_.decide({.segment = "\n"}).error().message, "segment: expected no control characters");
  EXPECT_EQ(pool_.decide({}).error().message, "responses: expected at least one");
}

TEST_F(BoundsTest, DecisionsBeyondTheBoundForgetTheOldest) {
  configure({.decisions_max = 2});
  const Uuid first = decide({{"a", "x"}});
  const Uuid second = decide({{"a", "x"}});
  EXPECT_EQ(outcome(first, {{"a", 1.0}}).status, ApplyStatus::kApplied);
  decide({{"a", "x"}});
  EXPECT_EQ(pool_.resolve({.decision = first, .gold = "x"}).error().code, ErrorCode::kNotFound);
  EXPECT_EQ(outcome(second, {{"a", 1.0}}).status, ApplyStatus::kApplied);
}

TEST_F(BoundsTest, EarlyOutcomesAreCountedByGrade) {
  configure({.early_max = 3});
  const Uuid unknown = Uuid::make(now_, random_);
  EXPECT_EQ(outcome(unknown, {{"a", 1.0}, {"b", 1.0}}).status, ApplyStatus::kPendingDecision);
  EXPECT_EQ(outcome(unknown, {{"a", 1.0}, {"b", 1.0}}).error->code, ErrorCode::kLimit);
  EXPECT_EQ(apply(OutcomeObserved{.decision = unknown, .gold = "x"}).status, ApplyStatus::kPendingDecision);
  EXPECT_EQ(pool_.early_outcomes(), 3U);
  EXPECT_EQ(apply(OutcomeObserved{.decision = unknown, .selected = 1.0}).error->code, ErrorCode::kLimit);
}

TEST_F(BoundsTest, AwaitedReverts) {
  configure({.early_max = 1});
  EXPECT_EQ(revert(Uuid::make(now_, random_)).status, ApplyStatus::kApplied);
  EXPECT_EQ(revert(Uuid::make(now_, random_)).error->code, ErrorCode::kLimit);
}

TEST_F(BoundsTest, FeedbacksOfOneDecision) {
  const Uuid decision = decide({{"a", "x"}});
  for (std::size_t i = 0; i < internal::kFeedbacksMax; ++i) EXPECT_NE(outcome(decision, {{"a", 1.0}}).status, ApplyStatus::kRefused);
  EXPECT_EQ(outcome(decision, {{"a", 1.0}}).error->code, ErrorCode::kLimit);
}

TEST_F(BoundsTest, RememberedEventsAreForgottenOldestFirst) {
  configure({.remembered_events_max = 2});
  const Event joined = event(ModelJoined{"a"});
  const Event left = event(ModelLeft{"a"});
  apply(joined);
  apply(left);
  EXPECT_EQ(apply(joined).status, ApplyStatus::kDuplicate);
  EXPECT_TRUE(pool_.present_models().empty());
  join("b");
  EXPECT_EQ(apply(joined).status, ApplyStatus::kApplied) << "beyond the window it is a new event";
}

TEST_F(BoundsTest, Names) {
  EXPECT_TRUE(pool_.decide(question({{std::string(256, 'm'), "x"}})).ok());
  for (const std::string& bad : {std::string(), std::string(257, 'm'), std::string("@pool"), std::string("a\nb"), std::string("a\0", 2)}) {
    EXPECT_EQ(refusal({{bad, "x"}}), ErrorCode::kInvalidArgument);
    EXPECT_EQ(join(bad).status, ApplyStatus::kRefused);
  }
  EXPECT_EQ(refusal({{"a", "x", 0.9, ""}}), ErrorCode::kInvalidArgument);
  EXPECT_EQ(refusal({{"a", "x", 0.9, std::string(257, 'c')}}), ErrorCode::kInvalidArgument);
  EXPECT_EQ(refusal({{"a", "x"}}, std::string(257, 's')), ErrorCode::kInvalidArgument);
  EXPECT_EQ(refusal({{"a", "x"}, {"a", "y"}}), ErrorCode::kInvalidArgument);
}

TEST_F(BoundsTest, Confidences) {
  EXPECT_TRUE(pool_.decide(question({{"a", "x", 0.0}, {"b", "x", 1.0}, {"c", "x", std::nan("")}})).ok());
  EXPECT_EQ(refusal({{"a", "x", 1.0 + 1e-12}}), ErrorCode::kInvalidArgument);
  EXPECT_EQ(refusal({{"a", "x", -1e-300}}), ErrorCode::kInvalidArgument);
}

TEST_F(BoundsTest, TimeOutsideWhatAnIdCanHoldIsRefused) {
  Event early = event(ModelJoined{"a"});
  early.time_ms = -1;
  EXPECT_EQ(apply(early).status, ApplyStatus::kRefused);
  early.time_ms = internal::kTimeMsEnd;
  EXPECT_EQ(apply(early).status, ApplyStatus::kRefused);
  EXPECT_EQ(pool_.time_ms(), now_);
}

TEST_F(BoundsTest, TimeNeverGoesBack) {
  advance(kDay);
  join("a");
  advance(-kDay);
  join("b");
  EXPECT_EQ(pool_.time_ms(), now_ + kDay);
}

// Whatever number stands in whichever field of a response: what is refused is named, what is legal is not.
TEST_F(BoundsTest, EveryNumberOfAResponseIsHeldToItsRange) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
  const auto part = [](double x) { return x >= 0.0 && x <= 1.0; };
  const auto count = [](double x) { return x >= 0.0 && x < kInfinity; };
  struct Field {
    std::string name;
    double RecordedResponse::*of;
    std::function<bool(double)> legal;
  };
  const std::vector<Field> fields = {{"calibrated", &RecordedResponse::calibrated, part},
                                     {"audit", &RecordedResponse::audit, part},
                                     {"factor", &RecordedResponse::factor, count},
                                     {"n", &RecordedResponse::n, count},
                                     {"weight", &RecordedResponse::weight, [](double x) { return std::isfinite(x); }}};
  decide({{"a", "x"}, {"b", "y"}, {"c", "x"}});
  const auto expect = [&](const DecisionMade& decision, bool legal, const std::string& name, double value) {
    const ApplyResult result = apply(EventBody(decision));
    ASSERT_EQ(result.status, legal ? ApplyStatus::kApplied : ApplyStatus::kRefused) << name << " " << value;
    if (!legal) {
      EXPECT_EQ(result.error->message.substr(0, result.error->message.find(':')), name);
    }
  };
  for (const double value : {0.0, -0.0, 5e-324, -5e-324, 0.5, 1.0, std::nextafter(1.0, 2.0), -0.5, -1.0, -2.0, 2.0, 1e300, -1e300,
                             kInfinity, -kInfinity, kNaN, -kNaN}) {
    for (std::size_t i = 0; i < 3; ++i) {
      const std::string place = "responses[" + std::to_string(i) + "].";
      DecisionMade decision = std::get<DecisionMade>(plan({{"a", "x"}, {"b", "y"}, {"c", "x"}}).body);
      for (const Field& field : fields) {
        DecisionMade changed = decision;
        changed.responses[i].*field.of = value;
        expect(changed, field.legal(value), place + field.name, value);
      }
      decision.responses[i].confidence = value;
      expect(decision, part(value) || std::isnan(value), place + "confidence", value);
    }
  }
  for (const std::uint32_t answer : {0U, 1U, 2U, kNoAnswer - 1, kNoAnswer}) {
    DecisionMade decision = std::get<DecisionMade>(plan({{"a", "x"}, {"b", "y"}, {"c", "x"}}).body);
    decision.responses[2].answer = answer;
    expect(decision, answer < 2 || answer == kNoAnswer, "responses[2].answer", answer);
  }
}

TEST_F(BoundsTest, MalformedDecisionIsRefusedByField) {
  const Event made = plan({{"a", "x"}, {"b", "y"}});
  const auto message = [&](auto change) {
    Event bad = event(made.body);
    change(std::get<DecisionMade>(bad.body));
    const ApplyResult result = apply(bad);
    EXPECT_EQ(result.status, ApplyStatus::kRefused);
    return result.error ? result.error->message : std::string();
  };
  EXPECT_TRUE(message([](DecisionMade& d) { d.responses[1].answer = 2; }).starts_with("responses[1].answer"));
  EXPECT_TRUE(message([](DecisionMade& d) { d.responses[1].calibrated = 1.1; }).starts_with("responses[1].calibrated: got 1.1"));
  EXPECT_TRUE(message([](DecisionMade& d) { d.responses[0].audit = 2.0; }).starts_with("responses[0].audit: got 2"));
  EXPECT_TRUE(message([](DecisionMade& d) { d.selected = 2; }).starts_with("selected"));
  EXPECT_TRUE(message([](DecisionMade& d) { d.share = -1; }).starts_with("share: got -1"));
  EXPECT_TRUE(message([](DecisionMade& d) { d.answers.resize(3); }).starts_with("answers"));
  EXPECT_TRUE(message([](DecisionMade& d) { d.kind = static_cast<AnswerKind>(9); }).starts_with("kind"));
  EXPECT_TRUE(pool_.present_models().empty());
}

}  // namespace
}  // namespace margin
