// Inversion: are the more confident models the better ones? Between models the correlation of confidence and accuracy, how often
// confidence cannot tell, and what that costs. What `margin experiment inversion` computes.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "experiment/estimate_cells.h"
#include "experiment/passes.h"
#include "experiment/score.h"
#include "experiment/shift.h"
#include "margin/result.h"

namespace margin::experiment {

struct ModelLevel {
  std::string name;
  std::size_t rows = 0;                        // graded
  std::optional<double> confidence, accuracy;  // means of what was stated and of outcomes; nullopt without rows
};

struct Correlation {
  std::string subset;
  std::size_t models = 0;  // with a graded row
  Measured r;              // nullopt below two models, or when either level is the same for all
};

struct MethodTies {
  std::string label;
  // Means over passes.
  std::optional<double> tied_picks;     // tasks whose largest confidence several models share, of the tasks with a response
  std::optional<double> tied_contests;  // contests of equal confidence, of those with exactly one right
  std::optional<double> top_factor;     // effective factor of the top band at the end of a pass, mean over models (and segments)
  Spread pass1;                         // over the orders of the models within tasks, tasks in file order
};

struct InversionResult {
  std::string channel;
  std::size_t tasks = 0, rows = 0;
  std::vector<ModelLevel> levels;  // by ModelId
  std::vector<Correlation> correlations;
  std::vector<MethodTies> methods;
};

struct InversionOptions {
  PassesOptions passes;
  std::size_t model_orders = 20;
};

// Pearson's r of two lists of one length; nullopt below two, or when either is constant.
[[nodiscard]] std::optional<double> pearson(std::span<const double> x, std::span<const double> y);

// The stream with the rows of every task in the order that permutation `index` of `seed` gives its models. Index 0 changes nothing.
[[nodiscard]] Stream with_models_reordered(const Stream& stream, std::uint64_t seed, std::size_t index);

// Correlations over all models and over each subset, whose names must be models of the stream (kNotFound). nullopt when stopped.
[[nodiscard]] Result<std::optional<InversionResult>> run_inversion(const Stream& stream, std::span<const ModelSubset> subsets,
                                                                   std::span<const Entrant> entrants, const Vote& vote,
                                                                   const InversionOptions& options, Progress* progress = nullptr);
[[nodiscard]] std::size_t inversion_work(std::size_t entrants, std::size_t subsets, const InversionOptions& options);

}  // namespace margin::experiment
