// Selection: how good is the selected answer, against what no calibration, luck, the best model and perfect foresight reach.
// What `margin experiment selection` computes.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "experiment/estimate_cells.h"
#include "experiment/passes.h"
#include "experiment/shift.h"

namespace margin::experiment {

struct Contender {
  std::string label;
  Measured pass1;
  std::optional<double> sd;  // over passes
  std::size_t tasks = 0;     // that counted
};

struct SelectionResult {
  std::string name;  // of the stream, for people
  std::size_t tasks = 0, rows = 0, models = 0;
  std::vector<Contender> votes;  // of the entrants
  Contender random, oracle;
  std::optional<Contender> best_single;  // in hindsight; nullopt: no task is common to all models. Its label names the model
  std::optional<Contender> committed;    // the model named beforehand
};

// The first entrant is the base, raw. `committed` is a model of the stream chosen elsewhere. nullopt when stopped.
[[nodiscard]] std::optional<SelectionResult> run_selection(std::string name, const Stream& stream, std::span<const Entrant> entrants,
                                                           const Vote& vote, std::optional<ModelId> committed, const PassesOptions& options,
                                                           Progress* progress = nullptr);
[[nodiscard]] std::size_t selection_work(std::size_t entrants, const PassesOptions& options);

// The best single model of `source` among those `target` has, as a model of `target`. nullopt: no task is common to them.
[[nodiscard]] std::optional<ModelId> best_single_elsewhere(const Stream& source, const Stream& target);

}  // namespace margin::experiment
