// Turns: whoever says something of the same decision goes one after another, in the order they came, each after what the one before said
// has been applied. So each is compared with all that was said before it.
//
// One thread, the loop's.
#pragma once

#include <compare>
#include <cstddef>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "margin/uuid.h"

namespace margin::service {

class Turns {
 public:
  struct Key {
    std::string tenant;  // ids of two tenants may be the same
    Uuid decision;
    auto operator<=>(const Key&) const = default;
  };
  // Kept in whatever is called when the work is over, or failed; with the last copy the turn ends.
  using Turn = std::shared_ptr<const Key>;
  using Run = std::function<void(const Turn&)>;
  using Post = std::function<void(std::function<void()>)>;

  // `post` runs something on the loop, soon.
  explicit Turns(Post post);

  // Calls `run` with the turn: at once when nobody has it, else from the loop when all before have ended theirs. False, and `run` is not
  // called: `waiting_max` wait already, for whichever decisions.
  [[nodiscard]] bool take(const Key& key, std::size_t waiting_max, Run run);

  [[nodiscard]] std::size_t waiting() const;

 private:
  // Turns may end when the rest is gone.
  struct State {
    Post post;
    std::map<Key, std::deque<Run>> taken;  // and who waits for it
    std::size_t waiting = 0;
  };
  static Turn begin(const std::shared_ptr<State>& state, const Key& key);
  static void end(const std::shared_ptr<State>& state, const Key& key);

  std::shared_ptr<State> state_;
};

}  // namespace margin::service
