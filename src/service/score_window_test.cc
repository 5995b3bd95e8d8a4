// A window's scores against the metrics of the library over the same rows.
#include "service/score_window.h"

#include <gtest/gtest.h>

#include <cmath>
#include <deque>

#include "margin/metric.h"
#include "margin/random.h"

namespace margin::service {
namespace {

TEST(ScoreWindow, EqualsTheLibrarysMetricsOverTheLatestRows) {
  ScoreWindow window;
  std::deque<Scored> latest;
  Random random(7);
  for (int i = 0; i < 3500; ++i) {
    const Scored row{random.uniform(), random.uniform(), random.chance(0.6) ? 1.0 : 0.0};
    window.add(row);
    latest.push_back(row);
    if (latest.size() > ScoreWindow::kWindow) latest.pop_front();
    if (i % 500 != 499) continue;
    for (const auto stage : {ScoreWindow::Stage::kStated, ScoreWindow::Stage::kCalibrated}) {
      std::vector<double> confidences, outcomes;
      for (const Scored& scored : latest) {
        confidences.push_back(stage == ScoreWindow::Stage::kStated ? scored.stated : scored.calibrated);
        outcomes.push_back(scored.outcome);
      }
      EXPECT_NEAR(window.ece(stage), ece({confidences, outcomes}, ScoreWindow::kBins).value(), 1e-12);
      EXPECT_NEAR(window.brier(stage), brier({confidences, outcomes}).value(), 1e-12);
    }
  }
  EXPECT_EQ(window.count(), ScoreWindow::kWindow);
  EXPECT_EQ(window.total(), 3500U);
}

TEST(ScoreWindow, IsZeroWhileEmpty) {
  const ScoreWindow window;
  EXPECT_EQ(window.ece(ScoreWindow::Stage::kStated), 0.0);
  EXPECT_EQ(window.brier(ScoreWindow::Stage::kCalibrated), 0.0);
  EXPECT_EQ(window.accuracy(), 0.0);
}

}  // namespace
}  // namespace margin::service
