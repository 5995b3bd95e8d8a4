// Horizons: retention moves the earliest state of a pool forward, and a revert must not reach back behind it. What was allowed by the state
// before must therefore be in the log before retention looks for reverts: the two exclude each other, and neither waits for the other.
// While a revert is allowed and not yet in the log, retention leaves its pool alone; while retention has a pool, reverts are held against
// where it goes. Used by Service.
//
// Any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

namespace margin::service {

// Held by a revert from before it is looked at until it is in the log, or refused.
struct RevertHold {
  std::string pool;
  std::optional<std::uint64_t> moving_to;  // the offset that retention was taking the pool's earliest state to when this began
};
// Ends with the last copy, which may outlive everything else here.
using RevertPermit = std::shared_ptr<const RevertHold>;

class Horizons {
 public:
  Horizons() : state_(std::make_shared<State>()) {}

  // Until it ends, no retention of the pool begins.
  [[nodiscard]] RevertPermit hold(const std::string& pool);

  // Retention takes the earliest state of a pool to an offset, until the result is gone. nullptr: a revert is on its way to the log.
  using Move = std::shared_ptr<const std::string>;
  [[nodiscard]] Move move(const std::string& pool, std::uint64_t to);

 private:
  struct Pool {
    std::size_t holds = 0;
    std::optional<std::uint64_t> moving_to;
  };
  struct State {
    std::mutex mutex;
    std::map<std::string, Pool> pools;  // those with something under way; guarded by mutex
  };
  template <class Change>
  static void change(State& state, const std::string& pool, Change change);

  std::shared_ptr<State> state_;
};

}  // namespace margin::service
