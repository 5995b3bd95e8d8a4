// Two pools' states side by side.
#include <map>
#include <tuple>

#include "margin/pool.h"
#include "margin/state.h"

namespace margin {
namespace {

Result<std::vector<FactorRow>> factors_of(std::string_view snapshot) {
  const Result<Pool> pool = Pool::restore(snapshot);
  if (!pool) return pool.error();
  if (pool->needs_fold())
    return {ErrorCode::kConflict, "state: the pool holds feedback that was taken back; expected one that has been folded again"};
  return pool->factors();
}

BandState state_of(const FactorRow& row) { return {row.explanation.factor, row.explanation.observations}; }

}  // namespace

Result<std::vector<BandDifference>> diff_states(std::string_view first, std::string_view second) {
  const auto ours = factors_of(first);
  if (!ours) return ours.error();
  const auto theirs = factors_of(second);
  if (!theirs) return theirs.error();

  std::vector<BandDifference> rows;
  std::map<std::tuple<std::string_view, std::string_view, std::string_view, int>, std::size_t> place;
  const auto row_of = [&](const FactorRow& row) -> BandDifference& {
    const auto [known, is_new] = place.emplace(
        std::tuple(std::string_view(row.model), std::string_view(row.channel), std::string_view(row.segment), row.explanation.band),
        rows.size());
    if (is_new) rows.push_back({.model = row.model, .channel = row.channel, .segment = row.segment, .band = row.explanation.band});
    return rows[known->second];
  };
  for (const FactorRow& row : *ours) row_of(row).first = state_of(row);
  for (const FactorRow& row : *theirs) row_of(row).second = state_of(row);
  return rows;
}

}  // namespace margin
