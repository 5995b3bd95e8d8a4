// A decision as it is shown.
#include "server/render.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <limits>

#include "margin/random.h"

namespace margin::server {
namespace {

// Member by member.
std::string shown(const std::vector<RecordedResponse>& responses) {
  JsonWriter out;
  out.key("responses").open('[');
  for (const RecordedResponse& response : responses) {
    out.open('{').key("model").text(response.model).key("channel").text(response.channel);
    if (response.abstained) out.key("abstained").flag(true);
    if (!was_calibrated(response)) {
      out.key("stated");
      response.confidence ? out.number(*response.confidence) : out.null();
      out.key("calibrated").null().close('}');
      continue;
    }
    out.key("stated").number(*response.confidence).key("calibrated").rounded(response.calibrated).key("factor").rounded(response.factor);
    out.key("band").number(response.band).key("n").rounded(response.n).key("weight").rounded(response.weight);
    if (!response.terms.empty()) out.key("weight_of").open('{');
    for (const Term& term : response.terms) out.foreign_key(term.name).rounded(term.value);
    if (!response.terms.empty()) out.close('}');
    out.close('}');
  }
  return std::string(out.close(']').str());
}

TEST(Render, ResponsesOfAnyChannelsAreShownMemberByMember) {
  const std::array<std::string, 6> channels{"verbalized", "logprob", "", "a \"quoted\" one", std::string(64, 'x'), std::string(65, 'y')};
  const std::array<double, 7> numbers{0.0, 0.5, 1.0, 1.0 / 3.0, 12345.678, 1e-300, std::numeric_limits<double>::quiet_NaN()};
  Random random(23);
  const auto any = [&](const auto& list) { return list[random.below(list.size())]; };
  for (int i = 0; i < 2000; ++i) {
    DecisionMade decision;
    for (std::uint64_t left = random.below(8); left > 0; --left) {
      RecordedResponse& response = decision.responses.emplace_back();
      response.model = "model-" + std::to_string(random.below(5));
      response.channel = random.below(3) == 0 ? any(channels) : "verbalized";
      if (random.below(5) != 0) response.confidence = any(numbers);
      response.abstained = random.below(6) == 0;
      response.calibrated = any(numbers);
      response.factor = any(numbers);
      response.band = static_cast<decltype(response.band)>(random.below(12));
      response.n = any(numbers);
      response.weight = any(numbers);
      if (random.below(6) == 0) response.terms.push_back({"odds", any(numbers)});
    }
    JsonWriter out;
    render_decision(out, Uuid{}, decision, [](std::size_t) -> std::optional<std::string_view> { return std::nullopt; });
    EXPECT_NE(out.str().find(shown(decision.responses)), std::string_view::npos) << out.str() << "\n" << shown(decision.responses);
  }
}

TEST(Render, ADecisionIsShownMemberByMember) {
  const std::array<double, 7> numbers{0.0, 0.5, -2.0 / 3.0, 1.0 / 3.0, 12345.678, 1e-300, std::numeric_limits<double>::infinity()};
  const std::array<std::string, 7> texts{"", "B", "yes", "forty-two", "an answer of some length", "\"quoted\"", "42\n"};
  Random random(29);
  const auto any = [&](const auto& list) { return list[random.below(list.size())]; };
  const auto number = [&] { return random.below(3) == 0 ? any(numbers) : random.uniform(); };
  for (int i = 0; i < 5000; ++i) {
    DecisionMade decision;
    std::vector<std::string> answers;
    const auto groups = static_cast<std::uint32_t>(random.below(4));
    decision.answers.resize(groups);
    for (std::uint64_t left = random.below(3) == 0 ? random.below(4) : groups; left > 0; --left) decision.scores.push_back(number());
    for (std::uint64_t left = random.below(8); left > 0; --left) {
      RecordedResponse& response = decision.responses.emplace_back();
      response.model = any(texts) + std::to_string(random.below(4));
      response.channel = "verbalized";
      response.answer = random.below(5) == 0 ? kNoAnswer : static_cast<std::uint32_t>(random.below(groups + 1));
      response.audit = random.below(3) == 0 ? 0.25 : 0.0;
      answers.push_back(any(texts));
    }
    if (!decision.responses.empty() && random.below(5) != 0) {
      const RecordedResponse& leading = decision.responses[random.below(decision.responses.size())];
      decision.selected = leading.answer;
      decision.selected_model = random.below(6) == 0 ? "somebody else" : leading.model;
    }
    decision.sure = {number(), number(), number(), number(), static_cast<TrustStatus>(random.below(3))};
    decision.abstained = random.below(3) == 0;
    if (random.below(3) == 0) decision.max_error = 0.125;
    if (random.below(3) == 0) decision.vote = any(texts);
    decision.share = number();
    decision.runner_up_gap = number();
    for (std::uint64_t left = random.below(3); left > 0; --left) decision.decisive.push_back({.model = any(texts)});
    const auto text = [&](std::size_t response) -> std::optional<std::string_view> {
      return decision.responses[response].answer == kNoAnswer ? std::nullopt : std::optional<std::string_view>(answers[response]);
    };

    const auto leads = [&](const RecordedResponse& response) {
      return decision.selected != kNoAnswer && response.answer == decision.selected && response.model == decision.selected_model;
    };
    const auto leading = std::find_if(decision.responses.begin(), decision.responses.end(), leads);
    const bool winner = leading != decision.responses.end();
    const auto text_or_null = [](JsonWriter& out, std::optional<std::string_view> shown) { shown ? out.text(*shown) : out.null(); };
    JsonWriter plainly;
    plainly.open('{').key("decision_id").text(Uuid{7, 8}.text()).key("answer");
    const bool named = winner && !decision.abstained;
    text_or_null(plainly, named ? text(static_cast<std::size_t>(leading - decision.responses.begin())) : std::nullopt);
    plainly.key("model");
    text_or_null(plainly, named ? std::optional<std::string_view>(decision.selected_model) : std::nullopt);
    plainly.key("p_correct");
    winner ? plainly.rounded(decision.sure.p_correct) : plainly.null();
    plainly.key("interval");
    winner ? plainly.open('[').rounded(decision.sure.low).rounded(decision.sure.high).close(']') : plainly.null();
    plainly.key("effective_n").rounded(decision.sure.effective_n).key("status").text(margin::name_of(decision.sure.status));
    plainly.key("abstained").flag(decision.abstained);
    if (decision.max_error) plainly.key("max_error").number(*decision.max_error);
    if (!decision.vote.empty()) plainly.key("vote").text(decision.vote);
    plainly.key("share").rounded(decision.share).key("runner_up_gap").rounded(decision.runner_up_gap).key("grade_please").open('[');
    for (const RecordedResponse& response : decision.responses) {
      if (response.audit > 0.0) plainly.text(response.model);
    }
    plainly.close(']').key("votes").open('[');
    for (std::uint32_t group = 0; group < groups; ++group) {
      std::optional<std::string_view> given;
      for (std::size_t r = decision.responses.size(); r > 0; --r) {
        if (decision.responses[r - 1].answer == group) given = text(r - 1);
      }
      plainly.open('{').key("answer");
      text_or_null(plainly, given);
      plainly.key("score").rounded(group < decision.scores.size() ? decision.scores[group] : 0.0).key("models").open('[');
      for (const RecordedResponse& response : decision.responses) {
        if (response.answer == group) plainly.text(response.model);
      }
      plainly.close(']').close('}');
    }
    plainly.close(']');
    std::string expected = plainly.take() + ',' + shown(decision.responses) + R"(,"decisive":[)";
    for (const DecisiveModel& decisive : decision.decisive) plainly.text(decisive.model);
    expected += std::string(plainly.close(']').close('}').str());

    JsonWriter out;
    out.open('{');
    render_decision(out, Uuid{7, 8}, decision, text);
    ASSERT_EQ(out.close('}').str(), expected);
  }
}

}  // namespace
}  // namespace margin::server
