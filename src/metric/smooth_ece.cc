// SmoothECE (Blasiok and Nakkiran, 2023): |residuals smoothed by a Gaussian that is reflected at 0 and 1|, integrated over [0, 1].
// The residuals are laid on a grid much finer than the kernel, so the cost is one pass over the rows and one short convolution.
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <numbers>

#include "base/check.h"
#include "margin/math.h"
#include "margin/metric.h"
#include "metric/rows.h"

namespace margin {
namespace {

// The grid has at least kStepsPerBandwidth steps per bandwidth and kCellsMin in all (a power of two), the kernel reaches kReach
// bandwidths. What they leave is an error below 1e-6, most of it where the smoothed curve crosses zero.
constexpr double kStepsPerBandwidth = 32.0;
constexpr std::size_t kCellsMin = 1024;
constexpr double kReach = 7.0;

struct Residual {
  double probability = 0.0;
  double sum = 0.0;  // of p - o
};

// A point mass spread over its four neighbours on the grid so that its moments up to the third are kept (cubic Lagrange weights).
// `line` is one period, 2*cells, of the even, periodic extension: what a reflected kernel sees. Every mass stands there twice, once
// mirrored.
void lay(const Residual& residual, std::size_t cells, std::vector<double>& line) {
  const double place = residual.probability * static_cast<double>(cells);
  const double whole = std::min(std::floor(place), static_cast<double>(cells) - 1.0);
  const double x = place - whole;
  const std::array<double, 4> weights = {-x * (x - 1.0) * (x - 2.0) / 6.0, (x + 1.0) * (x - 1.0) * (x - 2.0) / 2.0,
                                         -(x + 1.0) * x * (x - 2.0) / 2.0, (x + 1.0) * x * (x - 1.0) / 6.0};
  const std::size_t period = line.size();
  for (std::size_t i = 0; i < weights.size(); ++i) {
    const std::size_t at = (period + static_cast<std::size_t>(whole) + i - 1) % period;
    line[at] += weights[i] * residual.sum;
    line[(period - at) % period] += weights[i] * residual.sum;
  }
}

double smoothed_error(const std::vector<Residual>& residuals, double rows, double bandwidth) {
  const auto cells = std::max(kCellsMin, std::bit_ceil(static_cast<std::size_t>(kStepsPerBandwidth / bandwidth)));
  std::vector<double> line(2 * cells);
  for (const Residual& residual : residuals) lay(residual, cells, line);

  const double step = 1.0 / static_cast<double>(cells);
  const auto reach = static_cast<std::size_t>(kReach * bandwidth / step) + 1;
  std::vector<double> kernel(2 * reach + 1);
  for (std::size_t i = 0; i < kernel.size(); ++i) {
    const double z = (static_cast<double>(i) - static_cast<double>(reach)) * step / bandwidth;
    kernel[i] = exp(-0.5 * z * z) / (bandwidth * std::sqrt(2.0 * std::numbers::pi));
  }
  // Positions -reach .. cells+reach in a row, so that the convolution needs no wrapping.
  std::vector<double> unrolled(cells + kernel.size());
  const std::size_t start = line.size() - reach % line.size();
  for (std::size_t i = 0; i < unrolled.size(); ++i) unrolled[i] = line[(start + i) % line.size()];

  // Kernel outside, grid inside: the inner loop has no chain of additions and runs in vector registers.
  std::vector<double> smoothed(cells + 1);
  for (std::size_t i = 0; i < kernel.size(); ++i) {
    for (std::size_t t = 0; t < smoothed.size(); ++t) smoothed[t] += kernel[i] * unrolled[t + i];
  }
  double integral = 0.5 * (std::fabs(smoothed.front()) + std::fabs(smoothed.back()));
  for (std::size_t t = 1; t < cells; ++t) integral += std::fabs(smoothed[t]);
  return integral * step / rows;
}

// Few distinct probabilities make a short list; sums inside a level are exact, so the order of the rows is gone here.
std::vector<Residual> residuals_of(Predictions rows) {
  std::vector<Residual> residuals;
  for (const internal::Level& level : internal::levels(rows)) {
    residuals.push_back({level.probability, level.count * level.probability - level.outcomes});
  }
  return residuals;
}

}  // namespace

std::optional<double> smooth_ece_at(Predictions rows, double bandwidth) {
  internal::check_rows(rows);
  MARGIN_CHECK(bandwidth >= kSmoothBandwidthMin && bandwidth <= 1.0, "a bandwidth lies between kSmoothBandwidthMin and 1");
  if (rows.size() == 0) return std::nullopt;
  return smoothed_error(residuals_of(rows), static_cast<double>(rows.size()), bandwidth);
}

std::optional<double> smooth_ece(Predictions rows) {
  internal::check_rows(rows);
  if (rows.size() == 0) return std::nullopt;
  const std::vector<Residual> residuals = residuals_of(rows);
  const auto n = static_cast<double>(rows.size());
  const double at_narrowest = smoothed_error(residuals, n, kSmoothBandwidthMin);
  if (at_narrowest <= kSmoothBandwidthMin) return at_narrowest;
  // A wider kernel never finds more, so the error falls and the bandwidth rises: they meet once.
  double low = kSmoothBandwidthMin;
  double high = 1.0;
  constexpr int kHalvings = 30;
  for (int i = 0; i < kHalvings; ++i) {
    const double middle = 0.5 * (low + high);
    (smoothed_error(residuals, n, middle) > middle ? low : high) = middle;
  }
  return 0.5 * (low + high);
}

}  // namespace margin
