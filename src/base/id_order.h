// IdOrder: numbers ids in the order they come and finds the number of an id; the oldest is forgotten first. Ids mostly grow as they come,
// and such cost a place at the end of a row; the others a place in a tree.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>

#include "margin/uuid.h"

namespace margin::internal {

class IdOrder {
 public:
  // Its number: one more than the last one's, from 0. None when it is already there.
  std::optional<std::uint64_t> add(Uuid id) {
    if (rising_.empty() || rising_.back().id < id) {
      if (!stragglers_.empty() && stragglers_.contains(id)) return std::nullopt;
      rising_.push_back({id, next_});
    } else if (find_rising(id) || !stragglers_.emplace(id, next_).second) {
      return std::nullopt;
    }
    return next_++;
  }

  [[nodiscard]] std::optional<std::uint64_t> find(Uuid id) const {
    if (const auto number = find_rising(id)) return number;
    if (stragglers_.empty()) return std::nullopt;
    const auto found = stragglers_.find(id);
    return found == stragglers_.end() ? std::nullopt : std::optional(found->second);
  }
  [[nodiscard]] bool contains(Uuid id) const { return find(id).has_value(); }

  // `oldest`: of all that are there.
  void forget(Uuid oldest) {
    if (!rising_.empty() && rising_.front().id == oldest) {
      rising_.pop_front();
    } else {
      stragglers_.erase(oldest);
    }
  }

 private:
  struct Numbered {
    Uuid id;
    std::uint64_t number = 0;
  };

  [[nodiscard]] std::optional<std::uint64_t> find_rising(Uuid id) const {
    if (rising_.empty() || rising_.back().id < id) return std::nullopt;
    const auto found =
        std::lower_bound(rising_.begin(), rising_.end(), id, [](const Numbered& one, Uuid sought) { return one.id < sought; });
    return found->id == id ? std::optional(found->number) : std::nullopt;
  }

  std::deque<Numbered> rising_;
  std::map<Uuid, std::uint64_t> stragglers_;  // that came after a greater one
  std::uint64_t next_ = 0;
};

}  // namespace margin::internal
