#include "service/pair_tally.h"

#include <algorithm>

namespace margin::service {
namespace {

constexpr double kRight = 0.5;

// In halves: the better outcome had the higher confidence (2), an equal one (1), a lower one (0).
std::uint32_t points(double better, double worse) { return better > worse ? 2 : better == worse ? 1 : 0; }

}  // namespace

void PairCounts::add(const PairCounts& other) {
  together += other.together;
  contests += other.contests;
  stated += other.stated;
  calibrated += other.calibrated;
  both_wrong += other.both_wrong;
  same_wrong += other.same_wrong;
}

std::size_t PairTally::number_of(const std::string& model) {
  if (const auto found = numbers_.find(model); found != numbers_.end()) return found->second;
  if (models_.size() == kModelsMax) return kModelsMax;
  models_.push_back(model);
  for (auto& half : halves_) half.resize(place(0, models_.size()));
  return numbers_[model] = models_.size() - 1;
}

void PairTally::count(const ResponseView& a, const ResponseView& b) {
  const std::size_t first = number_of(a.model);
  const std::size_t second = number_of(b.model);
  if (first == kModelsMax || second == kModelsMax || first == second) return;
  PairCounts& counts = halves_[0][place(std::min(first, second), std::max(first, second))];
  ++counts.together;
  if (*a.outcome != *b.outcome) {
    const bool a_better = *a.outcome > *b.outcome;
    const ResponseView& better = a_better ? a : b;
    const ResponseView& worse = a_better ? b : a;
    ++counts.contests;
    counts.stated += points(better.confidence, worse.confidence);
    counts.calibrated += points(better.calibrated, worse.calibrated);
  }
  if (*a.outcome < kRight && *b.outcome < kRight) {
    ++counts.both_wrong;
    if (a.answer == b.answer && a.answer != kNoAnswer) ++counts.same_wrong;
  }
}

void PairTally::add(const DecisionView& decision, Uuid feedback) {
  if (seen_ == kHalf) {
    std::swap(halves_[0], halves_[1]);
    std::fill(halves_[0].begin(), halves_[0].end(), PairCounts{});
    seen_ = 0;
  }
  ++seen_;
  const auto counts = [](const ResponseView& response) { return response.outcome.has_value() && response.part; };
  const std::vector<ResponseView>& responses = decision.responses;
  for (std::size_t i = 0; i < responses.size(); ++i) {
    if (!counts(responses[i]) || responses[i].feedback != feedback) continue;
    for (std::size_t j = 0; j < responses.size(); ++j) {
      if (i == j || !counts(responses[j])) continue;
      // Two that came with the same feedback meet once, others with the later one: the decision may know outcomes that are told afterwards.
      if (responses[j].feedback == feedback ? j < i : responses[j].place > responses[i].place) continue;
      count(responses[i], responses[j]);
    }
  }
}

PairCounts PairTally::counts(std::size_t first, std::size_t second) const {
  PairCounts sum = halves_[0][place(first, second)];
  sum.add(halves_[1][place(first, second)]);
  return sum;
}

}  // namespace margin::service
