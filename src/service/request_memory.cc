#include "service/request_memory.h"

namespace margin::service {

const RequestMemory::Known* RequestMemory::find(const Digest& key) const {
  const auto found = known_.find(key);
  return found == known_.end() ? nullptr : &found->second;
}

void RequestMemory::begin(const RequestMark& mark, Uuid event) {
  const bool added = known_.try_emplace(mark.key, Known{mark.body, event, false}).second;
  if (!added) return;
  order_.push_back(mark.key);
  make_room();
}

void RequestMemory::settle(const RequestMark& mark, Uuid event) {
  begin(mark, event);
  if (const auto found = known_.find(mark.key); found != known_.end() && found->second.event == event) found->second.settled = true;
}

bool RequestMemory::recall_earlier(const RequestMark& mark, Uuid event) {
  if (known_.size() >= count_max_) return false;
  if (known_.try_emplace(mark.key, Known{mark.body, event, true}).second) order_.push_front(mark.key);
  return true;
}

void RequestMemory::forget(const Digest& key) { known_.erase(key); }

void RequestMemory::set_count_max(std::size_t count_max) {
  count_max_ = count_max;
  make_room();
}

// Names of forgotten ones are swept out with their turn; they never outnumber what may be kept.
void RequestMemory::make_room() {
  while (known_.size() > count_max_ || order_.size() > 2 * count_max_ + 1) {
    known_.erase(order_.front());
    order_.pop_front();
  }
}

}  // namespace margin::service
