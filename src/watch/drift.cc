#include "watch/drift.h"

namespace margin::watch {

// True when one of the two tests was passed.
bool Drift::report(Both& tests, double x, double record, std::uint32_t subject, std::size_t clock, const SettledTask& task,
                   Reporter& reporter, std::optional<Evidence>* fallen) {
  const bool pool = subject == WatchReport::kPool;
  const double tolerance = kClocks[clock].tolerance * (pool ? kPoolTolerance : 1.0);
  const double threshold = reporter.threshold(pool ? 0 : subject + 1, kTests);
  const std::optional<Evidence> fall = tests.fall.fall(x, record - tolerance, task.number, threshold);
  const std::optional<Evidence> rise = tests.rise.rise(x, record + tolerance, task.number, threshold);
  for (const std::optional<Evidence>* evidence : {&fall, &rise}) {
    if (*evidence) reporter.add({WatchKind::kDrift, subject}, **evidence, record, task.number, kClocks[clock].memory);
  }
  if (fallen != nullptr) *fallen = fall;
  return fall || rise;
}

// Only models with a record take part on either side, so that whoever joins or leaves changes nothing.
bool Drift::observe_pool(const SettledTask& task, Reporter& reporter) {
  bool alarm = false;
  for (std::size_t clock = 0; clock < kClocks.size(); ++clock) {
    double outcomes = 0.0;
    double records = 0.0;
    double count = 0.0;
    for (const WatchedResponse& response : task.responses) {
      if (!graded(response) || !ready(models_[response.model], clock)) continue;
      outcomes += response.outcome;
      records += models_[response.model].records[clock].mean;
      count += 1.0;
    }
    if (count < 2.0) continue;
    alarm |= report(pool_[clock], outcomes / count, records / count, WatchReport::kPool, clock, task, reporter, nullptr);
  }
  return alarm;
}

void Drift::observe_model(const WatchedResponse& response, const SettledTask& task, Reporter& reporter) {
  Model& model = models_[response.model];
  if (!model.tests[kLong].fall.running()) model.others_since = {};
  const std::optional<double> others = task.others(response.model);
  if (others) model.others_since.add(*others);

  bool alarm = false;
  for (std::size_t clock = 0; clock < kClocks.size(); ++clock) {
    if (!ready(model, clock)) continue;
    const double record = model.records[clock].mean;
    std::optional<Evidence> fallen;
    alarm |= report(model.tests[clock], response.outcome, record, response.model, clock, task, reporter, &fallen);
    if (clock != kLong || !fallen) continue;
    const double fall = record - fallen->observed;
    const double fall_of_others = model.others_since.count > 0 ? model.others.mean - model.others_since.mean : 0.0;
    if (fall >= kSharpFall && fall_of_others < kSharedPart * fall) {
      reporter.add({WatchKind::kTrustThenDefect, response.model}, *fallen, record, task.number);
    }
  }
  if (alarm) {
    model = {};
  } else {
    for (RunningMean& record : model.records) record.add(response.outcome);
    if (others) model.others.add(*others);
  }
}

void Drift::observe(const SettledTask& task, Reporter& reporter) {
  models_.resize(task.by_model.size());
  const bool alarm = observe_pool(task, reporter);
  for (const WatchedResponse& response : task.responses) {
    if (graded(response)) observe_model(response, task, reporter);
  }
  // After the pool has left its records they are nobody's.
  if (alarm) models_.assign(models_.size(), {});
}

}  // namespace margin::watch
