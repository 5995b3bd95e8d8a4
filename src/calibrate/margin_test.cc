// What of margin neither the golden streams nor the twin reach: restarting counts, and snapshots that promise what they cannot hold.
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "base/encoding.h"
#include "base/parameter_encoding.h"
#include "margin/calibrator.h"

namespace margin {
namespace {

std::unique_ptr<Calibrator> taught(const Parameters& parameters) {
  auto calibrator = std::move(make_calibrator("margin", parameters)).value();
  calibrator->join(0);
  for (int i = 0; i < 50; ++i) {
    EXPECT_TRUE(calibrator->observe({.model = 0, .confidence = 0.9, .outcome = i % 2 == 0 ? 1.0 : 0.0}).ok());
    EXPECT_TRUE(calibrator->observe({.model = 0, .confidence = 0.1, .outcome = 1.0}).ok());
  }
  return calibrator;
}

TEST(MarginRestart, KeepsEstimatesAndForgetsCounts) {
  auto calibrator = taught({});
  const Explanation before = calibrator->explain(0, 0.9);
  calibrator->restart_counts();
  const Explanation after = calibrator->explain(0, 0.9);
  EXPECT_EQ(after.observations, 0.0);
  for (const std::size_t kept : {0U, 1U, 2U, 4U}) EXPECT_EQ(after.terms[kept].value, before.terms[kept].value) << before.terms[kept].name;
  EXPECT_EQ(after.factor, before.terms[4].value) << "without counts only the shrink target speaks: the model factor";
}

TEST(MarginRestart, ChangesNothingWhereBandsStandAlone) {
  auto calibrator = taught({{"shrinkage", 0.0}});
  const double before = calibrator->calibrate(0, 0.9);
  calibrator->restart_counts();
  EXPECT_EQ(calibrator->calibrate(0, 0.9), before);
}

TEST(MarginSnapshot, RefusesMoreModelsThanItsBytesCanHold) {
  auto calibrator = std::move(make_calibrator("margin", {{"bands", 1000.0}})).value();
  internal::Encoder forged;
  forged.integer(std::uint32_t{0x4d434c31});
  forged.text("margin");
  forged.integer(std::int32_t{1});
  internal::encode(calibrator->parameters(), forged);
  const std::string honest_head = forged.bytes();
  ASSERT_EQ(calibrator->snapshot().substr(0, honest_head.size()), honest_head) << "the forgery must begin as a real snapshot does";
  forged.integer(std::uint64_t{1} << 20);
  std::string bytes = forged.take() + std::string(std::size_t{1} << 20, '\1');
  const auto restored = restore_calibrator(bytes);  // would take 40 GB
  ASSERT_FALSE(restored.ok());
  EXPECT_EQ(restored.error().code, ErrorCode::kCorrupt);
}

}  // namespace
}  // namespace margin
