// Contrast: does a model fall in special cases further than the others do? Behind avoiding hard tasks and exploiting the lag.
#pragma once

#include <algorithm>
#include <vector>

#include "watch/detector.h"

namespace margin::watch {

class Contrast {
 public:
  explicit Contrast(WatchKind kind) : kind_(kind) {}

  // Before the observations of a task.
  void begin_task(std::size_t models) {
    models_.resize(models);
    gap_sum_ = 0.0;
    gap_count_ = 0.0;
    for (const Model& model : models_) {
      if (!model.compared()) continue;
      gap_sum_ += model.gap();
      gap_count_ += 1.0;
    }
  }

  void add(std::uint32_t subject, double x, bool special, std::uint64_t task, Reporter& reporter) {
    Model& model = models_[subject];
    if (!special) {
      model.usual.add(x);
      model.usual_since.add(x);
      return;
    }
    if (model.usual.ready()) {
      if (!model.test.running()) model.usual_since = {};
      const double gap = std::min(0.0, others_gap(model));
      const double reference = model.usual.mean + gap;
      const auto evidence = model.test.fall(x, reference - kTolerance, task, reporter.threshold(subject));
      // Who fell in all cases alike did so in the usual ones of the same stretch.
      if (evidence && model.usual_since.mean + gap - evidence->observed > kConfirmed) {
        reporter.add({kind_, subject}, *evidence, reference, task);
      }
    }
    model.special.add(x);
  }

  // `models` have been met.
  template <class Self, class Visit>
  static void visit(Self& self, std::size_t models, Visit& visit) {
    visit.sized(self.models_, models);
    for (auto& model : self.models_) visit.all(model.usual, model.special, model.usual_since, model.test);
  }

 private:
  static constexpr double kTolerance = 0.1;
  // By so much the usual cases of the stretch that is evidence must be better than the special ones.
  static constexpr double kConfirmed = 0.25;
  // Short, so that a change in all cases alike is soon in both means, and no contrast.
  static constexpr std::uint64_t kContrastMemory = 50;

  struct Model {
    RunningMean usual{.memory = kContrastMemory};
    RunningMean special{.memory = kContrastMemory};
    RunningMean usual_since;  // since the test runs
    SequentialTest test;

    [[nodiscard]] bool compared() const { return usual.ready() && special.ready(); }
    [[nodiscard]] double gap() const { return special.mean - usual.mean; }
  };

  // Of this task's models as they were before it. 0 where nobody else has been compared.
  [[nodiscard]] double others_gap(const Model& model) const {
    const bool counted = model.compared();
    const double count = gap_count_ - (counted ? 1.0 : 0.0);
    return count > 0.0 ? (gap_sum_ - (counted ? model.gap() : 0.0)) / count : 0.0;
  }

  WatchKind kind_;
  std::vector<Model> models_;
  double gap_sum_ = 0.0;
  double gap_count_ = 0.0;
};

}  // namespace margin::watch
