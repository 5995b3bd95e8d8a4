// RequestMemory: requests by Idempotency-Key, so that a repeated request does nothing twice. Bounded: the oldest is forgotten first.
#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <optional>
#include <unordered_map>
#include <vector>

#include "log/event_log.h"
#include "margin/digest.h"
#include "margin/result.h"
#include "margin/uuid.h"

namespace margin::service {

class RequestMemory {
 public:
  explicit RequestMemory(std::size_t count_max) : count_max_(count_max) {}

  struct Known {
    Digest body;
    Uuid event;           // what the request became
    bool settled = true;  // false: still on its way to the disk
  };
  [[nodiscard]] const Known* find(const Digest& key) const;

  // A request is on its way; one that is already known keeps its place.
  void begin(const RequestMark& mark, Uuid event);
  // It is in the log.
  void settle(const RequestMark& mark, Uuid event);
  // One of before all that are known, in the log since; false: there is no room for it. For who reads a log from its end.
  bool recall_earlier(const RequestMark& mark, Uuid event);
  // It failed and may be tried again.
  void forget(const Digest& key);
  // The oldest beyond it are forgotten.
  void set_count_max(std::size_t count_max);

  [[nodiscard]] std::size_t size() const { return known_.size(); }

 private:
  struct Hash {
    std::size_t operator()(const Digest& digest) const { return static_cast<std::size_t>(digest.low); }
  };
  void make_room();

  std::size_t count_max_;
  std::unordered_map<Digest, Known, Hash> known_;
  std::deque<Digest> order_;  // of arrival; may name forgotten ones
};

}  // namespace margin::service
