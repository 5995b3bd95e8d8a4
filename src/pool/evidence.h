// Evidence: what the factors of a cell rest on, per model and band, beside its calibrator: how many observations, and how much of them the
// calibrator still remembers. Used for the counts, effective sample sizes and intervals that people see; calibration never reads it.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "base/encoding.h"
#include "margin/calibrator.h"

namespace margin::internal {

class Evidence {
 public:
  // For a cell with this calibrator; takes its method, parameters and number of bands.
  explicit Evidence(const Calibrator& calibrator);

  // Of the model and band, all 0 before anything is known of them.
  struct Band {
    double count = 0.0;    // weighted observations
    double weights = 0.0;  // what is left of their weights
    double squares = 0.0;  // and of the squared weights
    double stated = 0.0;   // sum of what is left of weight x stated confidence
    double right = 0.0;    // and of weight x outcome

    [[nodiscard]] double effective_n() const { return squares > 0.0 ? weights * weights / squares : 0.0; }
  };
  [[nodiscard]] const Band& of(ModelId model, int band) const {
    static constexpr Band kNothing;
    const std::size_t at = index(model, band);
    return at < bands_.size() ? bands_[at] : kNothing;
  }
  // As the calibrator cuts confidences.
  [[nodiscard]] int band_of(double confidence) const { return margin::band_of(confidence, bands_count_); }
  // How the method's memory fades is known: only then do weights mean anything.
  [[nodiscard]] bool fades() const { return fading_ != Fading::kUnknown; }

  void observe(const Observation& observation);
  // What was seen counts for `trust` of what it did: effective sample sizes, too.
  void discount(double trust);
  // As Calibrator::merge averages estimates: what is left of each side's weights by its count.
  void merge(const Evidence& other, std::span<const ModelId> ids);

  void save(Encoder& out) const;
  // Refuses what save() cannot have written for a cell whose calibrator knows these models.
  void load(Decoder& in, const Calibrator& calibrator);

 private:
  enum class Fading {
    kUnknown,
    kByBand,   // margin: a band's averages forget with each of its own observations
    kByModel,  // margin_adaptive: a model's bands forget together
  };

  [[nodiscard]] std::size_t index(ModelId model, int band) const {
    return model * static_cast<std::size_t>(bands_count_) + static_cast<std::size_t>(band);
  }
  [[nodiscard]] double rate(const Observation& observation) const;
  [[nodiscard]] static double count_of(std::span<const Band> model);

  int bands_count_;
  Fading fading_ = Fading::kUnknown;
  double rate_right_ = 0.0;
  double rate_wrong_ = 0.0;
  std::vector<Band> bands_;  // whole models, up to the largest that was observed
};

}  // namespace margin::internal
