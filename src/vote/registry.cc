#include "vote/registry.h"

#include <algorithm>
#include <array>

#include "base/suggest.h"

namespace margin {
namespace {

using internal::VoteKind;

#define MARGIN_LIST_VOTE(NAME) &internal::k##NAME,
const std::array kVotes = {MARGIN_VOTES(MARGIN_LIST_VOTE)};
#undef MARGIN_LIST_VOTE

// Version 0 is the newest.
const VoteKind* find(std::string_view identifier, int version) {
  const auto found = std::find_if(kVotes.begin(), kVotes.end(), [&](const VoteKind* kind) {
    return kind->info().identifier == identifier && (version == 0 || kind->info().version == version);
  });
  return found == kVotes.end() ? nullptr : *found;
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

}  // namespace

std::span<const VoteInfo* const> vote_catalog() {
  static const auto catalog = [] {
    std::array<const VoteInfo*, kVotes.size()> infos{};
    std::transform(kVotes.begin(), kVotes.end(), infos.begin(), [](const VoteKind* kind) { return &kind->info(); });
    return infos;
  }();
  return catalog;
}

Result<std::unique_ptr<Vote>> make_vote(std::string_view identifier, const Parameters& parameters) {
  return make(identifier, 0, parameters);
}

Result<std::unique_ptr<Vote>> make_vote(std::string_view identifier, int version, const Parameters& parameters) {
  if (version < 1) return unknown(identifier, version);
  return make(identifier, version, parameters);
}

}  // namespace margin
