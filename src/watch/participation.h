// Participation: who answers far less often than the others, and who stays away where the others fail.
#pragma once

#include <vector>

#include "watch/contrast.h"
#include "watch/detector.h"

namespace margin::watch {

class Participation {
 public:
  void observe(const SettledTask& task, Reporter& reporter);
  void leave(ModelId model) {
    if (model < models_.size()) models_[model].member = false;
  }

  template <class Self, class Visit>
  static void visit(Self& self, std::size_t models, Visit& visit) {
    visit.sized(self.models_, models);
    for (auto& model : self.models_) visit.all(model.member, model.rate, model.low);
    visit(self.outcomes_);
    Contrast::visit(self.hard_, models, visit);
  }

 private:
  // "Far below": an honest model may answer this much less often than the others.
  static constexpr double kTolerance = 0.2;

  struct Model {
    bool member = false;
    RunningMean rate;
    SequentialTest low;
  };

  std::vector<Model> models_;
  RunningMean outcomes_;  // of whole tasks: a task below it is hard
  Contrast hard_{WatchKind::kAvoidsHardTasks};
};

}  // namespace margin::watch
