// Lag: models whose errors are where outcomes become known late.
#pragma once

#include "watch/contrast.h"
#include "watch/detector.h"

namespace margin::watch {

class Lag {
 public:
  void observe(const SettledTask& task, Reporter& reporter) {
    late_.begin_task(task.by_model.size());
    for (const WatchedResponse& response : task.responses) {
      if (!graded(response)) continue;
      if (delay_.ready()) late_.add(response.model, response.outcome, response.delay > delay_.mean, task.number, reporter);
      delay_.add(response.delay);
    }
  }

  template <class Self, class Visit>
  static void visit(Self& self, std::size_t models, Visit& visit) {
    visit(self.delay_);
    Contrast::visit(self.late_, models, visit);
  }

 private:
  RunningMean delay_;  // of the pool: a longer one is late. Delays that are all the same leave nothing to compare.
  Contrast late_{WatchKind::kLagExploitation};
};

}  // namespace margin::watch
