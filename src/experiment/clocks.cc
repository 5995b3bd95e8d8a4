#include "experiment/clocks.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <optional>

#include "base/check.h"

namespace margin::experiment {
namespace {

std::unique_ptr<Calibrator> make_clocked() {
  auto made = make_calibrator(kClocked);
  MARGIN_CHECK(made.ok(), "the registry has it");
  return std::move(*made);
}

// From the first task after the middle on, the delay of an alarm is 1, 2, ...; before it 0, -1, ...
struct Middle {
  std::uint64_t task;
  [[nodiscard]] std::int64_t delay(const ClockAlarmAt& alarm) const {
    return static_cast<std::int64_t>(alarm.task) - static_cast<std::int64_t>(task);
  }
};

void add_run(ClockTally& tally, std::span<const ClockAlarmAt> alarms, Middle middle) {
  constexpr auto kSoon = static_cast<std::int64_t>(ClockTally::kSoon);
  std::optional<std::int64_t> last_before;
  std::optional<std::int64_t> first_after;
  for (const ClockAlarmAt& alarm : alarms) {
    const std::int64_t delay = middle.delay(alarm);
    ++tally.alarms[delay > 0 ? 1 : 0];
    if (delay <= 0) last_before = delay;
    if (delay > 0 && !first_after) first_after = delay;
  }
  tally.soon[0] += last_before && *last_before > -kSoon ? 1U : 0U;
  tally.soon[1] += first_after && *first_after <= kSoon ? 1U : 0U;
  if (first_after) tally.delays.push_back(static_cast<std::uint64_t>(*first_after));
}

}  // namespace

std::vector<ClockAlarmAt> clock_alarms_in(const Stream& stream) {
  std::vector<ClockAlarmAt> alarms;
  std::map<std::uint32_t, std::unique_ptr<Calibrator>> by_segment;
  by_segment[0] = make_clocked();
  for (std::size_t number = 0; number < stream.tasks.size(); ++number) {
    const Stream::Task& task = stream.tasks[number];
    std::unique_ptr<Calibrator>& state = by_segment[task.segment];
    if (state == nullptr) state = make_clocked();
    state->begin_task();
    for (std::size_t row = task.first_row; row < std::size_t{task.first_row} + task.rows; ++row) {
      const ModelId model = stream.model[row];
      if (!state->present(model)) state->join_from(model, *by_segment[0], model);
      if (std::isnan(stream.outcome[row])) continue;
      const Status learned = state->observe(
          {.model = model, .confidence = stream.confidence[row], .outcome = stream.outcome[row], .weight = stream.weight[row]});
      MARGIN_CHECK(learned.ok(), "a stream holds only what a calibrator accepts");
      for (const ClockAlarm& alarm : clock_alarms(*state)) alarms.push_back({number + 1, alarm});
    }
    state->end_task();
  }
  return alarms;
}

std::vector<ClockTally> tally_clocks(std::span<const std::vector<ClockAlarmAt>> runs, std::uint64_t tasks, ModelId subject) {
  const bool has_subject = subject < kModelsMax;
  std::vector<ClockTally> tallies = {{.whose = "the pool's"}, {.whose = has_subject ? "the others'" : "the models'"}};
  if (has_subject) tallies.push_back({.whose = "its own"});
  for (const std::vector<ClockAlarmAt>& run : runs) {
    std::vector<std::vector<ClockAlarmAt>> parts(tallies.size());
    for (const ClockAlarmAt& alarm : run)
      parts[alarm.alarm.model == ClockAlarm::kPool ? 0 : alarm.alarm.model == subject ? 2 : 1].push_back(alarm);
    for (std::size_t part = 0; part < parts.size(); ++part) add_run(tallies[part], parts[part], {tasks / 2});
  }
  for (ClockTally& tally : tallies) std::sort(tally.delays.begin(), tally.delays.end());
  return tallies;
}

}  // namespace margin::experiment
