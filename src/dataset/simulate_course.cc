// The simulations of a pool over time. One random stream per model serves every course, so two courses of one seed differ only in what the
// course changes.
#include <array>
#include <cmath>
#include <string>
#include <vector>

#include "dataset/cohort.h"
#include "dataset/confidence_profile.h"
#include "dataset/normal.h"

namespace margin::dataset {
namespace {

struct CourseModel {
  std::string_view name;
  double accuracy = 0.0;
  Profile profile = Profile::kHigh;
  double slope = 0.0;  // how much likelier right per unit of stated confidence
};

// The best first. Slopes are small enough that every chance stays inside (0, 1) on every course.
constexpr std::array<CourseModel, 6> kModels = {{
    {"ash", 0.86, Profile::kHigh, 0.6},
    {"birch", 0.8, Profile::kMedium, 0.8},
    {"cedar", 0.74, Profile::kWide, 0.5},
    {"elm", 0.66, Profile::kBroad, 0.4},
    {"fir", 0.58, Profile::kMedium, 0.3},
    {"oak", 0.5, Profile::kWide, 0.3},
}};

constexpr double kCommonDifficulty = 0.4;
constexpr double kUsable = 0.98;
constexpr std::uint32_t kDistractors = 3;
constexpr double kStart_s = 1735689600.0;  // 2025-01-01
constexpr double kTaskStep_s = 60.0;

constexpr double kAbruptFactor = 2.0 / 3.0;
constexpr double kCollapsedAccuracy = 0.3;
constexpr double kToothFactor = 0.6;
constexpr int kTeeth = 4;
constexpr std::size_t kFirstModels = 2;  // of `newcomers`

// Pieces of time in file order. Orderings permute the tasks of a phase, so a course survives them by its phases.
std::uint32_t phases_of(Course course) {
  switch (course) {
    case Course::kStationary:
    case Course::kAbrupt:
    case Course::kCollapse: return 2;
    case Course::kNewcomers: return 5;
    case Course::kDrift: return 10;
    case Course::kSawtooth: return 16;
  }
  return 1;
}

// At `time` in [0, 1).
double accuracy_at(Course course, std::size_t model, double time) {
  const double accuracy = kModels[model].accuracy;
  switch (course) {
    case Course::kStationary:
    case Course::kNewcomers: break;
    case Course::kDrift: return accuracy + (kModels[kModels.size() - 1 - model].accuracy - accuracy) * time;
    case Course::kAbrupt: return time < 0.5 ? accuracy : accuracy * kAbruptFactor;
    case Course::kSawtooth: return accuracy * (kToothFactor + (1.0 - kToothFactor) * (kTeeth * time - std::floor(kTeeth * time)));
    case Course::kCollapse: return model == 0 && time >= 0.5 ? kCollapsedAccuracy : accuracy;
  }
  return accuracy;
}

bool takes_part(Course course, std::size_t model, std::uint32_t phase) {
  return course != Course::kNewcomers || model < kFirstModels + phase;
}

}  // namespace

Simulation simulate_course(Course course, std::uint64_t seed, std::uint32_t tasks) {
  constexpr std::string_view kStreams = "course";
  Random task_random = random_stream(seed, kStreams);
  std::vector<Random> model_random;
  for (const CourseModel& model : kModels) model_random.push_back(random_stream(seed, kStreams, model.name));

  Simulation simulation;
  const std::uint32_t phases = phases_of(course);
  for (std::uint32_t task = 0; task < tasks; ++task) {
    const double difficulty = task_random.normal();
    const LetterAnswers letters(kDistractors, task_random);
    const double time = static_cast<double>(task) / tasks;
    const auto phase = static_cast<std::uint32_t>(std::uint64_t{task} * phases / tasks);
    const std::string task_name = "task " + std::to_string(task + 1);
    const std::string phase_name = (phase < 9 ? "0" : "") + std::to_string(phase + 1);
    for (std::size_t i = 0; i < kModels.size(); ++i) {
      const CourseModel& model = kModels[i];
      Random& random = model_random[i];
      // All draws come first: none depends on the course, so the streams of two courses stay in step.
      const double luck = std::sqrt(kCommonDifficulty) * difficulty + std::sqrt(1.0 - kCommonDifficulty) * random.normal();
      const std::span<const ConfidenceLevel> levels = levels_of(model.profile);
      const double confidence = levels[level_at(levels, random.uniform())].confidence;
      const bool usable = random.chance(kUsable);
      const std::uint32_t distractor = draw_distractor(kDistractors, random);
      if (!takes_part(course, i, phase)) continue;

      const double p = accuracy_at(course, i, time) + model.slope * (confidence - mean_confidence(model.profile));
      const bool right = normal_cdf(luck) < p;
      Row row{.task = task_name, .phase = phase_name, .model = model.name, .kind = AnswerKind::kChoice, .correct = 0.0};
      row.t = kStart_s + task * kTaskStep_s;
      if (usable) {
        row.answer = letters[right ? 0 : distractor];
        row.confidence = confidence;
        row.correct = right ? 1.0 : 0.0;
      }
      append(simulation, row, usable ? p : 0.0);
    }
  }
  return simulation;
}

}  // namespace margin::dataset
