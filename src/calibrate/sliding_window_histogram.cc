// sliding_window_histogram: the accuracy of each confidence bin inside a model's last W observations, weighed by their weights.
// docs/calibration.md#sliding_window_histogram
#include "calibrate/histogram.h"
#include "calibrate/per_model.h"
#include "calibrate/registry.h"
#include "calibrate/window.h"

namespace margin {
namespace {

using internal::WeightedPair;

const CalibratorInfo& info() {
  static const CalibratorInfo kInfo{.identifier = "sliding_window_histogram",
                                    .summary = "accuracy of the confidence bin inside the model's last observations",
                                    .parameters = {internal::window_parameter(), internal::bins_parameter()}};
  return kInfo;
}

class Model {
 public:
  Model() = default;
  Model(std::size_t window, int bins) : window_(window), sums_(static_cast<std::size_t>(bins)), histogram_(bins) {}

  void push(const WeightedPair& pair) {
    Sums& entered = sums_of(pair);
    if (const auto left = window_.push(pair)) {
      Sums& sums = sums_of(*left);
      if (&sums == &entered) {
        sums.weights.replace(left->weight, pair.weight);
        sums.hits.replace(left->weight * left->outcome, pair.weight * pair.outcome);
        return refresh(pair);
      }
      sums.weights.subtract(left->weight);
      sums.hits.subtract(left->weight * left->outcome);
      refresh(*left);
    }
    entered.weights.add(pair.weight);
    entered.hits.add(pair.weight * pair.outcome);
    refresh(pair);
  }

  [[nodiscard]] const internal::Histogram& histogram() const { return histogram_; }

  void save(internal::Encoder& out) const { internal::save_pairs(window_, out); }
  void load(internal::Decoder& in) {
    for (const WeightedPair& pair : internal::load_pairs(in, window_.capacity())) push(pair);
  }

 private:
  struct Sums {
    internal::WindowSum weights;
    internal::WindowSum hits;  // of weight * outcome
  };

  [[nodiscard]] Sums& sums_of(const WeightedPair& pair) {
    return sums_[static_cast<std::size_t>(band_of(pair.confidence, histogram_.size()))];
  }

  void refresh(const WeightedPair& pair) {
    const Sums& sums = sums_of(pair);
    internal::Bin& bin = histogram_.of(pair.confidence);
    bin.count = sums.weights.value();
    if (bin.count > 0.0) bin.accuracy = sums.hits.value() / bin.count;
  }

  internal::PairWindow window_;
  std::vector<Sums> sums_;         // by bin
  internal::Histogram histogram_;  // what the sums amount to, kept up to date by refresh()
};

class SlidingWindowHistogram final : public internal::PerModelCalibrator<Model> {
 public:
  explicit SlidingWindowHistogram(Parameters resolved)
      : PerModelCalibrator(margin::info(), std::move(resolved)),
        window_(static_cast<std::size_t>(integer(parameters(), "window"))),
        bins_(integer(parameters(), "bins")) {}

  [[nodiscard]] int bands() const override { return bins_; }

 protected:
  [[nodiscard]] Model fresh() const override { return Model(window_, bins_); }
  [[nodiscard]] double predict(ModelId model, double confidence) const override { return state(model).histogram().predict(confidence); }
  void learn(const Observation& observation) override {
    state(observation.model).push({observation.confidence, observation.outcome, observation.weight});
  }
  void describe(ModelId model, Explanation& explanation) const override { state(model).histogram().describe(explanation); }

 private:
  const std::size_t window_;
  const int bins_;
};

}  // namespace

const internal::Method internal::kSlidingWindowHistogram = {
    info, [](Parameters resolved) -> std::unique_ptr<Calibrator> { return std::make_unique<SlidingWindowHistogram>(std::move(resolved)); }};

}  // namespace margin
