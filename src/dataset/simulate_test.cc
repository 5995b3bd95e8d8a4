// Each cohort does what docs/simulation.md says. Seeds are fixed; a tolerance is four to five standard deviations of what is drawn.
#include "dataset/simulate.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <set>
#include <string>
#include <tuple>

#include "dataset/paper_cohort.h"
#include "dataset/reader.h"
#include "dataset/temporary_file.h"
#include "margin/digest.h"

namespace margin::dataset {
namespace {

Simulation simulated(std::string_view cohort, const SimulateOptions& options = {}) {
  Result<Simulation> simulation = simulate(cohort, options);
  EXPECT_TRUE(simulation.ok());
  return std::move(simulation).value();
}

std::string json_lines(const Simulation& simulation) {
  std::string text;
  write_json_lines(simulation, [&](std::string_view line) { text += line; });
  return text;
}

bool usable(const ObservationLog& log, std::size_t row) { return !std::isnan(log.confidence(row)); }
std::string model_of(const ObservationLog& log, std::size_t row) { return log.models()[log.model(row)]; }
std::string phase_of(const ObservationLog& log, std::size_t row) { return log.phases()[log.tasks()[log.task(row)].phase]; }

// Outcomes of some rows beside their truth.
struct Tally {
  double n = 0.0, right = 0.0, confidence = 0.0, p = 0.0, variance = 0.0;

  void add(const Simulation& simulation, std::size_t row) {
    const double chance = simulation.p[row];
    n += 1.0;
    right += simulation.log.correct(row);
    confidence += simulation.log.confidence(row);
    p += chance;
    variance += chance * (1.0 - chance);
  }
  [[nodiscard]] double accuracy() const { return right / n; }
  [[nodiscard]] double mean_confidence() const { return confidence / n; }
  [[nodiscard]] double z() const { return (right - p) / std::sqrt(variance); }
};

using PhaseAndModel = std::pair<std::string, std::string>;

std::map<PhaseAndModel, Tally> by_phase_and_model(const Simulation& simulation) {
  std::map<PhaseAndModel, Tally> tallies;
  for (std::size_t row = 0; row < simulation.log.rows(); ++row) {
    if (usable(simulation.log, row)) tallies[{phase_of(simulation.log, row), model_of(simulation.log, row)}].add(simulation, row);
  }
  return tallies;
}

// The usable outcomes of a phase by task and model.
std::map<std::string, std::map<std::string, double>> outcomes_of(const Simulation& simulation, const std::string& phase) {
  std::map<std::string, std::map<std::string, double>> outcomes;
  for (std::size_t row = 0; row < simulation.log.rows(); ++row) {
    if (phase_of(simulation.log, row) != phase || !usable(simulation.log, row)) continue;
    outcomes[simulation.log.tasks()[simulation.log.task(row)].name][model_of(simulation.log, row)] = simulation.log.correct(row);
  }
  return outcomes;
}

class EveryCohort : public testing::TestWithParam<std::string_view> {};

INSTANTIATE_TEST_SUITE_P(Simulate, EveryCohort,
                         testing::Values("paper", "stationary", "drift", "abrupt", "sawtooth", "collapse", "newcomers"),
                         [](const auto& cohort) { return std::string(cohort.param); });

TEST_P(EveryCohort, SeedDecidesTheBytes) {
  const std::map<std::string_view, std::string> expected = {
      {"paper", "1c071d3bbcc97060da68618ebb7aaf54"},    {"stationary", "8b2aef24f3edac03a856de20c9f5d55e"},
      {"drift", "0862e4a1ab6e647500db243235575a0b"},    {"abrupt", "c0df7aa1bff19049f13b6d33d03fb740"},
      {"sawtooth", "f86a9a8692d6f1f8a633d0c557385f6a"}, {"collapse", "f04d26a5e69044c372c8de62da7e691a"},
      {"newcomers", "070e027fcb84fd40e579710afe2589cb"}};
  EXPECT_EQ(digest_of(json_lines(simulated(GetParam()))).hex(), expected.at(GetParam()));
  EXPECT_NE(digest_of(json_lines(simulated(GetParam(), {.seed = 2}))).hex(), expected.at(GetParam()));
}

TEST_P(EveryCohort, ReadsBackToTheSameRows) {
  const Simulation simulation = simulated(GetParam(), {.seed = 3, .tasks = 60});
  const TemporaryFile file(json_lines(simulation));
  const Result<ObservationLog> read = read_observations(std::vector{file.path()});
  ASSERT_TRUE(read.ok()) << read.error().message;
  const ObservationLog& log = simulation.log;
  ASSERT_EQ(read->rows(), log.rows());
  const auto same = [](double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); };
  for (std::size_t row = 0; row < log.rows(); ++row) {
    EXPECT_EQ(read->tasks()[read->task(row)].name, log.tasks()[log.task(row)].name);
    EXPECT_EQ(read->tasks()[read->task(row)].kind, log.tasks()[log.task(row)].kind);
    EXPECT_EQ(phase_of(*read, row), phase_of(log, row));
    EXPECT_EQ(model_of(*read, row), model_of(log, row));
    EXPECT_EQ(read->answer(row), log.answer(row));
    EXPECT_TRUE(same(read->confidence(row), log.confidence(row)));
    EXPECT_TRUE(same(read->t(row), log.t(row)));
    EXPECT_EQ(read->correct(row), log.correct(row));
  }
}

// With n draws per cell, (right - sum of p) / sd is near standard normal in every cell of phase, model and stated confidence.
TEST_P(EveryCohort, TruthIsWhatHappensAtEveryConfidence) {
  const Simulation simulation = simulated(GetParam(), {.seed = 4, .tasks = GetParam() == "paper" ? 3000 : 30000});
  std::map<std::tuple<std::string, std::string, double>, Tally> cells;
  for (std::size_t row = 0; row < simulation.log.rows(); ++row) {
    const double p = simulation.p[row];
    if (!usable(simulation.log, row)) {
      EXPECT_EQ(p, 0.0);
      EXPECT_EQ(simulation.log.correct(row), 0.0);
      EXPECT_EQ(simulation.log.answer(row), ObservationLog::kNone);
      continue;
    }
    ASSERT_TRUE(p > 0.0 && p < 1.0);
    cells[{phase_of(simulation.log, row), model_of(simulation.log, row), simulation.log.confidence(row)}].add(simulation, row);
  }
  double squares = 0.0;
  double count = 0.0;
  for (const auto& [cell, tally] : cells) {
    if (tally.variance < 5.0) continue;
    EXPECT_LT(std::fabs(tally.z()), 4.5) << std::get<0>(cell) << " " << std::get<1>(cell) << " " << std::get<2>(cell);
    squares += tally.z() * tally.z();
    count += 1.0;
  }
  EXPECT_GT(count, 80.0);
  // The variance is that of the truth too: a truth that knows less than it should would leave more, an overfitted one less.
  EXPECT_NEAR(squares / count, 1.0, 5.0 * std::sqrt(2.0 / count));
}

TEST(SimulatePaper, ModelsShareTheDifficultyOfTheProblems) {
  const Simulation simulation = simulated("paper", {.seed = 5, .tasks = 4000});
  const auto cdf = [](double x) { return 0.5 * std::erfc(-x / std::sqrt(2.0)); };
  const auto quantile = [&](double p) {
    double low = -9.0;
    double high = 9.0;
    for (int i = 0; i < 100; ++i) (cdf(0.5 * (low + high)) < p ? low : high) = 0.5 * (low + high);
    return low;
  };
  for (const PaperPhase& phase : paper_phases()) {
    const double rho = phase.common_difficulty;
    const double accuracies[] = {phase.cloud[0].accuracy - phase.accuracy_deficit, phase.cloud[1].accuracy - phase.accuracy_deficit};
    const double thresholds[] = {quantile(accuracies[0]), quantile(accuracies[1])};
    double both = 0.0;  // P(the first two models are both right), over the difficulty they share
    for (double d = -8.0; d < 8.0; d += 0.01) {
      const auto right = [&](double threshold) { return cdf((threshold - std::sqrt(rho) * d) / std::sqrt(1.0 - rho)); };
      both += 0.01 * std::exp(-0.5 * d * d) / std::sqrt(2.0 * std::acos(-1.0)) * right(thresholds[0]) * right(thresholds[1]);
    }
    double n = 0.0;
    double observed = 0.0;
    for (const auto& [task, models] : outcomes_of(simulation, std::string(phase.name))) {
      const auto first = models.find(std::string(paper_cloud_models()[0]));
      const auto second = models.find(std::string(paper_cloud_models()[1]));
      if (first == models.end() || second == models.end()) continue;
      n += 1.0;
      observed += first->second * second->second;
    }
    EXPECT_NEAR(observed / n, both, 4.0 * std::sqrt(both * (1.0 - both) / n)) << phase.name;
    EXPECT_GT(observed / n, accuracies[0] * accuracies[1]) << phase.name;
  }
}

TEST(SimulatePaper, AnswersAgreeAsOftenAsTheTableSays) {
  const Simulation simulation = simulated("paper", {.seed = 6, .tasks = 4000});
  std::map<std::string, std::map<std::string, double>> right;                         // phase, answer
  std::map<std::string, std::map<std::string, std::map<std::string, double>>> wrong;  // phase, task, answer
  for (std::size_t row = 0; row < simulation.log.rows(); ++row) {
    if (!usable(simulation.log, row)) continue;
    const std::string& answer = simulation.log.answers()[simulation.log.answer(row)];
    const std::string phase = phase_of(simulation.log, row);
    if (simulation.log.correct(row) == 1.0) {
      right[phase][answer] += 1.0;
    } else {
      wrong[phase][simulation.log.tasks()[simulation.log.task(row)].name][answer] += 1.0;
    }
  }
  for (const PaperPhase& phase : paper_phases()) {
    const std::string name(phase.name);
    double total = 0.0;
    for (const auto& [answer, count] : right[name]) total += count;
    if (phase.distractors == 0) {
      EXPECT_NEAR(right[name]["program 0"] / total, phase.same_right, 0.02) << name;
    } else {
      // Any letter may be the right one.
      ASSERT_EQ(right[name].size(), phase.distractors + 1) << name;
      for (const auto& [answer, count] : right[name]) EXPECT_NEAR(count / total, 1.0 / (phase.distractors + 1.0), 0.05) << name;
    }
    // Two wrong models agree with chance sum of squares of the distractors' chances.
    double harmonic = 0.0;
    double squares = 0.0;
    for (std::uint32_t rank = 1; rank <= phase.distractors; ++rank) {
      harmonic += 1.0 / rank;
      squares += 1.0 / rank / rank;
    }
    const double expected = phase.distractors == 0 ? 0.0 : squares / harmonic / harmonic;
    double pairs = 0.0;
    double agreeing = 0.0;
    for (const auto& [task, answers] : wrong[name]) {
      double all = 0.0;
      for (const auto& [answer, count] : answers) {
        all += count;
        agreeing += count * (count - 1.0);
      }
      pairs += all * (all - 1.0);
    }
    EXPECT_NEAR(agreeing / pairs, expected, 0.03) << name;
  }
}

TEST(SimulatePaper, LateProblemsOfTheDatedPhaseAreHarder) {
  constexpr double kCut_s = 1712361600.0;
  const Simulation simulation = simulated("paper");
  std::map<std::string, Tally> early;
  std::map<std::string, Tally> late;
  std::set<std::uint32_t> early_tasks;
  for (std::size_t row = 0; row < simulation.log.rows(); ++row) {
    const double t = simulation.log.t(row);
    EXPECT_EQ(std::isnan(t), phase_of(simulation.log, row) != "LCB");
    if (t < kCut_s) early_tasks.insert(simulation.log.task(row));
    if (std::isnan(t) || !usable(simulation.log, row)) continue;
    (t < kCut_s ? early : late)[model_of(simulation.log, row)].add(simulation, row);
  }
  EXPECT_EQ(early_tasks.size(), 440U);
  for (const auto& [model, tally] : early) EXPECT_GT(tally.accuracy(), late[model].accuracy() + 0.02) << model;
}

TEST(SimulatePaper, EveryConditionNamesPhasesWithItsModels) {
  std::map<std::string_view, const PaperPhase*> phases;
  for (const PaperPhase& phase : paper_phases()) phases[phase.name] = &phase;
  ASSERT_EQ(paper_conditions().size(), 11U);
  for (const PaperCondition& condition : paper_conditions()) {
    for (const std::string_view name : {condition.source, condition.target}) {
      ASSERT_TRUE(phases.count(name)) << name;
      EXPECT_EQ(phases[name]->cloud.size(), 9U);
      EXPECT_TRUE(!condition.local_models || phases[name]->local.size() == 9) << name;
    }
  }
}

TEST(SimulateCollapse, ChangesOneModelAndNotItsConfidence) {
  const Simulation stationary = simulated("stationary");
  const Simulation collapse = simulated("collapse");
  ASSERT_EQ(stationary.log.rows(), collapse.log.rows());
  for (std::size_t row = 0; row < collapse.log.rows(); ++row) {
    EXPECT_EQ(usable(stationary.log, row), usable(collapse.log, row));
    EXPECT_TRUE(!usable(collapse.log, row) || stationary.log.confidence(row) == collapse.log.confidence(row));
    if (model_of(collapse.log, row) == "ash" && phase_of(collapse.log, row) == "02") continue;
    EXPECT_EQ(stationary.log.correct(row), collapse.log.correct(row));
    EXPECT_EQ(stationary.p[row], collapse.p[row]);
  }
  auto tallies = by_phase_and_model(collapse);
  EXPECT_NEAR((tallies[{"01", "ash"}].accuracy()), 0.86, 0.045);
  EXPECT_NEAR((tallies[{"02", "ash"}].accuracy()), 0.3, 0.06);
  EXPECT_NEAR((tallies[{"02", "ash"}].mean_confidence()), (tallies[{"01", "ash"}].mean_confidence()), 0.01);
}

TEST(SimulateStationary, KeepsEveryAccuracy) {
  auto tallies = by_phase_and_model(simulated("stationary", {.tasks = 20000}));
  const std::map<std::string, double> accuracies = {{"ash", 0.86}, {"birch", 0.8}, {"cedar", 0.74},
                                                    {"elm", 0.66}, {"fir", 0.58},  {"oak", 0.5}};
  ASSERT_EQ(tallies.size(), 2 * accuracies.size());
  for (const auto& [model, accuracy] : accuracies) {
    for (const char* phase : {"01", "02"}) EXPECT_NEAR((tallies[{phase, model}].accuracy()), accuracy, 0.02) << model;
  }
}

TEST(SimulateAbrupt, TakesAThirdOfEveryAccuracyAtHalfTime) {
  auto tallies = by_phase_and_model(simulated("abrupt", {.tasks = 20000}));
  for (const char* model : {"ash", "birch", "cedar", "elm", "fir", "oak"}) {
    EXPECT_NEAR((tallies[{"02", model}].accuracy() / tallies[{"01", model}].accuracy()), 2.0 / 3.0, 0.04) << model;
  }
}

TEST(SimulateDrift, TurnsTheOrderOfTheModelsRound) {
  auto tallies = by_phase_and_model(simulated("drift", {.tasks = 20000}));
  // The mean of the first and of the last tenth, on the way from 0.86 to 0.5 and back.
  EXPECT_NEAR((tallies[{"01", "ash"}].accuracy()), 0.842, 0.04);
  EXPECT_NEAR((tallies[{"10", "ash"}].accuracy()), 0.518, 0.05);
  EXPECT_NEAR((tallies[{"01", "oak"}].accuracy()), 0.518, 0.05);
  EXPECT_NEAR((tallies[{"10", "oak"}].accuracy()), 0.842, 0.04);
  EXPECT_NEAR((tallies[{"05", "ash"}].accuracy()), 0.698, 0.05);
}

TEST(SimulateSawtooth, ClimbsFourTimesAndFallsBackAtOnce) {
  auto tallies = by_phase_and_model(simulated("sawtooth", {.tasks = 32000}));
  // A tooth has four phases; its quarters have the mean factors 0.65, 0.75, 0.85, 0.95.
  for (int phase = 0; phase < 16; ++phase) {
    const std::string name = (phase < 9 ? "0" : "") + std::to_string(phase + 1);
    EXPECT_NEAR((tallies[{name, "birch"}].accuracy()), 0.8 * (0.65 + 0.1 * (phase % 4)), 0.05) << name;
  }
}

TEST(SimulateNewcomers, JoinOneByOneAndDisturbNobody) {
  const Simulation stationary = simulated("stationary");
  const Simulation newcomers = simulated("newcomers");
  std::map<std::pair<std::string, std::string>, std::size_t> rows;  // task, model
  for (std::size_t row = 0; row < stationary.log.rows(); ++row) {
    rows[{stationary.log.tasks()[stationary.log.task(row)].name, model_of(stationary.log, row)}] = row;
  }
  std::map<std::string, std::set<std::string>> present;
  for (std::size_t row = 0; row < newcomers.log.rows(); ++row) {
    const std::string model = model_of(newcomers.log, row);
    present[phase_of(newcomers.log, row)].insert(model);
    EXPECT_EQ(stationary.p[rows.at({newcomers.log.tasks()[newcomers.log.task(row)].name, model})], newcomers.p[row]);
  }
  ASSERT_EQ(present.size(), 5U);
  std::size_t expected = 2;
  for (const auto& [phase, models] : present) EXPECT_EQ(models.size(), expected++) << phase;
}

TEST(Simulate, RefusesWhatItDoesNotKnow) {
  const Result<Simulation> unknown = simulate("stationery");
  ASSERT_FALSE(unknown.ok());
  EXPECT_EQ(unknown.error().code, ErrorCode::kNotFound);
  EXPECT_EQ(unknown.error().message, "unknown cohort stationery (did you mean stationary?)");
  for (const std::uint32_t tasks : {19U, 1'000'001U}) {
    const Result<Simulation> outside = simulate("drift", {.tasks = tasks});
    ASSERT_FALSE(outside.ok());
    EXPECT_EQ(outside.error().code, ErrorCode::kInvalidArgument);
    EXPECT_EQ(outside.error().message, "tasks: got " + std::to_string(tasks) + ", expected 20 to 1000000");
  }
  EXPECT_TRUE(simulate("drift", {.tasks = 20U}).ok());
}

}  // namespace
}  // namespace margin::dataset
