// What the simulations share: random streams that do not depend on each other, and the answers of a task. Private to this folder.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "dataset/simulate.h"
#include "margin/random.h"

namespace margin::dataset {

// The course of a pool over time: how accuracies change while stated confidence does not.
enum class Course { kStationary, kDrift, kAbrupt, kSawtooth, kCollapse, kNewcomers };

[[nodiscard]] Simulation simulate_paper(std::uint64_t seed, std::optional<std::uint32_t> tasks_per_phase);
[[nodiscard]] Simulation simulate_course(Course course, std::uint64_t seed, std::uint32_t tasks);

// A stream of its own for a model in a phase, or with model "" for the phase's tasks.
[[nodiscard]] Random random_stream(std::uint64_t seed, std::string_view phase, std::string_view model = "");

// The short answers of one task: letters in an order of its own, so that a letter says nothing about being right.
class LetterAnswers {
 public:
  // Answer 0 is right, 1 .. distractors are wrong, the more popular first; distractors <= 25.
  LetterAnswers(std::uint32_t distractors, Random& random);
  [[nodiscard]] std::string_view operator[](std::uint32_t answer) const { return std::string_view(letters_).substr(answer, 1); }

 private:
  std::string letters_;
};

// 1 .. distractors with chances proportional to 1, 1/2, 1/3, ...
[[nodiscard]] std::uint32_t draw_distractor(std::uint32_t distractors, Random& random);

void append(Simulation& simulation, const Row& row, double p);

}  // namespace margin::dataset
