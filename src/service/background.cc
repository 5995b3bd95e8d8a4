#include "service/background.h"

#include <algorithm>

#ifdef __GLIBC__
#include <malloc.h>
#endif

#include "log/background_priority.h"

namespace margin::service {

using internal::processor_time;

namespace {

// A second copy of a pool's state is folded and dropped here; the allocator would keep its room for the next one, hours away.
void give_memory_back() {
#ifdef __GLIBC__
  malloc_trim(0);
#endif
}

}  // namespace

Background::Background() : thread_([this] { loop(); }) {}

Background::~Background() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
    work_.clear();
  }
  changed_.notify_all();
  thread_.join();
}

void Background::run(std::function<void()> work) {
  {
    const std::lock_guard lock(mutex_);
    work_.push_back(std::move(work));
  }
  changed_.notify_all();
}

void Background::wait() {
  std::unique_lock lock(mutex_);
  ++waiting_;
  changed_.notify_all();
  changed_.wait(lock, [this] { return work_.empty() && !busy_; });
  --waiting_;
}

void Background::breathe() {
  // Parts of a snapshot wait for the store, and what is carried into it waits for them: a tenth of the time.
  constexpr int kSleepPerWait = 9;
  constexpr std::chrono::nanoseconds kWaitedMax = std::chrono::milliseconds(1);
  const std::chrono::nanoseconds worked = processor_time() - worked_;
  const std::chrono::nanoseconds waited = std::chrono::steady_clock::now() - breathed_ - worked;
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, internal::kSleepPerWork * worked + kSleepPerWait * std::min(waited, kWaitedMax),
                    [this] { return stop_ || hurried_ || waiting_ > 0 || !work_.empty(); });
  begin_breath();
}

void Background::begin_breath() {
  worked_ = processor_time();
  breathed_ = std::chrono::steady_clock::now();
}

void Background::hurry() {
  if (hurried_.load(std::memory_order_relaxed)) return;
  {
    const std::lock_guard lock(mutex_);
    hurried_ = true;
  }
  changed_.notify_all();
}

void Background::loop() {
  internal::step_back();
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return stop_ || !work_.empty(); });
    if (stop_) return;
    std::function<void()> next = std::move(work_.front());
    work_.pop_front();
    busy_ = true;
    hurried_ = false;
    begin_breath();
    lock.unlock();
    next();
    next = nullptr;
    give_memory_back();
    lock.lock();
    busy_ = false;
    changed_.notify_all();
  }
}

}  // namespace margin::service
