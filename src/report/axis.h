// Axes of the pictures: from values to pixels, with ticks at round numbers.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "report/svg.h"

namespace margin::report {

// What a picture's maker says of an axis. The range always grows to hold the data.
struct Axis {
  std::string label;
  bool logarithmic = false;  // zero gets a place of its own at the low end; negative values are not shown
  bool percent = false;      // values are fractions, read as percent
  std::optional<double> low = {};
  std::optional<double> high = {};
};

struct Tick {
  double pixel = 0.0;
  std::string label;
};

struct Pixels {
  double from = 0.0;  // of the low end
  double to = 0.0;
};

class Scale {
 public:
  // Values that cannot be shown are ignored; without any the range is 0 to 1. About `ticks_wanted` ticks.
  Scale(const Axis& axis, std::span<const double> values, Pixels pixels, int ticks_wanted = 6);

  // Finite, of a size that can be drawn, and on a logarithmic axis not negative.
  [[nodiscard]] bool shows(double value) const;
  // Only of what it shows; always between the ends.
  [[nodiscard]] double at(double value) const;
  [[nodiscard]] const std::vector<Tick>& ticks() const { return ticks_; }
  [[nodiscard]] std::string text(double value) const;

 private:
  void fit_linear(double low, double high, int ticks_wanted);
  void fit_logarithmic(double low, double high, int ticks_wanted);
  void tick(double value, std::string label) { ticks_.push_back({at(value), std::move(label)}); }

  Pixels pixels_;
  bool logarithmic_ = false;
  bool percent_ = false;
  bool zero_apart_ = false;
  double low_ = 0.0;  // of a logarithmic axis: the decimal logarithms
  double high_ = 1.0;
  std::vector<Tick> ticks_;
};

// Grid, ticks and labels around `plot`; `x` may be left out.
struct Scales {
  const Scale* x = nullptr;
  const Scale* y = nullptr;
};
void draw_axes(Canvas& canvas, const Box& plot, const Scales& scales, std::string_view x_label, std::string_view y_label);

// Room for the tick labels and the axis label to the left of a plot.
[[nodiscard]] double left_margin(const Scale& y);

}  // namespace margin::report
