// Background: one thread that does long pieces of work, one after the other.
#pragma once

#include <condition_variable>
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

 private:
  void loop();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> work_;
  bool busy_ = false;
  bool stop_ = false;
  std::thread thread_;
};

}  // namespace margin::service
