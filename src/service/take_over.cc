// Service, the part that lets early feedback find its decision in another pool of the tenant than the one it waits in. What it does is
// events like any other, so that a fold needs to know nothing of other pools.
#include <algorithm>
#include <memory>

#include "service/service.h"

namespace margin::service {

ServedPool* Service::find_awaiting(Uuid decision, std::string_view tenant) const {
  const auto found = std::find_if(early_.begin(), early_.end(),
                                  [&](const ServedPool* pool) { return pool->tenant() == tenant && pool->pool().awaits(decision); });
  return found == early_.end() ? nullptr : *found;
}

void Service::note_early(ServedPool& pool) {
  if (std::find(early_.begin(), early_.end(), &pool) == early_.end()) early_.push_back(&pool);
}

bool Service::awaited_elsewhere(const ServedPool& pool, Uuid decision) {
  if (early_.empty()) return false;
  std::erase_if(early_, [](const ServedPool* each) { return each->pool().early_outcomes() == 0; });
  return std::any_of(early_.begin(), early_.end(), [&](const ServedPool* each) {
    return each != &pool && each->tenant() == pool.tenant() && each->pool().awaits(decision);
  });
}

void Service::take_over(ServedPool& pool, Uuid decision, Then then) {
  struct Joining {
    Then then;
    std::size_t open = 1;
    std::optional<Applied> last{};

    void close() {
      if (--open == 0) then(std::move(last));
    }
  };
  const auto joining = std::make_shared<Joining>(Joining{std::move(then)});
  for (ServedPool* from : early_) {
    if (from == &pool || from->tenant() != pool.tenant()) continue;
    for (Pool::TakenOver& taken : pool.pool().take_over(decision, from->pool())) {
      const Uuid id = taken.feedback;
      ++joining->open;
      const auto fail = [this, joining, id](const Error& error) {
        options_.complain("feedback " + id.text() + " still waits for a decision that was made in another pool: " + error.message);
        joining->close();
      };
      const auto leave = [this, from, id, joining, fail] {
        const Status left = commit(prepare(*from, OutcomeReverted{.feedback = id, .source = ""}),
                                   [joining, fail](const Result<Applied>& applied) { applied ? joining->close() : fail(applied.error()); });
        if (!left) fail(left.error());
      };
      const auto drop = [this, &pool, decision, id, leave] {
        pool.count_dropped(1);
        options_.complain("pool " + pool.name() + ": feedback " + id.text() + " came before its decision " + decision.text() +
                          " and does not fit it: it counts nowhere");
        leave();
      };
      if (!taken.outcome) {
        drop();
        continue;
      }
      Prepared moved = prepare(pool, std::move(*taken.outcome), id);
      moved.note = "waited in pool " + from->name();
      const Status written = commit(std::move(moved), [leave, drop, fail, joining](Result<Applied> applied) {
        if (!applied) return fail(applied.error());
        const bool fits = !applied->result.error;
        joining->last = std::move(*applied);
        fits ? leave() : drop();
      });
      if (!written) fail(written.error());
    }
  }
  joining->close();
}

// What a server that ended in between had begun.
void Service::take_over_recovered() {
  for (const auto& [name, pool] : pools_) {
    if (pool->pool().early_outcomes() > 0) note_early(*pool);
  }
  for (const ServedPool* from : early_) {
    for (const Uuid decision : from->pool().awaited_decisions()) {
      for (const auto& [name, pool] : pools_) {
        if (pool.get() != from && pool->tenant() == from->tenant() && pool->pool().knows(decision)) {
          take_over(*pool, decision, [](const std::optional<Applied>&) {});
        }
      }
    }
  }
}

}  // namespace margin::service
