// The one event loop: every handler, reply, stream and timer runs on the thread that calls run(). Only post() and stop() may be
// called from other threads; the log's commit hands its acknowledgements over by post(). Used by Server and by whoever waits.
#pragma once

#include <chrono>
#include <functional>
#include <memory>

namespace margin::http {

// A pending call of Loop::after(); destroying or cancelling it prevents the call.
class Timer {
 public:
  Timer();
  Timer(Timer&&) noexcept;
  Timer& operator=(Timer&&) noexcept;
  ~Timer();
  void cancel();

 private:
  friend class Loop;
  struct Impl;
  std::shared_ptr<Impl> impl_;  // shared with the pending call
};

class Loop {
 public:
  Loop();
  ~Loop();
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;

  // Runs until stop(), even when there is nothing to do.
  void run();
  // Thread-safe. What was posted and not yet run is dropped when the loop is destroyed.
  void stop();
  // Thread-safe: `work` runs on the loop's thread, after what was posted before it.
  void post(std::function<void()> work);

  [[nodiscard]] Timer after(std::chrono::microseconds delay, std::function<void()> work);
  // On the loop's thread. As post(), when so much time has passed: what cannot be cancelled needs nobody to hold it.
  void post_after(std::chrono::microseconds delay, std::function<void()> work);
  // From now on `signal` no longer ends the process but calls `work`, each time.
  void on_signal(int signal, std::function<void()> work);

  // Whether work that was posted runs now. What TurnEnds do then follows it at once, before the loop looks for anything else.
  [[nodiscard]] bool in_turn() const;

  struct Impl;
  [[nodiscard]] Impl& impl() { return *impl_; }

 private:
  std::unique_ptr<Impl> impl_;
};

// As long as it lives, `work` runs whenever posted work is over: for what is better done together than each at its time.
class TurnEnd {
 public:
  // `loop` outlives it.
  TurnEnd(Loop& loop, std::function<void()> work);
  ~TurnEnd();
  TurnEnd(const TurnEnd&) = delete;
  TurnEnd& operator=(const TurnEnd&) = delete;

 private:
  friend struct Loop::Impl;
  Loop& loop_;
  const std::function<void()> work_;
};

}  // namespace margin::http
