#include "experiment/paper_findings.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/check.h"
#include "experiment/published.h"
#include "experiment/shown.h"

namespace margin::experiment {
namespace {

// A change by more than this is called catastrophic, one by less than kSlight slight.
constexpr double kCatastrophic = 0.10, kSlight = 0.01;

constexpr std::string_view kFrozen[] = {"temperature_scaling", "platt_scaling", "histogram_binning"};
constexpr std::string_view kOnline[] = {
    "margin", "sliding_window_histogram", "decayed_histogram", "windowed_accuracy_replace", "windowed_accuracy_multiply", "online_platt"};
constexpr std::string_view kHardWindows[] = {"sliding_window_histogram", "windowed_accuracy_replace", "windowed_accuracy_multiply"};

double ece_of(const EntrantResult& entrant) { return level(entrant, kEce).value_or(0.0); }

// By ECE, lowest first.
std::vector<const EntrantResult*> ranked(const ConditionResult& condition, std::span<const std::string_view> labels) {
  std::vector<const EntrantResult*> entrants;
  for (const std::string_view label : labels) entrants.push_back(&entrant_of(condition, label));
  std::stable_sort(entrants.begin(), entrants.end(), [](const auto* a, const auto* b) { return ece_of(*a) < ece_of(*b); });
  return entrants;
}

report::Estimate paired(const EntrantResult& a, const EntrantResult& b) {
  const auto estimate = difference(a, b, kEce);
  MARGIN_CHECK(estimate.has_value(), "every row of the cohort is graded");
  return *estimate;
}

std::string minus(const EntrantResult& a, const EntrantResult& b) { return a.label + " - " + b.label; }

std::vector<std::string> conditions_of(std::string_view severity) {
  std::vector<std::string> names;
  for (const std::string& name : published_keys({"severity"})) {
    if (published_text({"severity", name}) == severity) names.push_back(name);
  }
  return names;
}

class Findings {
 public:
  explicit Findings(const PaperResults& results) : results_(results) {}

  std::vector<Finding> collect() {
    online_beats_frozen();
    hard_windows_beat_margin();
    alpha_falls_then_rises();
    shrinkage_helps_and_hurts();
    two_rates_against_the_regime();
    late_outcomes();
    selected_outcomes();
    return std::move(findings_);
  }

 private:
  void below(std::string claim, const std::string& condition, const EntrantResult& a, const EntrantResult& b) {
    findings_.push_back({std::move(claim), condition, minus(a, b), paired(a, b), false, 0.0});
  }
  void above(std::string claim, const std::string& condition, const EntrantResult& a, const EntrantResult& b, double limit = 0.0) {
    findings_.push_back({std::move(claim), condition, minus(a, b), paired(a, b), true, limit});
  }

  // If the worst online method beats the best frozen one, each beats each.
  void online_beats_frozen() {
    for (const std::string& name : conditions_of("severe")) {
      const ConditionResult& condition = condition_of(results_.shift, name);
      below("online beats frozen under severe shift", name, *ranked(condition, kOnline).back(), *ranked(condition, kFrozen).front());
    }
  }

  void hard_windows_beat_margin() {
    for (const std::string& name : conditions_of("severe")) {
      const ConditionResult& condition = condition_of(results_.told, name);
      for (const std::string_view window : kHardWindows) {
        below("hard windows beat margin under told", name, entrant_of(condition, window), entrant_of(condition, "margin"));
      }
    }
    for (const char* severity : {"severe", "moderate", "mild"}) {
      for (const std::string& name : conditions_of(severity)) {
        const ConditionResult& condition = condition_of(results_.told, name);
        below("windowed accuracy beats default margin, told", name, entrant_of(condition, "windowed_accuracy_replace"),
              entrant_of(condition, kMarginDefaults));
      }
    }
  }

  void alpha_falls_then_rises() {
    for (const char* name : {"HE->BCB", "MBPP->MBPP+"}) {
      const std::vector<EntrantResult>& alphas = condition_of(results_.alpha.conditions, name).entrants;
      const auto best = std::min_element(alphas.begin(), alphas.end(), [](const auto& a, const auto& b) { return ece_of(a) < ece_of(b); });
      above("the alpha column falls", name, alphas.front(), *best);
      above("and rises", name, alphas.back(), *best);
    }
  }

  void shrinkage_helps_and_hurts() {
    const auto at = [&](const char* name, const char* value) -> const EntrantResult& {
      return entrant_of(condition_of(results_.shrinkage.conditions, name), value);
    };
    below("k_s = 100 helps", "HE->BCB", at("HE->BCB", "100"), at("HE->BCB", "0"));
    above("k_s = 100 hurts", "MBPP->CC", at("MBPP->CC", "100"), at("MBPP->CC", "0"));
  }

  // Where accuracy falls, learning fast from success is against the regime; where it hardly moves, either is.
  void two_rates_against_the_regime() {
    const auto worse = [&](const char* name, const char* rates) {
      const ConditionResult& condition = condition_of(results_.two_rate.conditions, name);
      above("two rates against the regime: catastrophic", name, entrant_of(condition, rates), entrant_of(condition, "0.04/0.04"),
            kCatastrophic);
    };
    worse("HE->BCB", "0.08/0.02");
    worse("MBPP->CC", "0.08/0.02");
    worse("MBPP->MBPP+", "0.02/0.08");
    worse("MBPP->MBPP+", "0.08/0.02");
  }

  [[nodiscard]] const RegimeResults& feedback_of(std::string_view name) const {
    const auto found =
        std::find_if(results_.feedback.begin(), results_.feedback.end(), [&](const auto& one) { return one.condition == name; });
    MARGIN_CHECK(found != results_.feedback.end(), "feedback was run under every condition");
    return *found;
  }

  // The method that the regime costs least.
  void least_cost(const std::string& claim, const std::string& name, std::size_t regime) {
    const RegimeResults& condition = feedback_of(name);
    const std::vector<EntrantResult>& after = condition.results[regime].entrants;
    const std::vector<EntrantResult>& before = condition.results.front().entrants;
    std::size_t least = 0;
    for (std::size_t i = 1; i < after.size(); ++i) {
      if (ece_of(after[i]) - ece_of(before[i]) < ece_of(after[least]) - ece_of(before[least])) least = i;
    }
    findings_.push_back({claim, name, fmt::format("{}: {} - {}", after[least].label, condition.labels[regime], condition.labels.front()),
                         paired(after[least], before[least]), true, 0.0});
  }

  // The change of margin, mean over conditions, which have tasks of their own: resample r of each together is one resample of all.
  [[nodiscard]] report::Estimate mean_change(const std::vector<std::string>& names, std::size_t regime) const {
    double value = 0.0;
    Resampled sums;
    const double share = 1.0 / static_cast<double>(names.size());
    for (const std::string& name : names) {
      const RegimeResults& condition = feedback_of(name);
      const EntrantResult& after = entrant_of(condition.results[regime], "margin");
      const EntrantResult& before = entrant_of(condition.results.front(), "margin");
      value += share * (ece_of(after) - ece_of(before));
      sums.resize(after.ece.size(), 0.0);
      for (std::size_t r = 0; r < sums.size(); ++r) {
        sums[r] =
            sums[r] && after.ece[r] && before.ece[r] ? std::optional(*sums[r] + share * (*after.ece[r] - *before.ece[r])) : std::nullopt;
      }
    }
    report::Estimate estimate{value, std::nullopt};
    if (const auto interval = percentile_interval(sums)) estimate.interval = {interval->low, interval->high};
    return estimate;
  }

  void late_outcomes() {
    constexpr std::size_t kLate = 1;
    for (const std::string& name : conditions_of("severe")) least_cost("late outcomes cost every online method", name, kLate);
    std::vector<std::string> mild = conditions_of("mild");
    mild.insert(mild.end(), {"MMLU", "MATH", "TQA"});
    findings_.push_back(
        {"late outcomes cost margin, mild and QA/math", "mean of five", "margin: lag 200 - lag 0", mean_change(mild, kLate), true, 0.0});
    for (const std::string& name : conditions_of("moderate")) {
      findings_.push_back(
          {"late outcomes hardly matter on a long target", name, "margin: lag 200 - lag 0", mean_change({name}, kLate), false, kSlight});
    }
  }

  void selected_outcomes() {
    constexpr std::size_t kSelectedOnly = 2;
    for (const std::string& name : conditions_of("severe")) {
      least_cost("selected outcomes alone cost every online method", name, kSelectedOnly);
    }
  }

  const PaperResults& results_;
  std::vector<Finding> findings_;
};

}  // namespace

std::vector<Finding> paper_findings(const PaperResults& results) { return Findings(results).collect(); }

report::Table to_table(const std::vector<Finding>& findings) {
  report::Table table{.title = "Do the published findings hold on the simulated cohort?",
                      .columns = {{.name = "finding"},
                                  {.name = "condition"},
                                  {.name = "compared"},
                                  {.name = "difference of ECE", .kind = report::Kind::kPercent},
                                  {.name = "expected"},
                                  {.name = "holds"}}};
  for (const Finding& one : findings) {
    table.rows.push_back({one.claim, one.condition, one.difference_of, one.difference,
                          fmt::format("{} {} points", one.above ? "above" : "below", one.limit * 100.0), one.holds() ? "yes" : "NO"});
  }
  table.notes = {"Holds: the whole 95% interval of the paired difference, over resampled tasks, lies on the published side.",
                 "Where several methods are meant, the row shows the one nearest to the contrary."};
  return table;
}

}  // namespace margin::experiment
