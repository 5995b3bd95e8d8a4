// What the conformance tests of calibrators share: every registered method with its defaults and some with other parameters, and
// streams of legal but unkind observations.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <ostream>
#include <span>
#include <string>
#include <vector>

#include "margin/calibrator.h"

namespace margin::conformance {

struct Setup {
  std::string name;  // of the test
  std::string identifier;
  Parameters parameters;
};

void PrintTo(const Setup& setup, std::ostream* out);
[[nodiscard]] std::string name_of(const testing::TestParamInfo<Setup>& info);

// The whole catalog, then the special ones.
[[nodiscard]] std::vector<Setup> all_setups();

inline constexpr ModelId kModels = 4;
inline constexpr std::array kEdges = {0.0, 5e-324, 1e-300, 1e-16, 0.1, 1.0 / 3.0, 0.5, 2.0 / 3.0, 1.0 - 1e-16, 1.0};

// Confidences at the edges of the floating-point range, at edges of bands and between; outcomes right, wrong and graded; weights of 1,
// fractions and almost nothing.
[[nodiscard]] std::vector<Observation> unkind_rows(std::uint64_t seed, std::size_t count);

[[nodiscard]] std::unique_ptr<Calibrator> make(const Setup& setup);
// With kModels models present, and fitted where the method is fitted.
[[nodiscard]] std::unique_ptr<Calibrator> ready(const Setup& setup);

// Learns the rows one by one, each as a task of its own.
void teach(Calibrator& calibrator, std::span<const Observation> rows);
// The same, after fitting on the rows where the method is fitted.
void fit_and_teach(Calibrator& calibrator, std::span<const Observation> rows);
// Calibrated confidence of every model at a grid of confidences: the visible part of the state.
[[nodiscard]] std::vector<double> portrait(const Calibrator& calibrator);

}  // namespace margin::conformance
