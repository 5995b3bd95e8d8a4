#include "service/activity.h"

#include <algorithm>

namespace margin::service {

ActivityStep* Activity::at(std::int64_t time_ms) {
  first_ms_ = std::min(first_ms_.value_or(time_ms), time_ms);
  const std::int64_t number = time_ms / kStepMs;
  ActivityStep& step = steps_[static_cast<std::size_t>(number) % kSteps];
  if (step.number > number) return nullptr;
  if (step.number < number) step = {.number = number};
  return &step;
}

void Activity::forget_settled() {
  for (ActivityStep& step : steps_) {
    step.settled = 0;
    step.promised_error = step.realised_error = 0.0;
  }
}

const ActivityStep* Activity::find(std::int64_t number) const {
  const ActivityStep& step = steps_[static_cast<std::size_t>(number) % kSteps];
  return step.number == number && number > 0 ? &step : nullptr;
}

double Activity::decisions_per_minute(std::int64_t now_ms) const {
  if (!first_ms_) return 0.0;
  constexpr std::int64_t kMinuteMs = 60'000;
  const std::int64_t now = now_ms / kStepMs;
  const std::int64_t begin = std::max((now - kMinuteMs / kStepMs + 1) * kStepMs, *first_ms_);
  std::uint64_t decisions = 0;
  for (std::int64_t number = begin / kStepMs; number <= now; ++number) {
    if (const ActivityStep* step = find(number)) decisions += step->decisions;
  }
  const auto span_ms = static_cast<double>(std::max<std::int64_t>(now_ms - begin, 1000));
  return static_cast<double>(decisions) * static_cast<double>(kMinuteMs) / span_ms;
}

}  // namespace margin::service
