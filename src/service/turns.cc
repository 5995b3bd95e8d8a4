#include "service/turns.h"

#include <utility>

namespace margin::service {

Turns::Turns(Post post) : state_(std::make_shared<State>()) { state_->post = std::move(post); }

std::size_t Turns::waiting() const { return state_->waiting; }

bool Turns::take(const Key& key, std::size_t waiting_max, Run run) {
  const auto [place, free] = state_->taken.try_emplace(key);
  if (free) {
    run(begin(state_, key));
    return true;
  }
  if (state_->waiting >= waiting_max) return false;
  place->second.push_back(std::move(run));
  ++state_->waiting;
  return true;
}

Turns::Turn Turns::begin(const std::shared_ptr<State>& state, const Key& key) {
  return {new Key(key), [weak = std::weak_ptr(state)](const Key* held) {
            const std::unique_ptr<const Key> owned(held);
            if (const auto alive = weak.lock()) end(alive, *owned);
          }};
}

// The next one begins from the loop: a turn may end deep inside of what belongs to it.
void Turns::end(const std::shared_ptr<State>& state, const Key& key) {
  const auto place = state->taken.find(key);
  if (place->second.empty()) return void(state->taken.erase(place));
  state->post([weak = std::weak_ptr(state), key] {
    const auto alive = weak.lock();
    if (!alive) return;
    std::deque<Run>& waiting = alive->taken.find(key)->second;
    const Run next = std::move(waiting.front());
    waiting.pop_front();
    --alive->waiting;
    next(begin(alive, key));
  });
}

}  // namespace margin::service
