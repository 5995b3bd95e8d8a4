// The experiments on one stream against their definitions, recomputed without any of their parts.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "experiment/convergence.h"
#include "experiment/inversion.h"
#include "experiment/ordering.h"
#include "experiment/resolution.h"
#include "experiment/selection.h"
#include "experiment/split.h"
#include "margin/metric.h"
#include "margin/random.h"

namespace margin::experiment {
namespace {

using dataset::ObservationLog;
using dataset::Row;

// Four models of different worth and boldness; coarse confidences tie. Some responses are missing, ungraded or without a confidence.
ObservationLog random_log(std::uint64_t seed, std::size_t tasks) {
  Random random(seed);
  ObservationLog log;
  const std::string models[] = {"ada", "bo", "cy", "di"};
  const double skill[] = {0.8, 0.6, 0.5, 0.3};
  const double boldness[] = {0.2, 0.5, 0.6, 0.7};
  for (std::size_t t = 0; t < tasks; ++t) {
    const std::string task = "t" + std::to_string(t);
    for (std::size_t m = 0; m < 4; ++m) {
      if (random.chance(0.1)) continue;
      const bool right = random.chance(skill[m]);
      const double stated = std::floor(4.0 * std::min(0.999, boldness[m] + 0.5 * random.uniform())) / 4.0;
      const double confidence = random.chance(0.1) ? dataset::kMissing : stated;
      const double correct = random.chance(0.1) ? dataset::kMissing : right ? 1.0 : 0.0;
      const std::string answer = right ? "yes" : "no" + std::to_string(random.below(3));
      const Status status = log.append({.task = task,
                                        .model = models[m],
                                        .answer = answer,
                                        .confidence = confidence,
                                        .correct = correct,
                                        .t = static_cast<double>(1000 + 7 * t % tasks)},
                                       static_cast<std::uint32_t>(log.rows() + 1));
      EXPECT_TRUE(status.ok()) << status.error().message;
    }
  }
  return log;
}

Stream only_stream(const ObservationLog& log, const RowSelection& selection = {}) {
  auto streams = make_streams(log, selection);
  EXPECT_TRUE(streams.ok() && streams->size() == 1);
  return std::move(streams->front());
}

std::vector<Entrant> entrants(std::initializer_list<const char*> identifiers) {
  std::vector<Entrant> made;
  for (const char* identifier : identifiers) made.push_back({identifier, std::move(make_calibrator(identifier)).value()});
  return made;
}

std::unique_ptr<Vote> sum_vote() { return std::move(make_vote("sum")).value(); }

PassesOptions small_options(unsigned threads = 2) {
  return {.orderings = 3, .seed = 5, .pass = {}, .resamples = 1100, .threads = {threads}};
}

// A pass by the definition: predict every response of a task, add confidences by answer, then learn. No segments, no lag.
struct Twin {
  std::vector<double> calibrated;
  std::vector<double> selected;  // outcome by task; NaN: undefined
};
Twin twin_pass(const Stream& stream, const std::vector<std::uint32_t>& order, const char* identifier) {
  Twin twin{std::vector<double>(stream.rows()), std::vector<double>(stream.tasks.size(), NAN)};
  const auto state = std::move(make_calibrator(identifier)).value();
  for (const std::uint32_t number : order) {
    const auto& task = stream.tasks[number];
    for (std::size_t i = 0; i < task.rows; ++i) state->join(stream.model[task.first_row + i]);
    std::map<std::uint32_t, double> scores;
    for (std::size_t i = task.first_row; i < std::size_t{task.first_row} + task.rows; ++i) {
      twin.calibrated[i] = state->calibrate(stream.model[i], stream.confidence[i]);
      scores[stream.answer[i]] += twin.calibrated[i];
    }
    std::uint32_t best = 0;  // groups are numbered in row order, so the first of equals wins
    for (const auto& [answer, score] : scores) {
      if (score > scores[best]) best = answer;
    }
    for (std::size_t i = task.first_row; i < std::size_t{task.first_row} + task.rows; ++i) {
      if (stream.answer[i] == best) twin.selected[number] = std::fmax(twin.selected[number], stream.outcome[i]);
    }
    state->begin_task();
    for (std::size_t i = task.first_row; i < std::size_t{task.first_row} + task.rows; ++i) {
      if (std::isnan(stream.outcome[i])) continue;
      EXPECT_TRUE(state->observe({stream.model[i], stream.confidence[i], stream.outcome[i]}).ok());
    }
    state->end_task();
  }
  return twin;
}

std::optional<double> mean_of_defined(const std::vector<double>& values, const std::vector<double>& counts) {
  double sum = 0.0, count = 0.0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (std::isnan(values[i])) continue;
    sum += counts[i] * values[i];
    count += counts[i];
  }
  if (count == 0.0) return std::nullopt;
  return sum / count;
}

std::vector<double> once(std::size_t tasks) { return std::vector<double>(tasks, 1.0); }

// The tasks of resample number r.
std::vector<double> resample_counts(std::size_t tasks, std::uint64_t seed, std::size_t r) {
  std::vector<double> counts(tasks, 0.0);
  Random random = Random::stream(seed, r);
  for (std::size_t i = 0; i < tasks; ++i) counts[random.below(tasks)] += 1.0;
  return counts;
}

// Bit for bit.
void expect_same(const Measured& a, const Measured& b) {
  EXPECT_EQ(a.value, b.value);
  EXPECT_EQ(a.resampled, b.resampled);
}

void expect_close(const std::optional<double>& a, const std::optional<double>& b) {
  ASSERT_EQ(a.has_value(), b.has_value());
  EXPECT_NEAR(a.value_or(0.0), b.value_or(0.0), 1e-12);
}

TEST(Selection, EveryContenderEqualsItsDefinitionInTheWholeAndInEveryResample) {
  const ObservationLog log = random_log(1, 60);
  const Stream stream = only_stream(log);
  const PassesOptions options = small_options();
  const auto methods = entrants({"raw", "margin"});
  const auto result = run_selection("here", stream, methods, *sum_vote(), ModelId{2}, options);
  ASSERT_TRUE(result.has_value());

  const std::size_t tasks = stream.tasks.size();
  std::vector<double> random_pick(tasks, NAN), oracle(tasks, NAN), committed(tasks, NAN);
  std::map<ModelId, std::vector<double>> by_model;
  for (ModelId model = 0; model < 4; ++model) by_model[model].assign(tasks, NAN);
  std::vector<bool> common(tasks, false);
  for (std::size_t t = 0; t < tasks; ++t) {
    double sum = 0.0, count = 0.0;
    for (std::size_t i = stream.tasks[t].first_row; i < std::size_t{stream.tasks[t].first_row} + stream.tasks[t].rows; ++i) {
      if (std::isnan(stream.outcome[i])) continue;
      sum += stream.outcome[i];
      count += 1.0;
      oracle[t] = std::fmax(oracle[t], stream.outcome[i]);
      by_model[stream.model[i]][t] = stream.outcome[i];
    }
    if (count > 0.0) random_pick[t] = sum / count;
    common[t] = count == 4.0;
  }
  ModelId best = 0;
  double best_sum = -1.0;
  for (ModelId model = 0; model < 4; ++model) {
    double sum = 0.0;
    for (std::size_t t = 0; t < tasks; ++t) sum += common[t] ? by_model[model][t] : 0.0;
    if (sum > best_sum) best = model, best_sum = sum;
  }
  ASSERT_TRUE(result->best_single.has_value() && result->committed.has_value());
  EXPECT_EQ(result->best_single->label, stream.models[best]);
  EXPECT_EQ(result->committed->label, "cy");

  for (const auto& [contender, outcomes] : {std::pair{&result->random, &random_pick},
                                            {&result->oracle, &oracle},
                                            {&*result->best_single, &by_model[best]},
                                            {&*result->committed, &by_model[2]}}) {
    expect_close(contender->pass1.value, mean_of_defined(*outcomes, once(tasks)));
    for (const std::size_t r : {0U, 499U, 500U, 1099U}) {
      expect_close(contender->pass1.resampled[r], mean_of_defined(*outcomes, resample_counts(tasks, options.seed, r)));
    }
  }
  for (std::size_t m = 0; m < methods.size(); ++m) {
    std::vector<Twin> twins;
    for (std::size_t pass = 0; pass < 3; ++pass) {
      twins.push_back(twin_pass(stream, shuffled_order(stream, options.seed, pass), methods[m].label.c_str()));
    }
    const auto mean = [&](const std::vector<double>& counts) {
      double sum = 0.0;
      for (const Twin& twin : twins) sum += *mean_of_defined(twin.selected, counts);
      return std::optional(sum / 3.0);
    };
    expect_close(result->votes[m].pass1.value, mean(once(tasks)));
    for (const std::size_t r : {0U, 499U, 500U, 1099U}) {
      expect_close(result->votes[m].pass1.resampled[r], mean(resample_counts(tasks, options.seed, r)));
    }
  }
  EXPECT_NE(result->votes[0].pass1.value, result->votes[1].pass1.value);
}

TEST(Selection, CommittedModelIsTheBestElsewhereAmongThoseThatAreHere) {
  ObservationLog here, elsewhere;
  for (const auto& [model, correct] : {std::pair{"bo", 0.0}, {"ada", 1.0}}) {
    ASSERT_TRUE(here.append({.task = "t", .model = model, .answer = "x", .confidence = 0.5, .correct = correct}, 1).ok());
  }
  for (const auto& [model, correct] : {std::pair{"gone", 1.0}, {"ada", 0.0}, {"bo", 0.5}}) {
    ASSERT_TRUE(elsewhere.append({.task = "t", .model = model, .answer = "x", .confidence = 0.5, .correct = correct}, 1).ok());
  }
  const Stream stream = only_stream(here);
  const auto committed = best_single_elsewhere(only_stream(elsewhere), stream);
  ASSERT_TRUE(committed.has_value());
  EXPECT_EQ(stream.models[*committed], "bo");
}

// Pairs of the log itself, without streams.
struct Counted {
  double points = 0.0, contests = 0.0, ties = 0.0, missing = 0.0;
  std::size_t both_right = 0, both_wrong = 0;
};
Counted count_pairs(const ObservationLog& log, const std::map<std::size_t, double>& calibrated, TieRule tie, bool missing_half) {
  Counted counted;
  for (std::size_t a = 0; a < log.rows(); ++a) {
    for (std::size_t b = a + 1; b < log.rows(); ++b) {
      if (log.task(a) != log.task(b) || std::isnan(log.correct(a)) || std::isnan(log.correct(b))) continue;
      if (log.correct(a) == log.correct(b)) {
        ++(log.correct(a) == 1.0 ? counted.both_right : counted.both_wrong);
        continue;
      }
      const std::size_t better = log.correct(a) > log.correct(b) ? a : b;
      const std::size_t worse = better == a ? b : a;
      double point = 0.5;
      bool counts = true;
      if (!calibrated.contains(a) || !calibrated.contains(b)) {
        counted.missing += 1.0;
        counts = missing_half;
      } else if (calibrated.at(a) == calibrated.at(b)) {
        counted.ties += 1.0;
        counts = tie == TieRule::kHalf;
      } else {
        point = calibrated.at(better) > calibrated.at(worse) ? 1.0 : 0.0;
      }
      if (counts) counted.points += point, counted.contests += 1.0;
    }
  }
  return counted;
}

TEST(ResolutionExperiment, CountsEqualThoseOverAllPairsOfTheLog) {
  const ObservationLog log = random_log(2, 40);
  const Stream stream = only_stream(log);
  const auto methods = entrants({"raw", "margin"});
  for (const bool missing_half : {false, true}) {
    const PassesOptions options{.orderings = 0, .seed = 3, .pass = {}, .resamples = 50, .threads = {1}};
    const ResolutionRules rules{.missing = missing_half ? MissingRule::kHalf : MissingRule::kLeftOut};
    const auto result = run_resolution(stream, GradedStream(stream, log, {}), methods, *sum_vote(), rules, options);
    ASSERT_TRUE(result.has_value());
    ASSERT_EQ(result->rows.size(), 3U);
    const char* identifiers[] = {"raw", "raw", "margin"};
    const TieRule ties[] = {TieRule::kHalf, TieRule::kStrict, TieRule::kHalf};
    for (std::size_t i = 0; i < 3; ++i) {
      const Twin twin = twin_pass(stream, file_order(stream), identifiers[i]);
      std::map<std::size_t, double> calibrated;
      for (std::size_t row = 0; row < stream.rows(); ++row) calibrated[stream.log_row[row]] = twin.calibrated[row];
      const Counted expected = count_pairs(log, calibrated, ties[i], missing_half);
      const ResolutionRow& row = result->rows[i];
      expect_close(row.resolution.value, expected.points / expected.contests);
      EXPECT_EQ(row.contests, expected.contests);
      EXPECT_EQ(row.ties, expected.ties);
      EXPECT_EQ(row.missing, expected.missing);
      EXPECT_EQ(row.both_right, expected.both_right);
      EXPECT_EQ(row.both_wrong, expected.both_wrong);
      EXPECT_GT(row.missing, 0.0);
    }
    EXPECT_GT(result->rows[0].ties, 0.0);
  }
}

TEST(ResolutionExperiment, AnswersOfResponsesWithoutConfidenceAreCompared) {
  ObservationLog log;
  const auto add = [&](const char* model, const char* answer, double confidence, double correct) {
    ASSERT_TRUE(log.append({.task = "t", .model = model, .answer = answer, .confidence = confidence, .correct = correct}, 1).ok());
  };
  add("a", "x", 0.5, 1.0);
  add("b", "x", dataset::kMissing, 1.0);  // the same answer: no contest with a
  add("c", "y", dataset::kMissing, 0.0);
  const Stream stream = only_stream(log);
  const GradedStream graded(stream, log, {});
  const Resolution counts = resolution(graded.tasks(), {.contest = ContestRule::kAnswers, .missing = MissingRule::kHalf});
  EXPECT_EQ(counts.missing, 2U);
  EXPECT_EQ(counts.contests, 2U);
  EXPECT_EQ(counts.points, 1.0);
}

TEST(Inversion, PearsonOfKnownPairs) {
  // Anscombe's first set: r = 0.81642...
  const double x[] = {10, 8, 13, 9, 11, 14, 6, 4, 12, 7, 5};
  const double y[] = {8.04, 6.95, 7.58, 8.81, 8.33, 9.96, 7.24, 4.26, 10.84, 4.82, 5.68};
  EXPECT_NEAR(*pearson(x, y), 0.81642051634484, 1e-13);
  const double flat[] = {0.1, 0.1, 0.1};
  EXPECT_FALSE(pearson(flat, std::span(y).first(3)).has_value());
  EXPECT_FALSE(pearson(std::span(x).first(1), std::span(y).first(1)).has_value());
}

TEST(Inversion, CorrelationTiesAndLevelsEqualTheirDefinitions) {
  const ObservationLog log = random_log(3, 50);
  const Stream stream = only_stream(log);
  const ModelSubset subset{"three", {"di", "ada", "bo"}};
  const InversionOptions options{.passes = {.orderings = 0, .seed = 9, .pass = {}, .resamples = 700, .threads = {2}}, .model_orders = 6};
  const auto result = run_inversion(stream, std::vector{subset}, entrants({"raw", "margin"}), *sum_vote(), options);
  ASSERT_TRUE(result.ok() && result->has_value());
  const InversionResult& found = **result;

  const auto r_of = [&](const std::vector<std::string>& names, const std::vector<double>& counts) {
    std::vector<double> confidences, accuracies;
    for (const std::string& name : names) {
      double n = 0.0, confidence = 0.0, outcome = 0.0;
      for (std::size_t t = 0; t < stream.tasks.size(); ++t) {
        for (std::size_t i = stream.tasks[t].first_row; i < std::size_t{stream.tasks[t].first_row} + stream.tasks[t].rows; ++i) {
          if (stream.models[stream.model[i]] != name || std::isnan(stream.outcome[i])) continue;
          n += counts[t], confidence += counts[t] * stream.confidence[i], outcome += counts[t] * stream.outcome[i];
        }
      }
      confidences.push_back(confidence / n), accuracies.push_back(outcome / n);
    }
    // Computational formula, not the centred one.
    const double n = static_cast<double>(names.size());
    double sx = 0, sy = 0, sxx = 0, syy = 0, sxy = 0;
    for (std::size_t i = 0; i < names.size(); ++i) {
      sx += confidences[i], sy += accuracies[i];
      sxx += confidences[i] * confidences[i], syy += accuracies[i] * accuracies[i], sxy += confidences[i] * accuracies[i];
    }
    return (n * sxy - sx * sy) / std::sqrt((n * sxx - sx * sx) * (n * syy - sy * sy));
  };
  ASSERT_EQ(found.correlations.size(), 2U);
  EXPECT_EQ(found.correlations[1].subset, "three");
  for (const auto& [i, names] : {std::pair{0, stream.models}, {1, subset.models}}) {
    const Measured& r = found.correlations[static_cast<std::size_t>(i)].r;
    EXPECT_NEAR(*r.value, r_of(names, once(stream.tasks.size())), 1e-9);
    for (const std::size_t number : {0U, 499U, 500U, 699U}) {
      EXPECT_NEAR(*r.resampled[number], r_of(names, resample_counts(stream.tasks.size(), 9, number)), 1e-9);
    }
  }

  for (const MethodTies& method : found.methods) {
    const Twin twin = twin_pass(stream, file_order(stream), method.label.c_str());
    double tied = 0.0;
    for (const Stream::Task& task : stream.tasks) {
      std::vector<double> sorted(twin.calibrated.begin() + task.first_row, twin.calibrated.begin() + task.first_row + task.rows);
      std::sort(sorted.rbegin(), sorted.rend());
      if (sorted.size() > 1 && sorted[0] == sorted[1]) tied += 1.0;
    }
    expect_close(method.tied_picks, tied / static_cast<double>(stream.tasks.size()));
    std::map<std::size_t, double> calibrated;
    for (std::size_t row = 0; row < stream.rows(); ++row) calibrated[stream.log_row[row]] = twin.calibrated[row];
    const Counted counted = count_pairs(log, calibrated, TieRule::kHalf, false);
    expect_close(method.tied_contests, counted.ties / counted.contests);

    std::vector<double> pass1;
    for (std::size_t number = 0; number < 6; ++number) {
      const Stream reordered = with_models_reordered(stream, 9, number);
      pass1.push_back(
          *mean_of_defined(twin_pass(reordered, file_order(reordered), method.label.c_str()).selected, once(stream.tasks.size())));
    }
    expect_close(method.pass1.low, *std::min_element(pass1.begin(), pass1.end()));
    expect_close(method.pass1.high, *std::max_element(pass1.begin(), pass1.end()));
  }
  EXPECT_EQ(found.methods[0].top_factor, 1.0);
  EXPECT_LT(*found.methods[0].pass1.low, *found.methods[0].pass1.high);
  EXPECT_FALSE(run_inversion(stream, std::vector{ModelSubset{"s", {"nobody"}}}, entrants({"raw"}), *sum_vote(), options).ok());
}

TEST(Inversion, TopFactorIsTheMeanOverModelsAfterTheLastTask) {
  ObservationLog log;
  for (int t = 0; t < 3; ++t) {
    const std::string task = "t" + std::to_string(t);
    ASSERT_TRUE(log.append({.task = task, .model = "a", .answer = "x", .confidence = 0.9, .correct = 0.0}, 1).ok());
    ASSERT_TRUE(log.append({.task = task, .model = "b", .answer = "y", .confidence = 0.9, .correct = 1.0}, 1).ok());
  }
  const InversionOptions options{.passes = {.orderings = 0, .resamples = 0, .threads = {1}}, .model_orders = 1};
  const auto result = run_inversion(only_stream(log), {}, entrants({"margin"}), *sum_vote(), options);
  ASSERT_TRUE(result.ok() && result->has_value());
  // One band only is seen, so that band and model factor agree: a / cbar after three outcomes at 0.9, from the midpoint 5/6.
  double a = 5.0 / 6.0, b = a, cbar = a;
  for (int t = 0; t < 3; ++t) a *= 0.96, b = 0.96 * b + 0.04, cbar = 0.96 * cbar + 0.04 * 0.9;
  EXPECT_NEAR(*(*result)->methods[0].top_factor, (a / cbar + b / cbar) / 2.0, 1e-12);
}

TEST(Inversion, ReorderedTasksHoldTheSameResponses) {
  const Stream stream = only_stream(random_log(4, 30));
  const Stream reordered = with_models_reordered(stream, 1, 3);
  bool moved = false;
  for (const Stream::Task& task : stream.tasks) {
    std::map<ModelId, std::pair<std::uint32_t, double>> before, after;
    std::uint32_t next = 0;
    for (std::size_t i = task.first_row; i < std::size_t{task.first_row} + task.rows; ++i) {
      before[stream.model[i]] = {stream.log_row[i], stream.confidence[i]};
      after[reordered.model[i]] = {reordered.log_row[i], reordered.confidence[i]};
      moved = moved || stream.model[i] != reordered.model[i];
      EXPECT_LE(reordered.answer[i], next);  // numbered in row order
      next = std::max(next, reordered.answer[i] + 1);
      for (std::size_t j = task.first_row; j < i; ++j) {
        const auto place = [&](ModelId model) {
          return std::find(stream.model.begin() + task.first_row, stream.model.begin() + task.first_row + task.rows, model) -
                 stream.model.begin();
        };
        const auto a = static_cast<std::size_t>(place(reordered.model[i])), b = static_cast<std::size_t>(place(reordered.model[j]));
        EXPECT_EQ(reordered.answer[i] == reordered.answer[j], stream.answer[a] == stream.answer[b]);
      }
    }
    EXPECT_EQ(before, after);
  }
  EXPECT_TRUE(moved);
}

TEST(Convergence, EqualsTheMeanOverTheFirstTasksOfEachOrdering) {
  const Stream stream = only_stream(random_log(5, 45));
  const PassesOptions options = small_options();
  const auto result = run_convergence(stream, entrants({"raw", "margin"}), *sum_vote(), std::vector<std::size_t>{20, 7, 7, 500}, options);
  ASSERT_TRUE(result.has_value());
  EXPECT_EQ(result->checkpoints, (std::vector<std::size_t>{7, 20, stream.tasks.size()}));
  for (const ConvergenceCurve& curve : result->curves) {
    for (std::size_t i = 0; i < 3; ++i) {
      double sum = 0.0;
      for (std::size_t pass = 0; pass < 3; ++pass) {
        const auto order = shuffled_order(stream, options.seed, pass);
        // Only the first tasks exist: nothing after them may matter.
        const std::vector<std::uint32_t> prefix(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(result->checkpoints[i]));
        sum += *mean_of_defined(twin_pass(stream, prefix, curve.label.c_str()).selected, once(stream.tasks.size()));
      }
      expect_close(curve.pass1[i].mean, sum / 3.0);
    }
  }
}

TEST(Split, CutsAtTheMedianMomentAndLearnsThroughIt) {
  const ObservationLog log = random_log(6, 41);
  const Stream stream = only_stream(log);
  const auto split = split_stream(stream, log, std::nullopt);
  ASSERT_TRUE(split.ok());
  EXPECT_EQ(split->early, stream.tasks.size() / 2);
  const PassesOptions options{.orderings = 0, .seed = 2, .pass = {}, .resamples = 600, .threads = {2}};
  const auto result = run_split(*split, entrants({"raw", "margin"}), *sum_vote(), options);
  ASSERT_TRUE(result.has_value());

  // Tasks by their moment.
  std::vector<std::uint32_t> order = file_order(stream);
  const auto moment = [&](std::uint32_t task) { return log.t(stream.log_row[stream.tasks[task].first_row]); };
  std::sort(order.begin(), order.end(), [&](auto a, auto b) { return moment(a) < moment(b); });
  for (const SplitMethod& method : result->methods) {
    const Twin twin = twin_pass(stream, order, method.label.c_str());
    for (const bool early : {true, false}) {
      std::vector<double> probabilities, outcomes, selected;
      for (std::uint32_t t = 0; t < stream.tasks.size(); ++t) {
        if ((moment(t) < split->cut) != early) continue;
        selected.push_back(twin.selected[t]);
        for (std::size_t i = stream.tasks[t].first_row; i < std::size_t{stream.tasks[t].first_row} + stream.tasks[t].rows; ++i) {
          if (std::isnan(stream.outcome[i])) continue;
          probabilities.push_back(twin.calibrated[i]);
          outcomes.push_back(stream.outcome[i]);
        }
      }
      const auto part = [&](const EarlyLate& both) { return (early ? both.early : both.late).value; };
      expect_close(part(method.ece), ece({probabilities, outcomes}));
      expect_close(part(method.brier), brier({probabilities, outcomes}));
      expect_close(part(method.pass1), mean_of_defined(selected, once(selected.size())));
    }
  }
  // Accuracy, in the whole and in a resample; tasks are resampled in the order of time.
  for (std::size_t m = 0; m < 4; ++m) {
    std::vector<double> early, late;
    for (const std::uint32_t t : order) {
      early.push_back(NAN), late.push_back(NAN);
      for (std::size_t i = stream.tasks[t].first_row; i < std::size_t{stream.tasks[t].first_row} + stream.tasks[t].rows; ++i) {
        if (stream.model[i] == m) (moment(t) < split->cut ? early : late).back() = stream.outcome[i];
      }
    }
    const auto& accuracy = result->models[m].accuracy;
    expect_close(accuracy.early.value, mean_of_defined(early, once(order.size())));
    expect_close(accuracy.late.value, mean_of_defined(late, once(order.size())));
    for (const std::size_t r : {0U, 599U}) {
      expect_close(accuracy.early.resampled[r], mean_of_defined(early, resample_counts(order.size(), 2, r)));
      expect_close(accuracy.late.resampled[r], mean_of_defined(late, resample_counts(order.size(), 2, r)));
    }
  }
}

TEST(Split, RefusesWhatItCannotCut) {
  ObservationLog timeless;
  ASSERT_TRUE(timeless.append({.task = "t", .model = "a", .confidence = 0.5, .correct = 1.0}, 1).ok());
  const auto without = split_stream(only_stream(timeless), timeless, std::nullopt);
  ASSERT_FALSE(without.ok());
  EXPECT_NE(without.error().message.find("the field t"), std::string::npos);
  const ObservationLog log = random_log(6, 20);
  EXPECT_FALSE(split_stream(only_stream(log), log, 0.0).ok());
  EXPECT_FALSE(split_stream(only_stream(log), log, 1e9).ok());
}

TEST(StreamExperiments, NumberOfThreadsChangesNoBit) {
  const ObservationLog log = random_log(7, 50);
  const Stream stream = only_stream(log);
  const auto methods = entrants({"raw", "margin", "margin_adaptive"});
  const auto vote = sum_vote();
  const PassesOptions one = small_options(1), four = small_options(4);

  const auto selection_a = run_selection("x", stream, methods, *vote, {}, one),
             selection_b = run_selection("x", stream, methods, *vote, {}, four);
  const GradedStream graded(stream, log, {});
  const ResolutionRules strict{.tie = TieRule::kStrict};
  const auto resolution_a = run_resolution(stream, graded, methods, *vote, strict, one);
  const auto resolution_b = run_resolution(stream, graded, methods, *vote, strict, four);
  const auto inversion_a = run_inversion(stream, {}, methods, *vote, {one, 5}),
             inversion_b = run_inversion(stream, {}, methods, *vote, {four, 5});
  const auto split = split_stream(stream, log, std::nullopt);
  ASSERT_TRUE(split.ok());
  const auto split_a = run_split(*split, methods, *vote, one), split_b = run_split(*split, methods, *vote, four);
  const std::vector<std::size_t> marks = {10, 30};
  const auto convergence_a = run_convergence(stream, methods, *vote, marks, one);
  const auto convergence_b = run_convergence(stream, methods, *vote, marks, four);

  expect_same((*inversion_a)->correlations[0].r, (*inversion_b)->correlations[0].r);
  for (std::size_t m = 0; m < methods.size(); ++m) {
    expect_same(selection_a->votes[m].pass1, selection_b->votes[m].pass1);
    EXPECT_EQ(selection_a->votes[m].sd, selection_b->votes[m].sd);
    expect_same(resolution_a->rows[m].resolution, resolution_b->rows[m].resolution);
    EXPECT_EQ((*inversion_a)->methods[m].top_factor, (*inversion_b)->methods[m].top_factor);
    EXPECT_EQ((*inversion_a)->methods[m].tied_contests, (*inversion_b)->methods[m].tied_contests);
    EXPECT_EQ((*inversion_a)->methods[m].pass1.sd, (*inversion_b)->methods[m].pass1.sd);
    expect_same(split_a->methods[m].ece.late, split_b->methods[m].ece.late);
    expect_same(split_a->methods[m].brier.early, split_b->methods[m].brier.early);
    for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(convergence_a->curves[m].pass1[i].mean, convergence_b->curves[m].pass1[i].mean);
  }
}

TEST(StreamExperiments, StopLeavesNoResult) {
  const ObservationLog log = random_log(8, 20);
  const Stream stream = only_stream(log);
  Progress progress;
  progress.stop = true;
  EXPECT_FALSE(run_selection("x", stream, entrants({"raw"}), *sum_vote(), {}, small_options(), &progress).has_value());
  EXPECT_FALSE(run_convergence(stream, entrants({"raw"}), *sum_vote(), {}, small_options(), &progress).has_value());
}

}  // namespace
}  // namespace margin::experiment
