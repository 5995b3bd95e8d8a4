// The simulation `paper`: models of latent skill on problems of common difficulty, with exactly the accuracies and confidence profiles of
// the cohort's table.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <vector>

#include "dataset/cohort.h"
#include "dataset/normal.h"
#include "dataset/paper_cohort.h"

namespace margin::dataset {
namespace {

// Where tasks are dated: the median date (2024-04-06), the distance of two tasks, and the correlation of date and difficulty. The dates
// follow the published early and late halves; no other statistic depends on them.
constexpr double kMedianDate_s = 1712361600.0;
constexpr double kDateStep_s = 0.75 * 86400.0;
constexpr double kDateDifficulty = 0.7;

struct Tasks {
  std::vector<double> difficulty;
  std::vector<LetterAnswers> letters;
  std::vector<double> t;
};

struct Response {
  double confidence = kMissing;
  bool right = false;
  bool usable = false;
  bool common = false;           // the right answer that most right models give; else, where answers are not short, one of its own
  std::uint32_t distractor = 0;  // the wrong answer it would give
  double p = 0.0;
};

// Positions by value, lowest first.
std::vector<std::uint32_t> order_of(const std::vector<double>& values) {
  std::vector<std::uint32_t> order(values.size());
  std::iota(order.begin(), order.end(), 0U);
  std::sort(order.begin(), order.end(),
            [&](std::uint32_t a, std::uint32_t b) { return values[a] != values[b] ? values[a] < values[b] : a < b; });
  return order;
}

Tasks draw_tasks(const PaperPhase& phase, std::uint32_t count, Random random) {
  Tasks tasks;
  for (std::uint32_t i = 0; i < count; ++i) tasks.difficulty.push_back(random.normal());
  for (std::uint32_t i = 0; i < count; ++i) tasks.letters.emplace_back(phase.distractors, random);
  tasks.t.assign(count, kMissing);
  if (!phase.dated) return tasks;
  std::vector<double> lateness;
  for (const double d : tasks.difficulty) {
    lateness.push_back(kDateDifficulty * d + std::sqrt(1.0 - kDateDifficulty * kDateDifficulty) * random.normal());
  }
  const std::vector<std::uint32_t> order = order_of(lateness);
  for (std::uint32_t rank = 0; rank < count; ++rank) tasks.t[order[rank]] = kMedianDate_s + (rank - 0.5 * (count - 1)) * kDateStep_s;
  return tasks;
}

// Per confidence level: the chance of being right. With z standard normal, right when z < threshold, and quality
// q = -informative z + noise handing out the levels from its upper end, it is the mean of
// P(z < threshold | q) = cdf((threshold + informative q) / sqrt(1 - informative^2)) over the level's part of q.
std::vector<double> chance_by_level(const PaperModel& model, double accuracy) {
  constexpr int kSteps = 64;  // of Simpson's rule; error below 1e-6
  const double threshold = normal_quantile(accuracy);
  const double spread = std::sqrt(1.0 - model.informative * model.informative);
  const auto weighted_chance = [&](double q) { return normal_density(q) * normal_cdf((threshold + model.informative * q) / spread); };

  std::vector<double> chances;
  double above = 0.0;
  double high = normal_quantile(1.0);
  for (const ConfidenceLevel& level : levels_of(model.profile)) {
    above = std::min(above + level.share, 1.0);
    const double low = normal_quantile(1.0 - above);
    const double step = (high - low) / kSteps;
    double sum = weighted_chance(low) + weighted_chance(high);
    for (int i = 1; i < kSteps; ++i) sum += (i % 2 == 1 ? 4.0 : 2.0) * weighted_chance(low + i * step);
    chances.push_back(sum * step / 3.0 / (normal_cdf(high) - normal_cdf(low)));
    high = low;
  }
  return chances;
}

std::vector<Response> draw_responses(const PaperPhase& phase, const PaperModel& model, double accuracy, const Tasks& tasks, Random random) {
  const std::size_t count = tasks.difficulty.size();
  std::vector<double> z;  // the lower, the likelier right
  for (const double d : tasks.difficulty) {
    z.push_back(std::sqrt(phase.common_difficulty) * d + std::sqrt(1.0 - phase.common_difficulty) * random.normal());
  }
  std::vector<double> doubt;  // the highest confidence goes to the least
  for (const double x : z) {
    doubt.push_back(model.informative * x - std::sqrt(1.0 - model.informative * model.informative) * random.normal());
  }

  std::vector<Response> responses(count);
  const std::vector<std::uint32_t> by_z = order_of(z);
  const auto right = static_cast<std::size_t>(std::floor(accuracy * static_cast<double>(count) + 0.5));
  for (std::size_t rank = 0; rank < right; ++rank) responses[by_z[rank]].right = true;

  const std::span<const ConfidenceLevel> levels = levels_of(model.profile);
  const std::vector<double> chances = chance_by_level(model, accuracy);
  const std::vector<std::uint32_t> by_doubt = order_of(doubt);
  for (std::size_t rank = 0; rank < count; ++rank) {
    const std::size_t level = level_at(levels, (static_cast<double>(rank) + 0.5) / static_cast<double>(count));
    responses[by_doubt[rank]].confidence = levels[level].confidence;
    responses[by_doubt[rank]].p = chances[level];
  }
  for (Response& response : responses) {
    response.usable = random.chance(model.usable);
    response.common = random.chance(phase.same_right);
    response.distractor = phase.distractors == 0 ? 0 : draw_distractor(phase.distractors, random);
  }
  return responses;
}

std::string answer_of(const Response& response, const LetterAnswers& letters, bool short_answers, std::size_t model) {
  if (short_answers) return std::string(letters[response.right ? 0 : response.distractor]);
  return "program " + std::to_string(response.right && response.common ? 0 : model + 1);
}

void simulate_phase(const PaperPhase& phase, std::uint32_t count, std::uint64_t seed, Simulation& simulation) {
  const Tasks tasks = draw_tasks(phase, count, random_stream(seed, phase.name));
  std::vector<std::string_view> names;
  std::vector<std::vector<Response>> responses;
  const auto add = [&](std::span<const std::string_view> group, std::span<const PaperModel> models, double factor) {
    for (std::size_t i = 0; i < models.size(); ++i) {
      names.push_back(group[i]);
      const double accuracy = models[i].accuracy * factor - phase.accuracy_deficit;
      responses.push_back(draw_responses(phase, models[i], accuracy, tasks, random_stream(seed, phase.name, group[i])));
    }
  };
  add(paper_cloud_models(), phase.cloud, 1.0);
  add(paper_local_models(), phase.local, phase.local_accuracy_factor);

  for (std::uint32_t task = 0; task < count; ++task) {
    const std::string name = std::string(phase.name) + "/" + std::to_string(task + 1);
    for (std::size_t model = 0; model < names.size(); ++model) {
      const Response& response = responses[model][task];
      // Nothing came that could be graded: published pass rates count that as wrong.
      Row row{.task = name, .phase = phase.name, .model = names[model], .kind = phase.kind, .correct = 0.0, .t = tasks.t[task]};
      std::string answer;
      if (response.usable) {
        answer = answer_of(response, tasks.letters[task], phase.distractors != 0, model);
        row.answer = answer;
        row.confidence = response.confidence;
        row.correct = response.right ? 1.0 : 0.0;
      }
      append(simulation, row, response.usable ? response.p : 0.0);
    }
  }
}

}  // namespace

Simulation simulate_paper(std::uint64_t seed, std::optional<std::uint32_t> tasks_per_phase) {
  Simulation simulation;
  for (const PaperPhase& phase : paper_phases()) simulate_phase(phase, tasks_per_phase.value_or(phase.problems), seed, simulation);
  return simulation;
}

}  // namespace margin::dataset
