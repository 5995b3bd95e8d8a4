// Models come, go and come back; factors are pinned and unpinned.
#include "pool/limits.h"
#include "pool/state.h"

namespace margin::internal {
namespace {

// Names in these messages have passed check_model_name, or are known.
ApplyResult unknown_model(std::string_view field, const std::string& name) {
  return refused(ErrorCode::kNotFound, std::string(field) + ": " + name + " never joined this pool");
}

}  // namespace

ApplyResult PoolState::on(const ModelJoined& event, Context) {
  if (Status status = check_model_name("model", event.model); !status) return refused(status.error());
  std::optional<ModelId> predecessor;
  if (!event.predecessor.empty()) {
    if (Status status = check_model_name("predecessor", event.predecessor); !status) return refused(status.error());
    predecessor = members.find_joined(event.predecessor);
    if (!predecessor) return unknown_model("predecessor", event.predecessor);
    if (event.predecessor == event.model) return refused(ErrorCode::kInvalidArgument, "predecessor: expected another model");
  }

  if (const auto known = members.find_joined(event.model)) {
    if (predecessor && members[*known].predecessor != predecessor) {
      return refused(ErrorCode::kConflict, "predecessor: " + event.model + " has already joined otherwise");
    }
    if (members[*known].present()) return changed(false);
    members.join(*known);
    cells.come_back(*known);
    return {};
  }

  if (!members.find(event.model) && members.size() >= config.models_max) {
    return refused(ErrorCode::kLimit, "models: " + std::to_string(members.size()) +
                                          " known, expected at most models_max = " + std::to_string(config.models_max));
  }
  const ModelId model = members.mention(event.model);
  members.join(model);
  members[model].predecessor = predecessor;
  return {};
}

ApplyResult PoolState::on(const ModelLeft& event, Context) {
  if (Status status = check_model_name("model", event.model); !status) return refused(status.error());
  const auto model = members.find_joined(event.model);
  if (!model) return unknown_model("model", event.model);
  if (!members[*model].present()) return changed(false);
  members.leave(*model);
  cells.leave(*model);
  watch.leave(*model);
  return {};
}

ApplyResult PoolState::on(const FactorPinned& event, Context) {
  if (Status status = check_model_name("model", event.model); !status) return refused(status.error());
  if (!(event.factor >= 0.0 && event.factor <= kPinMax)) return refused(out_of_range("factor", event.factor, "a number in [0, 20]"));
  const auto model = members.find_joined(event.model);
  if (!model) return unknown_model("model", event.model);
  if (members[*model].pin == event.factor) return changed(false);
  members[*model].pin = event.factor;
  return {};
}

ApplyResult PoolState::on(const FactorUnpinned& event, Context) {
  if (Status status = check_model_name("model", event.model); !status) return refused(status.error());
  const auto model = members.find_joined(event.model);
  if (!model) return unknown_model("model", event.model);
  if (!members[*model].pin) return changed(false);
  members[*model].pin.reset();
  return {};
}

}  // namespace margin::internal
