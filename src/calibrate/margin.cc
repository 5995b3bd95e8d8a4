// margin: the published calibrator. Per model and band, the ratio of what happened to what was stated, both exponentially averaged,
// shrunk toward the model's own ratio (or the pool's in that band). docs/calibration.md#margin maps the formulas to this file.
#include <algorithm>
#include <vector>

#include "base/encoding.h"
#include "calibrate/registry.h"
#include "margin/math.h"

namespace margin {
namespace {

// No factor exceeds this, whatever the data: a model that states 0.01 and is always right is trusted up to 20 times its word.
constexpr double kFactorMax = 20.0;

const CalibratorInfo& info() {
  static const CalibratorInfo kInfo{
      .identifier = "margin",
      .summary = "accuracy over stated confidence per model and band, exponentially averaged, shrunk by count",
      .parameters = {
          [] {
            ParameterSpec spec = number_parameter("alpha", 0.04, 0.0, 1.0, "rate of both averages; 1/alpha is their memory in observations");
            spec.open_low = true;
            return spec;
          }(),
          integer_parameter("bands", 3, 1, 1000, "equal-width bands of stated confidence"),
          number_parameter("shrinkage", 100.0, 0.0, 1e9, "observations at which a band's own factor and the target weigh the same; 0 = band factors alone"),
          number_parameter("alpha_correct", 0.0, 0.0, 1.0, "two-rate variant: rate after a right answer; 0 = alpha"),
          number_parameter("alpha_incorrect", 0.0, 0.0, 1.0, "two-rate variant: rate after a wrong answer; 0 = alpha"),
          choice_parameter("target", {"model", "pool_band"}, "what a band shrinks toward: the model's factor, or the pool's mean factor in that band"),
          choice_parameter("entry", {"pool", "identity"}, "a newcomer's factors: the mean of the present models', or 1"),
      }};
  return kInfo;
}

double ratio(double numerator, double denominator) {
  return denominator == 0.0 ? 1.0 : std::min(numerator / denominator, kFactorMax);
}

// Mean of the values added, 1 when there were none.
class FactorMean {
 public:
  void add(double factor) {
    sum_ += factor;
    count_ += 1.0;
  }
  [[nodiscard]] double value() const { return count_ > 0.0 ? sum_ / count_ : 1.0; }

 private:
  double sum_ = 0.0;
  double count_ = 0.0;
};

class Margin final : public Calibrator {
 public:
  explicit Margin(Parameters resolved)
      : Calibrator(info(), std::move(resolved)),
        alpha_correct_(rate_or_alpha("alpha_correct")),
        alpha_incorrect_(rate_or_alpha("alpha_incorrect")),
        shrinkage_(number(parameters(), "shrinkage")),
        band_count_(static_cast<std::size_t>(integer(parameters(), "bands"))),
        symmetric_(alpha_correct_ == alpha_incorrect_),
        shrinks_to_pool_(choice(parameters(), "target") == "pool_band"),
        enters_from_pool_(choice(parameters(), "entry") == "pool"),
        pool_factors_(band_count_, 1.0) {}

  [[nodiscard]] int bands() const override { return static_cast<int>(band_count_); }

 protected:
  [[nodiscard]] double predict(ModelId model, double confidence) const override {
    return clip01(effective_factor(model, static_cast<std::size_t>(band_of(confidence, bands()))) * confidence);
  }

  void learn(const Observation& observation) override {
    const auto k = static_cast<std::size_t>(band_of(observation.confidence, bands()));
    Band* bands_of_model = &bands_[observation.model * band_count_];
    Band& band = bands_of_model[k];
    const double rate = this->rate(observation);
    const double keep = 1.0 - rate;
    band.accuracy = keep * band.accuracy + rate * observation.outcome;
    band.confidence = keep * band.confidence + rate * observation.confidence;
    band.count += observation.weight;
    refresh(band);

    double accuracy = 0.0;
    double confidence = 0.0;
    for (std::size_t i = 0; i < band_count_; ++i) {
      accuracy += bands_of_model[i].count * bands_of_model[i].accuracy;
      confidence += bands_of_model[i].count * bands_of_model[i].confidence;
    }
    Model& owner = models_[observation.model];
    owner.factor = ratio(accuracy, confidence);
    owner.observed = true;
    if (shrinks_to_pool_) refresh_pool_factor(k);
  }

  void predict_then_learn(std::span<const Observation> observations, std::span<double> calibrated) override {
    for (std::size_t r = 0; r < observations.size(); ++r) {
      calibrated[r] = Margin::predict(observations[r].model, observations[r].confidence);
      Margin::learn(observations[r]);
    }
  }

  void on_join(ModelId model, const Calibrator* donor, ModelId donor_model) override {
    const auto* source = static_cast<const Margin*>(donor);
    for (std::size_t k = 0; k < band_count_; ++k) {
      const double midpoint = (static_cast<double>(k) + 0.5) / static_cast<double>(band_count_);
      const double factor = source != nullptr ? source->band(donor_model, k).factor : enters_from_pool_ ? mean_band_factor(k) : 1.0;
      Band& entry = band(model, k);
      entry.count = 0.0;
      entry.accuracy = factor * midpoint > 1.0 ? 1.0 : factor * midpoint;
      entry.confidence = factor * midpoint > 1.0 ? 1.0 / factor : midpoint;
      refresh(entry);
    }
    FactorMean pool;
    for (ModelId other = 0; other < models(); ++other) {
      if (other != model && present(other) && models_[other].observed) pool.add(models_[other].factor);
    }
    models_[model].factor = source != nullptr ? source->models_[donor_model].factor : enters_from_pool_ ? pool.value() : 1.0;
    models_[model].observed = false;
  }

  void on_presence_changed(ModelId) override {
    if (!shrinks_to_pool_) return;
    for (std::size_t k = 0; k < band_count_; ++k) refresh_pool_factor(k);
  }

  void describe(ModelId model, Explanation& explanation) const override {
    const auto k = static_cast<std::size_t>(explanation.band);
    const Band& cell = band(model, k);
    explanation.factor = effective_factor(model, k);
    explanation.observations = cell.count;
    explanation.terms = {{"accuracy", cell.accuracy},
                         {"mean stated confidence", cell.confidence},
                         {"band factor", cell.factor},
                         {"weight of the band factor", cell.share},
                         {shrinks_to_pool_ ? "pool's band factor" : "model factor", target(model, k)},
                         {"effective factor", explanation.factor}};
  }

  void make_room(std::size_t models) override {
    bands_.resize(models * band_count_);
    models_.resize(models);
  }

  void save(internal::Encoder& out) const override {
    for (const Band& cell : bands_) {
      out.real(cell.accuracy);
      out.real(cell.confidence);
      out.real(cell.count);
    }
    for (const Model& owner : models_) {
      out.real(owner.factor);
      out.flag(owner.observed);
    }
  }

  void load(internal::Decoder& in) override {
    for (Band& cell : bands_) {
      cell.accuracy = in.real();
      cell.confidence = in.real();
      cell.count = in.real();
      if (!(cell.accuracy >= 0.0 && cell.accuracy <= 1.0 && cell.confidence >= 0.0 && cell.confidence <= 1.0 && cell.count >= 0.0)) in.fail();
      refresh(cell);
    }
    for (Model& owner : models_) {
      owner.factor = in.real();
      owner.observed = in.flag();
      if (!(owner.factor >= 0.0 && owner.factor <= kFactorMax)) in.fail();
    }
    for (std::size_t k = 0; shrinks_to_pool_ && k < band_count_; ++k) refresh_pool_factor(k);
  }

 private:
  struct Band {
    double accuracy = 0.0;    // a
    double confidence = 0.0;  // cbar
    double count = 0.0;       // n, weighted
    double factor = 1.0;      // g = a / cbar, kept up to date by refresh()
    double share = 0.0;       // n / (n + k_s), likewise
  };
  struct Model {
    double factor = 1.0;  // g over all bands by count; before any observation, the entry value
    bool observed = false;
  };

  [[nodiscard]] double rate_or_alpha(std::string_view name) const {
    const double own = number(parameters(), name);
    return own > 0.0 ? own : number(parameters(), "alpha");
  }

  [[nodiscard]] double rate(const Observation& observation) const {
    const double plain =
        symmetric_ ? alpha_correct_ : alpha_correct_ * observation.outcome + alpha_incorrect_ * (1.0 - observation.outcome);
    return observation.weight == 1.0 ? plain : -expm1(observation.weight * log1p(-plain));
  }

  void refresh(Band& cell) const {
    cell.factor = ratio(cell.accuracy, cell.confidence);
    cell.share = shrinkage_ == 0.0 ? 1.0 : cell.count / (cell.count + shrinkage_);
  }

  void refresh_pool_factor(std::size_t k) { pool_factors_[k] = mean_band_factor(k); }

  [[nodiscard]] double mean_band_factor(std::size_t k) const {
    FactorMean mean;
    for (ModelId model = 0; model < models(); ++model) {
      if (present(model) && band(model, k).count > 0.0) mean.add(band(model, k).factor);
    }
    return mean.value();
  }

  [[nodiscard]] double target(ModelId model, std::size_t k) const { return shrinks_to_pool_ ? pool_factors_[k] : models_[model].factor; }

  [[nodiscard]] double effective_factor(ModelId model, std::size_t k) const {
    const Band& cell = band(model, k);
    return cell.share * cell.factor + (1.0 - cell.share) * target(model, k);
  }

  [[nodiscard]] const Band& band(ModelId model, std::size_t k) const { return bands_[model * band_count_ + k]; }
  [[nodiscard]] Band& band(ModelId model, std::size_t k) { return bands_[model * band_count_ + k]; }

  const double alpha_correct_;
  const double alpha_incorrect_;
  const double shrinkage_;
  const std::size_t band_count_;
  const bool symmetric_;
  const bool shrinks_to_pool_;
  const bool enters_from_pool_;
  std::vector<Band> bands_;           // by model, then band
  std::vector<Model> models_;
  std::vector<double> pool_factors_;  // by band: mean factor of the present models with observations there; used by target = pool_band
};

}  // namespace

const internal::Method internal::kMargin = {
    info, [](Parameters resolved) -> std::unique_ptr<Calibrator> { return std::make_unique<Margin>(std::move(resolved)); }};

}  // namespace margin
