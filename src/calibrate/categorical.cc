#include "margin/categorical.h"

#include <string>

#include "base/check.h"
#include "base/encoding.h"
#include "calibrate/rate.h"

namespace margin {
namespace {

Error out_of_range(const char* name, const std::string& expected) {
  return {ErrorCode::kInvalidArgument, std::string(name) + ": expected " + expected};
}

bool is_probability(double x) { return x >= 0.0 && x <= 1.0; }

}  // namespace

Result<CategoricalCalibrator> CategoricalCalibrator::make(const CategoricalOptions& options) {
  if (options.classes < 2 || options.classes > 100) return out_of_range("classes", "2 to 100");
  if (!(options.alpha > 0.0 && options.alpha <= 1.0)) return out_of_range("alpha", "a number in (0, 1]");
  if (options.bands < 1 || options.bands > 1000) return out_of_range("bands", "1 to 1000");
  if (!(options.shrinkage >= 0.0 && options.shrinkage <= 1e9)) return out_of_range("shrinkage", "a number in [0, 1e9]");
  return CategoricalCalibrator(options);
}

void CategoricalCalibrator::join(ModelId model) {
  MARGIN_CHECK(model < kModelsMax, "model ids are dense and below kModelsMax");
  if (known(model)) return;
  if (model >= models_.size()) models_.resize(model + std::size_t{1});
  Model& state = models_[model];
  state.joined = true;
  for (int k = 0; k < options_.bands; ++k) {
    const double middle = (k + 0.5) / options_.bands;
    state.shares.push_back(middle);
    state.shares.insert(state.shares.end(), options_.classes - 1, (1.0 - middle) / static_cast<double>(options_.classes - 1));
  }
  state.counts.assign(static_cast<std::size_t>(options_.bands), 0.0);
}

void CategoricalCalibrator::distribution(ModelId model, double confidence, std::span<double> probabilities) const {
  MARGIN_CHECK(known(model), "a model joins before it is asked about");
  MARGIN_CHECK(is_probability(confidence), "confidence is in [0, 1]");
  MARGIN_CHECK(probabilities.size() == options_.classes, "a probability per class");
  const Model& state = models_[model];
  const auto band = static_cast<std::size_t>(band_of(confidence, options_.bands));
  double total = 0.0;
  for (const double count : state.counts) total += count;
  const double count = state.counts[band];
  const double own = total == 0.0 || options_.shrinkage == 0.0 ? 1.0 : count / (count + options_.shrinkage);
  for (std::size_t j = 0; j < options_.classes; ++j) {
    const double share = state.shares[band * options_.classes + j];
    double whole = 0.0;
    for (std::size_t k = 0; k < state.counts.size(); ++k) whole += state.counts[k] * state.shares[k * options_.classes + j];
    probabilities[j] = own == 1.0 ? share : own * share + (1.0 - own) * (whole / total);
  }
}

Status CategoricalCalibrator::observe(const CategoricalObservation& observation) {
  if (!known(observation.model)) return {ErrorCode::kNotFound, "model: " + std::to_string(observation.model) + " has not joined"};
  if (!is_probability(observation.confidence)) return out_of_range("confidence", "a number in [0, 1]");
  if (observation.outcome >= options_.classes) return out_of_range("outcome", "a class below " + std::to_string(options_.classes));
  if (!(observation.weight > 0.0 && observation.weight <= 1.0)) return out_of_range("weight", "a number in (0, 1]");
  Model& state = models_[observation.model];
  const auto band = static_cast<std::size_t>(band_of(observation.confidence, options_.bands));
  const double rate = internal::weighted_rate(options_.alpha, observation.weight);
  for (std::size_t j = 0; j < options_.classes; ++j) {
    double& share = state.shares[band * options_.classes + j];
    share = (1.0 - rate) * share + (j == observation.outcome ? rate : 0.0);
  }
  state.counts[band] += observation.weight;
  return {};
}

Digest CategoricalCalibrator::digest() const {
  internal::Encoder out;
  out.integer(static_cast<std::uint64_t>(options_.classes));
  out.real(options_.alpha);
  out.integer(static_cast<std::int32_t>(options_.bands));
  out.real(options_.shrinkage);
  for (const Model& state : models_) {
    out.reals(state.shares);
    out.reals(state.counts);
  }
  return digest_of(out.bytes());
}

}  // namespace margin
