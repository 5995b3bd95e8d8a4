#include "service/vote_tally.h"

#include <utility>

#include "base/same_text.h"
#include "margin/calibrator.h"

namespace margin::service {

void VoteCounts::add(const VoteCounts& other) {
  responses += other.responses;
  won += other.won;
  led += other.led;
  decisive += other.decisive;
  for (std::size_t i = 0; i < stated.size(); ++i) {
    stated[i] += other.stated[i];
    calibrated[i] += other.calibrated[i];
  }
}

VoteCounts& VoteTally::counts_of(std::size_t place, const std::string& model) {
  if (place < latest_.size() && internal::same_text(latest_[place]->first, model)) return latest_[place]->second;
  const Half::iterator found = halves_[0].try_emplace(model).first;
  place < latest_.size() ? void(latest_[place] = found) : latest_.push_back(found);
  return found->second;
}

void VoteTally::add(const DecisionMade& decision) {
  if (seen_[0] == kHalf) {
    std::swap(halves_[0], halves_[1]);
    halves_[0].clear();
    latest_.clear();
    seen_ = {0, seen_[0]};
  }
  ++seen_[0];
  for (std::size_t i = 0; i < decision.responses.size(); ++i) {
    const RecordedResponse& response = decision.responses[i];
    VoteCounts& counts = counts_of(i, response.model);
    ++counts.responses;
    const bool won = response.answer == decision.selected && decision.selected != kNoAnswer;
    if (won) ++counts.won;
    if (won && internal::same_text(response.model, decision.selected_model)) ++counts.led;
    if (!response.confidence || response.abstained) continue;
    ++counts.stated[static_cast<std::size_t>(band_of(*response.confidence, VoteCounts::kBins))];
    ++counts.calibrated[static_cast<std::size_t>(band_of(response.calibrated, VoteCounts::kBins))];
  }
  for (const DecisiveModel& decisive : decision.decisive) ++halves_[0][decisive.model].decisive;
}

std::map<std::string, VoteCounts, std::less<>> VoteTally::counts() const {
  Half sum = halves_[0];
  for (const auto& [model, counts] : halves_[1]) sum[model].add(counts);
  return sum;
}

}  // namespace margin::service
