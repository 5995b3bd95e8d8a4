#include "service/horizons.h"

namespace margin::service {

template <class Change>
void Horizons::change(State& state, const std::string& pool, Change change) {
  const std::lock_guard lock(state.mutex);
  const auto place = state.pools.try_emplace(pool).first;
  change(place->second);
  if (place->second.holds == 0 && !place->second.moving_to) state.pools.erase(place);
}

RevertPermit Horizons::hold(const std::string& pool) {
  auto held = std::make_unique<RevertHold>(RevertHold{pool, std::nullopt});
  change(*state_, pool, [&](Pool& its) {
    ++its.holds;
    held->moving_to = its.moving_to;
  });
  return {held.release(), [state = state_](const RevertHold* ended) {
            const std::unique_ptr<const RevertHold> owned(ended);
            change(*state, owned->pool, [](Pool& its) { --its.holds; });
          }};
}

Horizons::Move Horizons::move(const std::string& pool, std::uint64_t to) {
  bool free = false;
  change(*state_, pool, [&](Pool& its) {
    free = its.holds == 0;
    if (free) its.moving_to = to;
  });
  if (!free) return nullptr;
  return {new std::string(pool), [state = state_](const std::string* ended) {
            const std::unique_ptr<const std::string> owned(ended);
            change(*state, *owned, [](Pool& its) { its.moving_to.reset(); });
          }};
}

}  // namespace margin::service
