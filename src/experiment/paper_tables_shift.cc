#include <fmt/format.h>

#include "experiment/paper_tables.h"
#include "experiment/published.h"
#include "experiment/shown.h"
#include "report/dot_plot.h"

namespace margin::experiment {
namespace {

using report::Kind;

BesideTable shift_ece(const PaperResults& results) {
  BesideTable table{.title = "ECE on the target (shift_ece)", .heading = "condition", .columns = {}};
  for (const EntrantResult& entrant : results.shift.front().entrants) table.columns.push_back(entrant.label);
  for (const ConditionResult& condition : results.shift) {
    Estimates simulated;
    for (const EntrantResult& entrant : condition.entrants) simulated.push_back(plain(level(entrant, kEce)));
    table.add(condition.name, simulated, published_numbers({"shift_ece", condition.name}));
  }
  table.notes = {"aci_quantile_scale and margin_adaptive are beyond the published table."};
  return table;
}

// Margin against each rival under one reading of the protocol; rivals that did not take part are missing.
BesideTable records(const std::string& title, std::span<const ConditionResult> conditions, std::string_view margin) {
  BesideTable table{.title = title, .heading = "rival", .kind = Kind::kCount, .columns = {"wins", "ties", "losses"}};
  const Result<ComparisonTable> compared = compare(conditions, margin, Compared::kEce);
  if (!compared) return table;
  for (const std::string& rival : published_keys({"paired_ci_win_tie_loss"})) {
    for (const Record& record : compared->records) {
      if (record.rival != rival) continue;
      const auto count = [](std::size_t number) { return plain(static_cast<double>(number)); };
      table.add(rival, {count(record.wins), count(record.ties), count(record.losses)},
                published_numbers({"paired_ci_win_tie_loss", rival}));
    }
  }
  return table;
}

BesideTable coverage(const PaperResults& results) {
  BesideTable table{
      .title = "Coverage of aci_quantile_scale, target 50% (aci_coverage)", .heading = "coverage", .columns = {"at the end of the target"}};
  std::vector<double> values;
  for (const Coverage& one : results.coverage) values.insert(values.end(), {one.lowest, one.highest});
  const Estimates range = range_of(values);
  const auto add = [&](const char* name, const std::optional<report::Estimate>& simulated, const char* key) {
    table.add(name, {simulated}, {*published_number({"aci_coverage", key}) * 100.0});
  };
  add("lowest", range[0], "observed_min");
  add("highest", range[1], "observed_max");
  table.notes = {
      "Over conditions and models, targets in file order. The publication leaves open how this method works: ours is one reading."};
  return table;
}

report::DotPlot picture(const PaperResults& results, std::string_view method) {
  report::DotPlot plot{.words = {.title = fmt::format("ECE of {} by condition", method),
                                 .description = "The simulated cohort, with 95% intervals over tasks, beside the published figure."},
                       .value = {.label = "ECE", .percent = true},
                       .series = {"simulated", "published"}};
  const std::vector<std::string> columns = published_texts({"shift_ece", "columns"});
  const auto column = static_cast<std::size_t>(std::find(columns.begin(), columns.end(), method) - columns.begin());
  for (const ConditionResult& condition : results.shift) {
    const EntrantResult& entrant = entrant_of(condition, method);
    const auto published = published_numbers({"shift_ece", condition.name})[column];
    plot.groups.push_back(
        {condition.name, {estimate_of(level(entrant, kEce), percentile_interval(entrant.ece)), plain(*published / 100.0)}});
  }
  return plot;
}

// Every method under every condition, published against simulated: on the diagonal they agree.
report::DotPlot differences(const PaperResults& results) {
  report::DotPlot plot{
      .words = {.title = "ECE, simulated minus published, by condition and method",
                .description = "Right of the line the simulated cohort gives a larger ECE than was published."},
      .value = {.label = "simulated minus published", .percent = true},
      .series = {"raw", "temperature_scaling", "margin", "sliding_window_histogram", "windowed_accuracy_replace", "online_platt"},
      .guide = 0.0};
  const BesideTable table = shift_ece(results);
  for (const BesideTable::Row& row : table.rows) {
    report::DotGroup group{.name = row.name};
    for (const std::string& method : plot.series) {
      const auto column = std::find(table.columns.begin(), table.columns.end(), method) - table.columns.begin();
      group.values.push_back(plain(row.figures[static_cast<std::size_t>(column)].difference()));
    }
    plot.groups.push_back(std::move(group));
  }
  return plot;
}

BesideTable scores(const PaperResults& results, Metric metric, const char* key) {
  BesideTable table{.title = fmt::format("{} on HE->BCB ({})", shown(metric).name, key),
                    .heading = "method",
                    .kind = Kind::kNumber,
                    .columns = {std::string(shown(metric).name)}};
  for (const std::string& method : published_keys({key})) {
    const EntrantResult& entrant = entrant_of(condition_of(results.shift, "HE->BCB"), method);
    table.add(method, {plain(level(entrant, metric))}, {published_number({key, method})});
  }
  return table;
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2.0;
}

BesideTable gain(const PaperResults& results, Kind kind) {
  constexpr std::string_view kKey = "he_bcb_per_model_gain";
  BesideTable table{.title = fmt::format("What margin gains single models on HE->BCB, {} ({})",
                                         kind == Kind::kPercent ? "ECE" : "Brier score and log loss", kKey),
                    .heading = "raw minus margin",
                    .kind = kind,
                    .columns = {"lowest", "median", "highest"}};
  const auto add = [&](const char* name, double ModelGain::*figure, std::string_view range, const std::optional<double>& middle) {
    std::vector<double> values;
    for (const ModelGain& one : results.he_bcb_gain) values.push_back(one.*figure);
    const Estimates simulated = range_of(values);
    const auto published = published_numbers({kKey, range});
    table.add(name, {simulated[0], plain(median(values)), simulated[1]}, {published[0], middle, published[1]});
  };
  if (kind == Kind::kPercent) {
    add("ECE", &ModelGain::ece, "ece_pp", published_number({kKey, "ece_median"}));
    return table;
  }
  add("Brier score", &ModelGain::brier, "brier", published_number({kKey, "brier_median"}));
  add("log loss", &ModelGain::log_loss, "log_loss", published_number({kKey, "log_loss_median"}));
  add("log loss with margin", &ModelGain::margin_log_loss, "margin_log_loss_range", std::nullopt);
  return table;
}

}  // namespace

report::Section shift_section(const PaperResults& results) {
  report::Section section{.heading = "Shift: ECE under eleven conditions"};
  section.tables.push_back(to_table(shift_ece(results)));
  if (!results.shift.front().entrants.front().ece.empty()) {
    section.tables.push_back(
        to_table(records("margin against the others, ECE, preset paper (paired_ci_win_tie_loss)", results.shift, "margin")));
    section.tables.push_back(
        to_table(records("margin under told against the hard windows, ECE (paired_ci_win_tie_loss)", results.told, "margin")));
    section.tables.push_back(to_table(records("margin with its defaults under told against the hard windows, ECE (paired_ci_win_tie_loss)",
                                              results.told, kMarginDefaults)));
  }
  section.tables.push_back(to_table(coverage(results)));
  section.figures.push_back(
      report::figure(differences(results), "Where the simulated cohort differs from the publication: at the line it does not."));
  for (const char* method : {"margin", "sliding_window_histogram"}) {
    section.figures.push_back(report::figure(picture(results, method), fmt::format("ECE of {}, simulated and published.", method)));
  }
  return section;
}

report::Section he_bcb_section(const PaperResults& results) {
  return {.heading = "HumanEval to BigCodeBench: Brier score, log loss, single models",
          .tables = {to_table(scores(results, kBrier, "he_bcb_brier")), to_table(scores(results, kLogLoss, "he_bcb_log_loss")),
                     to_table(gain(results, Kind::kPercent)), to_table(gain(results, Kind::kNumber))}};
}

}  // namespace margin::experiment
