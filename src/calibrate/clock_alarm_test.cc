// Alarms of a calibrator's own clocks, as data: who is named, on what evidence, and that looking changes nothing.
#include "margin/clock_alarm.h"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "margin/random.h"

namespace margin {
namespace {

constexpr ModelId kModels = 4;
constexpr ModelId kFalls = 2;
constexpr int kTasks = 600;

struct AlarmAt {
  int task;
  ClockAlarm alarm;
};

std::unique_ptr<Calibrator> fresh(const std::string& name, const Parameters& parameters = {}) {
  auto made = make_calibrator(name, parameters);
  EXPECT_TRUE(made.ok());
  for (ModelId model = 0; model < kModels; ++model) (*made)->join(model);
  return std::move(*made);
}

// All are right 9 times of 10; from the middle on those that `falls` names 2 times of 10.
template <class Falls>
std::vector<AlarmAt> course(Calibrator& calibrator, Falls falls) {
  std::vector<AlarmAt> alarms;
  Random random(7);
  for (int task = 0; task < kTasks; ++task) {
    calibrator.begin_task();
    for (ModelId model = 0; model < kModels; ++model) {
      const double accuracy = task >= kTasks / 2 && falls(model) ? 0.2 : 0.9;
      const Observation row{.model = model, .confidence = 0.9, .outcome = random.chance(accuracy) ? 1.0 : 0.0};
      EXPECT_TRUE(calibrator.observe(row).ok());
      for (const ClockAlarm& alarm : clock_alarms(calibrator)) alarms.push_back({task, alarm});
    }
    calibrator.end_task();
  }
  return alarms;
}
bool falls_alone(ModelId model) { return model == kFalls; }
bool all_fall(ModelId /*model*/) { return true; }

TEST(ClockAlarm, NamesTheModelThatFellAndTheEvidence) {
  const auto calibrator = fresh("margin_adaptive", {{"model_alarm", 5.0}});
  bool named = false;
  for (const AlarmAt& at : course(*calibrator, falls_alone)) {
    if (at.alarm.model != kFalls || at.task < kTasks / 2) continue;
    EXPECT_TRUE(named || at.task <= kTasks / 2 + 25) << at.task;
    named = true;
    EXPECT_EQ(at.alarm.threshold, 5.0);
    EXPECT_GT(at.alarm.evidence, 5.0);
    EXPECT_LE(at.alarm.evidence, 7.0) << "one outcome adds at most 2 to evidence that had not sufficed";
    EXPECT_LT(at.alarm.clock, at.alarm.slower);
  }
  EXPECT_TRUE(named);
}

TEST(ClockAlarm, IsThePoolsWhenAllFall) {
  const auto calibrator = fresh("margin_adaptive");
  bool named = false;
  for (const AlarmAt& at : course(*calibrator, all_fall)) {
    if (at.alarm.model != ClockAlarm::kPool) continue;
    named = true;
    EXPECT_GE(at.task, kTasks / 2);
    EXPECT_EQ(at.alarm.threshold, 4.0);
    EXPECT_GT(at.alarm.evidence, at.alarm.threshold);
  }
  EXPECT_TRUE(named);
}

// An alarm is what makes a calibrator forget: without one in the second half, states that differ only in when they would forget agree.
TEST(ClockAlarm, IsThereExactlyWhenTheStateForgets) {
  const auto forgets = fresh("margin_adaptive");
  const auto never = fresh("margin_adaptive", {{"pool_alarm", 1000.0}, {"model_alarm", 1000.0}});
  bool alarmed = false;
  Random random(11);
  for (int task = 0; task < 2 * kTasks && !alarmed; ++task) {
    const Observation row{.model = 0, .confidence = 0.9, .outcome = random.chance(task < kTasks ? 0.9 : 0.2) ? 1.0 : 0.0};
    for (Calibrator* calibrator : {forgets.get(), never.get()}) {
      calibrator->begin_task();
      EXPECT_TRUE(calibrator->observe(row).ok());
      calibrator->end_task();
    }
    alarmed = !clock_alarms(*forgets).empty();
    EXPECT_TRUE(clock_alarms(*never).empty());
    EXPECT_EQ(forgets->calibrate(0, 0.9) == never->calibrate(0, 0.9), !alarmed) << "task " << task;
  }
  EXPECT_TRUE(alarmed);
}

TEST(ClockAlarm, IsGoneWithTheNextObservationAndNotInTheSnapshot) {
  const auto calibrator = fresh("margin_adaptive");
  int task = 0;
  for (; clock_alarms(*calibrator).empty() && task < kTasks; ++task) {
    EXPECT_TRUE(calibrator->observe({.model = 0, .confidence = 0.9, .outcome = task < kTasks / 2 ? 1.0 : 0.0}).ok());
  }
  ASSERT_LT(task, kTasks);
  const auto copy = calibrator->clone();
  EXPECT_EQ(copy->digest(), calibrator->digest());
  EXPECT_TRUE(clock_alarms(*copy).empty());
  const Observation next{.model = 1, .confidence = 0.9, .outcome = 1.0};
  EXPECT_FALSE(calibrator->observe({.model = 1, .confidence = 2.0}).ok());
  EXPECT_FALSE(clock_alarms(*calibrator).empty()) << "a refused observation changes nothing";
  EXPECT_TRUE(calibrator->observe(next).ok());
  EXPECT_TRUE(copy->observe(next).ok());
  EXPECT_TRUE(clock_alarms(*calibrator).empty());
  EXPECT_EQ(copy->digest(), calibrator->digest());
}

TEST(ClockAlarm, MethodsWithoutClocksHaveNone) {
  for (const CalibratorInfo* info : calibrator_catalog()) {
    if (info->identifier == "margin_adaptive") continue;
    EXPECT_TRUE(course(*fresh(info->identifier), all_fall).empty()) << info->identifier;
  }
}

TEST(ClockAlarm, OlderVersionHasThemToo) { EXPECT_FALSE(course(*fresh("margin_adaptive@1"), all_fall).empty()); }

}  // namespace
}  // namespace margin
