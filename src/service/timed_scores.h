// TimedScores: how well the outcomes of the last hour and of the last day were calibrated. Constant time per outcome, constant memory: sums
// by slots of time, whose oldest makes room.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "service/score_sums.h"

namespace margin::service {

class TimedScores {
 public:
  static constexpr std::int64_t kMinuteMs = 60'000;
  enum class Span : std::uint8_t { kHour, kDay };

  void add(std::int64_t time_ms, const Scored& scored);
  // Of the slots that the span before `now_ms` touches: up to a slot (5 minutes, an hour) more than it.
  [[nodiscard]] ScoreSums sums(Span span, std::int64_t now_ms) const;

 private:
  template <std::size_t kSlots>
  struct Ring {
    std::int64_t slot_ms;
    std::array<std::int64_t, kSlots> numbers{};  // of the slot that lies there; 0: none
    std::array<ScoreSums, kSlots> slots{};

    void add(std::int64_t time_ms, const Scored& scored);
    [[nodiscard]] ScoreSums sums(std::int64_t now_ms) const;
  };
  Ring<13> hour_{5 * kMinuteMs};
  Ring<25> day_{60 * kMinuteMs};
};

}  // namespace margin::service
