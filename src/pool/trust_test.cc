// What a decision tells beside its answer: how likely it is right, whether to abstain, how each response counted and who decided.
#include <gtest/gtest.h>

#include <array>

#include "margin/decision.h"
#include "margin/random.h"
#include "pool/pool_fixture.h"

namespace margin {
namespace {

class TrustTest : public PoolTest {
 protected:
  DecisionMade asked(std::initializer_list<Says> responses, std::optional<double> max_error = std::nullopt) {
    Question asked = question(responses);
    asked.max_error = max_error;
    const auto decision = pool_.decide(asked);
    EXPECT_TRUE(decision.ok());
    return *decision;
  }
  // Of a decision that everybody agrees on.
  [[nodiscard]] Sureness sure() { return asked({{"a", "x"}, {"b", "x"}}).sure; }

  ApplyResult settle(Uuid decision, double outcome, double weight = 1.0) {
    return apply(OutcomeObserved{.decision = decision, .selected = outcome, .weight = weight});
  }
};

TEST_F(TrustTest, IsTheLibrarysOnTheSameSharesAndOutcomes) {
  auto twin = std::move(DecisionTrust::make("margin_adaptive", 3, {})).value();
  for (int i = 0; i < 80; ++i) {
    const Uuid id = decide({{"a", "x", 0.9}, {"b", i % 3 == 0 ? "y" : "x", 0.5}});
    const auto made = std::get<DecisionMade>(log_.back().body);  // a copy: the log grows
    const Sureness expected = twin.of(made.share);
    EXPECT_EQ(made.sure.p_correct, expected.p_correct);
    EXPECT_EQ(made.sure.low, expected.low);
    EXPECT_EQ(made.sure.high, expected.high);
    EXPECT_EQ(made.sure.effective_n, expected.effective_n);
    EXPECT_EQ(made.sure.status, expected.status);
    twin.decided();
    const double outcome = i % 4 == 0 ? 0.0 : 1.0;
    settle(id, outcome, 0.5);
    ASSERT_TRUE(twin.observe({.share = made.share, .outcome = outcome, .weight = 0.5}).ok());
  }
  EXPECT_EQ(sure().status, TrustStatus::kCalibrated);
}

// A share of 1 would promise the same whatever the only model said.
TEST_F(TrustTest, ALoneModelsDecisionIsWorthItsCalibratedConfidence) {
  const auto calibrator = std::move(DecisionTrust::make("margin_adaptive", 3, {})).value();
  for (const double stated : {0.2, 0.5, 0.9}) {
    const DecisionMade made = asked({{"a", "x", stated}});
    EXPECT_EQ(made.share, made.responses[0].calibrated);
    EXPECT_EQ(made.sure.p_correct, calibrator.p_correct(made.responses[0].calibrated));
  }
}

TEST_F(TrustTest, ThePrimarysAnswerIsSelectedWhateverTheOthersSay) {
  Question question{.responses = {{.model = "a", .answer = "x", .confidence = 0.9},
                                  {.model = "b", .answer = "x", .confidence = 0.9},
                                  {.model = "c", .answer = "y", .confidence = 0.3}},
                    .primary = "c"};
  const DecisionMade made = std::move(pool_.decide(question)).value();
  EXPECT_EQ(made.selected_model, "c");
  EXPECT_EQ(made.selected, made.responses[2].answer);
  EXPECT_EQ(made.share, made.responses[2].calibrated);
  EXPECT_EQ(made.vote, "primary");
  EXPECT_TRUE(pool_.settled(made, 10));
  const Event decided = event(made);
  EXPECT_EQ(apply(decided).status, ApplyStatus::kApplied);
  // Everybody learns, and the promise is checked against the primary's outcome.
  const ApplyResult learned = outcome(decided.id, {{"a", 1.0}, {"b", 1.0}, {"c", 0.0}});
  EXPECT_EQ(learned.learned, (std::vector<std::string>{"a", "b", "c"}));

  question.responses[2].answer.reset();
  EXPECT_EQ(std::move(pool_.decide(question)).value().selected_model, "a") << "without its answer, the vote decides";
  question.vote = "majority";
  EXPECT_EQ(pool_.decide(question).error().code, ErrorCode::kInvalidArgument);
}

// By trying what the missing models could say: every combination of answers (those given, and a new one) and confidences.
TEST_F(TrustTest, SettledMeansThatNobodyMissingCouldChangeTheSelection) {
  Random random(20261116);
  std::array<int, 2> seen{};
  for (int round = 0; round < 300; ++round) {
    Question question{.vote = std::vector<std::string>{"", "majority", "log_odds"}[random.below(3)]};
    const std::size_t said = 1 + random.below(4);
    const std::size_t missing = random.below(3);
    const std::array<std::string, 4> answers = {"x", "y", "z", "new"};
    for (std::size_t i = 0; i < said; ++i) {
      question.responses.push_back({.model = "m" + std::to_string(i), .answer = answers[random.below(3)], .confidence = random.uniform()});
    }
    const DecisionMade made = std::move(pool_.decide(question)).value();
    const std::size_t each = answers.size() * 3;
    bool changed = false;
    for (std::size_t code = 0; code < (missing == 0 ? 1 : missing == 1 ? each : each * each); ++code) {
      Question more = question;
      for (std::size_t i = 0, rest = code; i < missing; ++i, rest /= each) {
        more.responses.push_back({.model = "late" + std::to_string(i),
                                  .answer = answers[rest % answers.size()],
                                  .confidence = std::array{0.0, 0.5, 1.0}[rest / answers.size() % 3]});
      }
      const DecisionMade then = std::move(pool_.decide(more)).value();
      changed |= then.answers[then.selected] != made.answers[made.selected];
    }
    const bool settled = pool_.settled(made, missing);
    ++seen[settled ? 1 : 0];
    EXPECT_FALSE(settled && changed) << "round " << round;
  }
  EXPECT_GT(seen[0], 50);
  EXPECT_GT(seen[1], 50);
}

TEST_F(TrustTest, AMajorityIsSettledWhenTheRestIsOutnumbered) {
  Question question{.vote = "majority"};
  for (const char* model : {"a", "b", "c"}) question.responses.push_back({.model = model, .answer = "x", .confidence = 0.5});
  const DecisionMade made = std::move(pool_.decide(question)).value();
  EXPECT_TRUE(pool_.settled(made, 2));
  EXPECT_FALSE(pool_.settled(made, 3));
}

TEST_F(TrustTest, ADecisionTeachesOnce) {
  const Uuid id = decide({{"a", "x"}, {"b", "x"}, {"c", "y", 0.01}});
  outcome(id, {{"c", 1.0}});
  EXPECT_EQ(sure().effective_n, 0.0);  // nothing is known of the selected answer
  outcome(id, {{"a", 0.0}});
  const Sureness once = sure();
  EXPECT_EQ(once.effective_n, 1.0);
  outcome(id, {{"b", 1.0}});
  EXPECT_EQ(sure().p_correct, once.p_correct);
  EXPECT_EQ(sure().effective_n, 1.0);
}

TEST_F(TrustTest, TheBestOfTheSupportersInOneFeedbackCounts) {
  outcome(decide({{"a", "x"}, {"b", "x"}}), {{"a", 0.0}, {"b", 1.0}});
  const double told = sure().p_correct;
  Pool twin;
  twin.apply(log_.front());
  std::swap(twin, pool_);
  outcome(decide({{"a", "x"}, {"b", "x"}}), {{"a", 1.0}, {"b", 1.0}});
  EXPECT_EQ(sure().p_correct, told);
}

TEST_F(TrustTest, FrozenOutcomesTeachNothingThenOrLater) {
  const Uuid id = decide({{"a", "x"}, {"b", "x"}});
  apply(LearningFrozen{});
  outcome(id, {{"a", 1.0}});
  apply(LearningResumed{});
  outcome(id, {{"b", 1.0}});
  EXPECT_EQ(sure().effective_n, 0.0);
}

TEST_F(TrustTest, AnotherVoteCalibratorOrTrustStartsAnew) {
  const PoolConfigured plain;
  PoolConfigured other_bound = plain, other_vote = plain, other_calibrator = plain, other_trust = plain;
  other_bound.early_max = 5;
  other_vote.vote = "majority";
  other_calibrator.calibrator_parameters["alpha"] = 0.1;
  other_trust.trust = "margin";
  other_trust.trust_version = 1;
  for (const auto& [config, anew] : {std::pair{other_bound, false}, {other_vote, true}, {other_calibrator, true}, {other_trust, true}}) {
    configure(plain);
    settle(decide({{"a", "x"}}), 1.0);
    const Uuid waiting = decide({{"a", "x"}});
    ASSERT_GT(sure().effective_n, 0.0);
    ASSERT_EQ(configure(config).status, ApplyStatus::kApplied);
    EXPECT_EQ(sure().effective_n == 0.0, anew);
    const double before = sure().effective_n;
    settle(waiting, 1.0);
    EXPECT_EQ(sure().effective_n > before, !anew) << "a share of the old vote says nothing about the new one";
  }
}

TEST_F(TrustTest, ACalibratorThatCannotLearnIsRefused) {
  const ApplyResult result = configure({.trust = "platt_scaling", .trust_version = 1});
  EXPECT_EQ(result.status, ApplyStatus::kRefused);
  EXPECT_EQ(result.error->code, ErrorCode::kUnsupported);
}

TEST_F(TrustTest, RevertedOutcomesNeverTaught) {
  const auto life = [&](bool with_lie) {
    pool_ = Pool();
    log_.clear();
    configure({});
    for (int i = 0; i < 5; ++i) settle(decide({{"a", "x"}}), 1.0);
    if (with_lie) {
      const Uuid id = decide({{"a", "x"}});
      const Event lie = event(OutcomeObserved{.decision = id, .selected = 0.0, .source = "mallory"});
      apply(lie);
      EXPECT_EQ(revert(lie.id).status, ApplyStatus::kRefold);
      pool_ = fold(Pool(), log_);
      settle(id, 1.0);
    } else {
      settle(decide({{"a", "x"}}), 1.0);
    }
    return sure();
  };
  const Sureness honest = life(false);
  const Sureness mended = life(true);
  EXPECT_EQ(mended.p_correct, honest.p_correct);
  EXPECT_EQ(mended.effective_n, honest.effective_n);
}

TEST_F(TrustTest, ManyDecisionsWithoutOutcomesAreStale) {
  for (int i = 0; i < 40; ++i) settle(decide({{"a", "x"}}), 1.0);
  for (int i = 0; i < 999; ++i) decide({{"a", "x"}});
  EXPECT_EQ(sure().status, TrustStatus::kCalibrated);
  decide({{"a", ""}});  // selects nothing, so nobody waits for its outcome
  EXPECT_EQ(sure().status, TrustStatus::kCalibrated);
  decide({{"a", "x"}});
  EXPECT_EQ(sure().status, TrustStatus::kStale);
}

TEST_F(TrustTest, AbstainsWhereThePromiseWouldNotHold) {
  for (int i = 0; i < 60; ++i) settle(decide({{"a", "x"}}), i % 4 == 0 ? 0.0 : 1.0);
  const double error = 1.0 - sure().p_correct;
  ASSERT_GT(error, 0.1);
  ASSERT_LT(error, 0.4);
  EXPECT_FALSE(asked({{"a", "x"}}).abstained);
  EXPECT_FALSE(asked({{"a", "x"}, {"b", "x"}}, error + 1e-9).abstained);
  const DecisionMade made = asked({{"a", "x"}, {"b", "x"}}, error - 1e-9);
  EXPECT_TRUE(made.abstained);
  EXPECT_EQ(made.max_error, error - 1e-9);
  EXPECT_NE(made.selected, kNoAnswer);  // what it would have said
  EXPECT_TRUE(asked({{"a", ""}}, 0.5).abstained);
  EXPECT_EQ(asked({{"a", ""}}).sure.p_correct, 0.0);
}

TEST_F(TrustTest, ThePoolsOwnErrorIsForQuestionsThatNameNone) {
  for (int i = 0; i < 60; ++i) settle(decide({{"a", "x"}}), i % 4 == 0 ? 0.0 : 1.0);
  const double error = 1.0 - sure().p_correct;
  const Digest before = pool_.digest();
  PoolConfigured config = pool_.config();
  config.max_error = error - 1e-9;
  EXPECT_EQ(configure(config).status, ApplyStatus::kApplied);
  EXPECT_EQ(1.0 - sure().p_correct, error) << "nothing starts anew";
  EXPECT_NE(pool_.digest(), before);
  const DecisionMade made = asked({{"a", "x"}, {"b", "x"}});
  EXPECT_TRUE(made.abstained);
  EXPECT_EQ(made.max_error, config.max_error) << "and is on record";
  const DecisionMade own = asked({{"a", "x"}, {"b", "x"}}, error + 1e-9);
  EXPECT_FALSE(own.abstained);
  EXPECT_EQ(own.max_error, error + 1e-9);
  config.max_error = 1.0;
  configure(config);
  EXPECT_EQ(asked({{"a", "x"}}).max_error, std::nullopt);
}

TEST_F(TrustTest, AnErrorOutsideZeroToOneIsRefused) {
  for (const double bad : {0.0, -0.5, 1.5, std::numeric_limits<double>::quiet_NaN()}) {
    const ApplyResult refused = configure({.max_error = bad});
    EXPECT_EQ(refused.status, ApplyStatus::kRefused);
    EXPECT_NE(refused.error->message.find("max_error: got"), std::string::npos) << refused.error->message;
  }
  Question asked = question({{"a", "x"}});
  for (const double bad : {0.0, 1.0, -0.5, std::numeric_limits<double>::quiet_NaN()}) {
    asked.max_error = bad;
    EXPECT_EQ(pool_.decide(asked).error().code, ErrorCode::kInvalidArgument);
  }
}

TEST_F(TrustTest, AWeightIsMadeOfItsTermsAndScoresOfWeights) {
  configure({.vote = "stacked", .vote_version = 2});
  for (int i = 0; i < 30; ++i) outcome(decide({{"a", "x"}, {"b", "y", 0.6}}), {{"a", 1.0}, {"b", 0.0}});
  const DecisionMade made = asked({{"a", "x"}, {"b", "y", 0.6}, {"c", "x", 0.4}, {"d", "", 0.9}});
  double of_x = 0.0;
  for (const RecordedResponse& response : made.responses) {
    if (response.answer == kNoAnswer) {
      EXPECT_EQ(response.weight, 0.0);
      EXPECT_TRUE(response.terms.empty());
      continue;
    }
    ASSERT_EQ(response.terms.size(), 3U);
    EXPECT_EQ(response.terms[0].name, "scale");
    EXPECT_EQ(response.terms[1].name, "x");
    EXPECT_EQ(response.terms[2].name, "trust");
    EXPECT_DOUBLE_EQ(response.weight, response.terms[0].value * response.terms[1].value + response.terms[2].value);
    if (response.answer == made.selected) of_x += response.weight;
  }
  ASSERT_EQ(made.selected, 0U);
  EXPECT_DOUBLE_EQ(made.scores[0], of_x);
}

TEST_F(TrustTest, FactorsBandsAndCountsAreThoseOfTheCell) {
  teach("a", 0.0, 7);
  apply(OutcomeObserved{.decision = decide({{"a", "x", 0.2}}), .selected = 1.0, .weight = 0.25});
  const DecisionMade made = asked({{"a", "x", 0.9}, {"a", "x", 0.25, "consistency"}, {"b", "y", 0.9}});
  EXPECT_EQ(made.responses[0].band, 2U);
  EXPECT_EQ(made.responses[0].n, 7.0);
  EXPECT_EQ(made.responses[0].factor, made.responses[0].calibrated / 0.9);
  EXPECT_LT(made.responses[0].factor, 1.0);
  EXPECT_EQ(made.responses[1].n, 0.0) << "another channel";
  EXPECT_EQ(made.responses[2].n, 0.0) << "another model";
  EXPECT_EQ(asked({{"a", "x", 0.3}}).responses[0].n, 0.25);
  apply(FactorPinned{"a", 1.5});
  EXPECT_EQ(asked({{"a", "x", 0.9}}).responses[0].factor, 1.5);
  configure({.calibrator_parameters = {{"alpha", 0.1}}});
  EXPECT_EQ(asked({{"a", "x", 0.9}}).responses[0].n, 0.0);
}

TEST_F(TrustTest, NamesWhoDecided) {
  const DecisionMade made = asked({{"a", "x", 0.9}, {"b", "y", 0.5}, {"c", "y", 0.5}});
  ASSERT_EQ(made.decisive.size(), 2U);
  EXPECT_EQ(made.decisive[0].model, "b");
  EXPECT_EQ(made.decisive[0].answer, made.responses[0].answer);
  EXPECT_EQ(made.decisive[1].model, "c");
  EXPECT_NEAR(made.runner_up_gap, 0.1 / 1.9, 1e-12);
  const DecisionMade alone = asked({{"a", "x"}});
  ASSERT_EQ(alone.decisive.size(), 1U);
  EXPECT_EQ(alone.decisive[0].answer, kNoAnswer);
}

TEST_F(TrustTest, DecisionsThatTellNonsenseAreRefused) {
  const Event good = plan({{"a", "x"}});
  const auto refused = [&](auto spoil) {
    Event bad = good;
    spoil(std::get<DecisionMade>(bad.body));
    return Pool().apply(bad).status == ApplyStatus::kRefused;
  };
  EXPECT_FALSE(refused([](DecisionMade&) {}));
  EXPECT_TRUE(refused([](DecisionMade& made) { made.sure.p_correct = 1.5; }));
  EXPECT_TRUE(refused([](DecisionMade& made) { made.sure.low = 0.9, made.sure.high = 0.1; }));
  EXPECT_TRUE(refused([](DecisionMade& made) { made.sure.effective_n = -1.0; }));
  EXPECT_TRUE(refused([](DecisionMade& made) { made.sure.status = static_cast<TrustStatus>(9); }));
  EXPECT_TRUE(refused([](DecisionMade& made) { made.max_error = 1.0; }));
  EXPECT_TRUE(refused([](DecisionMade& made) { made.runner_up_gap = -0.1; }));
  EXPECT_TRUE(refused([](DecisionMade& made) { made.scores.assign(2, 0.5); }));
  EXPECT_TRUE(refused([](DecisionMade& made) { made.decisive.resize(2); }));
  EXPECT_TRUE(refused([](DecisionMade& made) { made.responses[0].factor = std::numeric_limits<double>::quiet_NaN(); }));
  EXPECT_TRUE(refused([](DecisionMade& made) { made.responses[0].n = -1.0; }));
  EXPECT_TRUE(refused([](DecisionMade& made) { made.responses[0].weight = std::numeric_limits<double>::infinity(); }));
}

TEST_F(PoolTest, AnotherVoteMakesOneDecisionAndTeachesThePoolsTrustNothing) {
  const auto asked = [&](std::string vote) {
    Question question = this->question({{"a", "x", 0.9}, {"b", "y", 0.5}, {"c", "y", 0.3}});
    question.vote = std::move(vote);
    return question;
  };
  const auto decide_and_grade = [&](std::string vote) {
    const auto decision = pool_.decide(asked(std::move(vote)));
    const Event made = event(*decision);
    apply(made);
    apply(OutcomeObserved{.decision = made.id, .selected = 1.0});
    return *decision;
  };
  for (int i = 0; i < 100; ++i) {
    const DecisionMade other = decide_and_grade("majority");
    ASSERT_EQ(other.vote, "majority@1");
    ASSERT_NE(other.selected_model, "a") << "two against one";
    ASSERT_EQ(other.sure.status, TrustStatus::kCold);
  }
  EXPECT_EQ(pool_.decide(asked(""))->sure.status, TrustStatus::kCold) << "a hundred outcomes of another vote say nothing";
  EXPECT_EQ(decide_and_grade("sum").vote, "") << "the pool's own";
  for (int i = 0; i < 100; ++i) decide_and_grade("");
  EXPECT_EQ(pool_.decide(asked(""))->sure.status, TrustStatus::kCalibrated);
  EXPECT_EQ(pool_.decide(asked("stacked")).error().code, ErrorCode::kUnsupported);
  EXPECT_EQ(pool_.decide(asked("no")).error().code, ErrorCode::kNotFound);
}

}  // namespace
}  // namespace margin
