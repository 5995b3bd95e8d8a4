// A decision as it is shown.
#include "server/render.h"

#include <gtest/gtest.h>

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
    if (!response.confidence) {
      out.key("stated").null().key("calibrated").null().close('}');
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
  const std::array<double, 6> numbers{0.0, 0.5, 1.0 / 3.0, 12345.678, 1e-300, std::numeric_limits<double>::quiet_NaN()};
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

}  // namespace
}  // namespace margin::server
