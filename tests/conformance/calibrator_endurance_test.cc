// What must still hold after ten million observations: memory stays what it was, and a window knows nothing but its contents.
#include <gtest/gtest.h>

#include <algorithm>

#include "allocations.h"
#include "calibrator_setups.h"

namespace margin::conformance {
namespace {

constexpr std::size_t kSteps = 10'000'000;

// The same unkind rows again and again; the length shares no factor with a window's.
const std::vector<Observation>& rows() {
  static const std::vector<Observation> kRows = unkind_rows(21, 99'991);
  return kRows;
}

// Learns row `from` up to row `to` of the endless repetition.
bool learn(Calibrator& calibrator, std::size_t from, std::size_t to) {
  bool learned = true;
  for (std::size_t step = from; step < to; ++step) {
    calibrator.begin_task();
    learned = calibrator.observe(rows()[step % rows().size()]).ok() && learned;
    calibrator.end_task();
  }
  return learned;
}

class CalibratorEndurance : public testing::TestWithParam<Setup> {};

INSTANTIATE_TEST_SUITE_P(Methods, CalibratorEndurance, testing::ValuesIn(all_setups()), name_of);

TEST_P(CalibratorEndurance, TenMillionObservationsTakeNoMemory) {
  const auto calibrator = ready(GetParam());
  ASSERT_TRUE(learn(*calibrator, 0, 10'000));
  const std::size_t size = calibrator->snapshot().size();
  const std::size_t before = allocations();
  ASSERT_TRUE(learn(*calibrator, 10'000, kSteps));
  EXPECT_EQ(allocations() - before, 0U);
  EXPECT_EQ(calibrator->snapshot().size(), size);
  for (const double p : portrait(*calibrator)) EXPECT_TRUE(p >= 0.0 && p <= 1.0) << p;
}

std::vector<Setup> windowed_setups() {
  std::vector<Setup> setups = all_setups();
  std::erase_if(setups, [](const Setup& setup) {
    return setup.identifier != "sliding_window_histogram" && setup.identifier != "windowed_accuracy_replace" &&
           setup.identifier != "windowed_accuracy_multiply";
  });
  return setups;
}

class WindowEndurance : public testing::TestWithParam<Setup> {};

INSTANTIATE_TEST_SUITE_P(Methods, WindowEndurance, testing::ValuesIn(windowed_setups()), name_of);

TEST_P(WindowEndurance, AfterTenMillionStepsOnlyTheWindowCounts) {
  const auto calibrator = ready(GetParam());
  ASSERT_TRUE(learn(*calibrator, 0, kSteps));

  const auto window = static_cast<std::size_t>(integer(calibrator->parameters(), "window"));
  std::vector<Observation> last;  // newest first
  std::vector<std::size_t> seen(kModels, 0);
  for (std::size_t step = kSteps; std::ranges::min(seen) < window; --step) {
    const Observation& row = rows()[(step - 1) % rows().size()];
    if (seen[row.model]++ < window) last.push_back(row);
  }
  std::ranges::reverse(last);
  const auto fresh = ready(GetParam());
  teach(*fresh, last);
  EXPECT_EQ(portrait(*calibrator), portrait(*fresh));
  EXPECT_EQ(calibrator->digest(), fresh->digest());
}

}  // namespace
}  // namespace margin::conformance
