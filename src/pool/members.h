// Members: the models of a pool by name and by dense id. A model has an id from the first decision that mentions it; it is a member from
// its first usable response, or its ModelJoined.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/encoding.h"
#include "margin/calibrator.h"

namespace margin::internal {

struct Member {
  enum class Presence : std::uint8_t { kMentioned, kPresent, kAway };

  std::string name;
  Presence presence = Presence::kMentioned;
  std::uint32_t rank = 0;              // in the order of joining, from 0; meaningless before
  std::optional<ModelId> predecessor;  // whose factors it enters with
  std::optional<double> pin;

  [[nodiscard]] bool joined() const { return presence != Presence::kMentioned; }
  [[nodiscard]] bool present() const { return presence == Presence::kPresent; }
};

class Members {
 public:
  [[nodiscard]] std::size_t size() const { return members_.size(); }
  [[nodiscard]] const Member& operator[](ModelId model) const { return members_[model]; }
  [[nodiscard]] Member& operator[](ModelId model) { return members_[model]; }
  // By id.
  [[nodiscard]] std::span<const Member> all() const { return members_; }
  [[nodiscard]] std::optional<ModelId> find(std::string_view name) const;
  // Only those that have joined.
  [[nodiscard]] std::optional<ModelId> find_joined(std::string_view name) const;

  // The id of a name, new ones at the end.
  ModelId mention(std::string_view name);
  // Joins or returns.
  void join(ModelId model);
  void leave(ModelId model) { members_[model].presence = Member::Presence::kAway; }

  [[nodiscard]] std::vector<std::string> present_names() const;

  void save(Encoder& out) const;
  void load(Decoder& in);

 private:
  std::vector<Member> members_;
  std::map<std::string, ModelId, std::less<>> ids_;
  std::uint32_t joined_ = 0;
};

}  // namespace margin::internal
