#include "report/axis.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "report/text.h"

namespace margin::report {
namespace {

constexpr double kLargest = 1e300;       // the difference of two such still is a number
constexpr double kSmallest = 1e-280;     // what is smaller is shown as zero
constexpr double kSmallestSpan = 1e-12;  // relative; below, doubles have no digits left for ticks
constexpr double kZeroShare = 0.07;      // of the axis, for a zero on a logarithmic one

// 1, 2 or 5 times a power of ten, not below `raw`.
double round_step(double raw) {
  const double power = std::pow(10.0, std::floor(std::log10(raw)));
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (factor * power >= raw * (1.0 - 1e-9)) return factor * power;
  }
  return 10.0 * power;
}

std::string tick_text(double value, double step, bool percent) {
  const double unit = percent ? 100.0 : 1.0;
  const double shown = unit * value;
  const double size = std::max(std::fabs(shown), unit * step);
  const int digits = static_cast<int>(std::max(0.0, -std::floor(std::log10(unit * step) + 1e-9)));
  const bool plain = size < 1e7 && digits <= 6;
  const int significant = static_cast<int>(std::clamp(std::ceil(std::log10(size / (unit * step))) + 1.0, 1.0, 15.0));
  return (plain ? fixed(shown, digits) : fmt::format("{:.{}g}", std::fabs(shown) < unit * step / 2 ? 0.0 : shown, significant)) +
         (percent ? "%" : "");
}

}  // namespace

Scale::Scale(const Axis& axis, std::span<const double> values, Pixels pixels, int ticks_wanted)
    : pixels_(pixels), logarithmic_(axis.logarithmic), percent_(axis.percent) {
  std::optional<double> low = axis.low;
  std::optional<double> high = axis.high;
  for (const double value : values) {
    if (!shows(value)) continue;
    if (logarithmic_ && value < kSmallest) {
      zero_apart_ = true;
      continue;
    }
    low = low ? std::min(*low, value) : value;
    high = high ? std::max(*high, value) : value;
  }
  if (logarithmic_) {
    const bool any = low && high && *low > 0.0;
    fit_logarithmic(any ? *low : 0.1, any ? *high : 1.0, ticks_wanted);
  } else {
    fit_linear(low.value_or(std::min(0.0, high.value_or(0.0))), high.value_or(std::max(1.0, low.value_or(1.0))), ticks_wanted);
  }
}

void Scale::fit_linear(double low, double high, int ticks_wanted) {
  const double size = std::max(std::fabs(low), std::fabs(high));
  if (high - low <= kSmallestSpan * size || size < kSmallest) {
    const double room = size < kSmallest ? 0.5 : 0.1 * size;
    low -= room;
    high += room;
  }
  if (low > 0.0 && low < 0.5 * high) low = 0.0;  // a scale that nearly reaches zero begins there
  const double step = round_step((high - low) / ticks_wanted);
  low_ = std::floor(low / step + 1e-9) * step;
  high_ = std::ceil(high / step - 1e-9) * step;
  const int last = static_cast<int>(std::min(50.0, std::round((high_ - low_) / step)));
  for (int i = 0; i <= last; ++i) {
    const double value = std::min(low_ + i * step, high_);
    tick(value, tick_text(value, step, percent_));
  }
}

void Scale::fit_logarithmic(double low, double high, int ticks_wanted) {
  low_ = std::log10(low);
  high_ = std::log10(high);
  const double room = high_ - low_ < 0.3 ? 0.5 : 0.03 * (high_ - low_);
  low_ -= room;
  high_ += room;
  if (zero_apart_) tick(0.0, percent_ ? "0%" : "0");
  const double decades = high_ - low_;
  const int stride = static_cast<int>(std::max(1.0, std::ceil(decades / (ticks_wanted + 2))));
  for (int power = stride * (static_cast<int>(std::floor(low_ / stride))); power <= high_; power += stride) {
    for (const double factor : {1.0, 2.0, 5.0}) {
      if (factor > 1.0 && decades > 3.2) break;
      const double place = power + std::log10(factor);
      if (place < low_ || place > high_) continue;
      const double value = factor * std::pow(10.0, power);
      tick(value, fmt::format("{:g}{}", percent_ ? 100.0 * value : value, percent_ ? "%" : ""));
    }
  }
}

bool Scale::shows(double value) const { return std::fabs(value) <= kLargest && (!logarithmic_ || value >= 0.0); }

double Scale::at(double value) const {
  double share = 0.0;
  if (logarithmic_) {
    const bool zero = value < kSmallest;
    share = zero ? 0.0 : (std::log10(value) - low_) / (high_ - low_);
    if (zero_apart_ && !zero) share = kZeroShare + (1.0 - kZeroShare) * share;
    if (zero_apart_ && zero) share = kZeroShare / 4;
  } else {
    share = (value - low_) / (high_ - low_);
  }
  return pixels_.from + std::clamp(share, 0.0, 1.0) * (pixels_.to - pixels_.from);
}

std::string Scale::text(double value) const {
  return percent_ ? fixed(100.0 * value, 2) + "%" : fmt::format("{:.5g}", value == 0.0 ? 0.0 : value);
}

double left_margin(const Scale& y) {
  double widest = 0.0;
  for (const Tick& tick : y.ticks()) widest = std::max(widest, text_width(tick.label));
  return widest + 34.0;
}

void draw_axes(Canvas& canvas, const Box& plot, const Scales& scales, std::string_view x_label, std::string_view y_label) {
  if (scales.y != nullptr) {
    for (const Tick& tick : scales.y->ticks()) {
      canvas.line({plot.left(), tick.pixel}, {plot.right(), tick.pixel}, "grid");
      canvas.text({plot.left() - 7, tick.pixel + 4}, tick.label, {.anchor = Anchor::kEnd, .style = "soft"});
    }
    const Point beside{plot.left() - left_margin(*scales.y) + 14, plot.centre().y};
    canvas.text(beside, y_label, {.anchor = Anchor::kMiddle, .columns_max = 44, .upwards = true});
  }
  if (scales.x != nullptr) {
    double free_from = -1e9;  // a label that would touch the one before is left out, its grid line is not
    for (const Tick& tick : scales.x->ticks()) {
      canvas.line({tick.pixel, plot.top()}, {tick.pixel, plot.bottom()}, "grid");
      const double half = text_width(tick.label) / 2;
      const double middle = std::min(tick.pixel, plot.right() + 18 - half);  // a long last label stays inside the picture
      if (middle - half < free_from) continue;
      canvas.text({middle, plot.bottom() + 17}, tick.label, {.anchor = Anchor::kMiddle, .style = "soft"});
      free_from = middle + half + 4;
    }
    canvas.text({plot.centre().x, plot.bottom() + 36}, x_label, {.anchor = Anchor::kMiddle, .columns_max = 80});
  }
  canvas.line({plot.left(), plot.bottom()}, {plot.right(), plot.bottom()}, "axis");
}

}  // namespace margin::report
