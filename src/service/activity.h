// Activity: what a pool did in the last hour, in steps of five seconds. Constant time per event, constant memory.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace margin::service {

struct ActivityStep {
  std::int64_t number = 0;  // of the step since 1970; 0: nothing happened in it
  std::uint32_t decisions = 0;
  std::uint32_t abstained = 0;
  std::uint32_t outcomes = 0;   // feedback that gave a response its outcome
  std::uint32_t settled = 0;    // decisions whose selected answer was graded, and of those
  double promised_error = 0.0;  // summed
  double realised_error = 0.0;
  double ece_stated = 0.0;  // of the pool's latest responses, as it was after the last outcome of the step
  double ece_calibrated = 0.0;
};

class Activity {
 public:
  static constexpr std::int64_t kStepMs = 5'000;
  static constexpr std::size_t kSteps = 720;

  // The step that `time_ms` falls into, to be added to; nullptr when that is too long ago.
  [[nodiscard]] ActivityStep* at(std::int64_t time_ms);
  // nullptr: nothing happened in it, or it is too long ago.
  [[nodiscard]] const ActivityStep* find(std::int64_t number) const;
  // Decisions are told again, as settled ones.
  void forget_settled();
  // Over the last minute; over less when the first event is not that old.
  [[nodiscard]] double decisions_per_minute(std::int64_t now_ms) const;

 private:
  std::array<ActivityStep, kSteps> steps_{};
  std::optional<std::int64_t> first_ms_;
};

}  // namespace margin::service
