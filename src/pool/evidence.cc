#include "pool/evidence.h"

#include <algorithm>
#include <numeric>

#include "calibrate/rate.h"
#include "margin/decision.h"
#include "margin/parameter.h"

namespace margin::internal {

Evidence::Evidence(const Calibrator& calibrator) : bands_count_(calibrator.bands()) {
  const Parameters& parameters = calibrator.parameters();
  if (calibrator.info().identifier == "margin") {
    const auto rate_or_alpha = [&](const char* name) {
      const double rate = number(parameters, name);
      return rate > 0.0 ? rate : number(parameters, "alpha");
    };
    fading_ = Fading::kByBand;
    rate_right_ = rate_or_alpha("alpha_correct");
    rate_wrong_ = rate_or_alpha("alpha_incorrect");
  } else if (calibrator.info().identifier == "margin_adaptive") {
    fading_ = Fading::kByModel;
    rate_right_ = rate_wrong_ = 1.0 / DecisionTrust::kMemory;
  }
}

double Evidence::count_of(std::span<const Band> model) {
  return std::accumulate(model.begin(), model.end(), 0.0, [](double sum, const Band& band) { return sum + band.count; });
}

double Evidence::rate(const Observation& observation) const {
  const double whole = rate_right_ * observation.outcome + rate_wrong_ * (1.0 - observation.outcome);
  return fading_ == Fading::kByModel ? whole * observation.weight : weighted_rate(whole, observation.weight);
}

void Evidence::observe(const Observation& observation) {
  const int band = band_of(observation.confidence);
  if (index(observation.model, band) >= bands_.size()) bands_.resize(index(observation.model + 1, 0));
  Band& own = bands_[index(observation.model, band)];
  own.count += observation.weight;
  if (!fades()) return;
  const double rate = this->rate(observation);
  const double kept = 1.0 - rate;
  for (int each = 0; each < bands_count_; ++each) {
    if (fading_ == Fading::kByBand && each != band) continue;
    Band& fading = bands_[index(observation.model, each)];
    fading.weights *= kept;
    fading.squares *= kept * kept;
    fading.stated *= kept;
    fading.right *= kept;
    if (fading.weights < kFaded) fading = {.count = fading.count};
  }
  own.weights += rate;
  own.squares += rate * rate;
  own.stated += rate * observation.confidence;
  own.right += rate * observation.outcome;
}

void Evidence::discount(double trust) {
  for (Band& band : bands_) {
    band.count *= trust;
    band.squares = std::min(band.squares / trust, band.weights * band.weights);  // at least one observation is left
  }
}

void Evidence::merge(const Evidence& other, std::span<const ModelId> ids) {
  const auto bands = static_cast<std::size_t>(bands_count_);
  for (std::size_t first = 0; first < other.bands_.size(); first += bands) {
    const std::span<const Band> theirs(&other.bands_[first], bands);
    const double seen = count_of(theirs);
    if (seen == 0.0) continue;
    const std::size_t at = index(ids[first / bands], 0);
    if (at >= bands_.size()) bands_.resize(at + bands);
    const std::span<Band> own(&bands_[at], bands);
    const double seen_here = count_of(own);
    for (std::size_t k = 0; k < bands; ++k) {
      // Bands that fade together stay in proportion.
      const double a = fading_ == Fading::kByModel ? seen_here : own[k].count;
      const double b = fading_ == Fading::kByModel ? seen : theirs[k].count;
      if (a + b == 0.0) continue;
      const double mine = a / (a + b);
      const double rest = 1.0 - mine;
      own[k] = {.count = own[k].count + theirs[k].count,
                .weights = mine * own[k].weights + rest * theirs[k].weights,
                .squares = mine * mine * own[k].squares + rest * rest * theirs[k].squares,
                .stated = mine * own[k].stated + rest * theirs[k].stated,
                .right = mine * own[k].right + rest * theirs[k].right};
    }
  }
}

void Evidence::save(Encoder& out) const {
  out.integer(static_cast<std::uint64_t>(bands_.size()));
  for (const Band& band : bands_) {
    for (const double value : {band.count, band.weights, band.squares, band.stated, band.right}) out.real(value);
  }
}

void Evidence::load(Decoder& in, const Calibrator& calibrator) {
  constexpr double kSlack = 1.0 + 1e-9;
  constexpr double kCountMax = 1e18;  // more observations than any stream has, and sums of counts stay finite
  const std::size_t count = in.length(5 * sizeof(double));
  const auto whole = static_cast<std::size_t>(bands_count_);
  if (count % whole != 0) return in.fail();
  bands_.resize(count);
  double of_last = 0.0;
  for (std::size_t i = 0; i < count; ++i) {
    Band& band = bands_[i];
    for (double* value : {&band.count, &band.weights, &band.squares, &band.stated, &band.right}) *value = in.real();
    if (!(band.count >= 0.0 && band.count < kCountMax)) in.fail();
    // Weights sum to 1 at most, and what remains of them is no more than what came.
    if (!(band.weights >= 0.0 && band.weights <= kSlack && band.squares >= 0.0 && band.squares <= band.weights * band.weights * kSlack))
      in.fail();
    const auto is_part = [&](double sum) { return sum >= 0.0 && sum <= band.weights * kSlack; };
    if (!is_part(band.stated) || !is_part(band.right)) in.fail();
    if (band.weights > 0.0 && (!fades() || band.count == 0.0)) in.fail();
    if (band.count > 0.0 && !calibrator.known(static_cast<ModelId>(i / whole))) in.fail();
    if (i + whole >= count) of_last += band.count;
  }
  if (count > 0 && of_last == 0.0) in.fail();
}

}  // namespace margin::internal
