// Collusion: pairs of models that, both wrong, say the same far more often than other pairs do.
#pragma once

#include <vector>

#include "watch/detector.h"

namespace margin::watch {

class Collusion {
 public:
  void observe(const SettledTask& task, Reporter& reporter);

  template <class Self, class Visit>
  static void visit(Self& self, std::size_t models, Visit& visit) {
    visit.sized(self.pairs_, models == 0 ? 0 : models * (models - 1) / 2);
    for (auto& pair : self.pairs_) visit.all(pair.both_wrong, pair.same, pair.test);
    visit.all(self.all_.both_wrong, self.all_.same);
  }

 private:
  // An outcome below this is wrong.
  static constexpr double kRight = 0.5;
  // Other pairs must have been wrong together this often before they are a reference.
  static constexpr std::uint64_t kOthersMin = 50;
  // "Far above": models may share errors, by descent or training, up to this multiple of the odds of other pairs.
  static constexpr double kOddsTolerated = 3.0;

  struct Pair {
    std::uint64_t both_wrong = 0;
    std::uint64_t same = 0;
    SequentialTest test;
  };

  void observe_pair(const WatchedResponse& a, const WatchedResponse& b, std::uint64_t task, Reporter& reporter);

  std::vector<Pair> pairs_;  // of i < j at j (j - 1) / 2 + i, so that a new model leaves the others in place
  Pair before_;              // all pairs together, before this task
  Pair all_;
  std::vector<const WatchedResponse*> wrong_;
};

}  // namespace margin::watch
