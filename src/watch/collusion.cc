#include "watch/collusion.h"

#include <utility>

namespace margin::watch {

void Collusion::observe_pair(const WatchedResponse& a, const WatchedResponse& b, std::uint64_t task, Reporter& reporter) {
  const auto [low, high] = std::minmax(a.model, b.model);
  const std::size_t place = std::size_t{high} * (high - 1) / 2 + low;
  Pair& pair = pairs_[place];
  const bool same = a.answer == b.answer;
  const std::uint64_t others = before_.both_wrong - pair.both_wrong;
  if (others >= kOthersMin) {
    const double reference = static_cast<double>(before_.same - pair.same) / static_cast<double>(others);
    const double tolerated = kOddsTolerated * reference / (1.0 + (kOddsTolerated - 1.0) * reference);
    const auto evidence = pair.test.rise(same ? 1.0 : 0.0, tolerated, task, reporter.threshold(place));
    if (evidence) reporter.add({WatchKind::kCollusion, low, high}, *evidence, reference, task);
  }
  for (Pair* counted : {&pair, &all_}) {
    ++counted->both_wrong;
    counted->same += same ? 1 : 0;
  }
}

void Collusion::observe(const SettledTask& task, Reporter& reporter) {
  const std::size_t models = task.by_model.size();
  pairs_.resize(models * (models - 1) / 2);
  wrong_.clear();
  for (const WatchedResponse& response : task.responses) {
    if (graded(response) && response.outcome < kRight && response.answer != kNoAnswer) wrong_.push_back(&response);
  }
  before_ = all_;
  for (std::size_t j = 1; j < wrong_.size(); ++j) {
    for (std::size_t i = 0; i < j; ++i) observe_pair(*wrong_[i], *wrong_[j], task.number, reporter);
  }
}

}  // namespace margin::watch
