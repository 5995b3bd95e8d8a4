#include "calibrator_setups.h"

#include "margin/random.h"

namespace margin::conformance {

void PrintTo(const Setup& setup, std::ostream* out) { *out << setup.name; }

std::string name_of(const testing::TestParamInfo<Setup>& info) { return info.param.name; }

std::vector<Setup> all_setups() {
  std::vector<Setup> setups;
  for (const CalibratorInfo* info : calibrator_catalog()) setups.push_back({info->identifier, info->identifier, {}});
  for (const CalibratorInfo* info : replaced_calibrators()) {
    const std::string version = std::to_string(info->version);
    setups.push_back({info->identifier + "_version_" + version, info->identifier + "@" + version, {}});
  }
  const std::vector<Setup> special = {
      {"margin_band_factors_alone", "margin", {{"bands", 10.0}, {"shrinkage", 0.0}, {"entry", "identity"}}},
      {"margin_pool_band", "margin", {{"target", "pool_band"}, {"alpha", 1.0}}},
      {"margin_two_rates", "margin", {{"alpha_correct", 0.02}, {"alpha_incorrect", 0.08}, {"bands", 1.0}}},
      {"margin_quantile_edges", "margin", {{"edges", "quantile"}, {"target", "pool_band"}}},
      {"margin_estimated_credibility", "margin", {{"credibility", "estimated"}, {"bands", 5.0}}},
      {"margin_chosen_bands", "margin", {{"bands", 0.0}, {"edges", "quantile"}, {"credibility", "estimated"}}},
      {"histogram_binning_coarse", "histogram_binning", {{"bins", 3.0}}},
      {"sliding_window_histogram_short", "sliding_window_histogram", {{"window", 7.0}, {"bins", 3.0}}},
      {"decayed_histogram_forgetful", "decayed_histogram", {{"alpha", 1.0}, {"bins", 1.0}}},
      {"windowed_accuracy_replace_last", "windowed_accuracy_replace", {{"window", 1.0}}},
      {"windowed_accuracy_multiply_short", "windowed_accuracy_multiply", {{"window", 7.0}}},
      {"online_platt_violent", "online_platt", {{"eta", 1.0}, {"lambda", 1.0}}},
      {"online_platt_unpenalised", "online_platt", {{"eta", 1.0}, {"lambda", 0.0}}},
      {"margin_adaptive_other_shape",
       "margin_adaptive",
       {{"bands", 7.0}, {"clocks", std::vector<double>{3.0, 90.0}}, {"roots", std::vector<double>{1.0, 8.0}}, {"odds_step", 0.5}}},
      {"aci_quantile_scale_brisk", "aci_quantile_scale", {{"window", 25.0}, {"step", 1.0}, {"target", 0.9}}},
  };
  setups.insert(setups.end(), special.begin(), special.end());
  return setups;
}

std::vector<Observation> unkind_rows(std::uint64_t seed, std::size_t count) {
  constexpr std::array kTinyWeights = {5e-324, 1e-300, 1e-9};
  Random random(seed);
  std::vector<Observation> rows(count);
  for (Observation& row : rows) {
    row.model = static_cast<ModelId>(random.below(kModels));
    row.confidence = random.chance(0.5) ? kEdges[random.below(kEdges.size())] : random.uniform();
    row.outcome = random.chance(0.2) ? random.uniform() : random.chance(0.3 + 0.5 * row.confidence) ? 1.0 : 0.0;
    if (random.chance(0.3)) row.weight = random.chance(0.1) ? kTinyWeights[random.below(kTinyWeights.size())] : 1.0 - random.uniform();
  }
  return rows;
}

std::unique_ptr<Calibrator> make(const Setup& setup) {
  auto made = make_calibrator(setup.identifier, setup.parameters);
  EXPECT_TRUE(made.ok()) << made.error().message;
  return std::move(made).value();
}

std::unique_ptr<Calibrator> ready(const Setup& setup) {
  auto calibrator = make(setup);
  for (ModelId model = 0; model < kModels; ++model) calibrator->join(model);
  if (calibrator->info().design_time) {
    EXPECT_TRUE(calibrator->fit(unkind_rows(99, 500)).ok());
  }
  return calibrator;
}

void teach(Calibrator& calibrator, std::span<const Observation> rows) {
  for (const Observation& row : rows) {
    calibrator.begin_task();
    const Status learned = calibrator.observe(row);
    calibrator.end_task();
    ASSERT_TRUE(learned.ok()) << learned.error().message;
  }
}

void fit_and_teach(Calibrator& calibrator, std::span<const Observation> rows) {
  if (calibrator.info().design_time) {
    ASSERT_TRUE(calibrator.fit(rows).ok());
  }
  teach(calibrator, rows);
}

std::vector<double> portrait(const Calibrator& calibrator) {
  std::vector<double> values;
  for (ModelId model = 0; model < kModels; ++model) {
    for (const double confidence : kEdges) values.push_back(calibrator.calibrate(model, confidence));
    for (int i = 0; i < 40; ++i) values.push_back(calibrator.calibrate(model, (i + 0.5) / 40.0));
  }
  return values;
}

}  // namespace margin::conformance
