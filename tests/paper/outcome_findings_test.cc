// Outcomes beyond right and wrong, on simulated models whose truth is known: what grades are worth against a threshold, and a class of
// its own for refusals against a share of what is not right. Prints the table of docs/evaluation.md; the directions are tested.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <functional>
#include <memory>
#include <vector>

#include "margin/calibrator.h"
#include "margin/categorical.h"
#include "margin/math.h"
#include "margin/random.h"

namespace margin {
namespace {

constexpr int kSeeds = 20;
constexpr int kRows = 2000;
constexpr double kLevels[] = {0.3, 0.5, 0.7, 0.8, 0.9, 0.95, 1.0};

struct Interval {
  double mean = 0.0, low = 0.0, high = 0.0;
};

// Over independent seeds, 95% by the normal distribution.
Interval over_seeds(const std::function<double(std::uint64_t)>& measure) {
  std::vector<double> values;
  double sum = 0.0, squares = 0.0;
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) values.push_back(measure(seed));
  for (const double value : values) sum += value / kSeeds;
  for (const double value : values) squares += (value - sum) * (value - sum) / (kSeeds - 1);
  const double half = 1.96 * std::sqrt(squares / kSeeds);
  return {sum, sum - half, sum + half};
}

void print(const char* what, const Interval& interval) {
  std::printf("%-58s %7.4f [%7.4f, %7.4f]\n", what, interval.mean, interval.low, interval.high);
}

double stated(Random& random) { return kLevels[random.below(std::size(kLevels))]; }

// What a response's grade is learned as.
enum class Learned { kShareOfChecks, kMostChecks, kOneCheck };

// Ten checks that a response passes with one chance each, which is the task's own around the model's: root mean square error of what margin
// says of the expected grade, second half.
double grade_error(Learned learned, std::uint64_t seed) {
  constexpr int kChecks = 10;
  auto calibrator = std::move(make_calibrator("margin", {{"threshold", learned == Learned::kMostChecks ? 0.5 : 0.0}})).value();
  calibrator->join(0);
  Random random(seed);
  double squares = 0.0;
  for (int row = 0; row < kRows; ++row) {
    const double c = stated(random);
    const double expected = 0.15 + 0.6 * c;
    const double spread = std::min(expected, 1.0 - expected);
    const double chance = expected + spread * (2.0 * random.uniform() - 1.0);
    int passed = 0;
    for (int check = 0; check < kChecks; ++check) passed += random.chance(chance) ? 1 : 0;
    const bool first = random.below(kChecks) < static_cast<std::uint64_t>(passed);
    const double error = calibrator->calibrate(0, c) - expected;
    if (row >= kRows / 2) squares += error * error / (kRows / 2);
    const double outcome = learned == Learned::kOneCheck ? (first ? 1.0 : 0.0) : static_cast<double>(passed) / kChecks;
    EXPECT_TRUE(calibrator->observe({.model = 0, .confidence = c, .outcome = outcome}).ok());
  }
  return std::sqrt(squares);
}

TEST(OutcomeFindings, GradesAreWorthMoreThanAThresholdOrOneCheck) {
  const auto error = [](Learned learned) { return over_seeds([&](std::uint64_t seed) { return grade_error(learned, seed); }); };
  const Interval graded = error(Learned::kShareOfChecks), most = error(Learned::kMostChecks), one = error(Learned::kOneCheck);
  print("graded: error of the expected grade, the grade itself", graded);
  print("graded: the same, right where half of the checks pass", most);
  print("graded: the same, one check instead of ten", one);
  EXPECT_LT(graded.high, one.low);
  EXPECT_LT(graded.high, most.low);
}

constexpr std::size_t kRight = 0, kWrong = 1, kRefused = 2;

struct Refusals {
  double first_half = 0.05, second_half = 0.05;  // how often a model refuses at confidence 0; in proportion to 1 - c
};

// How each way to tell the three apart does: mean log loss of all rows.
struct Losses {
  double classes = 0.0;  // CategoricalCalibrator
  double flat = 0.0;     // the same with one band
  double split = 0.0;    // margin says how likely right is, one average how much of the rest is refusal
};

Losses play(const Refusals& refusals, std::uint64_t seed) {
  auto classes = CategoricalCalibrator::make({.classes = 3}).value();
  auto flat = CategoricalCalibrator::make({.classes = 3, .bands = 1}).value();
  auto right = std::move(make_calibrator("margin")).value();
  classes.join(0);
  flat.join(0);
  right->join(0);
  double refused_of_rest = 0.5;
  Random random(seed);
  Losses losses;
  std::vector<double> p(3);
  const auto add = [&](double& loss, double probability) { loss -= margin::log(std::max(probability, 1e-6)) / kRows; };
  for (int row = 0; row < kRows; ++row) {
    const double c = stated(random);
    const double refuses = (row < kRows / 2 ? refusals.first_half : refusals.second_half) * 2.0 * (1.05 - c);
    const std::size_t outcome = random.chance(refuses) ? kRefused : random.chance(0.2 + 0.6 * c) ? kRight : kWrong;
    classes.distribution(0, c, p);
    add(losses.classes, p[outcome]);
    flat.distribution(0, c, p);
    add(losses.flat, p[outcome]);
    const double q = right->calibrate(0, c);
    add(losses.split, outcome == kRight ? q : (1.0 - q) * (outcome == kRefused ? refused_of_rest : 1.0 - refused_of_rest));
    EXPECT_TRUE(classes.observe({.model = 0, .confidence = c, .outcome = outcome}).ok());
    EXPECT_TRUE(flat.observe({.model = 0, .confidence = c, .outcome = outcome}).ok());
    EXPECT_TRUE(right->observe({.model = 0, .confidence = c, .outcome = outcome == kRight ? 1.0 : 0.0}).ok());
    if (outcome != kRight) refused_of_rest += 0.04 * ((outcome == kRefused ? 1.0 : 0.0) - refused_of_rest);
  }
  return losses;
}

TEST(OutcomeFindings, AClassForRefusalsAgainstAShareOfWhatIsNotRight) {
  for (const auto& [name, refusals] : {std::pair{"rare", Refusals{0.05, 0.05}}, std::pair{"frequent", Refusals{0.3, 0.3}},
                                       std::pair{"suddenly frequent", Refusals{0.05, 0.3}}}) {
    std::printf("refusals are %s\n", name);
    const auto loss = [&, refusals = refusals](double Losses::*which) {
      return over_seeds([&](std::uint64_t seed) { return play(refusals, seed).*which; });
    };
    const auto gain = [&, refusals = refusals](double Losses::*other) {
      return over_seeds([&](std::uint64_t seed) {
        const Losses losses = play(refusals, seed);
        return losses.classes - losses.*other;
      });
    };
    print("classes: log loss, an average per class and band", loss(&Losses::classes));
    print("classes: that minus one band", gain(&Losses::flat));
    print("classes: that minus margin and one share of the rest", gain(&Losses::split));
    EXPECT_LT(gain(&Losses::flat).high, 0.0);
    EXPECT_GT(gain(&Losses::split).low, 0.0) << "stated confidence tells more than an average per class";
  }
}

}  // namespace
}  // namespace margin
