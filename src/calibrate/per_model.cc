#include "calibrate/per_model.h"

namespace margin::internal {

std::vector<std::vector<Observation>> rows_by_model(std::span<const Observation> rows, std::size_t models) {
  std::vector<std::vector<Observation>> gathered(models);
  for (const Observation& row : rows) gathered[row.model].push_back(row);
  return gathered;
}

}  // namespace margin::internal
