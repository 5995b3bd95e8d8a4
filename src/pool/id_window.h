// IdWindow: ids in the order they came, found by id, forgotten oldest first. The pool remembers applied events and awaited reverts with it.
#pragma once

#include <cstdint>
#include <deque>

#include "base/encoding.h"
#include "base/id_order.h"
#include "margin/uuid.h"

namespace margin::internal {

class IdWindow {
 public:
  // False when it is already there.
  bool insert(Uuid id, std::int64_t time_ms) {
    if (!ids_.add(id)) return false;
    order_.push_back({id, time_ms});
    return true;
  }
  [[nodiscard]] bool contains(Uuid id) const { return ids_.contains(id); }
  [[nodiscard]] std::size_t size() const { return order_.size(); }

  void forget_beyond(std::size_t count) {
    while (order_.size() > count) forget_oldest();
  }
  void forget_before(std::int64_t time_ms) {
    while (!order_.empty() && order_.front().time_ms < time_ms) forget_oldest();
  }

  void save(Encoder& out) const;
  void load(Decoder& in);

 private:
  struct Entry {
    Uuid id;
    std::int64_t time_ms = 0;
  };

  void forget_oldest() {
    ids_.forget(order_.front().id);
    order_.pop_front();
  }

  std::deque<Entry> order_;
  IdOrder ids_;
};

}  // namespace margin::internal
