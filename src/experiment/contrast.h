// Contrast: what one way of doing it gains over another, whether that is known, and how many tasks it takes to know. Used by the doctor.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "experiment/estimate_cells.h"
#include "margin/bootstrap.h"

namespace margin::experiment {

enum class Answer : std::uint8_t {
  kHelps,     // the 95% interval lies wholly on the better side of zero
  kHurts,     // wholly on the worse side
  kNoGain,    // includes zero, and even its better end is less than the effect worth having
  kUnknown,   // includes zero and an effect worth having: not enough data
  kTooFew,    // too few tasks for any interval to be believed
  kNotThere,  // the log has nothing to compare
};

struct Contrast {
  Measured ours, base;
  std::size_t tasks = 0;                       // that both were measured on
  std::optional<report::Estimate> difference;  // ours - base, with its 95% interval
  std::optional<double> standard_error;        // of the difference
  double best_gain = 0.0;                      // the better end of the interval, or the difference itself; positive is better
  Answer answer = Answer::kNotThere;
  // Tasks at which a true difference of this size is told from zero with 80% chance; nullopt: no number would do.
  std::optional<double> tasks_for_observed, tasks_for_effect;
};

struct ContrastRules {
  Better better = Better::kHigher;
  double effect = 0.02;  // the smallest difference worth having, positive
  std::size_t tasks_min = 30;
};
// Both from one Resampling.
[[nodiscard]] Contrast contrast_of(Measured ours, Measured base, std::size_t tasks, const ContrastRules& rules);

// The standard error shrinks with the root of the number of tasks: with `tasks` it is `standard_error`, so how many tasks does it take
// for a true difference of `effect` to give a 95% interval without zero, with 80% chance? At least `tasks_min`; nullopt beyond a billion,
// and without any spread, which says only that the tasks were too few or too much alike.
[[nodiscard]] std::optional<double> tasks_needed(double standard_error, std::size_t tasks, double effect, std::size_t tasks_min = 30);

// a[r] - b[r], undefined where either is.
[[nodiscard]] Resampled minus(const Resampled& a, const Resampled& b);

}  // namespace margin::experiment
