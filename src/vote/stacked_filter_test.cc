// stacked against a dense Kalman filter: the closed form of its step equals the textbook's with whole matrices, task after task.
#include <gtest/gtest.h>

#include <cmath>
#include <utility>
#include <vector>

#include "margin/random.h"
#include "margin/vote.h"

namespace margin {
namespace {

using Matrix = std::vector<std::vector<double>>;

// By elimination with pivots.
Matrix inverse(Matrix m) {
  const std::size_t n = m.size();
  Matrix result(n, std::vector<double>(n, 0.0));
  for (std::size_t i = 0; i < n; ++i) result[i][i] = 1.0;
  for (std::size_t c = 0; c < n; ++c) {
    std::size_t pivot = c;
    for (std::size_t r = c; r < n; ++r) pivot = std::fabs(m[r][c]) > std::fabs(m[pivot][c]) ? r : pivot;
    std::swap(m[c], m[pivot]);
    std::swap(result[c], result[pivot]);
    const double d = m[c][c];
    for (std::size_t k = 0; k < n; ++k) m[c][k] /= d, result[c][k] /= d;
    for (std::size_t r = 0; r < n; ++r) {
      if (r == c) continue;
      const double f = m[r][c];
      for (std::size_t k = 0; k < n; ++k) m[r][k] -= f * m[c][k], result[r][k] -= f * result[c][k];
    }
  }
  return result;
}

double evidence(double p) { return std::max(0.02, std::log(p / (1 - p)) + std::log(3.0)); }

// Estimates in one vector: none, then scale and trust of each model; their covariance is a diagonal between tasks. The sharpness stands
// apart, as a scalar filter.
struct DenseFilter {
  static constexpr std::size_t kModels = 4;
  std::vector<double> mean = std::vector<double>(1 + 2 * kModels, 0.0), variance = mean;
  double sharpness = 0.0, sharpness_variance = 0.0;

  [[nodiscard]] static double spread(std::size_t k) { return k == 0 || k % 2 == 0 ? 0.5 : 0.3; }
  [[nodiscard]] double score(const Ballot& b) const {
    return (1.0 + mean[1 + 2 * b.model]) * evidence(b.confidence) + mean[2 + 2 * b.model];
  }

  void learn(const std::vector<Ballot>& ballots, std::uint32_t answers, std::uint32_t right, double weight) {
    const auto fade = [&](double& v, double s) { v = std::min(s * s, v + weight * s * s / 300.0); };
    fade(variance[0], spread(0));
    fade(sharpness_variance, 0.2);
    for (const Ballot& b : ballots) {
      fade(variance[1 + 2 * b.model], spread(1));
      fade(variance[2 + 2 * b.model], spread(2));
    }
    const std::size_t options = answers + 1, n = mean.size();
    std::vector<double> scores(options, 0.0), p(options);
    Matrix f(options, std::vector<double>(n, 0.0));
    for (const Ballot& b : ballots) {
      scores[b.answer] += score(b);
      f[b.answer][1 + 2 * b.model] = sharpness * evidence(b.confidence);
      f[b.answer][2 + 2 * b.model] = sharpness;
    }
    f[answers][0] = 1.0;
    double total = 0.0;
    for (std::size_t y = 0; y < options; ++y) total += p[y] = std::exp(y == answers ? mean[0] : sharpness * scores[y]);
    for (double& x : p) x /= total;
    // Precision of the posterior: that of the prior and the likelihood's information F'(diag p - p p')F.
    Matrix precision(n, std::vector<double>(n, 0.0));
    std::vector<double> gradient(n, 0.0);
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = 0; j < n; ++j) {
        double a = 0.0, b = 0.0, c = 0.0;
        for (std::size_t y = 0; y < options; ++y) a += p[y] * f[y][i] * f[y][j], b += p[y] * f[y][i], c += p[y] * f[y][j];
        precision[i][j] = weight * (a - b * c);
      }
      // Nobody has met a model of variance 0: a prior that does not move.
      precision[i][i] += 1.0 / std::max(variance[i], 1e-12);
      for (std::size_t y = 0; y < options; ++y) gradient[i] += weight * ((y == right ? 1.0 : 0.0) - p[y]) * f[y][i];
    }
    double slope = 0.0, first = 0.0, second = 0.0;
    for (std::size_t y = 0; y < answers; ++y) {
      slope += weight * ((y == right ? 1.0 : 0.0) - p[y]) * scores[y];
      first += p[y] * scores[y];
      second += p[y] * scores[y] * scores[y];
    }
    sharpness_variance = 1.0 / (1.0 / sharpness_variance + weight * (second - first * first));
    sharpness += sharpness_variance * slope;
    const Matrix covariance = inverse(precision);
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = 0; j < n; ++j) mean[i] += covariance[i][j] * gradient[j];
      variance[i] = variance[i] > 0.0 ? covariance[i][i] : 0.0;
    }
  }
};

TEST(Stacked, EqualsADenseKalmanFilter) {
  const auto vote = std::move(make_vote("stacked")).value();
  DenseFilter filter;
  Random random(7);
  Tally tally;
  for (int task = 0; task < 400; ++task) {
    std::vector<Ballot> ballots;
    const std::uint32_t answers = 3;
    for (ModelId model = 0; model < DenseFilter::kModels; ++model) {
      // Every answer has a ballot.
      ballots.push_back({model, model < answers ? model : static_cast<std::uint32_t>(random.below(answers)), 0.3 + 0.6 * random.uniform()});
    }
    const auto right = static_cast<std::uint32_t>(random.chance(0.2) ? answers : random.below(answers) * random.below(2));
    std::vector<double> outcomes;
    for (const Ballot& ballot : ballots) outcomes.push_back(ballot.answer == right ? 1.0 : 0.0);
    const double weight = random.chance(0.5) ? 1.0 : 0.4;
    if (task == 0) filter.sharpness = std::pow(4.0, -0.75);
    vote->learn(ballots, answers, outcomes, weight);
    filter.learn(ballots, answers, right, weight);
    for (std::size_t i = 0; i < ballots.size(); ++i) ASSERT_NEAR(vote->weight(ballots, i), filter.score(ballots[i]), 1e-9) << task;
    vote->tally(ballots, answers, tally);
    double total = std::exp(filter.mean[0]);
    for (const double score : tally.scores) total += std::exp(filter.sharpness * score);
    ASSERT_NEAR(tally.share, std::exp(filter.sharpness * tally.scores[tally.winner]) / total, 1e-9) << task;
  }
}

}  // namespace
}  // namespace margin
