#include "watch/participation.h"

namespace margin::watch {

void Participation::observe(const SettledTask& task, Reporter& reporter) {
  models_.resize(task.by_model.size());
  double rate_sum = 0.0;
  double rate_count = 0.0;
  const auto counts = [](const Model& model) { return model.member && model.rate.ready(); };
  for (ModelId id = 0; id < models_.size(); ++id) {
    if (task.by_model[id] != nullptr) models_[id].member = true;
    if (!counts(models_[id])) continue;
    rate_sum += models_[id].rate.mean;
    rate_count += 1.0;
  }
  hard_.begin_task(models_.size());
  for (ModelId id = 0; id < models_.size(); ++id) {
    Model& model = models_[id];
    if (!model.member) continue;
    const double here = task.by_model[id] != nullptr ? 1.0 : 0.0;
    const double others = rate_count - (counts(model) ? 1.0 : 0.0);
    if (others > 0.0) {
      const double reference = (rate_sum - (counts(model) ? model.rate.mean : 0.0)) / others;
      const auto evidence = model.low.fall(here, reference - kTolerance, task.number, reporter.threshold(id));
      if (evidence) reporter.add({WatchKind::kLowParticipation, id}, *evidence, reference, task.number);
    }
    model.rate.add(here);
    const std::optional<double> outcome = task.others(id);
    if (outcome && outcomes_.ready()) hard_.add(id, here, *outcome < outcomes_.mean, task.number, reporter);
  }
  if (task.graded_count > 0.0) outcomes_.add(task.outcome_sum / task.graded_count);
}

}  // namespace margin::watch
