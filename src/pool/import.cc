// What one pool takes over from another: an imported state with a trust discount, and two states merged.
#include <algorithm>
#include <utility>

#include "margin/state.h"
#include "pool/limits.h"
#include "pool/state.h"

namespace margin {
namespace internal {
namespace {

Error unfinished() {
  return {ErrorCode::kConflict, "state: the pool holds feedback that was taken back; expected one that has been folded again"};
}

Status same_calibrator(const CalibratorRecipe& here, const CalibratorRecipe& there) {
  if (here == there) return {};
  const auto name = [](const CalibratorRecipe& recipe) { return recipe.identifier + "@" + std::to_string(recipe.version); };
  std::string difference = "calibrator: got a state of " + name(there) + ", expected " + name(here);
  if (name(here) == name(there)) {
    for (const auto& [parameter, value] : here.parameters) {
      const auto found = there.parameters.find(parameter);
      if (found != there.parameters.end() && found->second != value) {
        difference += " with " + parameter + " = " + to_text(value) + " instead of " + to_text(found->second);
        break;
      }
    }
  }
  return {ErrorCode::kInvalidArgument, std::move(difference)};
}

Result<std::unique_ptr<PoolState>> load_whole(std::string_view bytes) {
  auto state = PoolState::load(bytes);
  if (state && (*state)->needs_fold()) return unfinished();
  return state;
}

// The models of `from` become known to `to`, by name; the id there of each. What `to` already says of a model stays.
std::vector<ModelId> add_members(const Members& from, Members& to) {
  std::vector<ModelId> ids;
  for (ModelId model = 0; model < from.size(); ++model) ids.push_back(to.mention(from[model].name));
  // In the order in which they joined there.
  std::vector<ModelId> joined;
  for (ModelId model = 0; model < from.size(); ++model) {
    if (from[model].joined()) joined.push_back(model);
  }
  std::sort(joined.begin(), joined.end(), [&](ModelId a, ModelId b) { return from[a].rank < from[b].rank; });
  for (const ModelId model : joined) {
    Member& member = to[ids[model]];
    const bool was_known = member.joined();
    if (!was_known || from[model].present()) to.join(ids[model]);
    if (!was_known && !from[model].present()) to.leave(ids[model]);
    if (!was_known && from[model].predecessor) member.predecessor = ids[*from[model].predecessor];
    if (!member.pin) member.pin = from[model].pin;
  }
  return ids;
}

Status check_room_for(const Members& members, const Cells& cells, const PoolConfigured& config) {
  if (members.size() > config.models_max) {
    return {ErrorCode::kLimit,
            "models: " + std::to_string(members.size()) + " together, expected at most models_max = " + std::to_string(config.models_max)};
  }
  if (cells.size() > config.cells_max) {
    return {ErrorCode::kLimit,
            "cells: " + std::to_string(cells.size()) + " together, expected at most cells_max = " + std::to_string(config.cells_max)};
  }
  return {};
}

}  // namespace

ApplyResult PoolState::on(const StateImported& event, Context) {
  if (!(event.trust > 0.0 && event.trust <= 1.0)) return refused(out_of_range("trust", event.trust, "a number in (0, 1]"));
  if (cells.size() > 0) {
    return refused(ErrorCode::kConflict,
                   "state: this pool has made decisions of its own or taken over a state before; expected one that has not");
  }
  auto state = load_whole(event.state);
  if (!state) return refused(state.error());
  PoolState& other = **state;
  if (Status status = same_calibrator(recipe, other.recipe); !status) return refused(status.error());
  for (CellId cell = 0; cell < other.cells.size(); ++cell) {
    if (Status status = other.cells.discount(cell, event.trust); !status) return refused(status.error());
  }
  Members together = other.members;
  const std::vector<ModelId> ids = add_members(members, together);
  if (Status status = check_room_for(together, other.cells, config); !status) return refused(status.error());

  members = std::move(together);
  cells = std::move(other.cells);
  for (const ModelId model : ids) {
    if (members[model].present()) cells.come_back(model);
  }
  return {};
}

Result<std::unique_ptr<PoolState>> merge(std::string_view first, std::string_view second) {
  auto to = load_whole(first);
  if (!to) return to.error();
  auto from = load_whole(second);
  if (!from) return from.error();
  PoolState& a = **to;
  PoolState& b = **from;
  if (Status status = same_calibrator(a.recipe, b.recipe); !status) return status.error();

  auto merged = std::make_unique<PoolState>();
  const ApplyResult configured = merged->apply({.time_ms = std::max(a.time_ms, b.time_ms), .body = a.config});
  if (configured.status == ApplyStatus::kRefused) return *configured.error;
  merged->remembered = IdWindow();
  for (PoolState* each : {&a, &b}) {
    const std::vector<ModelId> ids = add_members(each->members, merged->members);
    for (CellId cell = 0; cell < each->cells.size(); ++cell) {
      const Cell& theirs = each->cells[cell];
      const CellId own = merged->cells.mention(theirs.channel, theirs.segment, merged->recipe);
      if (Status status = merged->cells.merge(own, theirs, ids); !status) return status.error();
    }
  }
  // Who is present in one pool is so in every cell of both.
  for (ModelId model = 0; model < merged->members.size(); ++model) {
    if (merged->members[model].present()) merged->cells.come_back(model);
  }
  if (Status status = check_room_for(merged->members, merged->cells, merged->config); !status) return status.error();
  return merged;
}

}  // namespace internal

Result<std::string> merge_states(std::string_view first, std::string_view second) {
  auto merged = internal::merge(first, second);
  if (!merged) return merged.error();
  internal::Encoder out;
  (*merged)->save(out);
  std::string bytes = out.take();
  // Each may hold numbers that are possible, and both together such as are not: then no file is made that nobody can read.
  if (const auto readable = internal::PoolState::load(bytes); !readable) {
    return {readable.error().code, "merged: " + readable.error().message};
  }
  return bytes;
}

}  // namespace margin
