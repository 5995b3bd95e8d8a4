#include "report/axis.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace margin::report {
namespace {

std::vector<std::string> labels(const Axis& axis, const std::vector<double>& values) {
  std::vector<std::string> out;
  const Scale scale(axis, values, {0, 100});
  for (const Tick& tick : scale.ticks()) out.push_back(tick.label);
  return out;
}

using Labels = std::vector<std::string>;

TEST(ReportAxis, TicksAreRoundNumbers) {
  EXPECT_EQ(labels({}, {0.0, 1.0}), (Labels{"0.0", "0.2", "0.4", "0.6", "0.8", "1.0"}));
  EXPECT_EQ(labels({}, {3, 97}), (Labels{"0", "20", "40", "60", "80", "100"}));
  EXPECT_EQ(labels({.percent = true}, {0.62, 0.69}), (Labels{"62%", "64%", "66%", "68%", "70%"}));
  EXPECT_EQ(labels({}, {-3e-7, 3e-7}), (Labels{"-3e-07", "-2e-07", "-1e-07", "0", "1e-07", "2e-07", "3e-07"}));
}

TEST(ReportAxis, LogarithmicTicksAndAPlaceForZero) {
  EXPECT_EQ(labels({.logarithmic = true}, {0.005, 0.32}), (Labels{"0.005", "0.01", "0.02", "0.05", "0.1", "0.2"}));
  EXPECT_EQ(labels({.logarithmic = true}, {0, 10, 1000}), (Labels{"0", "10", "20", "50", "100", "200", "500", "1000"}));
  const Scale scale({.logarithmic = true}, std::vector<double>{0, 10, 1000}, {0, 100});
  EXPECT_LT(scale.at(0), scale.at(10));
  EXPECT_NEAR(scale.at(100) - scale.at(10), scale.at(1000) - scale.at(100), 1e-9);
  EXPECT_FALSE(scale.shows(-1));
}

TEST(ReportAxis, OneValueOrNoneStillMakesAnAxis) {
  EXPECT_EQ(labels({}, {}), (Labels{"0.0", "0.2", "0.4", "0.6", "0.8", "1.0"}));
  const Scale one({}, std::vector<double>{7.0}, {0, 100});
  EXPECT_NEAR(one.at(7.0), 50.0, 15.0);
  EXPECT_GE(one.ticks().size(), 2U);
  const Scale zero({}, std::vector<double>{0.0, 0.0}, {0, 100});
  EXPECT_GE(zero.ticks().size(), 2U);
}

TEST(ReportAxis, EveryRangeGivesFinitePixelsInsideTheAxisAndDistinctLabels) {
  const double extremes[] = {0.0,
                             5e-324,
                             1e-300,
                             1e-12,
                             0.3,
                             1.0,
                             1e9,
                             1e9 + 1,
                             1e15,
                             1e299,
                             1e300,
                             -1e300,
                             -2.0,
                             1e308,
                             std::numeric_limits<double>::infinity(),
                             std::numeric_limits<double>::quiet_NaN()};
  for (const bool logarithmic : {false, true}) {
    for (const double a : extremes) {
      for (const double b : extremes) {
        const Scale scale({.logarithmic = logarithmic}, std::vector<double>{a, b}, {0, 100});
        SCOPED_TRACE(testing::Message() << a << " to " << b << (logarithmic ? ", logarithmic" : ""));
        for (const double value : {a, b}) {
          if (!scale.shows(value)) continue;
          EXPECT_TRUE(scale.at(value) >= 0.0 && scale.at(value) <= 100.0);
        }
        EXPECT_LE(scale.ticks().size(), 20U);
        for (std::size_t i = 0; i < scale.ticks().size(); ++i) {
          EXPECT_TRUE(std::isfinite(scale.ticks()[i].pixel));
          if (i == 0) continue;
          EXPECT_GT(scale.ticks()[i].pixel, scale.ticks()[i - 1].pixel);
          EXPECT_NE(scale.ticks()[i].label, scale.ticks()[i - 1].label);
        }
      }
    }
  }
}

}  // namespace
}  // namespace margin::report
