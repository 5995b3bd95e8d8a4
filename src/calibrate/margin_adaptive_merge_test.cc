// Two states of margin_adaptive as one: against one calibrator that heard both histories, and against sums done one by one.
#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "calibrate/both_histories.h"
#include "margin/calibrator.h"
#include "margin/random.h"

namespace margin {
namespace {

using internal::BothHistories;
using internal::mass_after;
using internal::observations_of;

double mass_one_by_one(int observations, double memory) {
  double mass = 0.0;
  for (int i = 0; i < observations; ++i) mass = mass * (1.0 - 1.0 / memory) + 1.0;
  return mass;
}

TEST(BothHistoriesTest, HaveTheMassOfTheirObservationsInOneMemory) {
  for (const double memory : {1.0, 1.5, 8.0, 288.0, 4000.0}) {
    for (const int own : {0, 1, 5, 70, 3000}) {
      EXPECT_NEAR(mass_after(own, memory), mass_one_by_one(own, memory), 1e-9 * memory) << own << " in " << memory;
      if (memory > 100.0) {
        EXPECT_NEAR(observations_of(mass_one_by_one(own, memory), memory), own, 1e-3) << own << " in " << memory;
      }
      for (const int theirs : {0, 2, 70, 900}) {
        const BothHistories seen{static_cast<double>(own), static_cast<double>(theirs)};
        const double sum = mass_one_by_one(own, memory) + mass_one_by_one(theirs, 2.0 * memory);
        if (own == 0 || theirs == 0) {
          EXPECT_EQ(seen.kept(memory, 2.0 * memory, 3.0 * memory), 1.0);
        } else {
          EXPECT_NEAR(seen.kept(memory, 2.0 * memory, 3.0 * memory) * sum, mass_one_by_one(own + theirs, 3.0 * memory), 1e-9 * memory);
        }
      }
    }
  }
  const BothHistories full{observations_of(8.0, 8.0), observations_of(9.0, 8.0)};
  EXPECT_EQ(full.kept(8.0, 8.0, 8.0), 0.5) << "two full memories are one";
  EXPECT_EQ(full.kept(8.0, 8.0, 16.0), 1.0);
}

class MarginAdaptiveMerge : public testing::TestWithParam<int> {
 protected:
  static constexpr ModelId kModels = 3;
  static std::unique_ptr<Calibrator> make(const Parameters& parameters = {}) {
    return make_calibrator("margin_adaptive", GetParam(), parameters).value();
  }
  static std::unique_ptr<Calibrator> fresh(const Parameters& parameters = {}) {
    std::unique_ptr<Calibrator> calibrator = make(parameters);
    for (ModelId model = 0; model < kModels; ++model) calibrator->join(model);
    return calibrator;
  }

  // What a model is right of when it states `confidence`: each lies in its own way.
  static double truth(ModelId model, double confidence) {
    return 0.15 + 0.2 * static_cast<double>(model) + (0.5 - 0.1 * model) * confidence;
  }

  static std::vector<Observation> task(Random& random, ModelId first = 0, ModelId last = kModels) {
    std::vector<Observation> rows;
    for (ModelId model = first; model < last; ++model) {
      const double confidence = 0.3 + 0.7 * random.uniform();
      rows.push_back({.model = model, .confidence = confidence, .outcome = random.uniform() < truth(model, confidence) ? 1.0 : 0.0});
    }
    return rows;
  }
  static void teach(Calibrator& calibrator, const std::vector<Observation>& rows) {
    calibrator.begin_task();
    EXPECT_TRUE(calibrator.observe_batch(rows).ok());
    calibrator.end_task();
  }

  template <class Target>
  static double distance(const Calibrator& calibrator, const Target& target, ModelId first = 0, ModelId last = kModels) {
    double sum = 0.0;
    int count = 0;
    for (ModelId model = first; model < last; ++model) {
      for (double confidence = 0.35; confidence < 1.0; confidence += 0.05) {
        sum += std::abs(calibrator.calibrate(model, confidence) - target(model, confidence));
        ++count;
      }
    }
    return sum / count;
  }
  static auto forecasts_of(const Calibrator& calibrator) {
    return [&calibrator](ModelId model, double confidence) { return calibrator.calibrate(model, confidence); };
  }
  const std::vector<ModelId> same_ids_ = {0, 1, 2};
};

// Tasks are dealt to two calibrators in turn, and one hears all of them. Together the two know nearly what that one knows.
TEST_P(MarginAdaptiveMerge, KnowsNearlyWhatOneWouldThatHeardBoth) {
  for (const int tasks : {20, 60, 200, 2000}) {
    double merged_off = 0.0, half_off = 0.0, merged_wrong = 0.0, half_wrong = 0.0, whole_wrong = 0.0;
    for (std::uint64_t seed = 1; seed <= 40; ++seed) {
      Random random(seed);
      const auto first = fresh(), second = fresh(), whole = fresh();
      for (int i = 0; i < tasks; ++i) {
        const auto rows = task(random);
        teach(i % 2 == 0 ? *first : *second, rows);
        teach(*whole, rows);
      }
      half_off += distance(*first, forecasts_of(*whole));
      half_wrong += distance(*first, truth);
      whole_wrong += distance(*whole, truth);
      ASSERT_TRUE(first->merge(*second, same_ids_).ok());
      merged_off += distance(*first, forecasts_of(*whole));
      merged_wrong += distance(*first, truth);
    }
    EXPECT_LT(merged_off, 0.6 * half_off) << tasks;
    EXPECT_LT(merged_wrong, 0.95 * half_wrong) << tasks;
    EXPECT_LT(merged_wrong, 1.05 * whole_wrong) << tasks;
  }
}

// Models that only one of them knows keep what they are worth.
TEST_P(MarginAdaptiveMerge, ModelsOfOneSideKeepTheirWorth) {
  double off = 0.0, wrong = 0.0, wrong_before = 0.0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    Random random(seed);
    const auto first = make();
    first->join(0);
    const auto second = fresh();
    for (int i = 0; i < 300; ++i) {
      teach(*first, task(random, 0, 1));
      teach(*second, task(random, 1, 3));
    }
    const auto before = second->clone();
    const auto own = first->clone();
    wrong_before += distance(*own, truth, 0, 1) / 3 + distance(*before, truth, 1, 3) * 2 / 3;
    ASSERT_TRUE(first->merge(*second, same_ids_).ok());
    off += distance(*first, forecasts_of(*own), 0, 1) / 3 + distance(*first, forecasts_of(*before), 1, 3) * 2 / 3;
    wrong += distance(*first, truth);
  }
  EXPECT_LT(off, 0.5 * wrong_before) << "they moved by less than what they did not know";
  EXPECT_LT(wrong, 1.1 * wrong_before);
}

TEST_P(MarginAdaptiveMerge, IsTheSameFromBothSides) {
  Random random(5);
  const auto first = fresh(), second = fresh();
  for (int i = 0; i < 300; ++i) {
    teach(*first, task(random));
    if (i % 3 == 0) teach(*second, task(random, 1));
  }
  const auto own = first->clone();
  ASSERT_TRUE(first->merge(*second, same_ids_).ok());
  ASSERT_TRUE(second->merge(*own, same_ids_).ok());
  EXPECT_NE(first->calibrate(1, 0.7), own->calibrate(1, 0.7));
  for (ModelId model = 0; model < kModels; ++model) {
    for (const double confidence : {0.0, 0.3, 0.5, 0.8, 0.99, 1.0}) {
      EXPECT_NEAR(first->calibrate(model, confidence), second->calibrate(model, confidence), 1e-9) << model << " at " << confidence;
    }
  }
}

// How long the memories of the pool and of the closing steps were follows from who was taught and present, on either side.
TEST_P(MarginAdaptiveMerge, IsTheSameFromBothSidesWhoeverHasLeft) {
  for (const auto& [left_first, left_second] :
       std::vector<std::pair<std::vector<ModelId>, std::vector<ModelId>>>{{{2}, {}}, {{1, 2}, {}}, {{0}, {0}}, {{0, 1}, {0, 2}}}) {
    Random random(8);
    const auto first = fresh(), second = fresh();
    for (int i = 0; i < 300; ++i) {
      teach(*first, task(random));
      if (i % 3 == 0) teach(*second, task(random));
    }
    for (const ModelId model : left_first) first->leave(model);
    for (const ModelId model : left_second) second->leave(model);
    const auto own = first->clone();
    ASSERT_TRUE(first->merge(*second, same_ids_).ok());
    ASSERT_TRUE(second->merge(*own, same_ids_).ok());
    for (ModelId model = 0; model < kModels; ++model) {
      EXPECT_EQ(first->present(model), second->present(model)) << model;
      for (const double confidence : {0.3, 0.5, 0.8, 0.99}) {
        EXPECT_NEAR(first->calibrate(model, confidence), second->calibrate(model, confidence), 1e-9) << model << " at " << confidence;
      }
    }
  }
}

// A model that is never wrong drives the scales of its odds to their bound. What comes of two such states can be stored.
TEST_P(MarginAdaptiveMerge, OfStatesAtTheirBoundsCanBeRestored) {
  const auto always_right = [](int tasks) {
    auto calibrator = GetParam() == 1 ? fresh() : fresh({{"odds_step", 0.5}});  // the first version has no odds to temper
    for (int i = 0; i < tasks; ++i) {
      std::vector<Observation> rows;
      for (ModelId model = 0; model < kModels; ++model) rows.push_back({.model = model, .confidence = 0.001, .outcome = 1.0});
      teach(*calibrator, rows);
    }
    return calibrator;
  };
  const auto first = always_right(5000);
  for (int part = 1; part < 1000; ++part) {
    // At the bound too, with a part of the evidence behind it.
    const auto second = first->clone();
    ASSERT_TRUE(second->discount(part / 1000.0).ok());
    const auto merged = first->clone();
    ASSERT_TRUE(merged->merge(*second, same_ids_).ok());
    const auto restored = restore_calibrator(merged->snapshot());
    ASSERT_TRUE(restored.ok()) << part << ": " << restored.error().message;
    EXPECT_EQ((*restored)->digest(), merged->digest());
  }
}

// Memories that are full hold no more when they hear the same again, and what is learned then moves them as it would have.
TEST_P(MarginAdaptiveMerge, OfFullMemoriesWithThemselvesChangesNothing) {
  Parameters short_memories = {{"clocks", std::vector<double>{2.0, 4.0, 8.0}},
                               {"resolution_tasks", 10.0},
                               {"recalibration_tasks", 10.0},
                               {"pool_alarm", 1e9},
                               {"model_alarm", 1e9}};
  if (GetParam() == 3) short_memories["curve_memory"] = 10.0;
  Random random(7);
  const auto first = fresh(short_memories);
  for (int i = 0; i < 1000; ++i) teach(*first, task(random));
  const auto alone = first->clone();
  ASSERT_TRUE(first->merge(*alone, same_ids_).ok());
  for (int i = 0; i < 10; ++i) {
    EXPECT_LT(distance(*first, forecasts_of(*alone)), 1e-9) << "after " << i;
    const auto rows = task(random);
    for (Calibrator* each : {first.get(), alone.get()}) teach(*each, rows);
  }
}

// What is learned after it weighs as it does in a memory of its length: it is not buried under two histories.
TEST_P(MarginAdaptiveMerge, FollowsAChangeAsOneHistoryDoes) {
  Random random(6);
  const auto first = fresh(), second = fresh();
  for (int i = 0; i < 2000; ++i) {
    teach(*first, task(random));
    teach(*second, task(random));
  }
  const auto alone = first->clone();
  ASSERT_TRUE(first->merge(*second, same_ids_).ok());
  const auto reversed = [](ModelId model, double confidence) { return 1.0 - truth(model, confidence); };
  const double before = distance(*first, reversed);
  for (int i = 0; i < 100; ++i) {
    auto rows = task(random);
    for (Observation& row : rows) row.outcome = 1.0 - row.outcome;
    for (Calibrator* each : {first.get(), alone.get()}) teach(*each, rows);
  }
  EXPECT_LT(distance(*first, reversed), 0.5 * before);
  EXPECT_NEAR(distance(*first, reversed), distance(*alone, reversed), 0.02);
}

INSTANTIATE_TEST_SUITE_P(Versions, MarginAdaptiveMerge, testing::Values(1, 2, 3),
                         [](const auto& each) { return "v" + std::to_string(each.param); });

}  // namespace
}  // namespace margin
