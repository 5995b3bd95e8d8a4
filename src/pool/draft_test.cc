// A draft is decided as the question it stands for.
#include <gtest/gtest.h>

#include <array>
#include <string>

#include "margin/random.h"
#include "pool/pool_fixture.h"

namespace margin {
namespace {

using DraftTest = PoolTest;

Draft draft_of(const Question& question) {
  Draft draft{.audits = question.audits, .vote = question.vote, .primary = question.primary};
  DecisionMade& asked = draft.decision;
  asked.task = question.task;
  asked.segment = question.segment;
  asked.kind = question.kind;
  asked.max_error = question.max_error;
  asked.probe = question.probe;
  asked.propensity = question.propensity;
  for (const Response& response : question.responses) {
    RecordedResponse& said = asked.responses.emplace_back();
    said.model = response.model;
    said.channel = response.channel;
    said.confidence = response.confidence;
    said.abstained = response.abstained;
    if (!response.answer) continue;
    said.answer = 7;  // any group will do
    said.answer_text = *response.answer;
  }
  return draft;
}

TEST_F(DraftTest, IsDecidedAsItsQuestion) {
  apply(plan({{"a", "x"}, {"b", "y"}, {"c", "x"}}));
  leave("c");
  const std::array<std::string, 7> models{"a", "b", "c", "d", "stranger", "", "@own"};
  const std::array<std::string, 6> votes{"", "", "", "majority", "sum", "no such vote"};
  const std::array<std::optional<double>, 6> confidences{0.9, 0.25, 0.0, 1.0, std::nullopt, 1.5};
  const std::array<std::optional<std::string>, 5> answers{"x", "y", " X", "", std::nullopt};
  Random random(5);
  const auto any = [&](const auto& list, std::size_t count) { return list[random.below(count)]; };
  int decided = 0;
  int refused = 0;
  for (int i = 0; i < 3000; ++i) {
    const bool sound = random.below(4) != 0;  // nothing that is refused
    Question asked{.task = "task " + std::to_string(i), .segment = random.below(4) == 0 ? "s" : ""};
    asked.kind = random.below(2) == 0 ? AnswerKind::kExact : AnswerKind::kText;
    if (random.below(5) == 0) asked.max_error = 0.3;
    if (random.below(5) == 0) asked.audits = {.rate = 0.5, .seed = random.below(std::uint64_t{1} << 40)};
    asked.probe = random.below(8) == 0;
    asked.vote = any(votes, sound ? 5 : votes.size());
    if (asked.vote.empty() && random.below(4) == 0) asked.primary = "b";
    for (std::size_t r = 0, count = random.below(6) + (sound ? 1 : 0); r < count; ++r) {
      asked.responses.push_back({.model = sound && r < 5 ? models[r] : any(models, models.size()),
                                 .answer = any(answers, answers.size()),
                                 .confidence = any(confidences, sound ? 5 : confidences.size()),
                                 .channel = random.below(5) == 0 ? "logprob" : "verbalized",
                                 .abstained = random.below(7) == 0});
      if (sound && r == 5) asked.responses.pop_back();
    }
    const Result<DecisionMade> expected = pool_.decide(asked);
    Draft draft = draft_of(asked);
    const Status status = pool_.decide(draft);
    ASSERT_EQ(status.ok(), expected.ok()) << i;
    if (expected) {
      ++decided;
      ASSERT_EQ(draft.decision, *expected) << i;
      for (std::size_t r = 0; r < asked.responses.size(); ++r) {
        const RecordedResponse& response = draft.decision.responses[r];
        EXPECT_EQ(response.answer != kNoAnswer, asked.responses[r].answer.has_value());
        EXPECT_EQ(response.answer_text, asked.responses[r].answer.value_or(""));
      }
    } else {
      ++refused;
      ASSERT_EQ(status.error().message, expected.error().message) << i;
    }
  }
  EXPECT_GT(decided, 1000);
  EXPECT_GT(refused, 200);
}

}  // namespace
}  // namespace margin
