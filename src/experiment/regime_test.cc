// Transfer, feedback and ablation against plain loops over the same orderings.
#include "experiment/regime.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "experiment/ablation.h"
#include "experiment/ablation_report.h"
#include "experiment/feedback_report.h"
#include "experiment/shown.h"
#include "experiment/test_stream.h"
#include "experiment/transfer_report.h"
#include "margin/metric.h"
#include "margin/random.h"

namespace margin::experiment {
namespace {

constexpr std::uint32_t kOrderings = 4;

Condition condition() {
  return make_condition("easy->hard", make_test_stream({.seed = 1, .tasks = 50, .skill = 0.95}),
                        make_test_stream({.seed = 2, .tasks = 60, .models = {"b", "c", "d"}, .skill = 0.5}));
}

ShiftOptions small(unsigned threads = 1) { return {.orderings = kOrderings, .seed = 9, .resamples = 150, .threads = {threads}}; }

std::unique_ptr<Calibrator> fresh(const std::string& method) { return std::move(make_calibrator(method)).value(); }
std::unique_ptr<Vote> sum_vote() { return std::move(make_vote("sum")).value(); }

std::vector<Entrant> entrants(const std::vector<std::string>& names) {
  std::vector<Entrant> all;
  for (const std::string& name : names) all.push_back({name, fresh(name)});
  return all;
}

RegimeResults run(std::span<const Regime> regimes, const std::vector<std::string>& methods, const ShiftOptions& options) {
  auto results = run_regimes(condition(), entrants(methods), *sum_vote(), regimes, options);
  EXPECT_TRUE(results.has_value());
  return std::move(*results);
}

std::vector<std::uint32_t> order_of(const Condition& c, std::uint64_t ordering) {
  Random random = Random::stream(9, ordering);
  std::vector<std::uint32_t> order(c.stream.tasks.size());
  std::iota(order.begin(), order.end(), 0U);
  random.shuffle(std::span(order).first(c.source_tasks));
  random.shuffle(std::span(order).subspan(c.source_tasks));
  return order;
}

struct Predicted {
  std::vector<double> p, o;
  std::vector<ModelId> models;
};

// A pass in plain words: the tasks before `scored` are learned and not scored, those from `frozen` on teach nothing.
Predicted plain_pass(const Stream& stream, std::span<const std::uint32_t> order, std::size_t scored, std::size_t frozen,
                     const std::string& method) {
  const auto calibrator = fresh(method);
  Predicted predicted;
  for (std::size_t position = 0; position < order.size(); ++position) {
    const Stream::Task& task = stream.tasks[order[position]];
    const auto each_row = [&](const auto& act) {
      for (std::size_t row = task.first_row; row < task.first_row + task.rows; ++row) act(row);
    };
    each_row([&](std::size_t row) { calibrator->join(stream.model[row]); });
    each_row([&](std::size_t row) {
      if (position < scored || std::isnan(stream.outcome[row])) return;
      predicted.p.push_back(calibrator->calibrate(stream.model[row], stream.confidence[row]));
      predicted.o.push_back(stream.outcome[row]);
      predicted.models.push_back(stream.model[row]);
    });
    if (position >= frozen) continue;
    calibrator->begin_task();
    each_row([&](std::size_t row) {
      if (std::isnan(stream.outcome[row])) return;
      EXPECT_TRUE(calibrator->observe({stream.model[row], stream.confidence[row], stream.outcome[row]}).ok());
    });
    calibrator->end_task();
  }
  return predicted;
}

// Mean over models of each model's own ten-bin error, in plain sums.
double plain_ece_per_model(const Predicted& predicted) {
  std::map<ModelId, std::pair<std::vector<double>, double>> by_model;
  for (std::size_t i = 0; i < predicted.p.size(); ++i) {
    auto& [bins, count] = by_model.try_emplace(predicted.models[i], std::vector<double>(10), 0.0).first->second;
    bins[static_cast<std::size_t>(std::min(9, static_cast<int>(predicted.p[i] * 10.0)))] += predicted.o[i] - predicted.p[i];
    count += 1.0;
  }
  double sum = 0.0;
  for (const auto& [model, one] : by_model) {
    double error = 0.0;
    for (const double bin : one.first) error += std::fabs(bin);
    sum += error / one.second;
  }
  return sum / static_cast<double>(by_model.size());
}

TEST(Transfer, FrozenAfterTheSourceAndFromScratchAreWhatPlainLoopsGive) {
  const Condition c = condition();
  for (const std::string method : {"margin", "margin_adaptive", "windowed_accuracy_replace"}) {
    const RegimeResults results = run(transfer_regimes(), {method}, small());
    for (std::uint64_t ordering = 0; ordering < kOrderings; ++ordering) {
      const auto order = order_of(c, ordering);
      const auto target = std::span(order).subspan(c.source_tasks);
      const double transferred = plain_ece_per_model(plain_pass(c.stream, order, c.source_tasks, c.source_tasks, method));
      const double scratch = plain_ece_per_model(plain_pass(c.stream, target, 0, target.size(), method));
      const auto& got = results.results;
      EXPECT_NEAR(*got[kTransferred].entrants[0].by_ordering[ordering][kEcePerModel], transferred, 1e-12) << method;
      EXPECT_NEAR(*got[kFromScratch].entrants[0].by_ordering[ordering][kEcePerModel], scratch, 1e-12) << method;
      EXPECT_GT(transferred, scratch) << "this target punishes what was learned on the source";
    }
  }
}

TEST(Feedback, NothingIsLearnedFromTheBoundaryOnWithoutFeedback) {
  const Condition c = condition();
  const auto order = order_of(c, 0);
  const PassOptions frozen{.boundary = c.source_tasks, .feedback = Feedback::kNone};
  const Pass pass = replay(c.stream, order, *fresh("margin"), *sum_vote(), frozen);
  // The same stated confidence of a model is worth the same at the end of the target as at its beginning.
  std::map<ModelId, double> factor;
  for (std::size_t position = c.source_tasks; position < order.size(); ++position) {
    const Stream::Task& task = c.stream.tasks[order[position]];
    for (std::size_t row = task.first_row; row < task.first_row + task.rows; ++row) {
      if (c.stream.confidence[row] <= 0.0 || c.stream.confidence[row] >= 1.0 / 3.0) continue;  // one band, far from the clip
      const double own = pass.calibrated[row] / c.stream.confidence[row];
      const auto known = factor.try_emplace(c.stream.model[row], own).first;
      EXPECT_NEAR(own, known->second, 1e-12);
    }
  }
  EXPECT_EQ(factor.size(), 3U);
}

TEST(Feedback, LagZeroIsThePlainShiftAndLagsAreReplaysWithThatLag) {
  const Condition c = condition();
  const std::vector<std::size_t> lags = {0, 7, 40};
  const auto regimes = feedback_regimes({.lags = lags}, Boundary::kTold);
  ASSERT_EQ(regimes.size(), 4U);
  const RegimeResults results = run(regimes, {"margin", "online_platt"}, small());
  EXPECT_EQ(results.labels, (std::vector<std::string>{"lag 0", "lag 7", "lag 40", "selected only"}));
  for (std::uint64_t ordering = 0; ordering < kOrderings; ++ordering) {
    const auto order = order_of(c, ordering);
    const Predicted whole = plain_pass(c.stream, order, c.source_tasks, order.size(), "margin");
    EXPECT_DOUBLE_EQ(*results.results[0].entrants[0].by_ordering[ordering][kEce], *ece({whole.p, whole.o}));
    const auto target = std::span(order).subspan(c.source_tasks);
    const Predicted told = plain_pass(c.stream, target, 0, target.size(), "online_platt");
    EXPECT_DOUBLE_EQ(*results.results[0].entrants[1].by_ordering[ordering][kEce], *ece({told.p, told.o}));
    for (std::size_t regime = 1; regime < 4; ++regime) {
      PassOptions options = regimes[regime].pass;
      options.boundary = c.source_tasks;
      const Pass pass = replay(c.stream, order, *fresh("margin"), *sum_vote(), options);
      std::vector<double> p, o;
      for (std::size_t row = c.source_rows; row < c.stream.rows(); ++row) {
        if (std::isnan(c.stream.outcome[row])) continue;
        p.push_back(pass.calibrated[row]);
        o.push_back(c.stream.outcome[row]);
      }
      const auto got = results.results[regime].entrants[0].by_ordering[ordering][kEce];
      EXPECT_DOUBLE_EQ(*got, *ece({p, o})) << regimes[regime].label;
      EXPECT_NE(*got, *ece({whole.p, whole.o})) << regimes[regime].label;
    }
  }
}

TEST(Feedback, DifferencesArePairedOverResamples) {
  const std::vector<std::size_t> lags = {0, 40};
  const RegimeResults results = run(feedback_regimes({.lags = lags, .selected = false}, Boundary::kTold), {"margin"}, small());
  const EntrantResult& now = results.results[0].entrants[0];
  const EntrantResult& late = results.results[1].entrants[0];
  std::vector<double> differences;
  for (std::size_t i = 0; i < now.ece.size(); ++i) differences.push_back(*late.ece[i] - *now.ece[i]);
  std::sort(differences.begin(), differences.end());
  const auto estimate = difference(late, now, kEce);
  ASSERT_TRUE(estimate && estimate->interval);
  EXPECT_DOUBLE_EQ(estimate->value, *late.scores.mean[kEce] - *now.scores.mean[kEce]);
  // 150 resamples: 2.5% lies between the third and the fifth smallest, whatever the interpolation.
  EXPECT_GE(estimate->interval->low, differences[2]);
  EXPECT_LE(estimate->interval->low, differences[4]);
  EXPECT_GE(estimate->interval->high, differences[145]);
  EXPECT_LE(estimate->interval->high, differences[147]);
  EXPECT_FALSE(difference(late, now, kEcePerModel)->interval.has_value());
}

TEST(Regimes, ThreadsDoNotChangeABit) {
  const std::vector<std::size_t> lags = {0, 10};
  auto regimes = feedback_regimes({.lags = lags}, Boundary::kTold);
  for (Regime& regime : transfer_regimes()) regimes.push_back(regime);
  const std::vector<std::string> methods = {"margin", "margin_adaptive"};
  const RegimeResults one = run(regimes, methods, small(1));
  const RegimeResults four = run(regimes, methods, small(4));
  for (std::size_t r = 0; r < regimes.size(); ++r) {
    for (std::size_t m = 0; m < methods.size(); ++m) {
      EXPECT_EQ(one.results[r].entrants[m].by_ordering, four.results[r].entrants[m].by_ordering);
      EXPECT_EQ(one.results[r].entrants[m].ece, four.results[r].entrants[m].ece);
    }
  }
}

TEST(Ablation, EachValueIsTheMethodMadeWithIt) {
  const auto base = std::move(make_calibrator("margin", {{"target", "pool_band"}})).value();
  std::vector<Sweep> sweeps;
  sweeps.push_back(std::move(make_sweep(*parse_sweep("margin.shrinkage=0,100,5"), *base)).value());
  const auto results = run_ablation(condition(), sweeps, *sum_vote(), small());
  ASSERT_TRUE(results.has_value());
  EXPECT_EQ(sweeps[0].base, 1U);
  EXPECT_EQ(sweeps[0].numbers, (std::vector<double>{0.0, 100.0, 5.0}));
  for (std::size_t value = 0; value < 3; ++value) {
    std::vector<Entrant> alone;
    alone.push_back(
        {"x", std::move(make_calibrator("margin", {{"target", "pool_band"}, {"shrinkage", sweeps[0].numbers[value]}})).value()});
    const auto expected = run_shift(condition(), alone, *sum_vote(), small(4));
    EXPECT_EQ((*results)[0].entrants[value].by_ordering, expected->entrants[0].by_ordering);
    EXPECT_EQ((*results)[0].entrants[value].brier, expected->entrants[0].brier);
  }
  EXPECT_NE(level((*results)[0].entrants[0], kEce), level((*results)[0].entrants[1], kEce));
}

TEST(Ablation, PublishedGridsMarkTheDefault) {
  const auto base = fresh("margin");
  const std::map<std::string, std::pair<std::size_t, std::string>> expected = {
      {"alpha", {7, "0.04"}}, {"bands", {6, "3"}}, {"shrinkage", {9, "100"}}, {"two_rate", {6, "0.04/0.04"}}};
  for (const auto& [name, values] : expected) {
    const auto sweep = make_sweep(*sweep_preset(name), *base);
    ASSERT_TRUE(sweep.ok()) << name;
    EXPECT_EQ(sweep->entrants.size(), values.first) << name;
    ASSERT_TRUE(sweep->base.has_value()) << name;
    EXPECT_EQ(sweep->entrants[*sweep->base].label, values.second);
    EXPECT_EQ(sweep->numbers.empty(), name == "two_rate");
  }
  const auto pairs = make_sweep(*sweep_preset("two_rate"), *base);
  EXPECT_EQ(number(pairs->entrants[1].method->parameters(), "alpha_correct"), 0.02);
  EXPECT_EQ(number(pairs->entrants[1].method->parameters(), "alpha_incorrect"), 0.08);
}

TEST(Ablation, WordsAndListsCanBeSwept) {
  const auto words = make_sweep(*parse_sweep("margin.target=model,pool_band"), *fresh("margin"));
  ASSERT_TRUE(words.ok());
  EXPECT_TRUE(words->numbers.empty());
  EXPECT_EQ(choice(words->entrants[1].method->parameters(), "target"), "pool_band");
  const auto lists = make_sweep(*parse_sweep("margin_adaptive.clocks=8,48;8,48,288;16"), *fresh("margin_adaptive"));
  ASSERT_TRUE(lists.ok());
  EXPECT_EQ(list(lists->entrants[0].method->parameters(), "clocks"), (std::vector<double>{8.0, 48.0}));
  EXPECT_EQ(lists->base, 1U);
}

TEST(Ablation, SaysWhatIsWrongWithASweep) {
  const auto message = [](std::string_view text) {
    const auto request = parse_sweep(text);
    if (!request) return request.error().message;
    const auto sweep = make_sweep(*request, *fresh("margin"));
    return sweep.ok() ? std::string("fine") : sweep.error().message;
  };
  EXPECT_EQ(message("margin.alpha"), "sweep: got margin.alpha, expected METHOD.name=value,value,...");
  EXPECT_EQ(message("margin.alpha="), "sweep: got margin.alpha=, expected METHOD.name=value,value,...");
  EXPECT_EQ(message("margin.alhpa=1"), "sweep: margin has no parameter alhpa (did you mean alpha?)");
  EXPECT_EQ(message("margin.alpha=0.1,0.10"), "sweep: got 0.10 twice for alpha");
  EXPECT_EQ(message("margin.alpha/bands=0.1"), "sweep: got 0.1 for alpha/bands, expected a value for each, separated by /");
  EXPECT_TRUE(message("margin.alpha=0.1,2").starts_with("sweep: margin"));
  EXPECT_EQ(sweep_preset("alfa").error().message, "preset: no alfa (did you mean alpha?)");
}

// What a table says in the cell of a row and column found by name.
std::optional<double> cell(const report::Table& table, const std::string& row_name, const std::string& column_name) {
  for (std::size_t column = 0; column < table.columns.size(); ++column) {
    if (table.columns[column].name != column_name) continue;
    for (const auto& row : table.rows) {
      if (*row[0].text() == row_name)
        return row[column].estimate() != nullptr ? std::optional(row[column].estimate()->value) : std::nullopt;
    }
  }
  ADD_FAILURE() << "no cell " << row_name << ", " << column_name;
  return std::nullopt;
}

TEST(Reports, CellsAreTheResultsTheyAreNamedAfter) {
  const std::vector<RegimeResults> transfer = {run(transfer_regimes(), {"raw", "margin"}, small())};
  const report::Report transferred = transfer_report(transfer, small());
  const report::Table& per_model = transferred.sections.at(0).tables.at(0);
  EXPECT_EQ(cell(per_model, "easy->hard", "raw"), level(transfer[0].results[kTransferred].entrants[0], kEcePerModel));
  EXPECT_EQ(cell(per_model, "easy->hard", "margin, transferred"), level(transfer[0].results[kTransferred].entrants[1], kEcePerModel));
  EXPECT_EQ(cell(per_model, "easy->hard", "margin, from scratch"), level(transfer[0].results[kFromScratch].entrants[1], kEcePerModel));

  const std::vector<std::size_t> lags = {0, 10};
  const std::vector<RegimeResults> feedback = {run(feedback_regimes({.lags = lags}, Boundary::kTold), {"margin", "online_platt"}, small())};
  const report::Report fed = feedback_report(feedback, {.options = small(), .boundary = "told", .grid = {.lags = lags}, .vote = "sum"});
  const auto& tables = fed.sections.at(0).tables;
  EXPECT_EQ(cell(tables.at(0), "online_platt", "selected only"), level(feedback[0].results[2].entrants[1], kEce));
  EXPECT_EQ(cell(tables.at(1), "margin", "lag 10"),
            difference(feedback[0].results[1].entrants[0], feedback[0].results[0].entrants[0], kEce)->value);

  std::vector<Sweep> sweeps;
  sweeps.push_back(std::move(make_sweep(*parse_sweep("margin.alpha=0.02,0.04"), *fresh("margin"))).value());
  const std::vector<std::vector<ConditionResult>> ablated = {*run_ablation(condition(), sweeps, *sum_vote(), small())};
  const report::Report swept =
      ablation_report(ablated, sweeps, {.options = small(), .boundary = "told", .metrics = {kEce, kBrier}, .vote = "sum"});
  const auto& by_value = swept.sections.at(0).tables;
  ASSERT_EQ(by_value.size(), 4U);
  EXPECT_EQ(cell(by_value[0], "0.02", "easy->hard"), level(ablated[0][0].entrants[0], kEce));
  EXPECT_EQ(cell(by_value[2], "0.04", "easy->hard"), level(ablated[0][0].entrants[1], kBrier));
  EXPECT_FALSE(cell(by_value[1], "0.04", "easy->hard").has_value());
  EXPECT_EQ(*by_value[0].rows[1][1].text(), "default");
  EXPECT_EQ(*by_value[0].rows[0][1].text(), "");
}

}  // namespace
}  // namespace margin::experiment
