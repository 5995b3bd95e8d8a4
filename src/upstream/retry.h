// When a failed call is tried again, and when an upstream is left alone. Values and arithmetic only; Upstream has the clock.
#pragma once

#include <chrono>
#include <optional>

#include "margin/random.h"
#include "upstream/reply_reader.h"
#include "upstream/upstream.h"

namespace margin::upstream {

// How long the reply asks to wait: retry-after-ms, or Retry-After as seconds or as an HTTP date; a date that has passed is 0. Nothing:
// it does not say, or nonsense. `now`: the time of day.
[[nodiscard]] std::optional<std::chrono::milliseconds> retry_after(const ReplyHead& head, std::chrono::system_clock::time_point now);

// Whether the reply may be followed by another attempt: 408, 429 and 5xx, unless x-should-retry says otherwise.
[[nodiscard]] bool may_retry(const ReplyHead& head);

// The pause before attempt number `attempt` (from 2): `first`, doubled each time, of which a random part of up to a half is left out, so
// that many calls that failed together do not come back together. At least `asked`, then with up to a half of `first` on top.
[[nodiscard]] std::chrono::milliseconds pause_before(int attempt, std::chrono::milliseconds first,
                                                     std::optional<std::chrono::milliseconds> asked, Random& random);

// Opens after `failures_max` failed attempts in a row; after `pause` it lets one attempt through, and what becomes of that decides.
class Breaker {
 public:
  using Moment = std::chrono::steady_clock::time_point;
  enum class Verdict { kPass, kTrial, kRefuse };

  Breaker(int failures_max, std::chrono::milliseconds pause) : failures_max_(failures_max), pause_(pause) {}

  [[nodiscard]] Verdict ask(Moment now);
  // What became of an attempt that was let through; `trial`: as the one that decides.
  void succeeded();
  void failed(Moment now, bool trial);
  // It says nothing about the upstream: it was cancelled, or the request was wrong.
  void abandoned(bool trial);

  [[nodiscard]] bool open() const { return open_; }

 private:
  const int failures_max_;
  const std::chrono::milliseconds pause_;
  int failures_ = 0;
  bool open_ = false;
  bool trying_ = false;
  Moment until_;
};

}  // namespace margin::upstream
