// Calibrator: learns, per model and confidence band, what a stated confidence is worth, and turns it into a probability.
// Every method of the family is made by identifier (make_calibrator) and obeys the contract below; docs/calibration.md has the formulas.
//
//   auto calibrator = margin::make_calibrator("margin", {{"alpha", 0.04}});
//   calibrator.value()->join(0);
//   double p = calibrator.value()->calibrate(0, 0.95);               // predict first
//   margin::Status learned = calibrator.value()->observe({.model = 0, .confidence = 0.95, .outcome = 0.0});  // then learn
//
// A calibrator is a pure state machine: no clock, no randomness, no I/O, no threads; the same calls give the same bits on every
// machine. It is not thread-safe: one thread at a time, or many that only call const functions. After a model has joined, neither
// calibrate nor observe allocates.
#pragma once

#include <bit>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "margin/digest.h"
#include "margin/parameter.h"
#include "margin/result.h"
#include "margin/term.h"

namespace margin {

namespace internal {
class Encoder;
class Decoder;
}  // namespace internal

// A model inside a pool: a small dense number, given in the order of joining. Names live at the edge.
using ModelId = std::uint32_t;

// The most models one calibrator holds (ids below it): a bound on memory, not a tuning knob.
inline constexpr ModelId kModelsMax = 1U << 20;

// One response whose outcome has become known.
struct Observation {
  ModelId model = 0;
  double confidence = 0.0;  // as stated, in [0, 1]
  double outcome = 0.0;     // in [0, 1]: 1 right, 0 wrong, fractions for graded tasks
  double weight = 1.0;      // in (0, 1]
};

// Why a confidence became what it became.
struct Explanation {
  double confidence = 0.0;
  double calibrated = 0.0;
  double factor = 1.0;        // calibrated / confidence before clipping, where the method is multiplicative; else their quotient (1 at 0)
  int band = 0;               // the band or bin of the confidence, 0-based
  int bands = 1;              // how many there are
  double observations = 0.0;  // weighted count behind this (model, band)
  std::vector<Term> terms;    // what the factor is made of, in the order of the formula
};

struct CalibratorInfo {
  std::string identifier;
  int version = 1;           // of the algorithm; stored state names it, and a binary folds every version it ever shipped
  bool design_time = false;  // fitted once on calibration rows, then frozen; observe() is accepted and learns nothing
  std::string summary;
  std::vector<ParameterSpec> parameters;
};

class Calibrator {
 public:
  virtual ~Calibrator() = default;
  Calibrator(const Calibrator&) = delete;
  Calibrator& operator=(const Calibrator&) = delete;

  [[nodiscard]] const CalibratorInfo& info() const { return *info_; }
  // Every parameter with its value.
  [[nodiscard]] const Parameters& parameters() const { return parameters_; }

  // Lifecycle. A model joins once (memory is taken here, up to the largest id); joining again after leave() goes on with the state it
  // left with; joining while present changes nothing. model < kModelsMax.
  void join(ModelId model);
  // Joins as a newcomer that takes its entry factors from `donor_model` of `donor` (a predecessor in this calibrator, or the same model in
  // the pool's state without segment) instead of from this pool. Methods without an entry rule start fresh. Like join() when already known,
  // or when `donor` is of another method or does not know donor_model.
  void join_from(ModelId model, const Calibrator& donor, ModelId donor_model);
  // State is kept, untouched, and takes no part in averages. Leaving when not present changes nothing.
  void leave(ModelId model);
  [[nodiscard]] bool known(ModelId model) const { return model < presence_.size() && presence_[model] != Presence::kUnknown; }
  [[nodiscard]] bool present(ModelId model) const { return model < presence_.size() && presence_[model] == Presence::kPresent; }

  // The probability that the response is right, in [0, 1]. The model must be known and confidence in [0, 1]; otherwise the program stops.
  [[nodiscard]] double calibrate(ModelId model, double confidence) const {
    if (!known(model) || !is_probability(confidence)) [[unlikely]]
      stop(model, confidence);
    return predict(model, confidence);
  }
  // What calibrate() needs of the model's state may be worked out now: pays where it is asked more than once before something is learned.
  // Changes no result and no snapshot. The model must be known.
  void prepare(ModelId model) { on_prepare(model); }
  // Learns one outcome. kNotFound: the model is not present; kInvalidArgument: confidence, outcome or weight out of range.
  // A refused observation changes nothing.
  Status observe(const Observation& observation) {
    if (!present(observation.model) || !is_legal(observation)) [[unlikely]]
      return refusal(observation);
    learn(observation);
    return {};
  }

  // Arrays. All rows are checked first; the error names the first bad row, and then nothing has changed.
  // calibrate_batch: calibrated[r] for (models[r], confidences[r]); three spans of one length.
  Status calibrate_batch(std::span<const ModelId> models, std::span<const double> confidences, std::span<double> calibrated) const;
  Status observe_batch(std::span<const Observation> observations);
  // Row by row, first calibrated[r], then learn row r: a prequential pass in one call.
  Status prequential_batch(std::span<const Observation> observations, std::span<double> calibrated);

  // Brackets around the observations of one task; methods that count in tasks need them, the others ignore them.
  void begin_task() { on_begin_task(); }
  void end_task() { on_end_task(); }

  // Evidence starts anew while estimates stay: margin's counts return to 0, so that its bands shrink as if just begun. Methods without
  // such counts go on unchanged.
  void restart_counts() { on_restart_counts(); }
  // Evidence counts for `trust` of what it did while estimates stay: the counts of margin and margin_adaptive times trust. At 1 nothing
  // changes, whatever the method. kInvalidArgument: trust outside (0, 1]; kUnsupported: a method without such counts.
  [[nodiscard]] Status discount(double trust);
  // Takes over what `other` has seen of each of its models i, as the model `ids[i]` of this calibrator: estimates are averaged by the
  // evidence behind them, and the evidence is added; a model not known here is copied. Present is who is so in either. Nothing has changed
  // when it fails. kInvalidArgument: another method, version or parameters, or a known model without an id of its own below kModelsMax;
  // kUnsupported: a state that has one history (all but raw, margin with plain bands and shrinkage, and margin_adaptive).
  [[nodiscard]] Status merge(const Calibrator& other, std::span<const ModelId> ids);

  // Design-time methods: fit on calibration rows and freeze; a second fit replaces the first. Models are joined as they appear.
  // kUnsupported for online methods; kInvalidArgument as observe(); kLimit for a model id of kModelsMax or more.
  Status fit(std::span<const Observation> rows);

  // How the confidences of [0, 1] are cut by this method (1 when it does not cut).
  [[nodiscard]] virtual int bands() const { return 1; }
  // The model must be known and confidence in [0, 1].
  [[nodiscard]] Explanation explain(ModelId model, double confidence) const;

  // Bytes that restore_calibrator turns into an equal calibrator, bit for bit. digest() is the fingerprint of those bytes.
  [[nodiscard]] std::string snapshot() const;
  [[nodiscard]] Digest digest() const { return digest_of(snapshot()); }
  // An independent copy. Virtual for calibrators from outside the registry, which no snapshot can be restored to.
  [[nodiscard]] virtual std::unique_ptr<Calibrator> clone() const;

 protected:
  Calibrator(const CalibratorInfo& info, Parameters parameters) : info_(&info), parameters_(std::move(parameters)) {}

  // What a method implements. Arguments have been checked.
  // `donor` is null for an ordinary newcomer, else of this very type. Called once per model, before it counts as present; make room for it.
  virtual void on_join(ModelId model, const Calibrator* donor, ModelId donor_model) = 0;
  virtual void on_presence_changed(ModelId /*model*/) {}
  virtual void on_prepare(ModelId /*model*/) {}
  [[nodiscard]] virtual double predict(ModelId model, double confidence) const = 0;
  virtual void learn(const Observation& observation) = 0;
  // Row by row predict, then learn; overridden where one call per batch instead of two per row pays.
  virtual void predict_then_learn(std::span<const Observation> observations, std::span<double> calibrated);
  virtual void on_begin_task() {}
  virtual void on_end_task() {}
  virtual void on_restart_counts() {}
  // False: not supported.
  virtual bool on_discount(double /*trust*/) { return false; }
  [[nodiscard]] virtual bool merges() const { return false; }
  // `other` is of this very type; each of `models` is present, whether it will stay so or not.
  struct Merged {
    ModelId own;
    ModelId theirs;
    bool copy;     // `own` has only just joined
    bool away;     // `own` had left, and is present only since
    bool present;  // in either
  };
  virtual void on_merge(const Calibrator& /*other*/, std::span<const Merged> /*models*/) {}
  virtual void fit_rows(std::span<const Observation> /*rows*/) {}
  // Fills band, observations, factor (where multiplicative) and terms; the rest is already set.
  virtual void describe(ModelId model, Explanation& explanation) const = 0;
  // State beyond parameters and presence; load() finds room made for models() models and must refuse what save() cannot have written.
  virtual void save(internal::Encoder& out) const = 0;
  virtual void load(internal::Decoder& in) = 0;
  virtual void make_room(std::size_t models) = 0;
  // The least save() writes per model: bytes that promise more models than they can hold are refused before room is made for them.
  [[nodiscard]] virtual std::size_t saved_bytes_per_model() const { return 0; }

  // One more than the largest known id.
  [[nodiscard]] std::size_t models() const { return presence_.size(); }

 private:
  enum class Presence : std::uint8_t { kUnknown, kPresent, kAway };
  friend Result<std::unique_ptr<Calibrator>> restore_calibrator(std::string_view bytes);

  // Written so that NaN is neither.
  [[nodiscard]] static bool is_probability(double x) { return x >= 0.0 && x <= 1.0; }
  [[nodiscard]] static bool is_legal(const Observation& observation) {
    // As bits, one comparison each: the bits of a positive double grow with it, and those of negative ones and of NaN come after.
    constexpr auto kOne = std::bit_cast<std::uint64_t>(1.0);
    const auto bits = [](double x) { return std::bit_cast<std::uint64_t>(x); };
    if (bits(observation.confidence) <= kOne && bits(observation.outcome) <= kOne && bits(observation.weight) - 1 < kOne) [[likely]]
      return true;
    // What remains legal is a negative zero.
    return is_probability(observation.confidence) && is_probability(observation.outcome) && observation.weight > 0.0 &&
           observation.weight <= 1.0;
  }
  [[noreturn]] void stop(ModelId model, double confidence) const;
  [[nodiscard]] Error refusal(const Observation& observation) const;
  [[nodiscard]] static Error illegal_value(const Observation& observation);
  [[nodiscard]] Status check_rows(std::span<const Observation> observations) const;
  void admit(ModelId model, const Calibrator* donor, ModelId donor_model);

  const CalibratorInfo* info_;
  Parameters parameters_;
  std::vector<Presence> presence_;
};

// Every method in its newest version, in the order tables show them.
[[nodiscard]] std::span<const CalibratorInfo* const> calibrator_catalog();
// Versions that newer ones have replaced; what was stored with them goes on with them.
[[nodiscard]] std::span<const CalibratorInfo* const> replaced_calibrators();
// A `name` is an identifier, which means its newest version, or identifier@version: "margin_adaptive@1".
[[nodiscard]] Result<const CalibratorInfo*> find_calibrator(std::string_view name);

// kNotFound: unknown identifier (the message suggests the nearest) or a version this binary does not know; kInvalidArgument: a bad
// parameter.
[[nodiscard]] Result<std::unique_ptr<Calibrator>> make_calibrator(std::string_view name, const Parameters& parameters = {});
[[nodiscard]] Result<std::unique_ptr<Calibrator>> make_calibrator(std::string_view identifier, int version, const Parameters& parameters);

// kCorrupt: not a snapshot, truncated, or a state no calibrator can reach; kNotFound: a method or version this binary does not know.
[[nodiscard]] Result<std::unique_ptr<Calibrator>> restore_calibrator(std::string_view bytes);

// The band of a confidence: min(bands-1, floor(confidence*bands)).
[[nodiscard]] constexpr int band_of(double confidence, int bands) {
  const int band = static_cast<int>(confidence * bands);
  return band < bands ? band : bands - 1;
}

}  // namespace margin
