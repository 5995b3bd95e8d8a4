// histogram_binning: the accuracy of each confidence bin per model on calibration rows (weighed by their weights), frozen.
// docs/calibration.md#histogram_binning
#include "calibrate/histogram.h"
#include "calibrate/per_model.h"
#include "calibrate/registry.h"

namespace margin {
namespace {

const CalibratorInfo& info() {
  static const CalibratorInfo kInfo{.identifier = "histogram_binning",
                                    .design_time = true,
                                    .summary = "accuracy of the confidence bin, measured at design time",
                                    .parameters = {internal::bins_parameter()}};
  return kInfo;
}

struct Model : internal::Histogram {
  using Histogram::Histogram;

  void fit(std::span<const Observation> rows) {
    std::vector<double> hits(static_cast<std::size_t>(size()), 0.0);
    for (const Observation& row : rows) {
      const int k = band_of(row.confidence, size());
      (*this)[k].count += row.weight;
      hits[static_cast<std::size_t>(k)] += row.weight * row.outcome;
    }
    for (int k = 0; k < size(); ++k) {
      internal::Bin& bin = (*this)[k];
      if (bin.count > 0.0) bin.accuracy = hits[static_cast<std::size_t>(k)] / bin.count;
    }
  }
};

class HistogramBinning final : public internal::FrozenCalibrator<Model> {
 public:
  explicit HistogramBinning(Parameters resolved)
      : FrozenCalibrator(margin::info(), std::move(resolved)), bins_(integer(parameters(), "bins")) {}

  [[nodiscard]] int bands() const override { return bins_; }

 protected:
  [[nodiscard]] Model fresh() const override { return Model(bins_); }
  [[nodiscard]] double predict(ModelId model, double confidence) const override { return state(model).predict(confidence); }
  void describe(ModelId model, Explanation& explanation) const override { state(model).describe(explanation); }

 private:
  const int bins_;
};

}  // namespace

const internal::Method internal::kHistogramBinning = {
    info, [](Parameters resolved) -> std::unique_ptr<Calibrator> { return std::make_unique<HistogramBinning>(std::move(resolved)); }};

}  // namespace margin
