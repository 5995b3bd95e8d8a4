// Factors for people: a row per model, cell and band.
#include <algorithm>
#include <limits>

#include "base/beta.h"
#include "pool/state.h"

namespace margin::internal {
namespace {

constexpr double kTail = 0.05;

// From the band's own outcomes, not from the calibrated value: that one may lean on other bands and models, and on nothing but its prior.
FactorEvidence evidence_of(const Calibrator& calibrator, const Evidence::Band& seen, ModelId model, double midpoint) {
  const auto mean = [&](double sum, double otherwise) { return seen.weights > 0.0 ? std::min(1.0, sum / seen.weights) : otherwise; };
  const double stated = std::max(mean(seen.stated, midpoint), std::numeric_limits<double>::min());
  const double n = seen.effective_n();
  const double right = mean(seen.right, 0.0) * n;
  const Beta accuracy(right + 0.5, std::max(0.0, n - right) + 0.5);
  const Pair ends = accuracy.quantiles(Pair{kTail, 1.0 - kTail});
  const double factor = calibrator.calibrate(model, stated) / stated;
  return {.effective_n = n, .stated = stated, .low = std::min(factor, ends[0] / stated), .high = std::max(factor, ends[1] / stated)};
}

}  // namespace

std::vector<FactorRow> PoolState::factors() const {
  std::vector<FactorRow> rows;
  for (ModelId model = 0; model < members.size(); ++model) {
    for (CellId id = 0; id < cells.size(); ++id) {
      const Cell& cell = cells[id];
      if (!cell.calibrator->known(model)) continue;
      const int bands = cell.calibrator->bands();
      for (int band = 0; band < bands; ++band) {
        Explanation explanation = cell.calibrator->explain(model, (band + 0.5) / bands);
        std::optional<FactorEvidence> evidence;
        if (cell.evidence.fades()) evidence = evidence_of(*cell.calibrator, cell.evidence.of(model, band), model, explanation.confidence);
        rows.push_back({.model = members[model].name,
                        .channel = cell.channel,
                        .segment = cell.segment,
                        .present = members[model].present(),
                        .pinned = members[model].pin,
                        .explanation = std::move(explanation),
                        .evidence = evidence});
      }
    }
  }
  return rows;
}

}  // namespace margin::internal
