// DecisionTrust: how likely a pool's decision is right. The decision is one more model, `@pool`, whose stated confidence is the winner's
// share of the vote; it is calibrated online like every other. docs/voting.md#the-decisions-own-probability has the formulas.
//
//   auto trust = margin::DecisionTrust::make("margin_adaptive");
//   const double share = 0.7;                               // Tally::share of the vote
//   margin::Sureness sure = trust.value().of(share);        // before the outcome: 1 - sure.p_correct is the promised error
//   trust.value().decided();                                // once per decision
//   margin::Status learned = trust.value().observe({.share = share, .outcome = 1.0});  // when the selected answer's outcome is known
//
// Pure and deterministic like a calibrator; not thread-safe, const functions may run at the same time as each other.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "margin/calibrator.h"
#include "margin/result.h"

namespace margin {

enum class TrustStatus : std::uint8_t {
  kCold,        // fewer than kColdBelow outcomes, faded ones counted in part
  kDrifting,    // what was promised lately and what came differ by more than chance allows
  kStale,       // no outcome for kStaleAfter decisions
  kCalibrated,  // none of these
};
// "cold", "drifting", "stale", "calibrated".
[[nodiscard]] std::string_view name_of(TrustStatus status);

// What is known of a decision before its outcome.
struct Sureness {
  double p_correct = 0.0;
  double low = 0.0;  // 90% interval of the chance that decisions like this one are right
  double high = 1.0;
  double effective_n = 0.0;  // decisions like this one that the estimate rests on
  TrustStatus status = TrustStatus::kCold;

  // Answer only if the promise holds: 1 - p_correct <= max_error. What is not answered is a typed abstention.
  [[nodiscard]] bool promises(double max_error) const { return 1.0 - p_correct <= max_error; }
};

struct DecisionOutcome {
  double share = 0.0;    // that the decision was made with, in [0, 1]
  double outcome = 0.0;  // of the selected answer, in [0, 1]
  double weight = 1.0;   // in (0, 1]
};

class DecisionTrust {
 public:
  static constexpr double kColdBelow = 30.0;
  static constexpr std::uint32_t kStaleAfter = 1000;
  static constexpr double kMemory = 130.0;         // outcomes over which history fades
  static constexpr int kBins = 10;                 // of the share: decisions like this one are those of its bin
  static constexpr std::uint32_t kDriftFor = 100;  // decisions for which an alarm is remembered

  // A calibrator by name, as make_calibrator() takes it. kUnsupported: one that is fitted once and cannot learn; else as make_calibrator().
  [[nodiscard]] static Result<DecisionTrust> make(std::string_view calibrator, const Parameters& parameters = {});

  [[nodiscard]] Sureness of(double share) const;
  void decided();
  // kInvalidArgument: a value out of range; then nothing has changed.
  Status observe(const DecisionOutcome& outcome);

 private:
  explicit DecisionTrust(std::unique_ptr<Calibrator> calibrator);

  // Decayed sums of weights and of their squares.
  struct History {
    double weights = 0.0;
    double squares = 0.0;
    [[nodiscard]] double effective_n() const { return squares > 0.0 ? weights * weights / squares : 0.0; }
  };

  [[nodiscard]] bool cold() const;

  std::unique_ptr<Calibrator> calibrator_;
  std::array<History, kBins> history_;
  double surplus_ = 0.0, deficit_ = 0.0;  // cumulated sums of outcome - promise, either way, in standard deviations
  std::uint32_t since_outcome_ = 0;       // decisions
  std::uint32_t since_alarm_ = 0;         // outcomes; kDriftFor: none lately
};

}  // namespace margin
