// Pool scenarios against a twin that keeps margin's definition in plain words, and the errors of logs that do not suffice.
#include "experiment/pool_scenario.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "experiment/ordering.h"
#include "experiment/test_stream.h"

namespace margin::experiment {
namespace {

// margin as it is defined, for alpha 0.04 and three bands: no incremental sums, everything anew from the estimates.
class PlainMargin {
 public:
  PlainMargin(double shrinkage, bool to_pool, bool enters_from_pool)
      : shrinkage_(shrinkage), to_pool_(to_pool), enters_from_pool_(enters_from_pool) {}

  void join(int model) {
    if (!states_.contains(model)) {
      State fresh;
      std::vector<double> model_factors;
      for (const int other : present_) {
        if (states_[other].any()) model_factors.push_back(states_[other].factor());
      }
      for (int k = 0; k < 3; ++k) {
        const double midpoint = (k + 0.5) / 3.0;
        const double f = enters_from_pool_ ? mean(band_factors(k)) : 1.0;
        fresh.a[k] = f * midpoint > 1.0 ? 1.0 : f * midpoint;
        fresh.c[k] = f * midpoint > 1.0 ? 1.0 / f : midpoint;
      }
      fresh.entry = enters_from_pool_ ? mean(model_factors) : 1.0;
      states_[model] = fresh;
    }
    present_.insert(model);
  }
  void leave(int model) { present_.erase(model); }
  [[nodiscard]] bool present(int model) const { return present_.contains(model); }

  double calibrate(int model, double confidence) {
    State& state = states_[model];
    const int k = band(confidence);
    const double target = to_pool_ ? mean(band_factors(k)) : state.factor();
    const double own = state.n[k] + shrinkage_ == 0.0 ? 0.0 : state.n[k] / (state.n[k] + shrinkage_);
    const double factor = shrinkage_ == 0.0 ? state.ratio(k) : own * state.ratio(k) + (1.0 - own) * target;
    return std::clamp(factor * confidence, 0.0, 1.0);
  }
  void learn(int model, double confidence, double outcome) {
    State& state = states_[model];
    const int k = band(confidence);
    state.a[k] = 0.96 * state.a[k] + 0.04 * outcome;
    state.c[k] = 0.96 * state.c[k] + 0.04 * confidence;
    state.n[k] += 1.0;
  }

 private:
  struct State {
    double a[3], c[3], n[3] = {0.0, 0.0, 0.0};
    double entry = 1.0;
    [[nodiscard]] double ratio(int k) const { return c[k] == 0.0 ? 1.0 : std::min(20.0, a[k] / c[k]); }
    [[nodiscard]] bool any() const { return n[0] + n[1] + n[2] > 0.0; }
    [[nodiscard]] double factor() const {
      if (!any()) return entry;
      const double stated = n[0] * c[0] + n[1] * c[1] + n[2] * c[2];
      return stated == 0.0 ? 1.0 : std::min(20.0, (n[0] * a[0] + n[1] * a[1] + n[2] * a[2]) / stated);
    }
  };
  static int band(double confidence) { return std::min(2, static_cast<int>(confidence * 3.0)); }
  static double mean(const std::vector<double>& values) {
    double sum = 0.0;
    for (const double value : values) sum += value;
    return values.empty() ? 1.0 : sum / static_cast<double>(values.size());
  }
  std::vector<double> band_factors(int k) {
    std::vector<double> factors;
    for (const int model : present_) {
      if (states_[model].n[k] > 0.0) factors.push_back(states_[model].ratio(k));
    }
    return factors;
  }

  double shrinkage_;
  bool to_pool_, enters_from_pool_;
  std::map<int, State> states_;
  std::set<int> present_;
};

struct Seen {
  int model = 0;
  double p = 0.0, o = 0.0;
};

// Ten bins, sums in plain order.
double plain_ece(const std::vector<Seen>& rows) {
  double error[10] = {};
  for (const Seen& row : rows) error[std::min(9, static_cast<int>(row.p * 10.0))] += row.o - row.p;
  double sum = 0.0;
  for (const double one : error) sum += std::fabs(one);
  return sum / static_cast<double>(rows.size());
}
double plain_brier(const std::vector<Seen>& rows) {
  double sum = 0.0;
  for (const Seen& row : rows) sum += (row.p - row.o) * (row.p - row.o);
  return sum / static_cast<double>(rows.size());
}
double plain_log_loss(const std::vector<Seen>& rows) {
  double sum = 0.0;
  for (const Seen& row : rows) {
    const double p = std::clamp(row.p, 1e-6, 1.0 - 1e-6);
    sum -= row.o * std::log(p) + (1.0 - row.o) * std::log(1.0 - p);
  }
  return sum / static_cast<double>(rows.size());
}

std::vector<Seen> part(const std::vector<Seen>& rows, std::size_t from, std::size_t to) {
  return {rows.begin() + static_cast<std::ptrdiff_t>(from), rows.begin() + static_cast<std::ptrdiff_t>(to)};
}

template <class Predicate>
std::vector<Seen> only(const std::vector<Seen>& rows, const Predicate& predicate) {
  std::vector<Seen> kept;
  std::copy_if(rows.begin(), rows.end(), std::back_inserter(kept), predicate);
  return kept;
}

// Row by row; `before` may change the pool when so many rows were seen, and then says so: what is not learned yet is learned first.
template <class Before>
std::vector<Seen> play(const Stream& stream, std::uint64_t seed, std::uint64_t ordering, PlainMargin& margin, std::size_t count,
                       const Before& before) {
  std::vector<Seen> seen;
  for (const std::uint32_t number : shuffled_order(stream, seed, ordering)) {
    const Stream::Task& task = stream.tasks[number];
    std::vector<std::size_t> waiting;
    const auto learn = [&] {
      for (const std::size_t row : waiting) margin.learn(static_cast<int>(stream.model[row]), stream.confidence[row], stream.outcome[row]);
      waiting.clear();
    };
    for (std::size_t row = task.first_row; row < task.first_row + task.rows; ++row) {
      if (std::isnan(stream.outcome[row])) continue;
      if (seen.size() == count) return seen;
      before(seen, learn);
      const int model = static_cast<int>(stream.model[row]);
      if (!margin.present(model)) continue;
      seen.push_back({model, margin.calibrate(model, stream.confidence[row]), stream.outcome[row]});
      waiting.push_back(row);
    }
    learn();
  }
  return seen;
}

double mean_of(const std::vector<double>& values) {
  double sum = 0.0;
  for (const double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}
double sd_of(const std::vector<double>& values) {
  double sum = 0.0;
  for (const double value : values) sum += (value - mean_of(values)) * (value - mean_of(values));
  return std::sqrt(sum / static_cast<double>(values.size() - 1));
}
void expect_spread(const Spread& spread, const std::vector<double>& values) {
  ASSERT_TRUE(spread.mean && spread.sd);
  EXPECT_NEAR(*spread.mean, mean_of(values), 1e-12);
  EXPECT_NEAR(*spread.sd, sd_of(values), 1e-12);
}

const std::vector<std::string> kSix = {"a", "b", "c", "d", "e", "f"};

PoolOptions small() {
  return {.orderings = 5,
          .seed = 3,
          .observations = 200,
          .window = 20,
          .initial = 3,
          .checkpoints = {10, 30, 60},
          .swap_every = 40,
          .threads = {1}};
}

std::vector<Entrant> margin_alone() {
  std::vector<Entrant> entrants;
  entrants.push_back({"margin", std::move(make_calibrator("margin")).value()});
  return entrants;
}

PoolResult run(const Stream& stream, Scenario scenario, std::span<const Entrant> entrants, const PoolOptions& options) {
  auto result = run_pool(stream, scenario, entrants, options);
  EXPECT_TRUE(result.ok()) << (result.ok() ? "" : result.error().message);
  return std::move(**result);
}

TEST(PoolScenario, DropoutIsWhatThePlainTwinSees) {
  // The last model answers rarely, so the two with most rows are among the others; counted here independently.
  const Stream stream = make_test_stream({.seed = 11, .tasks = 80, .models = kSix, .fewest_factor = 0.3});
  std::vector<std::pair<int, int>> counts;  // rows, minus the id: the earlier model wins ties
  for (int model = 0; model < 6; ++model) {
    int rows = 0;
    for (std::size_t row = 0; row < stream.rows(); ++row) rows += stream.model[row] == ModelId(model) && !std::isnan(stream.outcome[row]);
    counts.emplace_back(rows, -model);
  }
  std::sort(counts.rbegin(), counts.rend());
  const int first = -counts[0].second, second = -counts[1].second;

  const PoolResult result = run(stream, Scenario::kDropout, margin_alone(), small());
  EXPECT_EQ(result.subjects, (std::vector<std::string>{kSix[static_cast<std::size_t>(first)], kSix[static_cast<std::size_t>(second)]}));
  ASSERT_EQ(result.events.size(), 1U);
  EXPECT_EQ(result.events[0].at, 100U);
  std::vector<std::vector<double>> windows(10);
  std::vector<double> before, after, all_before, all_after;
  for (std::uint64_t ordering = 0; ordering < 5; ++ordering) {
    PlainMargin margin(100.0, false, true);
    for (int model = 0; model < 6; ++model) margin.join(model);
    bool left = false;
    const auto seen = play(stream, 3, ordering, margin, 200, [&](const std::vector<Seen>& rows, const auto& learn) {
      if (left || rows.size() < 100) return;
      left = true;
      learn();
      margin.leave(first);
      margin.leave(second);
    });
    ASSERT_EQ(seen.size(), 200U);
    double early = 0.0, late = 0.0;
    for (std::size_t w = 0; w < 10; ++w) {
      const double one = plain_ece(part(seen, w * 20, w * 20 + 20));
      windows[w].push_back(one);
      (w < 5 ? early : late) += one / 5.0;
    }
    before.push_back(plain_ece(part(seen, 80, 100)));
    after.push_back(plain_ece(part(seen, 100, 120)));
    all_before.push_back(early);
    all_after.push_back(late);
  }
  const Trajectory& trajectory = result.trajectories.at(0);
  ASSERT_EQ(trajectory.windows.size(), 10U);
  for (std::size_t w = 0; w < 10; ++w) expect_spread(trajectory.windows[w], windows[w]);
  expect_spread(trajectory.measures.at(0).of(kEce), before);
  expect_spread(trajectory.measures.at(1).of(kEce), after);
  expect_spread(trajectory.measures.at(2).of(kEce), all_before);
  expect_spread(trajectory.measures.at(3).of(kEce), all_after);
  EXPECT_EQ(trajectory.cut_short, 0U);
}

TEST(PoolScenario, ColdStartIsWhatThePlainTwinSees) {
  const Stream stream = make_test_stream({.seed = 12, .tasks = 120, .models = kSix});
  const std::vector<Entrant> arms = cold_start_arms(margin_alone()[0].method->parameters());
  const PoolResult result = run(stream, Scenario::kColdStart, arms, small());
  ASSERT_EQ(result.trajectories.size(), 2U);
  EXPECT_EQ(result.trajectories[0].label, "blended");
  EXPECT_EQ(result.trajectories[1].label, "unblended");
  // By arm, then measure, then ordering: the rows that count.
  std::vector<std::vector<std::vector<Seen>>> counted[2];
  for (std::size_t arm = 0; arm < 2; ++arm) {
    counted[arm].resize(4);
    for (std::uint64_t ordering = 0; ordering < 5; ++ordering) {
      PlainMargin margin = arm == 0 ? PlainMargin(100.0, true, true) : PlainMargin(0.0, false, false);
      for (int model = 0; model < 3; ++model) margin.join(model);
      bool joined = false;
      const auto seen = play(stream, 3, ordering, margin, 240, [&](const std::vector<Seen>& rows, const auto& learn) {
        if (joined || rows.size() < 100) return;
        joined = true;
        learn();
        for (int model = 3; model < 6; ++model) margin.join(model);
      });
      ASSERT_EQ(seen.size(), 240U);
      const std::size_t checkpoints[] = {10, 30, 60};
      std::size_t end = 100;
      std::vector<Seen> newcomers;
      for (std::size_t i = 0; i < 3; ++i) {
        for (; newcomers.size() < checkpoints[i]; ++end) {
          if (seen[end].model >= 3) newcomers.push_back(seen[end]);
        }
        counted[arm][i].push_back(newcomers);
      }
      counted[arm][3].push_back(only(part(seen, 100, end), [](const Seen& row) { return row.model < 3; }));
    }
  }
  const std::pair<Metric, double (*)(const std::vector<Seen>&)> metrics[] = {
      {kEce, plain_ece}, {kBrier, plain_brier}, {kLogLoss, plain_log_loss}};
  for (const auto& [metric, plain] : metrics) {
    for (std::size_t i = 0; i < 4; ++i) {
      std::vector<double> values[2], differences;
      for (std::size_t ordering = 0; ordering < 5; ++ordering) {
        for (std::size_t arm = 0; arm < 2; ++arm) values[arm].push_back(plain(counted[arm][i][ordering]));
        differences.push_back(values[0].back() - values[1].back());
      }
      const Measure &blended = result.trajectories[0].measures.at(i), &unblended = result.trajectories[1].measures.at(i);
      expect_spread(blended.of(metric), values[0]);
      expect_spread(unblended.of(metric), values[1]);
      const auto difference = difference_of(blended, unblended, metric);
      ASSERT_TRUE(difference && difference->interval);
      const double half = 1.959963984540054 * sd_of(differences) / std::sqrt(5.0);
      EXPECT_NEAR(difference->value, mean_of(differences), 1e-12);
      EXPECT_NEAR(difference->interval->low, mean_of(differences) - half, 1e-12);
      EXPECT_NEAR(difference->interval->high, mean_of(differences) + half, 1e-12);
    }
  }
  EXPECT_NE(result.trajectories[0].measures[0].of(kEce).mean, result.trajectories[1].measures[0].of(kEce).mean);
}

TEST(PoolScenario, RollingIsWhatThePlainTwinSees) {
  const Stream stream = make_test_stream({.seed = 13, .tasks = 90, .models = kSix});
  const PoolResult result = run(stream, Scenario::kRolling, margin_alone(), small());
  ASSERT_EQ(result.events.size(), 4U);
  EXPECT_EQ(result.events.back().at, 160U);
  std::vector<std::vector<double>> segments(5);
  bool returned = false;  // somebody who had left came back, with the state of then
  for (std::uint64_t ordering = 0; ordering < 5; ++ordering) {
    PlainMargin margin(100.0, false, true);
    for (int model = 0; model < 4; ++model) margin.join(model);
    std::vector<int> outside = {4, 5};
    std::size_t swaps = 0;
    const auto seen = play(stream, 3, ordering, margin, 200, [&](const std::vector<Seen>& rows, const auto& learn) {
      if (rows.size() != 40 * (swaps + 1)) return;
      ++swaps;
      learn();
      int worst = -1;
      double worst_ece = -1.0;
      for (int model = 0; model < 6; ++model) {
        if (!margin.present(model)) continue;
        const auto own = only(part(rows, rows.size() - 40, rows.size()), [&](const Seen& row) { return row.model == model; });
        if (own.empty() || plain_ece(own) <= worst_ece) continue;
        worst = model;
        worst_ece = plain_ece(own);
      }
      returned = returned || outside.front() < 4;
      margin.leave(worst);
      margin.join(outside.front());
      outside.erase(outside.begin());
      outside.push_back(worst);
    });
    ASSERT_EQ(seen.size(), 200U);
    for (std::size_t s = 0; s < 5; ++s) {
      segments[s].push_back((plain_ece(part(seen, s * 40, s * 40 + 20)) + plain_ece(part(seen, s * 40 + 20, s * 40 + 40))) / 2.0);
    }
  }
  EXPECT_TRUE(returned);
  for (std::size_t s = 0; s < 5; ++s) expect_spread(result.trajectories.at(0).measures.at(s).of(kEce), segments[s]);
}

TEST(PoolScenario, DifferencesLeaveOutWhatAnOrderingDidNotReach) {
  const auto measure = [](std::initializer_list<std::optional<double>> values) {
    Measure made{.name = "some", .by_ordering = {}};
    for (const auto& value : values) made.by_ordering.emplace_back()[kBrier] = value;
    return made;
  };
  const auto difference = difference_of(measure({0.5, std::nullopt, 0.25}), measure({0.25, 0.5, 0.25}), kBrier);
  ASSERT_TRUE(difference && difference->interval);
  EXPECT_EQ(difference->value, 0.125);
  EXPECT_NEAR(difference->interval->high - difference->value, 1.959963984540054 * std::sqrt(2.0 * 0.125 * 0.125) / std::sqrt(2.0), 1e-15);
  EXPECT_FALSE(difference_of(measure({std::nullopt}), measure({0.5}), kBrier).has_value());
  EXPECT_FALSE(difference_of(measure({0.5}), measure({0.5}), kBrier)->interval.has_value()) << "one ordering has no spread";
}

TEST(PoolScenario, ThreadsDoNotChangeABit) {
  const Stream stream = make_test_stream({.seed = 14, .tasks = 90, .models = kSix});
  std::vector<Entrant> entrants = cold_start_arms(margin_alone()[0].method->parameters());
  entrants.push_back({"margin_adaptive", std::move(make_calibrator("margin_adaptive")).value()});
  for (const Scenario scenario : {Scenario::kDropout, Scenario::kColdStart, Scenario::kRolling}) {
    PoolOptions options = small();
    const PoolResult one = run(stream, scenario, entrants, options);
    options.threads = {4};
    const PoolResult four = run(stream, scenario, entrants, options);
    for (std::size_t i = 0; i < entrants.size(); ++i) {
      const Trajectory &a = one.trajectories[i], &b = four.trajectories[i];
      ASSERT_EQ(a.windows.size(), b.windows.size());
      for (std::size_t w = 0; w < a.windows.size(); ++w) {
        EXPECT_EQ(a.windows[w].mean, b.windows[w].mean);
        EXPECT_EQ(a.windows[w].sd, b.windows[w].sd);
      }
      for (std::size_t m = 0; m < a.measures.size(); ++m) EXPECT_EQ(a.measures[m].of(kEce).mean, b.measures[m].of(kEce).mean);
    }
  }
}

TEST(PoolScenario, ALogThatEndsEarlyIsSaidAndLeftOut) {
  const Stream stream = make_test_stream({.seed = 15, .tasks = 30, .models = kSix, .missing = 0.0, .ungraded = 0.0});  // 180 rows
  const PoolResult result = run(stream, Scenario::kDropout, margin_alone(), small());
  EXPECT_EQ(result.trajectories[0].cut_short, 5U);
  EXPECT_LT(result.trajectories[0].windows.size(), 10U);
  EXPECT_TRUE(result.trajectories[0].measures[1].of(kEce).mean.has_value());
}

TEST(PoolScenario, RefusesLogsThatDoNotSuffice) {
  const Stream two = make_test_stream({.models = {"a", "b"}});
  const auto dropout = run_pool(two, Scenario::kDropout, margin_alone(), small());
  ASSERT_FALSE(dropout.ok());
  EXPECT_EQ(dropout.error().message, "dropout: got a log of 2 models, expected at least 3");
  const auto cold = run_pool(make_test_stream({}), Scenario::kColdStart, margin_alone(), small());
  ASSERT_FALSE(cold.ok());
  EXPECT_EQ(cold.error().message, "cold_start: got a log of 3 models, expected at least 4");
  const Stream tiny = make_test_stream({.tasks = 10, .missing = 0.0, .ungraded = 0.0});
  const auto rolling = run_pool(tiny, Scenario::kRolling, margin_alone(), small());
  ASSERT_FALSE(rolling.ok());
  EXPECT_EQ(rolling.error().message, "rolling: the models present at the start have 10 graded observations, expected more than 40");
}

}  // namespace
}  // namespace margin::experiment
