// Threads that carry over and fold what is already safe step back where somebody waits for an answer on the same processor.
#pragma once

#include <sys/resource.h>
#include <unistd.h>

#include <chrono>
#include <ctime>

namespace margin::internal {

// For the calling thread alone, which on Linux has a nice value of its own. Not the idle class: it would hold locks for as long as others
// leave it no time at all, and who is in it may not leave it when that lasts too long.
inline void step_back() { setpriority(PRIO_PROCESS, static_cast<id_t>(gettid()), 15); }

// Of the calling thread.
inline std::chrono::nanoseconds processor_time() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

// A nice value alone does not let a thread that wakes have the processor: one that works on keeps it until the system's next tick,
// milliseconds. So who steps back also sleeps, so many times as long as it has worked, after a fraction of a millisecond of work.
inline constexpr int kSleepPerWork = 3;

}  // namespace margin::internal
