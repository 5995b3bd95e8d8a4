// The published evaluation as a whole, on the simulated cohort `paper` and with the preset `paper`: margin shrinks toward the pool's band
// (target=pool_band), and its counts restart at the boundary. What `margin experiment paper` computes; paper_report.h shows it.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "experiment/ablation.h"
#include "experiment/convergence.h"
#include "experiment/inversion.h"
#include "experiment/pool_scenario.h"
#include "experiment/regime.h"
#include "experiment/resolution.h"
#include "experiment/selection.h"
#include "experiment/shift.h"
#include "experiment/split.h"

namespace margin::experiment {

struct PaperOptions {
  std::uint32_t orderings = 50;
  std::size_t resamples = 2000;
  std::uint64_t seed = 1;  // of orderings and resamples
  Threads threads;
};

// The seed of the cohort: the report is about one cohort, whatever the seed of the orderings.
inline constexpr std::uint64_t kPaperCohortSeed = 1;
// The benchmarks of one phase each, in the order of the publication.
inline constexpr std::array<std::string_view, 5> kPaperBenchmarks = {"HE", "MBPP", "LCB", "CC", "BCB"};
// The phases that stand for the publication's question answering and code in the experiments on the pool.
inline constexpr std::string_view kPaperQa = "HUM", kPaperCode = "LCB";
inline constexpr std::size_t kPaperLag = 200;
// Label of margin with its defaults (target=model), where the preset's is called "margin".
inline constexpr std::string_view kMarginDefaults = "margin:target=model";

// A sweep with its results by condition.
struct PaperSweep {
  Sweep sweep;
  std::vector<ConditionResult> conditions;
};

// What calibration gains one model: raw minus margin, mean over orderings.
struct ModelGain {
  std::string model;
  double ece = 0.0, brier = 0.0, log_loss = 0.0;
  double margin_log_loss = 0.0;
};

struct PoolRuns {
  PoolOptions options;                // of cold start and rolling
  PoolOptions dropout_options;        // may watch longer
  std::vector<PoolResult> scenarios;  // by Scenario
};

struct Coverage {
  std::string condition;
  double lowest = 0.0, highest = 0.0;  // over models, at the end of the target in file order
};

struct PaperResults {
  std::vector<ConditionResult> shift;  // the eleven conditions, in their order
  std::vector<ConditionResult> told;   // the preset's margin, margin with its defaults and every hard window under `told`
  std::vector<Coverage> coverage;      // of aci_quantile_scale
  std::vector<ModelGain> he_bcb_gain;
  std::vector<double> he_bcb_band_counts;  // rows of the target per model, by band
  std::vector<SelectionResult> selection;  // by benchmark, as all that follow
  std::vector<ResolutionResult> resolution;
  std::vector<ResolutionResult> resolution_cloud;  // the cloud models alone
  std::vector<ConvergenceResult> convergence;
  std::vector<InversionResult> inversion;
  std::size_t he_unusable = 0;          // responses without a confidence
  std::vector<RegimeResults> transfer;  // in the order of the published table
  PoolRuns qa, code;
  PaperSweep alpha, bands, two_rate, shrinkage;  // the first two over the eleven conditions, the others over the three ablated ones
  std::vector<RegimeResults> feedback;           // the eleven: immediate, lag 200, selected only
  SplitResult split;                             // of LCB
};

// The entrant called `label` of a result; it must be there.
[[nodiscard]] const EntrantResult& entrant_of(const ConditionResult& condition, std::string_view label);
// The condition called `name`; it must be there.
[[nodiscard]] const ConditionResult& condition_of(std::span<const ConditionResult> conditions, std::string_view name);

// nullopt when stopped through `progress`, whose total it sets.
[[nodiscard]] std::optional<PaperResults> run_paper(const PaperOptions& options, Progress& progress);

}  // namespace margin::experiment
