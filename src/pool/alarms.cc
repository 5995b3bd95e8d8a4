// The watch's reports for people: names instead of numbers.
#include "pool/state.h"

namespace margin::internal {

std::vector<Alarm> PoolState::alarms() const {
  std::vector<Alarm> alarms;
  if (watch.reports() == nullptr) return alarms;
  const auto model_name = [&](std::uint32_t model) { return model < members.size() ? members[model].name : std::string(); };
  for (std::size_t i = 0; i < watch.reports()->size(); ++i) {
    const WatchReport& report = (*watch.reports())[i];
    const bool source = report.kind == WatchKind::kSourceDisagrees;
    alarms.push_back({.subject = !source                            ? model_name(report.subject)
                                 : report.subject < watch.sources() ? watch.source(report.subject)
                                                                    : std::string(),
                      .other = model_name(report.other),
                      .time_ms = watch.time_of(i),
                      .report = report});
  }
  return alarms;
}

}  // namespace margin::internal
