// What factors rest on: effective sample sizes by their definition, and intervals that hold the truth where it is known.
#include <gtest/gtest.h>

#include <cmath>

#include "margin/math.h"
#include "margin/state.h"
#include "pool/pool_fixture.h"

namespace margin {
namespace {

class EvidenceTest : public PoolTest {
 protected:
  [[nodiscard]] FactorRow row(const std::string& model, int band) const {
    for (const FactorRow& each : pool_.factors()) {
      if (each.model == model && each.explanation.band == band) return each;
    }
    ADD_FAILURE() << model << " has no band " << band;
    return {};
  }
  [[nodiscard]] double effective_n(const std::string& model, int band) const { return row(model, band).evidence.value().effective_n; }
};

TEST_F(EvidenceTest, MarginRemembersAsItsRateForgets) {
  configure({.calibrator_parameters = {{"alpha", 0.1}}});
  teach("a", 1.0, 3);
  const double w[] = {0.9 * 0.9, 0.9, 1.0};
  const double expected = std::pow(w[0] + w[1] + w[2], 2) / (w[0] * w[0] + w[1] * w[1] + w[2] * w[2]);
  EXPECT_NEAR(effective_n("a", 2), expected, 1e-12);
  outcome(decide({{"a", "x", 0.1}}), {{"a", 1.0}});
  EXPECT_NEAR(effective_n("a", 2), expected, 1e-12) << "another band's outcome takes nothing away";
  EXPECT_NEAR(effective_n("a", 0), 1.0, 1e-12);
  teach("a", 1.0, 400);
  EXPECT_NEAR(effective_n("a", 2), (2.0 - 0.1) / 0.1, 1e-9);
}

TEST_F(EvidenceTest, OfMarginAdaptiveABandFadesWithItsModel) {
  configure({.calibrator = "margin_adaptive", .calibrator_version = 2});
  teach("a", 1.0, 1);
  for (int i = 0; i < 5; ++i) outcome(decide({{"a", "x", 0.1}}), {{"a", 1.0}});
  teach("a", 1.0, 1);
  const double old = std::pow(1.0 - 1.0 / 130.0, 6);
  EXPECT_NEAR(effective_n("a", 2), (old + 1.0) * (old + 1.0) / (old * old + 1.0), 1e-12);
}

TEST_F(EvidenceTest, OfTwoMergedMemoriesEachHasItsPart) {
  const auto life = [&](int low, int high) {
    pool_ = Pool();
    configure({.calibrator = "margin_adaptive"});
    for (int i = 0; i < low; ++i) outcome(decide({{"a", "x", 0.1}}), {{"a", 1.0}});
    teach("a", 1.0, high);
    return pool_.snapshot();
  };
  const std::string first = life(0, 40);
  const auto merged = merge_states(first, life(30, 10));
  ASSERT_TRUE(merged.ok()) << merged.error().message;
  auto restored = Pool::restore(*merged);
  ASSERT_TRUE(restored.ok());
  pool_ = std::move(*restored);
  const auto n = [](int observations, int copies_of_the_first_ten) {
    double sum = 0.0, squares = 0.0;
    for (int i = 0; i < observations; ++i) {
      const double weight = std::pow(1.0 - 1.0 / 130.0, i);
      for (int k = 0; k < (i < 10 ? copies_of_the_first_ten : 1); ++k) {
        sum += weight;
        squares += weight * weight;
      }
    }
    return sum * sum / squares;
  };
  EXPECT_NEAR(effective_n("a", 2), n(40, 2), 1e-9) << "forty of the one, and of the other the latest ten";
  EXPECT_NEAR(effective_n("a", 0), n(30, 1), 1e-9);
}

TEST_F(EvidenceTest, HalfAWeightIsHalfAnObservation) {
  for (const char* calibrator : {"margin", "margin_adaptive"}) {
    configure({.calibrator = calibrator});
    for (int i = 0; i < 40; ++i) apply(OutcomeObserved{.decision = decide({{"a", "x"}}), .selected = 1.0, .weight = 0.01});
    EXPECT_NEAR(pool_.decide(question({{"a", "x"}}))->responses[0].n, 0.4, 1e-12);
    EXPECT_NEAR(effective_n("a", 2), 40.0, 0.1) << "alike in weight";
    apply(OutcomeObserved{.decision = decide({{"a", "x"}}), .selected = 1.0, .weight = 1.0});
    EXPECT_LT(effective_n("a", 2), 3.0) << "one that outweighs all others";
  }
}

TEST_F(EvidenceTest, NothingSeenIsAnythingPossible) {
  teach("a", 1.0, 1);
  const FactorRow unseen = row("a", 0);
  EXPECT_EQ(unseen.evidence->effective_n, 0.0);
  EXPECT_EQ(unseen.evidence->stated, 0.5 / 3.0);
  EXPECT_LT(unseen.evidence->low, 0.05 * unseen.explanation.factor);
  EXPECT_GE(unseen.evidence->high, unseen.explanation.factor);
}

TEST_F(EvidenceTest, MethodsWhoseMemoryIsUnknownHaveNone) {
  configure({.calibrator = "online_platt"});
  teach("a", 1.0, 3);
  EXPECT_FALSE(row("a", 0).evidence.has_value());
}

// Models whose accuracy in every band is drawn at random and stays: the share of intervals that hold accuracy / stated confidence.
struct Coverage {
  double early = 0.0;  // after 60 tasks
  double late = 0.0;   // after 400
};
Coverage coverage(const char* calibrator, int version) {
  constexpr int kPools = 40, kModels = 3, kBands = 3;
  constexpr double kStated[kBands] = {0.25, 0.55, 0.9};
  double held[2] = {0.0, 0.0}, rows[2] = {0.0, 0.0};
  for (std::uint64_t stream = 0; stream < kPools; ++stream) {
    Random random = Random::stream(8, stream);
    Pool pool;
    std::int64_t now = 1'700'000'000'000;
    const auto happen = [&](EventBody body) {
      const Event event{.id = Uuid::make(++now, random), .time_ms = now, .body = std::move(body)};
      EXPECT_FALSE(pool.apply(event).error.has_value());
      return event.id;
    };
    happen(PoolConfigured{.calibrator = calibrator, .calibrator_version = version});
    double truth[kModels][kBands];
    for (auto& model : truth) {
      const double worth = 0.4 + 0.6 * random.uniform();
      for (int band = 0; band < kBands; ++band) model[band] = clip(worth * kStated[band] + 0.3 * (random.uniform() - 0.5), 0.05, 0.95);
    }
    for (int task = 1; task <= 400; ++task) {
      Question question;
      std::vector<Grade> grades;
      for (int model = 0; model < kModels; ++model) {
        const auto band = random.below(kBands);
        question.responses.push_back({.model = std::string(1, static_cast<char>('a' + model)), .answer = "x", .confidence = kStated[band]});
        grades.push_back({question.responses.back().model, random.chance(truth[model][band]) ? 1.0 : 0.0});
      }
      const Uuid decision = happen(pool.decide(question).value());
      happen(OutcomeObserved{.decision = decision, .grades = grades});
      if (task != 60 && task != 400) continue;
      const std::size_t when = task == 60 ? 0 : 1;
      for (const FactorRow& row : pool.factors()) {
        const auto band = static_cast<std::size_t>(row.explanation.band);
        const double factor = truth[row.model[0] - 'a'][band] / kStated[band];
        held[when] += row.evidence->low <= factor && factor <= row.evidence->high ? 1.0 : 0.0;
        rows[when] += 1.0;
      }
    }
  }
  return {held[0] / rows[0], held[1] / rows[1]};
}

// 360 rows each, whose share has a standard deviation of 1.6%; early intervals are widened to hold a factor that is mostly prior.
TEST(Evidence, IntervalsHoldTheTruthAboutNineTimesInTen) {
  for (const Coverage share : {coverage("margin", 1), coverage("margin_adaptive", 2), coverage("margin_adaptive", 3)}) {
    EXPECT_GT(share.early, 0.87);
    EXPECT_LT(share.early, 0.98);
    EXPECT_GT(share.late, 0.87);
    EXPECT_LT(share.late, 0.94);
  }
}

}  // namespace
}  // namespace margin
