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
#include <string>
#include <string_view>

#include "margin/calibrator.h"
#include "margin/digest.h"
#include "margin/result.h"
#include "margin/sureness.h"

namespace margin {

struct DecisionOutcome {
  double share = 0.0;    // that the decision was made with, in [0, 1]
  double outcome = 0.0;  // of the selected answer, in [0, 1]
  double weight = 1.0;   // in (0, 1]
};

class DecisionTrust {
 public:
  static constexpr double kColdBelow = 30.0;          // outcomes, faded ones counted in part
  static constexpr std::uint32_t kStaleAfter = 1000;  // decisions
  static constexpr double kMemory = 130.0;            // outcomes over which history fades
  static constexpr int kBins = 10;                    // of the share: decisions like this one are those of its bin
  static constexpr std::uint32_t kDriftFor = 100;     // decisions for which an alarm is remembered

  // A calibrator by name, as make_calibrator() takes it. kUnsupported: one that is fitted once and cannot learn; else as make_calibrator().
  [[nodiscard]] static Result<DecisionTrust> make(std::string_view calibrator, const Parameters& parameters = {});

  [[nodiscard]] static Result<DecisionTrust> make(std::string_view calibrator, int version, const Parameters& parameters);

  // What the decision is worth whose winner has this share, in [0, 1]; another share stops the program.
  [[nodiscard]] Sureness of(double share) const;
  [[nodiscard]] double p_correct(double share) const;  // of that, without the rest
  [[nodiscard]] TrustStatus status() const;
  void decided();
  // As Calibrator::prepare: shares of several decisions may come before the next outcome.
  void prepare();
  // kInvalidArgument: a value out of range; then nothing has changed.
  Status observe(const DecisionOutcome& outcome);

  // Of the only model `@pool`, which has id 0.
  [[nodiscard]] const Calibrator& calibrator() const { return *calibrator_; }

  // Bytes that restore() turns into an equal one, bit for bit.
  [[nodiscard]] std::string snapshot() const;
  [[nodiscard]] Digest digest() const { return digest_of(snapshot()); }
  // kCorrupt: not a snapshot, truncated, or a state that no stream of decisions reaches; kNotFound: an unknown calibrator or version.
  [[nodiscard]] static Result<DecisionTrust> restore(std::string_view bytes);

 private:
  explicit DecisionTrust(std::unique_ptr<Calibrator> calibrator) : calibrator_(std::move(calibrator)) {}
  [[nodiscard]] static Result<DecisionTrust> begin(Result<std::unique_ptr<Calibrator>> made);

  // Decayed sums of weights and of their squares.
  struct History {
    double weights = 0.0;
    double squares = 0.0;
    [[nodiscard]] double effective_n() const { return squares > 0.0 ? weights * weights / squares : 0.0; }
  };

  [[nodiscard]] double outcomes() const;            // faded
  [[nodiscard]] double effective_n_of_all() const;  // bins together
  [[nodiscard]] bool cold() const { return outcomes() < kColdBelow; }
  void load(internal::Decoder& in);

  std::unique_ptr<Calibrator> calibrator_;
  std::array<History, kBins> history_;
  double surplus_ = 0.0, deficit_ = 0.0;   // cumulated sums of outcome - promise, either way, in standard deviations
  std::uint32_t since_outcome_ = 0;        // decisions
  std::uint32_t since_alarm_ = kDriftFor;  // outcomes; kDriftFor: none lately
};

}  // namespace margin
