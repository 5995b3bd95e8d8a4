#include <fmt/format.h>

#include <cmath>

#include "base/check.h"
#include "experiment/paper_tables.h"
#include "experiment/published.h"
#include "experiment/shown.h"
#include "margin/random.h"

namespace margin::experiment {
namespace {

using report::Cell;
using report::Kind;

std::optional<report::Estimate> ece_level(const EntrantResult& entrant) { return plain(level(entrant, kEce)); }

Spread measure_of(const PoolRuns& runs, Scenario scenario, std::size_t trajectory, std::size_t measure) {
  return runs.scenarios[static_cast<std::size_t>(scenario)].trajectories[trajectory].measures[measure].of(kEce);
}

BesideTable dropout(const PaperResults& results) {
  BesideTable table{.title = "Dropout: ECE before and after (pool.qa_dropout, pool.code_dropout)",
                    .heading = "stream, window",
                    .columns = {"mean", "sd"}};
  const auto add = [&](const char* name, const PoolRuns& runs, std::string_view key) {
    for (const std::size_t measure : {0U, 1U}) {
      const Spread spread = measure_of(runs, Scenario::kDropout, 0, measure);
      table.add(fmt::format("{}, {}", name, measure == 0 ? "last before" : "first after"), {plain(spread.mean), plain(spread.sd)},
                published_numbers({"pool", key, measure == 0 ? "pre" : "post"}));
    }
  };
  add("QA", results.qa, "qa_dropout");
  add("code", results.code, "code_dropout");
  table.notes = {
      fmt::format("QA: the phase {}, {} observations, windows of {}. Code: the phase {}; the publication does not state its window, here "
                  "{} of {} observations.",
                  kPaperQa, results.qa.dropout_options.observations, results.qa.dropout_options.window, kPaperCode,
                  results.code.dropout_options.window, results.code.dropout_options.observations)};
  return table;
}

BesideTable cold_start(const PaperResults& results) {
  BesideTable table{.title = "Cold start: ECE of newcomers over their first observations (pool.qa_cold_start, pool.code_cold_start)",
                    .heading = "stream, entry",
                    .columns = published_texts({"pool", "cold_start_checkpoints"})};
  table.columns.emplace_back("established models");
  const std::size_t checkpoints = table.columns.size() - 1;
  const auto add = [&](const char* name, const PoolRuns& runs, std::string_view key, std::size_t arm, std::string_view published) {
    Estimates simulated;
    for (std::size_t i = 0; i <= checkpoints; ++i) simulated.push_back(plain(measure_of(runs, Scenario::kColdStart, arm, i).mean));
    auto figures = published_numbers({"pool", key, published});
    if (arm == 0) figures.push_back(published_number({"pool", key, "established"}));
    table.add(fmt::format("{}, {}", name, runs.scenarios[1].trajectories[arm].label), simulated, figures);
  };
  add("QA", results.qa, "qa_cold_start", 0, "blended");
  add("QA", results.qa, "qa_cold_start", 1, "raw");
  add("code", results.code, "code_cold_start", 0, "blended");
  add("code", results.code, "code_cold_start", 1, "raw");
  table.notes = {"Unblended is what the publication calls raw: band factors alone, newcomers begin at 1."};
  return table;
}

BesideTable rolling(const PaperResults& results) {
  BesideTable table{.title = "Rolling membership: mean ECE of windows of 50 between changes (pool.qa_rolling_segments)",
                    .heading = "QA, windows that end at",
                    .columns = {"mean"}};
  std::size_t measure = 0;
  for (const std::string& segment : published_keys({"pool", "qa_rolling_segments"})) {
    table.add(segment, {plain(measure_of(results.qa, Scenario::kRolling, 0, measure++).mean)},
              {published_number({"pool", "qa_rolling_segments", segment})});
  }
  return table;
}

BesideTable rolling_ranges(const PaperResults& results) {
  BesideTable table{.title = "Rolling membership: ranges (pool.rolling_sd, pool.code_rolling_band)",
                    .heading = "figure",
                    .columns = {"lowest", "highest"}};
  const auto collect = [](const PoolRuns& runs, auto figure) {
    std::vector<double> values;
    const auto& measures = runs.scenarios[2].trajectories.front().measures;
    for (std::size_t i = 1; i < measures.size(); ++i) values.push_back(figure(measures[i].of(kEce)).value_or(0.0));
    return range_of(values);
  };
  table.add("QA: sd over orderings", collect(results.qa, [](const Spread& spread) { return spread.sd; }),
            published_numbers({"pool", "rolling_sd"}));
  table.add("code: mean ECE", collect(results.code, [](const Spread& spread) { return spread.mean; }),
            published_numbers({"pool", "code_rolling_band"}));
  table.notes = {"Between the changes after the first. Sd here is that of the mean of four windows."};
  return table;
}

BesideTable sweep_table(const PaperSweep& sweep, std::string_view key) {
  BesideTable table{.title = fmt::format("margin.{}: ECE ({})", sweep.sweep.parameter, key),
                    .heading = sweep.sweep.parameter,
                    .columns = published_texts({"ablation_columns"})};
  for (const std::string& value : published_keys({key})) {
    Estimates simulated;
    for (const std::string& name : table.columns) simulated.push_back(ece_level(entrant_of(condition_of(sweep.conditions, name), value)));
    table.add(value, simulated, published_numbers({key, value}));
  }
  return table;
}

struct BestMethod {
  std::string value;
  double gap = 0.0;  // of the default to it
};
BestMethod best_of(const PaperSweep& sweep, const ConditionResult& condition) {
  const auto ece = [](const EntrantResult& entrant) { return level(entrant, kEce).value_or(0.0); };
  const auto best =
      std::min_element(condition.entrants.begin(), condition.entrants.end(), [&](const auto& a, const auto& b) { return ece(a) < ece(b); });
  return {best->label, ece(condition.entrants[sweep.sweep.base.value_or(0)]) - ece(*best)};
}

// What the publication says of a condition's best value; empty: nothing.
std::string published_best_alpha(const std::string& condition) {
  for (const std::string& alpha : published_keys({"ablation_eleven_conditions", "alpha_argmin"})) {
    const auto where = published_texts({"ablation_eleven_conditions", "alpha_argmin", alpha});
    if (std::find(where.begin(), where.end(), condition) != where.end()) return alpha;
  }
  return "";
}
std::string published_best_bands(const std::string& condition) {
  const auto twenty = published_texts({"ablation_eleven_conditions", "bands_argmin_20"});
  if (std::find(twenty.begin(), twenty.end(), condition) != twenty.end()) return "20";
  const auto named = published_keys({"severity"});
  const bool severe =
      std::find(named.begin(), named.end(), condition) != named.end() && published_text({"severity", condition}) == "severe";
  return severe ? fmt::format("{}", fmt::join(published_texts({"ablation_eleven_conditions", "bands_argmin_severe"}), " or ")) : "";
}

report::Table best_values(const PaperResults& results) {
  report::Table table{.title = "The best alpha and number of bands (ablation_eleven_conditions)",
                      .columns = {{.name = "condition"},
                                  {.name = "alpha, simulated"},
                                  {.name = "alpha, published"},
                                  {.name = "bands, simulated"},
                                  {.name = "bands, published"}}};
  const auto said = [](const std::string& text) { return text.empty() ? Cell() : Cell(text); };
  for (std::size_t i = 0; i < results.alpha.conditions.size(); ++i) {
    const std::string& name = results.alpha.conditions[i].name;
    table.rows.push_back({name, best_of(results.alpha, results.alpha.conditions[i]).value, said(published_best_alpha(name)),
                          best_of(results.bands, results.bands.conditions[i]).value, said(published_best_bands(name))});
  }
  table.notes = {"The value of the grid with the lowest mean ECE, however small its lead."};
  return table;
}

BesideTable default_gaps(const PaperResults& results) {
  BesideTable table{.title = "How far the defaults are from the best value over the eleven conditions (ablation_eleven_conditions)",
                    .heading = "parameter",
                    .columns = {"lowest", "highest"}};
  const auto gaps = [](const PaperSweep& sweep) {
    std::vector<double> values;
    for (const ConditionResult& condition : sweep.conditions) values.push_back(best_of(sweep, condition).gap);
    return range_of(values);
  };
  table.add("alpha 0.04", gaps(results.alpha), published_numbers({"ablation_eleven_conditions", "alpha_default_gap_pp"}));
  table.add("3 bands", gaps(results.bands), {std::nullopt, published_number({"ablation_eleven_conditions", "bands_3_worst_gap_pp"})});
  return table;
}

BesideTable band_counts(const PaperResults& results) {
  BesideTable table{.title = "HE->BCB: observations (ablation_eleven_conditions)",
                    .heading = "figure",
                    .kind = Kind::kNumber,
                    .columns = {"observations"}};
  const auto published = published_numbers({"ablation_eleven_conditions", "he_bcb_band_counts_per_model"});
  constexpr const char* kBands[] = {"lowest", "middle", "top"};
  for (std::size_t band = 0; band < published.size(); ++band) {
    table.add(fmt::format("per model in the {} band", kBands[band]), {plain(results.he_bcb_band_counts[band])}, {published[band]});
  }
  table.add("in all", {plain(static_cast<double>(condition_of(results.shift, "HE->BCB").rows))},
            {published_number({"ablation_eleven_conditions", "he_bcb_observations"})});
  return table;
}

constexpr std::size_t kLate = 1, kSelectedOnly = 2;  // regimes; 0 is immediate

double change_of(const RegimeResults& condition, std::size_t regime, std::size_t method) {
  return level(condition.results[regime].entrants[method], kEce).value_or(0.0) -
         level(condition.results[0].entrants[method], kEce).value_or(0.0);
}

bool is_severe(const std::string& condition) { return condition.ends_with("->BCB") || condition.ends_with("->CC"); }
bool is_moderate(const std::string& condition) { return condition.ends_with("->LCB"); }

std::size_t method_of(const RegimeResults& condition, std::string_view label) {
  const auto& entrants = condition.results.front().entrants;
  return static_cast<std::size_t>(std::find_if(entrants.begin(), entrants.end(), [&](const auto& one) { return one.label == label; }) -
                                  entrants.begin());
}

// The lowest and highest change of some methods under some conditions.
template <class Conditions, class Methods>
Estimates changes(const PaperResults& results, std::size_t regime, const Conditions& among, const Methods& methods) {
  std::vector<double> values;
  for (const RegimeResults& condition : results.feedback) {
    if (!among(condition.condition)) continue;
    const auto& entrants = condition.results.front().entrants;
    for (std::size_t method = 0; method < entrants.size(); ++method) {
      if (methods(entrants[method].label)) values.push_back(change_of(condition, regime, method));
    }
  }
  return range_of(values);
}

bool is_margin(const std::string& label) { return label == "margin"; }
bool is_family(const std::string& label) { return label != "margin"; }

BesideTable late(const PaperResults& results) {
  BesideTable table{.title = fmt::format("Outcomes {} rows late: change of ECE of margin (feedback.lag_200_delta_pp)", kPaperLag),
                    .heading = "conditions",
                    .columns = {"lowest", "highest"}};
  const auto rest = [](const std::string& name) { return !is_severe(name) && !is_moderate(name); };
  const auto add = [&](const char* name, const auto& among) {
    table.add(name, changes(results, kLate, among, is_margin), published_numbers({"feedback", "lag_200_delta_pp", name}));
  };
  add("LCB targets", is_moderate);
  add("mild and QA/math", rest);
  add("BCB/CC targets", is_severe);
  return table;
}

BesideTable selected_only(const PaperResults& results) {
  BesideTable table{
      .title = "Outcomes of the selected answer only: change of ECE under severe shift (feedback.selected_only_delta_pp_severe)",
      .heading = "method",
      .columns = {"lowest", "highest"}};
  table.add("margin", changes(results, kSelectedOnly, is_severe, is_margin),
            published_numbers({"feedback", "selected_only_delta_pp_severe", "margin"}));
  table.add("the other online methods", changes(results, kSelectedOnly, is_severe, is_family),
            published_numbers({"feedback", "selected_only_delta_pp_severe", "family"}));
  return table;
}

BesideTable feedback_counts(const PaperResults& results) {
  BesideTable table{
      .title = "Conditions, of eleven, in which ... (feedback)", .heading = "...", .kind = Kind::kCount, .columns = {"conditions"}};
  const auto within = [&](std::size_t method, double limit) {
    return static_cast<double>(std::count_if(results.feedback.begin(), results.feedback.end(), [&](const RegimeResults& condition) {
      return std::fabs(change_of(condition, kSelectedOnly, method)) <= limit;
    }));
  };
  const RegimeResults& first = results.feedback.front();
  const std::size_t margin = method_of(first, "margin");
  double others = 0.0;
  for (std::size_t method = 0; method < first.results.front().entrants.size(); ++method) {
    if (method != margin) others = std::max(others, within(method, 0.02));
  }
  const auto steadiest = [&](std::string_view label) {
    return static_cast<double>(std::count_if(results.feedback.begin(), results.feedback.end(), [&](const RegimeResults& condition) {
      const std::size_t ours = method_of(condition, label);
      for (std::size_t method = 0; method < condition.results.front().entrants.size(); ++method) {
        if (std::fabs(change_of(condition, kLate, method)) < std::fabs(change_of(condition, kLate, ours))) return false;
      }
      return true;
    }));
  };
  const auto add = [&](const char* name, double simulated, PublishedPath path) {
    table.add(name, {plain(simulated)}, {published_number(path)});
  };
  add("margin: selected only costs at most 2 points", within(margin, 0.02), {"feedback", "selected_only_within_2pp", "margin_conditions"});
  add("margin: selected only costs at most 1 point", within(margin, 0.01), {"feedback", "selected_only_within_2pp", "margin_within_1pp"});
  add("the best other: selected only, at most 2 points", others, {"feedback", "selected_only_within_2pp", "others_at_most"});
  add("late outcomes change online_platt least", steadiest("online_platt"), {"feedback", "lag_smallest_change", "online_platt_conditions"});
  add("late outcomes change margin least", steadiest("margin"), {"feedback", "lag_smallest_change", "margin_conditions"});
  return table;
}

// The calibrator alone: one band and confidence 1, so that its factor is its accuracy estimate.
class Estimator {
 public:
  explicit Estimator(Parameters parameters) {
    parameters.insert({{"bands", 1.0}, {"shrinkage", 0.0}});
    auto made = make_calibrator("margin", parameters);
    MARGIN_CHECK(made.ok(), "margin has these parameters");
    margin_ = std::move(*made);
    margin_->join(0);
  }
  double learn(double outcome) {
    const Status status = margin_->observe({.model = 0, .confidence = 1.0, .outcome = outcome});
    MARGIN_CHECK(status.ok(), "an outcome in [0, 1]");
    return margin_->calibrate(0, 1.0);
  }

 private:
  std::unique_ptr<Calibrator> margin_;
};

// Mean and standard deviation of the accuracy estimate, once its start is forgotten.
Spread steady_state(const Parameters& parameters, double theta) {
  constexpr int kForgotten = 2000, kSteps = 1'000'000;
  Estimator estimator(parameters);
  Random random(1);
  double sum = 0.0, squares = 0.0;
  for (int step = -kForgotten; step < kSteps; ++step) {
    const double estimate = estimator.learn(random.chance(theta) ? 1.0 : 0.0);
    if (step < 0) continue;
    sum += estimate;
    squares += estimate * estimate;
  }
  const double mean = sum / kSteps;
  return {.mean = mean, .sd = std::sqrt(squares / kSteps - mean * mean)};
}

// Observations until an estimate that was wrong by `delta` is wrong by less than `epsilon`.
double recovery(double alpha, double delta, double epsilon) {
  Estimator estimator({{"alpha", alpha}});
  for (int step = 0; step < 5000; ++step) estimator.learn(1.0);
  double steps = 1.0;
  while (std::fabs(estimator.learn(1.0 - delta) - (1.0 - delta)) >= epsilon) steps += 1.0;
  return steps;
}

}  // namespace

report::Section transfer_section(const PaperResults& results) {
  BesideTable table{.title = "Mean ECE per model (transfer_ece_mean_per_model)",
                    .heading = "condition",
                    .columns = published_texts({"transfer_ece_mean_per_model", "columns"})};
  for (const RegimeResults& condition : results.transfer) {
    const auto ece = [&](std::size_t regime, std::string_view label) {
      return plain(level(entrant_of(condition.results[regime], label), kEcePerModel));
    };
    table.add(condition.condition, {ece(kTransferred, "raw"), ece(kTransferred, "margin"), ece(kFromScratch, "margin")},
              published_numbers({"transfer_ece_mean_per_model", condition.condition}));
  }
  return {.heading = "Transfer", .tables = {to_table(table)}};
}

report::Section pool_section(const PaperResults& results) {
  return {
      .heading = "Pools that lose, gain and swap models",
      .tables = {to_table(dropout(results)), to_table(cold_start(results)), to_table(rolling(results)), to_table(rolling_ranges(results))}};
}

report::Section ablation_section(const PaperResults& results) {
  return {.heading = "Ablation",
          .tables = {to_table(sweep_table(results.alpha, "ablation_alpha")), to_table(sweep_table(results.bands, "ablation_bands")),
                     to_table(sweep_table(results.two_rate, "ablation_asymmetric")),
                     to_table(sweep_table(results.shrinkage, "ablation_shrinkage")), best_values(results), to_table(default_gaps(results)),
                     to_table(band_counts(results))}};
}

report::Section feedback_section(const PaperResults& results) {
  return {.heading = "Late and partial outcomes",
          .tables = {to_table(late(results)), to_table(selected_only(results)), to_table(feedback_counts(results))}};
}

report::Section theory_section() {
  BesideTable table{.title = "The worked examples of the theory, measured on the calibrator (theory)",
                    .heading = "figure",
                    .kind = Kind::kNumber,
                    .columns = {"value"}};
  const auto at = [](std::string_view example, std::string_view key) { return *published_number({"theory", example, key}); };
  const double theta = at("asymmetric_example", "theta");
  const Spread skewed = steady_state(
      {{"alpha_correct", at("asymmetric_example", "alpha_up")}, {"alpha_incorrect", at("asymmetric_example", "alpha_down")}}, theta);
  table.add("rates 0.02/0.06, 80% right: mean estimate", {plain(skewed.mean)}, {at("asymmetric_example", "mean")});
  table.add("rates 0.02/0.06, 80% right: bias", {plain(*skewed.mean - theta)}, {at("asymmetric_example", "bias")});
  const Spread steady = steady_state({{"alpha", at("steady_sd_example", "alpha")}}, at("steady_sd_example", "theta"));
  table.add("alpha 0.04, 79% right: standard deviation", {plain(steady.sd)}, {at("steady_sd_example", "sd")});
  table.add(
      "alpha 0.04: observations, error 0.20 to 0.01",
      {plain(recovery(at("step_recovery_example", "alpha"), at("step_recovery_example", "delta"), at("step_recovery_example", "epsilon")))},
      {at("step_recovery_example", "observations")});
  table.notes = {"A million simulated outcomes. The published 75 is ln(20)/0.04, a bound; the recursion itself needs 74."};
  return {.heading = "Theory", .tables = {to_table(table)}};
}

}  // namespace margin::experiment
