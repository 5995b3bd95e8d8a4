// The tally against a count from scratch, whoever is asked and in whatever order.
#include "service/vote_tally.h"

#include <gtest/gtest.h>

#include <string>

#include "margin/random.h"

namespace margin::service {
namespace {

std::vector<std::string> names(const DecisionMade& decision) {
  std::vector<std::string> names;
  for (const RecordedResponse& response : decision.responses) names.push_back(response.model);
  return names;
}

TEST(VoteTally, EqualsACountFromScratch) {
  Random random(17);
  VoteTally tally;
  std::map<std::string, VoteCounts, std::less<>> expected;
  std::vector<std::string> before;
  std::vector<std::string> models = {"a", "b", "model-c", "model-d", "a model with a long name"};
  for (std::size_t round = 0; round < VoteTally::kHalf; ++round) {
    // Mostly the same models as before, else others or in another order.
    if (random.chance(0.3)) random.shuffle(std::span(models));
    if (random.chance(0.2)) before.clear();  // nobody says that they are the same
    DecisionMade decision{.selected = 0, .selected_model = models[0]};
    for (std::size_t i = 0; i < 3 + round / 50 % 3; ++i) {
      decision.responses.push_back(
          {.model = models[i], .confidence = random.uniform(), .answer = static_cast<std::uint32_t>(i % 2), .calibrated = 0.01});
      if (random.chance(0.3)) decision.decisive.push_back({models[i], 1});
    }
    if (random.chance(0.1)) decision.decisive.insert(decision.decisive.begin(), {"somebody else", 1});
    tally.add(decision, names(decision) == before);
    before = names(decision);

    for (const RecordedResponse& response : decision.responses) {
      VoteCounts& counts = expected[response.model];
      ++counts.responses;
      if (response.answer == decision.selected) ++counts.won;
      if (response.model == decision.selected_model) ++counts.led;
      ++counts.stated[static_cast<std::size_t>(20.0 * *response.confidence)];
      ++counts.calibrated[0];
    }
    for (const DecisiveModel& decisive : decision.decisive) ++expected[decisive.model].decisive;
  }
  const auto counts = tally.counts();
  ASSERT_EQ(counts.size(), expected.size());
  for (const auto& [model, wanted] : expected) {
    const VoteCounts& found = counts.at(model);
    EXPECT_EQ(found.responses, wanted.responses) << model;
    EXPECT_EQ(found.won, wanted.won) << model;
    EXPECT_EQ(found.led, wanted.led) << model;
    EXPECT_EQ(found.decisive, wanted.decisive) << model;
    EXPECT_EQ(found.stated, wanted.stated) << model;
    EXPECT_EQ(found.calibrated, wanted.calibrated) << model;
  }
}

}  // namespace
}  // namespace margin::service
