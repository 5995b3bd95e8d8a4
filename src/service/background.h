// Background: one thread that does long pieces of work, one after the other.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

namespace margin::service {

class Background {
 public:
  Background();
  // Drops what has not begun, waits for what has.
  ~Background();

  void run(std::function<void()> work);
  // Returns when everything given before has been done.
  void wait();

  // For work that nobody waits for, called by it every now and then: sleeps three times as long as it has worked since the last call, so
  // that it takes a quarter of a processor and keeps whoever wakes beside it waiting for no longer than it works between two calls
  // (log/background_priority.h says why); and nine times as long as it waited, up to 9 ms, since others worked for it. Does not sleep while
  // more work waits, or somebody for it, or once it was told to hurry.
  void breathe();
  // The work under way falls behind: it takes no more breath. Costs next to nothing when said again.
  void hurry();

 private:
  void loop();
  void begin_breath();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> work_;
  std::chrono::nanoseconds worked_{0};  // processor time of the thread, when it last took breath
  std::chrono::steady_clock::time_point breathed_;
  std::size_t waiting_ = 0;
  std::atomic<bool> hurried_{false};  // until the next piece of work begins
  bool busy_ = false;
  bool stop_ = false;
  std::thread thread_;
};

}  // namespace margin::service
