#include "metric/log_loss.h"

#include "metric/rows.h"

namespace margin {

std::optional<double> log_loss(Predictions rows) {
  internal::check_rows(rows);
  if (rows.size() == 0) return std::nullopt;
  internal::NearSum sum;
  for (std::size_t r = 0; r < rows.size(); ++r) sum.add(internal::log_loss_of(rows.probabilities[r], rows.outcomes[r]));
  return sum.value() / static_cast<double>(rows.size());
}

}  // namespace margin
