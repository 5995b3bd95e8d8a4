// Cohorts with known truth: logs whose every response carries the probability that it is right. `margin simulate` writes them,
// experiments and tests run on them. docs/simulation.md describes each.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "dataset/observation_log.h"
#include "margin/result.h"

namespace margin::dataset {

struct Simulation {
  ObservationLog log;
  // Per row: the probability that the response is right, given phase and time, model and stated confidence; 0 where it is unusable.
  std::vector<double> p;
};

struct SimulateOptions {
  std::uint64_t seed = 1;
  std::optional<std::uint32_t> tasks;  // `paper`: per phase, the published sizes without it; else in all
};

struct CohortInfo {
  std::string_view name;
  std::string_view summary;
  std::uint32_t tasks_min = 0;
  std::uint32_t tasks_max = 0;
};

[[nodiscard]] std::span<const CohortInfo> cohort_catalog();

// The same seed gives the same rows on every machine. What a model does depends on the seed, the phase, the tasks and itself alone: the
// other models of the cohort may change and it stays the same.
// kNotFound: no such cohort; kInvalidArgument: `tasks` outside the cohort's range.
[[nodiscard]] Result<Simulation> simulate(std::string_view cohort, const SimulateOptions& options = {});

// One JSON line per row, as the reader takes it, with the truth as an additional key `p`. Numbers read back to the same bits.
void write_json_lines(const Simulation& simulation, const std::function<void(std::string_view)>& write);

}  // namespace margin::dataset
