// The cohort of the publication as a table: which models take part in which phase and how they behave there, and the published pairs of
// phases. The simulation `paper` draws from it, experiments take the pairs. docs/simulation.md tells where the figures come from.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "dataset/confidence_profile.h"
#include "margin/answer.h"

namespace margin::dataset {

// How one model does in one phase.
struct PaperModel {
  double accuracy = 0.0;  // of all responses, usable or not
  Profile profile = Profile::kHigh;
  double usable = 1.0;       // share of responses with a confidence and an answer
  double informative = 0.0;  // correlation of the order of confidences with the latent chance of being right
};

struct PaperPhase {
  std::string_view name;
  std::uint32_t problems = 0;
  AnswerKind kind = AnswerKind::kCode;
  double common_difficulty = 0.0;  // rho: correlation between models of the latent chance of being right
  double same_right = 1.0;         // chance that a right answer is the one most right models give
  std::uint32_t distractors = 0;   // wrong answers that models share; 0: every wrong answer is its model's own
  std::span<const PaperModel> cloud;
  std::span<const PaperModel> local = {};  // empty: only the cloud models take part
  double local_accuracy_factor = 1.0;
  double accuracy_deficit = 0.0;  // taken off every model's accuracy: the same problems under stricter tests
  bool dated = false;             // tasks carry dates, and late ones are harder
};

// A published shift: learn on one phase, score on the other.
struct PaperCondition {
  std::string_view name;
  std::string_view source;  // phases
  std::string_view target;
  bool local_models = false;  // all eighteen models; else only the cloud models, also where the phase has others
};

[[nodiscard]] std::span<const std::string_view> paper_cloud_models();
[[nodiscard]] std::span<const std::string_view> paper_local_models();
[[nodiscard]] std::span<const PaperPhase> paper_phases();
[[nodiscard]] std::span<const PaperCondition> paper_conditions();

}  // namespace margin::dataset
