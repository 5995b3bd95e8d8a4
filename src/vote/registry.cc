#include "vote/registry.h"

#include <algorithm>
#include <array>

#include "base/suggest.h"
#include "base/versioned_name.h"

namespace margin {
namespace {

using internal::VoteKind;

#define MARGIN_LIST_VOTE(NAME) &internal::k##NAME,
const std::array kVotes = {MARGIN_VOTES(MARGIN_LIST_VOTE)};
const std::array kReplaced = {MARGIN_REPLACED_VOTES(MARGIN_LIST_VOTE)};
#undef MARGIN_LIST_VOTE

// Version 0 is the newest.
const VoteKind* find(std::string_view identifier, int version) {
  const auto is_meant = [&](const VoteKind* kind) {
    return kind->info().identifier == identifier && (version == 0 || kind->info().version == version);
  };
  const auto newest = std::find_if(kVotes.begin(), kVotes.end(), is_meant);
  if (newest != kVotes.end()) return *newest;
  const auto replaced = std::find_if(kReplaced.begin(), kReplaced.end(), is_meant);
  return replaced == kReplaced.end() ? nullptr : *replaced;
}

Error unknown(std::string_view identifier, int version) {
  if (find(identifier, 0) != nullptr) {
    return {ErrorCode::kNotFound, "vote " + std::string(identifier) + " has no version " + std::to_string(version) + " in this binary"};
  }
  std::vector<std::string> names;
  for (const VoteKind* kind : kVotes) names.push_back(kind->info().identifier);
  return {ErrorCode::kNotFound, "no vote named " + std::string(identifier) + internal::suggestion(identifier, names)};
}

Result<std::unique_ptr<Vote>> make(std::string_view identifier, int version, const Parameters& parameters) {
  const VoteKind* kind = find(identifier, version);
  if (kind == nullptr) return unknown(identifier, version);
  Result<Parameters> resolved = resolve_parameters(identifier, kind->info().parameters, parameters);
  if (!resolved) return resolved.error();
  return kind->make(std::move(*resolved));
}

template <std::size_t kSize>
std::array<const VoteInfo*, kSize> infos_of(const std::array<const VoteKind*, kSize>& kinds) {
  std::array<const VoteInfo*, kSize> infos{};
  std::transform(kinds.begin(), kinds.end(), infos.begin(), [](const VoteKind* kind) { return &kind->info(); });
  return infos;
}

}  // namespace

std::span<const VoteInfo* const> vote_catalog() {
  static const auto catalog = infos_of(kVotes);
  return catalog;
}

std::span<const VoteInfo* const> replaced_votes() {
  static const auto catalog = infos_of(kReplaced);
  return catalog;
}

Result<const VoteInfo*> find_vote(std::string_view name) {
  const auto [identifier, version] = internal::parse_versioned(name);
  const VoteKind* kind = find(identifier, version);
  if (kind == nullptr) return unknown(identifier, version);
  return &kind->info();
}

Result<std::unique_ptr<Vote>> make_vote(std::string_view name, const Parameters& parameters) {
  const auto [identifier, version] = internal::parse_versioned(name);
  return make(identifier, version, parameters);
}

Result<std::unique_ptr<Vote>> make_vote(std::string_view identifier, int version, const Parameters& parameters) {
  if (version < 1) return unknown(identifier, version);
  return make(identifier, version, parameters);
}

}  // namespace margin
