// Drift: a model's accuracy against its own record, and the pool's against its models' records. Also trust, then defect.
#pragma once

#include <array>
#include <vector>

#include "watch/detector.h"

namespace margin::watch {

class Drift {
 public:
  void observe(const SettledTask& task, Reporter& reporter);

  template <class Self, class Visit>
  static void visit(Self& self, std::size_t models, Visit& visit) {
    const auto both = [&](auto& tests) { visit.all(tests.fall, tests.rise); };
    visit.sized(self.models_, models);
    for (auto& model : self.models_) {
      for (auto& record : model.records) visit(record);
      for (auto& tests : model.tests) both(tests);
      visit.all(model.others, model.others_since);
    }
    for (auto& tests : self.pool_) both(tests);
  }

 private:
  // A record's memory in outcomes, and how far an honest model may be from it: the shorter record is there sooner and less exact.
  struct Clock {
    std::uint32_t memory;
    double tolerance;
  };
  static constexpr std::array<Clock, 2> kClocks = {{{100, 0.2}, {500, 0.1}}};
  static constexpr std::size_t kLong = 1;
  static constexpr double kTests = 2.0 * kClocks.size();  // of a subject: two directions for every clock
  // The mean of many models is steadier than one of them.
  static constexpr double kPoolTolerance = 0.5;
  // What makes drift a defection: a long record left by this much, and others who fell less than half as far.
  static constexpr double kSharpFall = 0.25;
  static constexpr double kSharedPart = 0.5;

  struct Both {
    SequentialTest fall, rise;
  };
  struct Model {
    std::array<RunningMean, kClocks.size()> records = {{{.memory = kClocks[0].memory}, {.memory = kClocks[1].memory}}};
    std::array<Both, kClocks.size()> tests;
    RunningMean others;        // their outcomes on the tasks of the record
    RunningMean others_since;  // ... and since the long record's test runs
  };

  // Enough of a record for its clock: a quarter of its memory.
  static bool ready(const Model& model, std::size_t clock) { return 4 * model.records[clock].count >= kClocks[clock].memory; }
  static bool report(Both& tests, double x, double record, std::uint32_t subject, std::size_t clock, const SettledTask& task,
                     Reporter& reporter, std::optional<Evidence>* fallen);
  bool observe_pool(const SettledTask& task, Reporter& reporter);
  void observe_model(const WatchedResponse& response, const SettledTask& task, Reporter& reporter);

  std::vector<Model> models_;
  std::array<Both, kClocks.size()> pool_;
};

}  // namespace margin::watch
