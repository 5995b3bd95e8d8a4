// margin: the published calibrator. Per model and band, the ratio of what happened to what was stated, both exponentially averaged,
// shrunk toward the model's own ratio (or the pool's in that band). docs/calibration.md#margin maps the formulas to this file.
#include <algorithm>
#include <vector>

#include "base/encoding.h"
#include "base/pair.h"
#include "calibrate/confidence_ranks.h"
#include "calibrate/credibility.h"
#include "calibrate/margin_band_choice.h"
#include "calibrate/rate.h"
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
            ParameterSpec spec =
                number_parameter("alpha", 0.04, 0.0, 1.0, "rate of both averages; 1/alpha is their memory in observations");
            spec.open_low = true;
            return spec;
          }(),
          integer_parameter("bands", 3, 0, 1000, "bands of stated confidence; 0 = for each model as many as have served best"),
          number_parameter("shrinkage", 100.0, 0.0, 1e9,
                           "observations at which a band's own factor and the target weigh the same; 0 = band factors alone"),
          number_parameter("alpha_correct", 0.0, 0.0, 1.0, "two-rate variant: rate after a right answer; 0 = alpha"),
          number_parameter("alpha_incorrect", 0.0, 0.0, 1.0, "two-rate variant: rate after a wrong answer; 0 = alpha"),
          choice_parameter("target", {"model", "pool_band"},
                           "what a band shrinks toward: the model's factor, or the pool's mean factor in that band"),
          choice_parameter("entry", {"pool", "identity"}, "a newcomer's factors: the mean of the present models', or 1"),
          choice_parameter("edges", {"equal", "quantile"},
                           "where bands are cut: into equal widths, or so that a model states as much in each"),
          choice_parameter("credibility", {"fixed", "estimated"},
                           "how far a band's own factor is believed: by `shrinkage` alone, or by how much bands differ beyond chance"),
          number_parameter("threshold", 0.0, 0.0, 1.0, "a graded outcome of at least this is learned as 1, another as 0; 0 = as it is"),
      }};
  return kInfo;
}

// {what happened, what was stated}: both averages follow one recursion, so they move as one value.
using internal::both;
using internal::ConfidenceRanks;
using internal::Credibility;
using internal::Pair;
using internal::SeenWeights;

double ratio(Pair pair) { return pair[1] == 0.0 ? 1.0 : std::min(pair[0] / pair[1], kFactorMax); }

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

// The published shape is compiled for itself, at half the instructions. kFixedBands: the number of bands, or 0 when it is known only at
// run time. kPlain: as published, but for the rate and a positive shrinkage; else every option is looked at.
template <std::size_t kFixedBands, bool kPlain>
class Margin final : public Calibrator {
 public:
  explicit Margin(Parameters resolved)
      : Calibrator(margin::info(), std::move(resolved)),
        alpha_correct_(rate_or_alpha("alpha_correct")),
        alpha_incorrect_(rate_or_alpha("alpha_incorrect")),
        shrinkage_(number(parameters(), "shrinkage")),
        band_count_(static_cast<std::size_t>(integer(parameters(), "bands"))),
        symmetric_(alpha_correct_ == alpha_incorrect_),
        shrinks_to_pool_(choice(parameters(), "target") == "pool_band"),
        enters_from_pool_(choice(parameters(), "entry") == "pool"),
        cuts_by_rank_(choice(parameters(), "edges") == "quantile"),
        estimates_credibility_(choice(parameters(), "credibility") == "estimated"),
        threshold_(number(parameters(), "threshold")),
        pool_factors_(band_count_, 1.0),
        credibility_(shrinkage_) {}

  [[nodiscard]] int bands() const override { return static_cast<int>(band_count()); }

 protected:
  [[nodiscard]] double predict(ModelId model, double confidence) const override {
    return calibrated(model, band_index(model, confidence), confidence);
  }

  void learn(const Observation& observation) override { learn_in_band(observation, band_index(observation.model, observation.confidence)); }

  void predict_then_learn(std::span<const Observation> observations, std::span<double> calibrated) override {
    for (std::size_t r = 0; r < observations.size(); ++r) {
      const Observation& observation = observations[r];
      const std::size_t k = band_index(observation.model, observation.confidence);
      calibrated[r] = this->calibrated(observation.model, k, observation.confidence);
      learn_in_band(observation, k);
    }
  }

  void on_join(ModelId model, const Calibrator* donor, ModelId donor_model) override {
    const auto* source = static_cast<const Margin*>(donor);
    for (std::size_t k = 0; k < band_count(); ++k) {
      const double midpoint = (static_cast<double>(k) + 0.5) / static_cast<double>(band_count());
      const double factor = source != nullptr   ? ratio(source->band(donor_model, k).estimate)
                            : enters_from_pool_ ? mean_band_factor(k)
                                                : 1.0;
      // Kept inside [0, 1]: factor * midpoint over midpoint, or 1 over 1 / factor.
      band(model, k).estimate = factor * midpoint > 1.0 ? Pair{1.0, 1.0 / factor} : Pair{factor * midpoint, midpoint};
    }
    const double factor = source != nullptr ? ratio(source->totals_[donor_model]) : enters_from_pool_ ? mean_model_factor() : 1.0;
    totals_[model] = Pair{factor, 1.0};
    if (cuts_by_rank()) source != nullptr ? ranks_.start_as(model, source->ranks_, donor_model) : ranks_.start(model);
  }

  void on_restart_counts() override {
    for (Pair& total : totals_) total = Pair{ratio(total), 1.0};
    for (Band& cell : bands_) {
      cell.count = 0.0;
      cell.weighted = both(0.0);
    }
    for (SeenWeights& weights : seen_weights_) weights = both(0.0);
    if (shrinks_to_pool()) refresh_pool_factors();
  }

  bool on_discount(double trust) override {
    if (estimates_credibility()) return false;  // its own count of evidence is not of this kind
    for (ModelId model = 0; model < models(); ++model) {
      for (std::size_t k = 0; k < band_count(); ++k) band(model, k).count *= trust;
      refresh_total(model);
    }
    return true;
  }

  // Bands cut by rank are not the other's bands, and credibility is estimated from one history.
  [[nodiscard]] bool merges() const override { return !cuts_by_rank() && !estimates_credibility(); }

  void on_merge(const Calibrator& other, std::span<const Merged> models) override {
    const auto& source = static_cast<const Margin&>(other);
    for (const Merged& model : models) {
      for (std::size_t k = 0; k < band_count(); ++k) {
        Band& own = band(model.own, k);
        const Band& theirs = source.band(model.theirs, k);
        const double count = own.count + theirs.count;
        if (model.copy || own.count == 0.0) {
          if (model.copy || theirs.count > 0.0) own.estimate = theirs.estimate;
        } else {
          own.estimate = own.estimate + both(theirs.count / count) * (theirs.estimate - own.estimate);
        }
        own.count = count;
      }
      if (model.copy) totals_[model.own] = source.totals_[model.theirs];
      refresh_total(model.own);
    }
    if (shrinks_to_pool()) refresh_pool_factors();
  }

  void on_presence_changed(ModelId) override {
    if (shrinks_to_pool()) refresh_pool_factors();
  }

  void describe(ModelId model, Explanation& explanation) const override {
    const std::size_t k = band_index(model, explanation.confidence);
    const Band& cell = band(model, k);
    explanation.factor = effective_factor(model, k);
    explanation.observations = cell.count;
    explanation.terms = {{"accuracy", cell.estimate[0]},
                         {"mean stated confidence", cell.estimate[1]},
                         {"band factor", ratio(cell.estimate)},
                         {"weight of the band factor", share(model, k)},
                         {shrinks_to_pool() ? "pool's band factor" : "model factor", target(model, k)},
                         {"effective factor", explanation.factor}};
    if (cuts_by_rank()) explanation.terms.push_back({"rank among the model's confidences", ranks_.rank(model, explanation.confidence)});
  }

  void make_room(std::size_t models) override {
    bands_.resize(models * band_count());
    totals_.resize(models);
    if (cuts_by_rank()) ranks_.make_room(models);
    if (estimates_credibility()) seen_weights_.resize(models * band_count(), both(0.0));
  }

  [[nodiscard]] std::size_t saved_bytes_per_model() const override {
    const std::size_t options = cuts_by_rank() ? ConfidenceRanks::kSavedBytesPerModel : 0;
    return (3 * band_count() + 2) * sizeof(double) + options;
  }

  void save(internal::Encoder& out) const override {
    for (const Band& cell : bands_) {
      out.real(cell.estimate[0]);
      out.real(cell.estimate[1]);
      out.real(cell.count);
    }
    for (const Pair total : totals_) {
      out.real(total[0]);
      out.real(total[1]);
    }
    if (cuts_by_rank()) ranks_.save(out);
    if (estimates_credibility()) {
      for (const SeenWeights weights : seen_weights_) {
        out.real(weights[0]);
        out.real(weights[1]);
      }
      credibility_.save(out);
    }
  }

  void load(internal::Decoder& in) override {
    for (Band& cell : bands_) {
      const double accuracy = in.real();
      const double confidence = in.real();
      cell.estimate = Pair{accuracy, confidence};
      cell.count = in.real();
      cell.weighted = both(cell.count) * cell.estimate;
      const bool legal =
          accuracy >= 0.0 && accuracy <= 1.0 && confidence >= 0.0 && confidence <= 1.0 && cell.count >= 0.0 && cell.count < kCountMax;
      if (!legal) in.fail();
    }
    for (Pair& total : totals_) {
      const double happened = in.real();
      const double stated = in.real();
      total = Pair{happened, stated};
      if (!(happened >= 0.0 && happened < kCountMax && stated >= 0.0 && stated < kCountMax)) in.fail();
    }
    if (cuts_by_rank()) ranks_.load(in);
    if (estimates_credibility()) {
      for (SeenWeights& weights : seen_weights_) {
        const double sum = in.real();
        const double squares = in.real();
        weights = SeenWeights{sum, squares};
        if (!(sum >= 0.0 && sum < 2.0 && squares >= 0.0 && squares < 2.0)) in.fail();
      }
      credibility_.load(in);
    }
    if (shrinks_to_pool()) refresh_pool_factors();
  }

 private:
  // More observations than any stream has; a larger count in a snapshot is corruption.
  static constexpr double kCountMax = 1e18;

  struct Band {
    Pair estimate = both(0.0);  // {a, cbar}
    Pair weighted = both(0.0);  // n * estimate
    double count = 0.0;         // n, the sum of weights
  };

  [[nodiscard]] std::size_t band_count() const { return kFixedBands != 0 ? kFixedBands : band_count_; }
  [[nodiscard]] bool shrinks_to_pool() const { return !kPlain && shrinks_to_pool_; }
  [[nodiscard]] bool cuts_by_rank() const { return !kPlain && cuts_by_rank_; }
  [[nodiscard]] bool estimates_credibility() const { return !kPlain && estimates_credibility_; }
  // band_of the confidence or its rank, with the minimum taken before the conversion: fewer instructions, the same band.
  [[nodiscard]] std::size_t band_index(ModelId model, double confidence) const {
    const double place = cuts_by_rank() ? ranks_.rank(model, confidence) : confidence;
    const auto bands = static_cast<double>(band_count());
    return static_cast<std::size_t>(static_cast<std::int64_t>(std::min(place * bands, bands - 1.0)));
  }
  [[nodiscard]] const Band& band(ModelId model, std::size_t k) const { return bands_[model * band_count() + k]; }
  [[nodiscard]] Band& band(ModelId model, std::size_t k) { return bands_[model * band_count() + k]; }

  [[nodiscard]] double rate_or_alpha(std::string_view name) const {
    const double own = number(parameters(), name);
    return own > 0.0 ? own : number(parameters(), "alpha");
  }

  [[nodiscard]] double calibrated(ModelId model, std::size_t k, double confidence) const {
    return std::min(effective_factor(model, k) * confidence, 1.0);
  }

  // What is learned of an outcome.
  [[nodiscard]] double grade(double outcome) const {
    if (kPlain || threshold_ == 0.0) return outcome;
    return outcome >= threshold_ ? 1.0 : 0.0;
  }

  void learn_in_band(const Observation& observation, std::size_t k) {
    Band* const bands_of_model = &bands_[observation.model * band_count()];
    Band& band = bands_of_model[k];
    const double outcome = grade(observation.outcome);
    const Pair observed = {outcome, observation.confidence};
    double rate = alpha_correct_;
    if ((kPlain || symmetric_) && observation.weight == 1.0) [[likely]] {
      band.estimate = keep_ * band.estimate + take_ * observed;
    } else {
      const double plain = alpha_correct_ * outcome + alpha_incorrect_ * (1.0 - outcome);
      rate = internal::weighted_rate(plain, observation.weight);
      band.estimate = both(1.0 - rate) * band.estimate + both(rate) * observed;
    }
    band.count += observation.weight;
    band.weighted = both(band.count) * band.estimate;

    Pair total = bands_of_model[0].weighted;
    for (std::size_t i = 1; i < band_count(); ++i) total += bands_of_model[i].weighted;
    totals_[observation.model] = total;
    if (shrinks_to_pool()) pool_factors_[k] = mean_band_factor(k);
    if (estimates_credibility()) learn_credibility(observation, k, rate);
    if (cuts_by_rank()) ranks_.learn(observation.model, observation.confidence, observation.weight);
  }

  void learn_credibility(const Observation& observation, std::size_t k, double rate) {
    SeenWeights& weights = seen_weights_[observation.model * band_count() + k];
    weights = internal::seen_one_more(weights, rate);
    const double count = internal::effective_count(weights);
    if (count == 0.0) return;
    const Band& cell = band(observation.model, k);
    const double stated = totals_[observation.model][1];
    const double own = shrinks_to_pool() || stated == 0.0 ? 0.0 : std::min(cell.weighted[1] / stated, 1.0);
    credibility_.learn({.accuracy = cell.estimate[0],
                        .expected = std::min(target(observation.model, k) * cell.estimate[1], 1.0),
                        .count = count,
                        .freedom = 1.0 - own},
                       observation.weight);
  }

  // n / (n + k_s), or what is estimated: how much a band's own factor counts.
  [[nodiscard]] double share(ModelId model, std::size_t k) const {
    if (estimates_credibility()) return credibility_.share(internal::effective_count(seen_weights_[model * band_count() + k]));
    const double count = band(model, k).count;
    return !kPlain && shrinkage_ == 0.0 ? 1.0 : count / (count + shrinkage_);
  }

  [[nodiscard]] double target(ModelId model, std::size_t k) const { return shrinks_to_pool() ? pool_factors_[k] : ratio(totals_[model]); }

  [[nodiscard]] double effective_factor(ModelId model, std::size_t k) const {
    const double own = ratio(band(model, k).estimate);
    if (!kPlain && shrinkage_ == 0.0 && !estimates_credibility()) return own;
    const double toward = target(model, k);
    return toward + share(model, k) * (own - toward);
  }

  // Over the present models that have observations in the band; 1 when there are none.
  [[nodiscard]] double mean_band_factor(std::size_t k) const {
    FactorMean mean;
    for (ModelId model = 0; model < models(); ++model) {
      if (present(model) && band(model, k).count > 0.0) mean.add(ratio(band(model, k).estimate));
    }
    return mean.value();
  }

  [[nodiscard]] double mean_model_factor() const {
    FactorMean mean;
    for (ModelId model = 0; model < models(); ++model) {
      const Band* first = &bands_[model * band_count()];
      const bool observed = std::any_of(first, first + band_count(), [](const Band& cell) { return cell.count > 0.0; });
      if (present(model) && observed) mean.add(ratio(totals_[model]));
    }
    return mean.value();
  }

  // After counts have changed otherwise than by learning. Who has seen nothing keeps the factor it entered with.
  void refresh_total(ModelId model) {
    Pair total = both(0.0);
    double seen = 0.0;
    for (std::size_t k = 0; k < band_count(); ++k) {
      Band& cell = band(model, k);
      cell.weighted = both(cell.count) * cell.estimate;
      total += cell.weighted;
      seen += cell.count;
    }
    if (seen > 0.0) totals_[model] = total;
  }

  void refresh_pool_factors() {
    for (std::size_t k = 0; k < band_count(); ++k) pool_factors_[k] = mean_band_factor(k);
  }

  const double alpha_correct_;
  const double alpha_incorrect_;
  const double shrinkage_;
  const std::size_t band_count_;
  const bool symmetric_;  // one rate for right and wrong; at weight 1 it is:
  const Pair take_ = both(alpha_correct_);
  const Pair keep_ = both(1.0 - alpha_correct_);
  const bool shrinks_to_pool_;
  const bool enters_from_pool_;
  const bool cuts_by_rank_;
  const bool estimates_credibility_;
  const double threshold_;
  std::vector<Band> bands_;                // by model, then band
  std::vector<Pair> totals_;               // by model: sum of `weighted` over its bands; before any observation {entry factor, 1}
  std::vector<double> pool_factors_;       // by band: mean_band_factor, kept up to date when target = pool_band
  ConfidenceRanks ranks_;                  // empty unless edges = quantile
  std::vector<SeenWeights> seen_weights_;  // by model, then band; empty unless credibility = estimated, as is:
  Credibility credibility_;
};

std::unique_ptr<Calibrator> make(Parameters resolved) {
  if (integer(resolved, "bands") == 0) return internal::make_band_choice(info(), std::move(resolved));
  const bool one_rate = number(resolved, "alpha_correct") == number(resolved, "alpha_incorrect");
  const bool shrinks_to_model = number(resolved, "shrinkage") > 0.0 && choice(resolved, "target") == "model";
  const bool no_option =
      choice(resolved, "edges") == "equal" && choice(resolved, "credibility") == "fixed" && number(resolved, "threshold") == 0.0;
  if (one_rate && shrinks_to_model && no_option && integer(resolved, "bands") == 3)
    return std::make_unique<Margin<3, true>>(std::move(resolved));
  return std::make_unique<Margin<0, false>>(std::move(resolved));
}

}  // namespace

const internal::Method internal::kMargin = {info, make};

}  // namespace margin
