// What every registered calibrator promises (include/margin/calibrator.h), tested on each of them.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "allocations.h"
#include "calibrator_setups.h"
#include "margin/random.h"

namespace margin::conformance {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

class CalibratorConformance : public testing::TestWithParam<Setup> {};

INSTANTIATE_TEST_SUITE_P(Methods, CalibratorConformance, testing::ValuesIn(all_setups()), name_of);

bool is_probability(double p) { return p >= 0.0 && p <= 1.0; }

TEST_P(CalibratorConformance, PredictsBeforeLearning) {
  const auto calibrator = make(GetParam());
  calibrator->join(2);
  for (const double confidence : kEdges) EXPECT_TRUE(is_probability(calibrator->calibrate(2, confidence))) << confidence;
}

// The setups together take more than 10^6 rows through this.
TEST_P(CalibratorConformance, EveryLegalRowGivesAProbability) {
  const auto calibrator = ready(GetParam());
  for (const Observation& row : unkind_rows(1, 60'000)) {
    ASSERT_TRUE(is_probability(calibrator->calibrate(row.model, row.confidence))) << "confidence " << row.confidence;
    teach(*calibrator, {&row, 1});
  }
  for (const double p : portrait(*calibrator)) EXPECT_TRUE(is_probability(p)) << p;
}

// A model that states one thing for ever, at the extremes where ratios and log odds are largest.
TEST_P(CalibratorConformance, ConstantExtremesGiveAProbability) {
  for (const double confidence : kEdges) {
    for (const double outcome : {0.0, 1.0}) {
      const std::vector<Observation> rows(300, {.model = 0, .confidence = confidence, .outcome = outcome});
      const auto calibrator = ready(GetParam());
      fit_and_teach(*calibrator, rows);
      for (const double p : portrait(*calibrator)) ASSERT_TRUE(is_probability(p)) << "after " << confidence << " and outcome " << outcome;
    }
  }
}

TEST_P(CalibratorConformance, LearnsAFractionalOutcome) {
  const std::vector<Observation> rows(2000, {.model = 1, .confidence = 0.75, .outcome = 0.25});
  const auto calibrator = make(GetParam());
  calibrator->join(1);
  fit_and_teach(*calibrator, rows);
  const double calibrated = calibrator->calibrate(1, 0.75);
  if (GetParam().identifier == "raw") {
    EXPECT_EQ(calibrated, 0.75);
  } else if (GetParam().identifier == "temperature_scaling") {
    EXPECT_NEAR(calibrated, 0.5, 0.02);  // log odds shrink, but never change sign
  } else if (GetParam().name == "online_platt_violent") {
    EXPECT_LT(calibrated, 0.5);  // the penalty is as strong as the data
  } else {
    EXPECT_NEAR(calibrated, 0.25, 0.02);
  }
}

TEST_P(CalibratorConformance, SameInputGivesTheSameBits) {
  const auto rows = unkind_rows(2, 3000);
  const auto first = ready(GetParam());
  const auto second = ready(GetParam());
  teach(*first, rows);
  teach(*second, rows);
  EXPECT_EQ(portrait(*first), portrait(*second));
  EXPECT_EQ(first->snapshot(), second->snapshot());
  EXPECT_EQ(first->digest(), second->digest());
}

TEST_P(CalibratorConformance, SnapshotMidwayChangesNothing) {
  const auto rows = unkind_rows(3, 3000);
  const std::span all(rows);
  for (const std::size_t middle : {std::size_t{0}, std::size_t{1}, std::size_t{10}, std::size_t{1500}}) {
    const auto straight = ready(GetParam());
    straight->leave(3);
    straight->join(3);
    auto broken = straight->clone();
    teach(*straight, rows);
    teach(*broken, all.first(middle));
    auto restored = restore_calibrator(broken->snapshot());
    ASSERT_TRUE(restored.ok()) << restored.error().message;
    EXPECT_EQ((*restored)->digest(), broken->digest());
    EXPECT_EQ((*restored)->parameters(), broken->parameters());
    teach(**restored, all.subspan(middle));
    EXPECT_EQ(portrait(**restored), portrait(*straight));
    EXPECT_EQ((*restored)->digest(), straight->digest()) << "after a snapshot at row " << middle;
  }
}

// Whatever happens between a preparation and the next question: learning, leaving, returning, a newcomer, a discount.
TEST_P(CalibratorConformance, PreparingChangesNothing) {
  Random random(17);
  const auto plain = ready(GetParam());
  const auto prepared = ready(GetParam());
  const auto with_both = [&](const auto& act) {
    act(*plain);
    act(*prepared);
  };
  ModelId newcomer = 100;
  for (const Observation& row : unkind_rows(16, 2000)) {
    if (random.chance(0.5)) prepared->prepare(row.model);
    if (random.chance(0.3)) prepared->prepare(static_cast<ModelId>(random.below(2)));
    ASSERT_EQ(prepared->calibrate(row.model, row.confidence), plain->calibrate(row.model, row.confidence));
    ASSERT_EQ(prepared->calibrate(0, row.confidence), plain->calibrate(0, row.confidence));
    if (plain->present(row.model) && random.chance(0.6)) with_both([&](Calibrator& one) { teach(one, {&row, 1}); });
    if (random.chance(0.05)) with_both([&](Calibrator& one) { one.leave(1); });
    if (random.chance(0.05)) with_both([&](Calibrator& one) { one.join(1); });
    if (random.chance(0.01)) with_both([&](Calibrator& one) { one.join_from(newcomer, one, row.model); });
    if (random.chance(0.01)) with_both([&](Calibrator& one) { [[maybe_unused]] const Status discounted = one.discount(0.9); });
    if (prepared->known(newcomer)) prepared->prepare(newcomer++);
  }
  EXPECT_EQ(portrait(*prepared), portrait(*plain));
  EXPECT_EQ(prepared->snapshot(), plain->snapshot());
}

TEST_P(CalibratorConformance, CloneIsIndependent) {
  const auto original = ready(GetParam());
  teach(*original, unkind_rows(4, 300));
  const auto copy = original->clone();
  const Digest before = original->digest();
  EXPECT_EQ(copy->digest(), before);
  teach(*copy, unkind_rows(5, 300));
  copy->leave(0);
  EXPECT_EQ(original->digest(), before);
  EXPECT_NE(copy->digest(), before);
}

TEST_P(CalibratorConformance, BatchEqualsOneByOne) {
  const auto rows = unkind_rows(6, 3000);
  const auto one_by_one = ready(GetParam());
  const auto batch = ready(GetParam());
  const auto learned_only = ready(GetParam());
  std::vector<double> expected;
  for (const Observation& row : rows) {
    expected.push_back(one_by_one->calibrate(row.model, row.confidence));
    ASSERT_TRUE(one_by_one->observe(row).ok());
  }
  std::vector<double> got(rows.size());
  ASSERT_TRUE(batch->prequential_batch(rows, got).ok());
  EXPECT_EQ(got, expected);
  EXPECT_EQ(batch->digest(), one_by_one->digest());
  ASSERT_TRUE(learned_only->observe_batch(rows).ok());
  EXPECT_EQ(learned_only->digest(), one_by_one->digest());

  std::vector<ModelId> models;
  std::vector<double> confidences;
  for (std::size_t r = 0; r < rows.size(); ++r) {
    models.push_back(rows[r].model);
    confidences.push_back(rows[r].confidence);
    expected[r] = one_by_one->calibrate(rows[r].model, rows[r].confidence);
  }
  ASSERT_TRUE(batch->calibrate_batch(models, confidences, got).ok());
  EXPECT_EQ(got, expected);
}

TEST_P(CalibratorConformance, RefusedObservationsChangeNothing) {
  const auto calibrator = ready(GetParam());
  teach(*calibrator, unkind_rows(7, 500));
  calibrator->leave(3);
  const Digest before = calibrator->digest();
  const Observation good{.model = 0, .confidence = 0.5, .outcome = 1.0};
  std::vector<Observation> bad;
  for (const double weight : {0.0, -0.0, -1.0, 1.5, kNaN, std::numeric_limits<double>::infinity()}) {
    bad.push_back(good);
    bad.back().weight = weight;
  }
  for (const double value : {-1e-9, 1.0 + 1e-9, kNaN, -std::numeric_limits<double>::infinity()}) {
    bad.push_back(good);
    bad.back().confidence = value;
    bad.push_back(good);
    bad.back().outcome = value;
  }
  for (const Observation& row : bad) {
    const Status status = calibrator->observe(row);
    ASSERT_FALSE(status.ok());
    EXPECT_EQ(status.error().code, ErrorCode::kInvalidArgument);
    const std::vector<Observation> batch = {good, row};
    std::vector<double> calibrated(batch.size());
    EXPECT_FALSE(calibrator->observe_batch(batch).ok());
    EXPECT_FALSE(calibrator->prequential_batch(batch, calibrated).ok());
  }
  for (const ModelId absent : {ModelId{3}, ModelId{17}, kModelsMax}) {
    Observation row = good;
    row.model = absent;
    const Status status = calibrator->observe(row);
    ASSERT_FALSE(status.ok());
    EXPECT_EQ(status.error().code, ErrorCode::kNotFound);
  }
  EXPECT_EQ(calibrator->digest(), before);
}

TEST_P(CalibratorConformance, FitIsForDesignTimeMethodsOnly) {
  const auto calibrator = make(GetParam());
  const Status status = calibrator->fit(unkind_rows(8, 50));
  if (calibrator->info().design_time) {
    EXPECT_TRUE(status.ok());
    const Digest fitted = calibrator->digest();
    teach(*calibrator, unkind_rows(9, 50));
    EXPECT_EQ(calibrator->digest(), fitted) << "a frozen method learns nothing";
    ASSERT_TRUE(calibrator->fit(unkind_rows(10, 50)).ok());
    EXPECT_NE(calibrator->digest(), fitted) << "a second fit replaces the first";
    ASSERT_TRUE(calibrator->fit(unkind_rows(8, 50)).ok());
    EXPECT_EQ(calibrator->digest(), fitted) << "and leaves no trace of what it replaced";
  } else {
    ASSERT_FALSE(status.ok());
    EXPECT_EQ(status.error().code, ErrorCode::kUnsupported);
  }
}

TEST_P(CalibratorConformance, TruncatedSnapshotsAreRefused) {
  const auto calibrator = ready(GetParam());
  teach(*calibrator, unkind_rows(11, 60));
  const std::string bytes = calibrator->snapshot();
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    ASSERT_FALSE(restore_calibrator(std::string_view(bytes).substr(0, size)).ok()) << size << " of " << bytes.size() << " bytes";
  }
  EXPECT_FALSE(restore_calibrator(bytes + '\0').ok());
}

// Flipped bits are refused, or they are the state of another calibrator, which then works as any other.
TEST_P(CalibratorConformance, FlippedSnapshotsAreRefusedOrWork) {
  const auto calibrator = ready(GetParam());
  teach(*calibrator, unkind_rows(12, 60));
  const std::string bytes = calibrator->snapshot();
  Random random(13);
  int refused = 0;
  for (int i = 0; i < 3000; ++i) {
    std::string flipped = bytes;
    for (std::uint64_t flips = 1 + random.below(3); flips > 0; --flips) {
      char& byte = flipped[random.below(flipped.size())];
      byte = static_cast<char>(byte ^ (1 << random.below(8)));
    }
    auto restored = restore_calibrator(flipped);
    if (!restored) {
      ++refused;
      continue;
    }
    ASSERT_EQ((*restored)->snapshot(), flipped);
    for (ModelId model = 0; model < kModels; ++model) {
      (*restored)->join(model);
      ASSERT_TRUE((*restored)->observe({.model = model, .confidence = 0.9, .outcome = 0.0, .weight = 0.5}).ok());
      for (const double confidence : kEdges) ASSERT_TRUE(is_probability((*restored)->calibrate(model, confidence)));
    }
  }
  EXPECT_GT(refused, 0);
}

TEST_P(CalibratorConformance, ExplanationAgreesWithTheCalibratedValue) {
  const auto calibrator = ready(GetParam());
  for (int round = 0; round < 3; ++round) {
    for (ModelId model = 0; model < kModels; ++model) {
      for (const double confidence : kEdges) {
        const Explanation why = calibrator->explain(model, confidence);
        const double calibrated = calibrator->calibrate(model, confidence);
        EXPECT_EQ(why.confidence, confidence);
        EXPECT_EQ(why.calibrated, calibrated);
        EXPECT_EQ(why.bands, calibrator->bands());
        EXPECT_EQ(why.band, band_of(confidence, why.bands));
        EXPECT_GE(why.observations, 0.0);
        EXPECT_TRUE(std::isfinite(why.factor)) << why.factor << " at " << confidence;
        if (confidence > 1e-3 && calibrated > 0.0 && calibrated < 1.0) {
          EXPECT_NEAR(why.factor * confidence, calibrated, 1e-12);
        }
        for (const Term& term : why.terms) {
          EXPECT_FALSE(term.name.empty());
          EXPECT_TRUE(std::isfinite(term.value)) << term.name << " at " << confidence;
        }
      }
    }
    teach(*calibrator, unkind_rows(14, 200));
  }
}

TEST_P(CalibratorConformance, LeavingAndReturningKeepsTheState) {
  const auto calibrator = ready(GetParam());
  teach(*calibrator, unkind_rows(15, 500));
  const Digest before = calibrator->digest();
  calibrator->leave(1);
  EXPECT_NE(calibrator->digest(), before) << "presence is state";
  EXPECT_TRUE(calibrator->known(1));
  EXPECT_FALSE(calibrator->present(1));
  EXPECT_TRUE(is_probability(calibrator->calibrate(1, 0.5))) << "a model that is away can still be asked about";
  calibrator->leave(1);
  calibrator->join(1);
  calibrator->join(1);
  EXPECT_EQ(calibrator->digest(), before);
}

TEST_P(CalibratorConformance, AModelThatJoinsFromADonorGivesAProbability) {
  const auto calibrator = ready(GetParam());
  teach(*calibrator, unkind_rows(16, 500));
  const auto segment = make(GetParam());
  segment->join_from(2, *calibrator, 2);
  calibrator->join_from(9, *calibrator, 0);
  for (const double confidence : kEdges) {
    EXPECT_TRUE(is_probability(segment->calibrate(2, confidence)));
    EXPECT_TRUE(is_probability(calibrator->calibrate(9, confidence)));
  }
  EXPECT_TRUE(restore_calibrator(calibrator->snapshot()).ok()) << "ids 4 to 8 are nobody's";
}

TEST_P(CalibratorConformance, EvidenceIsDiscountedOrRefusedByName) {
  const auto calibrator = ready(GetParam());
  teach(*calibrator, unkind_rows(17, 500));
  const Digest before = calibrator->digest();
  EXPECT_TRUE(calibrator->discount(1.0).ok());
  for (const double trust : {0.0, -1.0, 1.5, kNaN}) EXPECT_EQ(calibrator->discount(trust).error().code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(calibrator->digest(), before);
  if (const Status discounted = calibrator->discount(0.25); !discounted) {
    EXPECT_EQ(discounted.error().code, ErrorCode::kUnsupported);
    EXPECT_EQ(discounted.error().message.find(calibrator->info().identifier), 0U);
    EXPECT_EQ(calibrator->digest(), before);
    return;
  }
  const auto restored = restore_calibrator(calibrator->snapshot());
  ASSERT_TRUE(restored.ok()) << restored.error().message;
  for (Calibrator* each : {calibrator.get(), restored->get()}) teach(*each, unkind_rows(18, 200));
  EXPECT_EQ((*restored)->digest(), calibrator->digest());
  for (const double p : portrait(*calibrator)) EXPECT_TRUE(is_probability(p)) << p;
}

TEST_P(CalibratorConformance, StatesAreMergedOrRefusedByName) {
  const auto first = ready(GetParam());
  const auto second = ready(GetParam());
  teach(*first, unkind_rows(19, 400));
  teach(*second, unkind_rows(20, 400));
  const std::vector<ModelId> ids = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9};
  const Digest before = first->digest();
  if (const Status merged = first->merge(*second, ids); !merged) {
    EXPECT_EQ(merged.error().code, ErrorCode::kUnsupported);
    EXPECT_EQ(merged.error().message.find(first->info().identifier), 0U);
    EXPECT_EQ(first->digest(), before);
    return;
  }
  EXPECT_EQ(first->merge(*second, std::vector<ModelId>(10, 0)).error().code, ErrorCode::kInvalidArgument) << "one id for all";
  EXPECT_EQ(first->merge(*second, {}).error().code, ErrorCode::kInvalidArgument);
  const auto restored = restore_calibrator(first->snapshot());
  ASSERT_TRUE(restored.ok()) << restored.error().message;
  for (Calibrator* each : {first.get(), restored->get()}) teach(*each, unkind_rows(21, 200));
  EXPECT_EQ((*restored)->digest(), first->digest());

  const auto copy = make(GetParam());
  ASSERT_TRUE(copy->merge(*second, ids).ok());
  EXPECT_EQ(portrait(*copy), portrait(*second)) << "whoever knows nothing takes over all";
}

TEST_P(CalibratorConformance, LearningAndCalibratingDoNotAllocate) {
  const auto calibrator = ready(GetParam());
  const auto rows = unkind_rows(17, 5000);
  std::vector<double> calibrated(rows.size());
  double sum = 0.0;
  bool learned = true;
  const std::size_t before = allocations();
  for (const Observation& row : rows) {
    sum += calibrator->calibrate(row.model, row.confidence);
    calibrator->begin_task();
    learned = calibrator->observe(row).ok() && learned;
    calibrator->end_task();
  }
  learned = calibrator->prequential_batch(rows, calibrated).ok() && learned;
  const std::size_t taken = allocations() - before;
  EXPECT_EQ(taken, 0U);
  EXPECT_TRUE(learned);
  EXPECT_GT(sum, 0.0);
}

void expect_refusal(const Setup& setup, const ParameterSpec& spec, const ParameterValue& value, const std::vector<std::string>& mentions) {
  const auto made = make_calibrator(setup.identifier, {{spec.name, value}});
  ASSERT_FALSE(made.ok()) << setup.identifier << "." << spec.name << " = " << to_text(value);
  EXPECT_EQ(made.error().code, ErrorCode::kInvalidArgument);
  for (const std::string& text : mentions) EXPECT_NE(made.error().message.find(text), std::string::npos) << made.error().message;
}

TEST_P(CalibratorConformance, ParametersOutOfRangeAreRefusedByNameValueAndRange) {
  const auto calibrator = make(GetParam());
  for (const ParameterSpec& spec : calibrator->info().parameters) {
    EXPECT_FALSE(spec.meaning.empty()) << spec.name;
    std::vector<double> outside = {spec.low - 1.0, spec.high + 1.0, kNaN};
    if (spec.open_low) outside.push_back(spec.low);
    if (spec.kind == ParameterSpec::Kind::kInteger) outside.push_back(spec.low + 0.5);
    for (const double value : outside) {
      const bool is_list = spec.kind == ParameterSpec::Kind::kList;
      const ParameterValue given = is_list ? ParameterValue(std::vector<double>{value}) : ParameterValue(value);
      std::vector<std::string> mentions = {spec.name, to_text(given)};
      if (spec.kind == ParameterSpec::Kind::kChoice) {
        mentions.insert(mentions.end(), spec.choices.begin(), spec.choices.end());
      } else {
        mentions.insert(mentions.end(), {to_text(spec.low), to_text(spec.high)});
      }
      expect_refusal(GetParam(), spec, given, mentions);
    }
    if (spec.kind != ParameterSpec::Kind::kList) expect_refusal(GetParam(), spec, std::string("nonsense"), {spec.name, "nonsense"});
  }
}

TEST_P(CalibratorConformance, UnknownNamesAreRefusedWithASuggestion) {
  const std::string identifier = make(GetParam())->info().identifier;
  std::string misspelt = identifier;
  std::swap(misspelt[1], misspelt[2]);
  const auto made = make_calibrator(misspelt);
  ASSERT_FALSE(made.ok());
  EXPECT_EQ(made.error().code, ErrorCode::kNotFound);
  EXPECT_NE(made.error().message.find(misspelt), std::string::npos) << made.error().message;
  EXPECT_NE(made.error().message.find(identifier), std::string::npos) << made.error().message;

  const auto next_version = make_calibrator(identifier, 1000, {});
  ASSERT_FALSE(next_version.ok());
  EXPECT_EQ(next_version.error().code, ErrorCode::kNotFound);

  for (const ParameterSpec& spec : make(GetParam())->info().parameters) {
    const auto refused = make_calibrator(GetParam().identifier, {{spec.name + "z", 1.0}});
    ASSERT_FALSE(refused.ok());
    EXPECT_EQ(refused.error().code, ErrorCode::kInvalidArgument);
    EXPECT_NE(refused.error().message.find(spec.name), std::string::npos) << refused.error().message;
  }
}

}  // namespace
}  // namespace margin::conformance
