#include "pool/members.h"

#include <algorithm>

#include "pool/limits.h"

namespace margin::internal {

std::optional<ModelId> Members::find(std::string_view name) const {
  const auto found = ids_.find(name);
  if (found == ids_.end()) return std::nullopt;
  return found->second;
}

std::optional<ModelId> Members::find_joined(std::string_view name) const {
  const auto model = find(name);
  return model && members_[*model].joined() ? model : std::nullopt;
}

ModelId Members::mention(std::string_view name) {
  if (const auto known = find(name)) return *known;
  const auto model = static_cast<ModelId>(members_.size());
  members_.push_back({.name = std::string(name)});
  ids_.emplace(name, model);
  return model;
}

void Members::join(ModelId model) {
  Member& member = members_[model];
  if (!member.joined()) member.rank = joined_++;
  member.presence = Member::Presence::kPresent;
}

std::vector<std::string> Members::present_names() const {
  std::vector<const Member*> present;
  for (const Member& member : members_) {
    if (member.present()) present.push_back(&member);
  }
  std::sort(present.begin(), present.end(), [](const Member* a, const Member* b) { return a->rank < b->rank; });
  std::vector<std::string> names;
  for (const Member* member : present) names.push_back(member->name);
  return names;
}

void Members::save(Encoder& out) const {
  out.integer(static_cast<std::uint64_t>(members_.size()));
  for (const Member& member : members_) {
    out.text(member.name);
    out.integer(static_cast<std::uint8_t>(member.presence));
    out.integer(member.rank);
    out.flag(member.predecessor.has_value());
    if (member.predecessor) out.integer(*member.predecessor);
    out.flag(member.pin.has_value());
    if (member.pin) out.real(*member.pin);
  }
  out.integer(joined_);
}

void Members::load(Decoder& in) {
  const std::size_t count = in.length(8 + 1 + 4 + 1 + 1);
  if (count > kModelsMax) return in.fail();
  for (std::size_t i = 0; i < count && in.ok(); ++i) {
    const std::string name = in.text();
    if (!check_model_name("model", name).ok() || mention(name) != i) return in.fail();
    Member& member = members_.back();
    const auto presence = in.integer<std::uint8_t>();
    if (presence > static_cast<std::uint8_t>(Member::Presence::kAway)) return in.fail();
    member.presence = static_cast<Member::Presence>(presence);
    member.rank = in.integer<std::uint32_t>();
    if (in.flag()) member.predecessor = in.integer<ModelId>();
    if (in.flag()) member.pin = in.real();
    if (member.predecessor && *member.predecessor >= count) return in.fail();
    if (member.pin && !(*member.pin >= 0.0 && *member.pin <= kPinMax)) return in.fail();
  }
  joined_ = in.integer<std::uint32_t>();
}

}  // namespace margin::internal
