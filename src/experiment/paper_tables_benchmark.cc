#include <fmt/format.h>

#include "experiment/paper_tables.h"
#include "experiment/published.h"

namespace margin::experiment {
namespace {

using report::Cell;
using report::Kind;

constexpr const char* kNineModels =
    "On LCB, CC and BCB the cohort has the nine cloud models; the publication has eighteen, verbalized, on all five benchmarks.";
constexpr const char* kNoConsistency = "The consistency channel is not simulated: its published figures stand alone.";

// Results by benchmark, in the order of kPaperBenchmarks.
std::size_t number_of(std::string_view benchmark) {
  return static_cast<std::size_t>(std::find(kPaperBenchmarks.begin(), kPaperBenchmarks.end(), benchmark) - kPaperBenchmarks.begin());
}
std::string_view before_slash(std::string_view name) { return name.substr(0, name.find('/')); }

// An estimate as three figures: its value and the ends of its interval.
Estimates spelled_out(const std::optional<report::Estimate>& estimate) {
  if (!estimate) return {std::nullopt, std::nullopt, std::nullopt};
  if (!estimate->interval) return {plain(estimate->value), std::nullopt, std::nullopt};
  return {plain(estimate->value), plain(estimate->interval->low), plain(estimate->interval->high)};
}

const Measured& raw_of(const SelectionResult& result) { return result.votes[0].pass1; }
const Measured& margin_of(const SelectionResult& result) { return result.votes[1].pass1; }

BesideTable selection(const PaperResults& results) {
  BesideTable table{
      .title = "pass@1 (selection_pass1)", .heading = "benchmark", .columns = published_texts({"selection_pass1", "columns"})};
  for (const SelectionResult& result : results.selection) {
    const Estimates delta = spelled_out(difference_of(margin_of(result), raw_of(result)));
    table.add(result.name,
              {plain(raw_of(result).value), plain(margin_of(result).value), delta[0], delta[1], delta[2], plain(result.oracle.pass1.value)},
              published_numbers({"selection_pass1", result.name}));
  }
  table.notes = {kNineModels};
  return table;
}

BesideTable gap_from_raw(const PaperResults& results) {
  BesideTable table{
      .title = "Gap from raw to oracle that margin closes (gap_closed_raw_to_oracle)", .heading = "benchmark", .columns = {"gap closed"}};
  for (const SelectionResult& result : results.selection) {
    table.add(result.name, {gap_closed_estimate(margin_of(result), raw_of(result), result.oracle.pass1)},
              {published_number({"gap_closed_raw_to_oracle", result.name})});
  }
  return table;
}

// The benchmark's result when the channel is verbalized.
const SelectionResult* simulated_of(const PaperResults& results, std::string_view name) {
  const SelectionResult& result = results.selection[number_of(before_slash(name))];
  return name.ends_with("/consistency") || !result.best_single ? nullptr : &result;
}

BesideTable best_single(const PaperResults& results) {
  BesideTable table{.title = "margin against the best single model (best_single)",
                    .heading = "benchmark/channel",
                    .columns = published_texts({"best_single", "columns"})};
  for (const std::string& name : published_keys({"best_single"})) {
    if (name.find('/') == std::string::npos) continue;
    Estimates simulated;
    if (const SelectionResult* const result = simulated_of(results, name)) {
      const Estimates delta = spelled_out(difference_of(margin_of(*result), result->best_single->pass1));
      simulated = {plain(result->best_single->pass1.value),
                   plain(margin_of(*result).value),
                   plain(result->oracle.pass1.value),
                   delta[0],
                   delta[1],
                   delta[2]};
    }
    table.add(name, simulated, published_numbers({"best_single", name}));
  }
  table.notes = {
      "A model's pass@1 is here over the responses that came; the publication counts a missing one as wrong, which tells most on CC and "
      "LCB.",
      "Accuracies of the simulated models on the easy benchmarks are not spread as those of the published best models are.",
      kNoConsistency};
  return table;
}

BesideTable gap_from_best_single(const PaperResults& results) {
  BesideTable table{.title = "Gap from the best single model to the oracle that margin closes (best_single.gap_closed)",
                    .heading = "benchmark/channel",
                    .columns = {"gap closed", "ci_low", "ci_high"}};
  for (const std::string& name : published_keys({"best_single", "gap_closed"})) {
    Estimates simulated;
    if (const SelectionResult* const result = simulated_of(results, name)) {
      simulated = spelled_out(gap_closed_estimate(margin_of(*result), result->best_single->pass1, result->oracle.pass1));
    }
    table.add(name, simulated, published_numbers({"best_single", "gap_closed", name}));
  }
  table.notes = {"Not defined where the best single model is as good as the oracle.", kNoConsistency};
  return table;
}

report::Table best_models(const PaperResults& results) {
  report::Table table{.title = "Which model is the best single one (best_single.committed)",
                      .columns = {{.name = "benchmark/channel"}, {.name = "simulated"}, {.name = "published"}}};
  for (const std::string& name : published_keys({"best_single", "committed"})) {
    const SelectionResult* const result = simulated_of(results, name);
    table.rows.push_back(
        {name, result != nullptr ? Cell(result->best_single->label) : Cell(), published_text({"best_single", "committed", name})});
  }
  table.notes = {kNoConsistency};
  return table;
}

// Rows of run_resolution: raw with ties half and left out, then margin.
std::optional<report::Estimate> resolution_of(const ResolutionResult& result, std::size_t row) {
  return plain(result.rows[row].resolution.value);
}

BesideTable resolution_table(const PaperResults& results) {
  BesideTable table{.title = "Pairwise resolution (pairwise_resolution)",
                    .heading = "benchmark",
                    .columns = published_texts({"pairwise_resolution", "columns"})};
  table.columns.emplace_back("margin minus raw_half");
  for (const std::string_view name : kPaperBenchmarks) {
    const ResolutionResult& result = results.resolution[number_of(name)];
    auto published = published_numbers({"pairwise_resolution", name});
    published.push_back(published_numbers({"pairwise_resolution", "delta_shuffle_ci", name}).front());
    table.add(std::string(name), {resolution_of(result, 0), resolution_of(result, 1), resolution_of(result, 2), result.rows[2].over_raw},
              published);
  }
  table.notes = {
      "Brackets: 95% over resampled tasks. The publication's intervals of the difference are over orderings, and at most 0.4 points wide.",
      kNineModels};
  return table;
}

BesideTable cloud_resolution(const PaperResults& results) {
  BesideTable table{.title = "Pairwise resolution of the nine cloud models by channel (pairwise_consistency_cloud9)",
                    .heading = "benchmark",
                    .columns = published_texts({"pairwise_consistency_cloud9", "columns"})};
  for (const std::string_view name : kPaperBenchmarks) {
    const ResolutionResult& result = results.resolution_cloud[number_of(name)];
    table.add(std::string(name), {resolution_of(result, 0), std::nullopt, resolution_of(result, 2), std::nullopt},
              published_numbers({"pairwise_consistency_cloud9", name}));
  }
  table.notes = {kNoConsistency};
  return table;
}

BesideTable consistency_gain(std::string_view key, const char* intervals, std::vector<std::string> columns) {
  BesideTable table{
      .title = fmt::format("What margin adds to consistency, intervals over {} (pairwise_consistency_cloud9.{})", intervals, key),
      .heading = "benchmark",
      .columns = std::move(columns)};
  for (const std::string_view name : kPaperBenchmarks)
    table.add(std::string(name), {}, published_numbers({"pairwise_consistency_cloud9", key, name}));
  table.notes = {kNoConsistency};
  return table;
}

const Correlation& correlation_of(const InversionResult& result, std::string_view subset) {
  return *std::find_if(result.correlations.begin(), result.correlations.end(),
                       [&](const Correlation& one) { return one.subset == subset; });
}

// Tier of the publication to ours: S1 are the cloud models; all eighteen are in HE and MBPP alone.
std::optional<report::Estimate> correlation_at(const PaperResults& results, std::string_view name) {
  const std::string_view benchmark = before_slash(name);
  const InversionResult& result = results.inversion[number_of(benchmark)];
  if (name.ends_with("/S1")) return estimate_of(correlation_of(result, "S1").r);
  const bool everyone = benchmark == "HE" || benchmark == "MBPP";
  return everyone && name.ends_with("/all") ? estimate_of(correlation_of(result, "all models").r) : std::nullopt;
}

BesideTable correlations(const PaperResults& results) {
  BesideTable table{.title = "Pearson's r of mean confidence and pass rate between models (inversion.r)",
                    .heading = "benchmark/tier",
                    .kind = Kind::kNumber,
                    .columns = {"r"}};
  for (const std::string& name : published_keys({"inversion", "r"})) {
    table.add(name, {correlation_at(results, name)}, {published_number({"inversion", "r", name})});
  }
  table.notes = {
      "S1: the cloud models; S2: the nine best. The cohort has the local models in HE and MBPP only, so other figures of S2 and all stand "
      "alone."};
  return table;
}

BesideTable inversion_shares(const PaperResults& results) {
  BesideTable table{.title = "Inversion: shares (inversion)", .heading = "figure", .columns = {"share"}};
  const auto ties = [&](std::string_view benchmark, std::size_t method) -> const MethodTies& {
    return results.inversion[number_of(benchmark)].methods[method];
  };
  const auto share = [](std::string_view key) {
    const auto parts = published_numbers({"inversion", key});
    return *parts[0] / *parts[1] * 100.0;
  };
  const auto add = [&](const std::string& name, const std::optional<double>& simulated, const std::optional<double>& published) {
    table.add(name, {plain(simulated)}, {published});
  };
  add("BCB: resolution of raw, S1", results.resolution_cloud[number_of("BCB")].rows[0].resolution.value,
      published_number({"inversion", "bcb_resolution_by_tier", "S1"}));
  for (const char* tier : {"S2", "all"}) {
    add(fmt::format("BCB: resolution of raw, {}", tier), std::nullopt, published_number({"inversion", "bcb_resolution_by_tier", tier}));
  }
  add("BCB: tasks with a tied most confident model", ties("BCB", 0).tied_picks, share("bcb_tied_argmax"));
  add("BCB: contests of equal stated confidence", ties("BCB", 0).tied_contests, share("bcb_tied_contests"));
  std::vector<double> equal, after;
  for (const InversionResult& result : results.inversion) equal.push_back(result.methods[0].tied_contests.value_or(0.0));
  for (const char* hard : {"CC", "BCB", "LCB"}) after.push_back(ties(hard, 1).tied_contests.value_or(0.0));
  const auto published = published_numbers({"inversion", "equal_confidence_share_verbalized"});
  const Estimates range = range_of(equal);
  table.add("stated confidence equal in contests, lowest", {range[0]}, {published[0]});
  table.add("stated confidence equal in contests, highest", {range[1]}, {published[1]});
  add("calibrated equal in contests, CC BCB LCB highest", range_of(after)[1]->value,
      *published_number({"inversion", "margin_tie_fraction_hard_max"}) * 100.0);
  const auto span = [&](std::size_t method) -> std::optional<double> {
    const Spread& spread = ties("HE", method).pass1;
    return spread.high && spread.low ? std::optional(*spread.high - *spread.low) : std::nullopt;
  };
  add("HE: span of pass@1 over model orders, raw", span(0), published_number({"inversion", "he_pass1_span_over_orders_pp", "raw"}));
  add("HE: span of pass@1 over model orders, margin", span(1), published_number({"inversion", "he_pass1_span_over_orders_pp", "margin"}));
  for (const ModelLevel& level : results.inversion[number_of("LCB")].levels) {
    if (level.name != "DeepSeek-R1-Distill-Qwen-32B") continue;
    add("LCB: mean stated confidence of DeepSeek-R1-Distill", level.confidence,
        published_number({"inversion", "r1_distill_lcb", "mean_confidence"}));
    add("LCB: pass rate of DeepSeek-R1-Distill", level.accuracy, published_number({"inversion", "r1_distill_lcb", "pass_rate"}));
  }
  add("CC: mean stated confidence of mistral:7b", std::nullopt, published_number({"inversion", "mistral7b_cc", "mean_confidence"}));
  add("CC: pass rate of mistral:7b", std::nullopt,
      *published_number({"inversion", "mistral7b_cc", "passed"}) / *published_number({"inversion", "mistral7b_cc", "attempts"}) * 100.0);
  table.notes = {"The publication's counts on BCB are of eighteen models, the cohort's of nine; mistral:7b is not in CC here."};
  return table;
}

BesideTable top_factors(const PaperResults& results) {
  BesideTable table{.title = "Mean effective factor of the top band (inversion.top_band_mean_effective_factor)",
                    .heading = "benchmark",
                    .kind = Kind::kNumber,
                    .columns = {"factor"}};
  for (const std::string& name : published_keys({"inversion", "top_band_mean_effective_factor"})) {
    table.add(name, {plain(results.inversion[number_of(name)].methods[1].top_factor)},
              {published_number({"inversion", "top_band_mean_effective_factor", name})});
  }
  return table;
}

BesideTable inversion_counts(const PaperResults& results) {
  BesideTable table{.title = "Inversion: counts (inversion)", .heading = "figure", .kind = Kind::kCount, .columns = {"count"}};
  table.add("HE: responses without a confidence", {plain(static_cast<double>(results.he_unusable))},
            {published_number({"inversion", "he_nan_cells"})});
  table.add("HE: contests that stated confidence decides", {plain(results.resolution[number_of("HE")].rows[1].contests)},
            {published_number({"inversion", "he_strict_contests"})});
  return table;
}

}  // namespace

report::Section selection_section(const PaperResults& results) {
  return {.heading = "Selection",
          .tables = {to_table(selection(results)), to_table(gap_from_raw(results)), to_table(best_single(results)),
                     to_table(gap_from_best_single(results)), best_models(results)}};
}

report::Section resolution_section(const PaperResults& results) {
  return {.heading = "Pairwise resolution",
          .tables = {to_table(resolution_table(results)), to_table(cloud_resolution(results)),
                     to_table(consistency_gain("delta_consistency_shuffle_ci", "orderings", {"gain", "ci_low", "ci_high"})),
                     to_table(consistency_gain("delta_consistency_problem_ci", "problems", {"ci_low", "ci_high"}))}};
}

report::Section convergence_section(const PaperResults& results) {
  BesideTable table{.title = "Cumulative pass@1 after the first tasks (convergence_pass1)",
                    .heading = "benchmark/method",
                    .columns = published_texts({"convergence_pass1", "columns"})};
  for (const std::string_view name : kPaperBenchmarks) {
    const ConvergenceResult& result = results.convergence[number_of(name)];
    for (const ConvergenceCurve& curve : result.curves) {
      Estimates simulated;
      for (const std::string& column : table.columns) {
        const bool all = column == "all";
        const auto mark = all ? result.checkpoints.end() - 1
                              : std::find_if(result.checkpoints.begin(), result.checkpoints.end() - 1,
                                             [&](std::size_t tasks) { return std::to_string(tasks) == column; });
        const bool there = all || mark != result.checkpoints.end() - 1;
        simulated.push_back(there ? plain(curve.pass1[static_cast<std::size_t>(mark - result.checkpoints.begin())].mean) : std::nullopt);
      }
      const std::string row = fmt::format("{}/{}", name, curve.label);
      table.add(row, simulated, published_numbers({"convergence_pass1", row}));
    }
  }
  table.notes = {kNineModels};
  return {.heading = "Convergence", .tables = {to_table(table)}};
}

report::Section inversion_section(const PaperResults& results) {
  return {.heading = "Inversion: are the more confident models the better ones?",
          .tables = {to_table(correlations(results)), to_table(inversion_shares(results)), to_table(top_factors(results)),
                     to_table(inversion_counts(results))}};
}

report::Section split_section(const PaperResults& results) {
  BesideTable table{.title = "LCB cut at 2024-04-06: pass rate of single models, early minus late (date_split_lcb)",
                    .heading = "model",
                    .columns = {"early minus late"}};
  std::vector<std::pair<double, std::string>> models;
  for (const SplitModel& model : results.split.models) {
    if (const auto difference = model.accuracy.difference()) models.emplace_back(difference->value, model.name);
  }
  const auto published = published_numbers({"date_split_lcb", "pass1_early_minus_late_pp"});
  const auto [low, high] = std::minmax_element(models.begin(), models.end());
  table.add("lowest", {plain(low->first)}, {published[0]});
  table.add("highest", {plain(high->first)}, {published[1]});
  table.notes = {fmt::format("Lowest: {}, published {}. Highest: {}, published {}.", low->second,
                             published_text({"date_split_lcb", "lowest"}), high->second, published_text({"date_split_lcb", "highest"}))};
  BesideTable halves{
      .title = "LCB cut at 2024-04-06: tasks (date_split_lcb.halves)", .heading = "half", .kind = Kind::kCount, .columns = {"tasks"}};
  const auto tasks = published_numbers({"date_split_lcb", "halves"});
  halves.add("early", {plain(static_cast<double>(results.split.early))}, {tasks[0]});
  halves.add("late", {plain(static_cast<double>(results.split.late))}, {tasks[1]});
  return {.heading = "Early against late", .tables = {to_table(table), to_table(halves)}};
}

}  // namespace margin::experiment
