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

void VoteTally::find_models(const DecisionMade& decision) {
  const std::size_t known = latest_.size();
  latest_.resize(decision.responses.size());
  for (std::size_t i = 0; i < latest_.size(); ++i) {
    const std::string& model = decision.responses[i].model;
    if (i >= known || !internal::same_text(latest_[i]->first, model)) latest_[i] = halves_[0].try_emplace(model).first;
  }
}

void VoteTally::add(const DecisionMade& decision, bool same_models) {
  if (seen_[0] == kHalf) {
    std::swap(halves_[0], halves_[1]);
    halves_[0].clear();
    latest_.clear();
    seen_ = {0, seen_[0]};
  }
  ++seen_[0];
  if (!same_models || latest_.size() != decision.responses.size()) find_models(decision);
  auto decisive = decision.decisive.begin();
  for (std::size_t i = 0; i < decision.responses.size(); ++i) {
    const RecordedResponse& response = decision.responses[i];
    VoteCounts& counts = latest_[i]->second;
    ++counts.responses;
    const bool won = response.answer == decision.selected && decision.selected != kNoAnswer;
    if (won) ++counts.won;
    if (won && internal::same_text(response.model, decision.selected_model)) ++counts.led;
    // They come in the order of the responses.
    if (decisive != decision.decisive.end() && internal::same_text(response.model, decisive->model)) {
      ++counts.decisive;
      ++decisive;
    }
    if (!was_calibrated(response)) continue;
    ++counts.stated[static_cast<std::size_t>(band_of(*response.confidence, VoteCounts::kBins))];
    ++counts.calibrated[static_cast<std::size_t>(band_of(response.calibrated, VoteCounts::kBins))];
  }
  for (; decisive != decision.decisive.end(); ++decisive) ++halves_[0][decisive->model].decisive;
}

std::map<std::string, VoteCounts, std::less<>> VoteTally::counts() const {
  Half sum = halves_[0];
  for (const auto& [model, counts] : halves_[1]) sum[model].add(counts);
  return sum;
}

}  // namespace margin::service
