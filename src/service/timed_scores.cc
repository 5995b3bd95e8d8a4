#include "service/timed_scores.h"

namespace margin::service {

template <std::size_t kSlots>
void TimedScores::Ring<kSlots>::add(std::int64_t time_ms, const Scored& scored) {
  const std::int64_t number = time_ms / slot_ms;
  const auto place = static_cast<std::size_t>(number) % kSlots;
  if (numbers[place] > number) return;  // older than what is kept
  if (numbers[place] != number) {
    numbers[place] = number;
    slots[place] = {};
  }
  slots[place].add(scored);
}

template <std::size_t kSlots>
ScoreSums TimedScores::Ring<kSlots>::sums(std::int64_t now_ms) const {
  ScoreSums sums;
  const std::int64_t now = now_ms / slot_ms;
  for (std::size_t i = 0; i < kSlots; ++i) {
    if (numbers[i] > now - static_cast<std::int64_t>(kSlots) && numbers[i] <= now) sums.add(slots[i]);
  }
  return sums;
}

void TimedScores::add(std::int64_t time_ms, const Scored& scored) {
  hour_.add(time_ms, scored);
  day_.add(time_ms, scored);
}

ScoreSums TimedScores::sums(Span span, std::int64_t now_ms) const { return span == Span::kHour ? hour_.sums(now_ms) : day_.sums(now_ms); }

}  // namespace margin::service
