#include "feedback/rightness.h"

#include <algorithm>
#include <cmath>

#include "margin/math.h"

namespace margin::internal {
namespace {

// Where the coefficients begin and fade back to: mean and variance of the log-odds. A selection is right more often than what stands beside
// it, and what stands beside a right selection more often than what stands beside a wrong one.
constexpr double kLevelStart = 0.5, kLevelVariance = 2.0;
constexpr std::array<double, kSituations> kSituationStart = {-0.7, 0.7, 0.7};
constexpr double kSituationVariance = 0.5;
constexpr double kModelVariance = 0.5;
constexpr double kSlopeStart = 0.5, kSlopeVariance = 0.1;
// Tasks (for a model: responses of its own) after which 1/e of what was learned is left.
constexpr double kMemory = 500.0;
constexpr double kKeep = 1.0 - 1.0 / kMemory;
// By expert: variance that the level gains in a task.
constexpr std::array<double, 3> kLevelDrift = {0.002, 0.02, 0.2};
// Of the weight of the experts, what is shared out anew after each outcome.
constexpr double kShare = 0.005;
// pi / 8: a normal belief of variance v around x is worth the log-odds x / sqrt(1 + pi/8 v).
constexpr double kModeration = 0.39269908169872414;
constexpr double kMeanMax = 1e6;

// Stated confidences crowd near the top; there the regression is centred.
double steepness_of(double confidence) { return 2.0 * (confidence - 0.85); }

// One step of a stationary process around its start.
void fade(double& mean, double& variance, double start, double start_variance) {
  mean = start + kKeep * (mean - start);
  variance = kKeep * kKeep * variance + (1.0 - kKeep * kKeep) * start_variance;
}

}  // namespace

Rightness::Rightness() {
  for (Expert& expert : experts_) {
    expert.weight = 1.0 / static_cast<double>(kExperts);
    expert.level = {kLevelStart, kLevelVariance};
    for (std::size_t s = 0; s < kSituations; ++s) expert.situation[s] = {kSituationStart[s], kSituationVariance};
    expert.slope = {kSlopeStart, kSlopeVariance};
  }
}

void Rightness::begin_task() {
  for (std::size_t e = 0; e < kExperts; ++e) {
    Expert& expert = experts_[e];
    expert.level.variance = std::min(expert.level.variance + kLevelDrift[e], kLevelVariance);
    for (std::size_t s = 0; s < kSituations; ++s) {
      fade(expert.situation[s].mean, expert.situation[s].variance, kSituationStart[s], kSituationVariance);
    }
    fade(expert.slope.mean, expert.slope.variance, kSlopeStart, kSlopeVariance);
  }
}

void Rightness::meet(ModelId model) {
  for (Expert& expert : experts_) {
    if (model >= expert.models.size()) expert.models.resize(model + std::size_t{1}, {0.0, kModelVariance});
    fade(expert.models[model].mean, expert.models[model].variance, 0.0, kModelVariance);
  }
}

double Rightness::log_odds(const Expert& expert, Situation situation, ModelId model, double steepness) {
  return expert.level.mean + expert.situation[situation].mean + expert.models[model].mean + expert.slope.mean * steepness;
}

double Rightness::variance(const Expert& expert, Situation situation, ModelId model, double steepness) {
  return expert.level.variance + expert.situation[situation].variance + expert.models[model].variance +
         expert.slope.variance * steepness * steepness;
}

double Rightness::chance(Situation situation, ModelId model, double confidence) const {
  const double steepness = steepness_of(confidence);
  double sum = 0.0;
  double weights = 0.0;
  for (const Expert& expert : experts_) {
    const double doubt = std::sqrt(1.0 + kModeration * variance(expert, situation, model, steepness));
    sum += expert.weight * sigmoid(log_odds(expert, situation, model, steepness) / doubt);
    weights += expert.weight;
  }
  return clip01(sum / weights);
}

void Rightness::learn(Situation situation, ModelId model, double confidence, double outcome, double weight) {
  const double steepness = steepness_of(confidence);
  std::array<double, kExperts> likelihood{};
  double mixed = 0.0;
  for (std::size_t e = 0; e < kExperts; ++e) {
    const double p = sigmoid(log_odds(experts_[e], situation, model, steepness));
    likelihood[e] = outcome * p + (1.0 - outcome) * (1.0 - p);
    mixed += experts_[e].weight * likelihood[e];
  }
  for (std::size_t e = 0; e < kExperts; ++e) {
    Expert& expert = experts_[e];
    const double p = sigmoid(log_odds(expert, situation, model, steepness));
    // An outcome that every expert held impossible tells nothing about them.
    const double step = mixed > 0.0 ? 1.0 - weight + weight * likelihood[e] / mixed : 1.0;
    expert.weight = (1.0 - kShare) * expert.weight * step + kShare / static_cast<double>(kExperts);

    // Each coefficient moves by its own uncertainty, as in a Kalman filter that keeps only the diagonal.
    const double information = weight * p * (1.0 - p);
    const double total = 1.0 + information * variance(expert, situation, model, steepness);
    const auto move = [&](Belief& belief, double input) {
      const double gain = belief.variance * input / total;
      belief.mean += gain * weight * (outcome - p);
      belief.variance -= information * gain * gain * total;
    };
    move(expert.level, 1.0);
    move(expert.situation[situation], 1.0);
    move(expert.models[model], 1.0);
    move(expert.slope, steepness);
  }
}

template <class Some, class Visit>
void Rightness::for_each_belief(Some& expert, const Visit& visit) {
  visit(expert.level);
  for (auto& belief : expert.situation) visit(belief);
  visit(expert.slope);
  for (auto& belief : expert.models) visit(belief);
}

void Rightness::save(Encoder& out) const {
  out.integer(static_cast<std::uint64_t>(experts_[0].models.size()));
  for (const Expert& expert : experts_) {
    out.real(expert.weight);
    for_each_belief(expert, [&](const Belief& belief) {
      out.real(belief.mean);
      out.real(belief.variance);
    });
  }
}

void Rightness::load(Decoder& in) {
  const std::size_t models = in.length(kExperts * 2 * sizeof(double));
  if (models > kModelsMax) in.fail();
  for (Expert& expert : experts_) {
    expert.models.resize(in.ok() ? models : 0);
    expert.weight = in.real();
    if (!(expert.weight > 0.0 && expert.weight <= 1.0 + 1e-6)) in.fail();
    for_each_belief(expert, [&](Belief& belief) {
      belief = {in.real(), in.real()};
      if (!(std::fabs(belief.mean) < kMeanMax && belief.variance > 0.0 && belief.variance <= kLevelVariance)) in.fail();
    });
  }
}

}  // namespace margin::internal
