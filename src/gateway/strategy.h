// Strategy: whom a chat asks, and when it has heard enough. One file per strategy, one line each in strategy.cc. Pure: sees how things
// stand and says what to do next; Chat does it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "config/config.h"
#include "margin/event.h"

namespace margin::gateway {

enum class Progress : std::uint8_t { kIdle, kAsked, kAnswered, kFailed };

// One model of the pool, in the pool's order.
struct Contender {
  Progress progress = Progress::kIdle;
  double price = 0.0;     // of a typical call, to compare with others
  double expected = 0.0;  // how likely its answer is right, before it is heard
};

struct Standing {
  std::span<const Contender> contenders;
  std::size_t primary = 0;                 // index
  const DecisionMade* decision = nullptr;  // of what was heard so far; none before the first answer
  bool settled = false;                    // nobody who was asked and has not answered could change it
  double target = 1.0;                     // p_correct that is enough for a cascade
  double explore = 0.0;
  double chance = 0.0;  // uniform in [0, 1), the same for the whole chat
};

struct Step {
  std::vector<std::size_t> ask{};
  bool answer = false;      // the client can be answered with the decision as it stands
  bool done = false;        // nobody else is waited for; implies answer
  double propensity = 1.0;  // of those asked in this step, where that was left to chance
};

class Strategy {
 public:
  virtual ~Strategy() = default;
  // Asked at the start and after each answer or failure, until done.
  [[nodiscard]] virtual Step next(const Standing& standing) const = 0;
  // The primary's answer is selected whatever the others say.
  [[nodiscard]] virtual bool follows_primary() const { return false; }
};

[[nodiscard]] const Strategy& find_strategy(config::Strategy strategy);

// What strategies share.
[[nodiscard]] std::vector<std::size_t> idle(const Standing& standing);
[[nodiscard]] bool waiting(const Standing& standing);  // somebody was asked and has not answered

[[nodiscard]] const Strategy& vote_strategy();
[[nodiscard]] const Strategy& cascade_strategy();
[[nodiscard]] const Strategy& single_strategy();
[[nodiscard]] const Strategy& shadow_strategy();

}  // namespace margin::gateway
