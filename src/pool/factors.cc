// Factors for people: a row per model, cell and band.
#include "pool/state.h"

namespace margin::internal {

std::vector<FactorRow> PoolState::factors() const {
  std::vector<FactorRow> rows;
  for (ModelId model = 0; model < members.size(); ++model) {
    for (CellId id = 0; id < cells.size(); ++id) {
      const Cell& cell = cells[id];
      if (!cell.calibrator->known(model)) continue;
      const int bands = cell.calibrator->bands();
      for (int band = 0; band < bands; ++band) {
        rows.push_back({.model = members[model].name,
                        .channel = cell.channel,
                        .segment = cell.segment,
                        .present = members[model].present(),
                        .pinned = members[model].pin,
                        .explanation = cell.calibrator->explain(model, (band + 0.5) / bands)});
      }
    }
  }
  return rows;
}

}  // namespace margin::internal
