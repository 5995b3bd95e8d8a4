// What every detector is given: the task as settled, and where its reports go.
#pragma once

#include <cmath>
#include <optional>
#include <span>
#include <vector>

#include "margin/math.h"
#include "margin/watch.h"
#include "watch/sequential_test.h"

namespace margin::watch {

[[nodiscard]] inline bool graded(const WatchedResponse& response) { return !std::isnan(response.outcome); }

// One task. `by_model` has, for each model seen so far, its response or nullptr.
struct SettledTask {
  std::uint64_t number = 0;
  std::span<const WatchedResponse> responses;
  std::span<const WatchedResponse* const> by_model;
  double outcome_sum = 0.0;  // of the graded responses
  double graded_count = 0.0;

  // The mean outcome of all but `model`: how easy the task was for the others.
  [[nodiscard]] std::optional<double> others(ModelId model) const {
    const WatchedResponse* own = by_model[model];
    const bool counted = own != nullptr && graded(*own);
    const double count = graded_count - (counted ? 1.0 : 0.0);
    if (count <= 0.0) return std::nullopt;
    return (outcome_sum - (counted ? own->outcome : 0.0)) / count;
  }
};

// Whose test it is.
struct Suspect {
  WatchKind kind = WatchKind::kDrift;
  std::uint32_t subject = WatchReport::kPool;
  std::uint32_t other = WatchReport::kNobody;
};

// Collects the reports, and knows how much evidence one takes.
class Reporter {
 public:
  explicit Reporter(const WatchOptions& options) : options_(options) {}

  // Subject number k = 0, 1, ... of a kind may use up 1 / ((k + 1) (k + 2)) of the kind's false reports: all of them together use up no
  // more than the whole, however many come.
  [[nodiscard]] double threshold(std::size_t subject, double tests = 1.0) const {
    const auto k = static_cast<double>(subject);
    return log((k + 1.0) * (k + 2.0) * tests / options_.false_reports_per_task);
  }
  // Drift and defection are events; the other kinds are conditions, and one that goes on is counted in the report that it has.
  void add(const Suspect& suspect, const Evidence& evidence, double reference, std::uint64_t task, std::uint32_t clock = 0);

  [[nodiscard]] const std::vector<WatchReport>& reports() const { return reports_; }
  [[nodiscard]] std::uint64_t dropped() const { return dropped_; }

  template <class Self, class Visit>
  static void visit(Self& self, Visit& visit) {
    visit.counted(self.reports_, self.options_.reports_max);
    for (auto& report : self.reports_) {
      visit.choice(report.kind, WatchKind::kSourceDisagrees);
      visit.all(report.subject, report.other, report.since, report.at, report.last, report.times, report.clock, report.observed,
                report.reference, report.tolerated, report.observations, report.evidence, report.threshold);
    }
    visit(self.dropped_);
  }

 private:
  WatchOptions options_;
  std::vector<WatchReport> reports_;
  std::uint64_t dropped_ = 0;
};

}  // namespace margin::watch
