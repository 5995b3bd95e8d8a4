// Threads that carry over and fold what is already safe step back where somebody waits for an answer on the same processor.
#pragma once

#include <sys/resource.h>
#include <unistd.h>

namespace margin::internal {

// For the calling thread alone, which on Linux has a nice value of its own. Not the idle class: it would hold locks for as long as others
// leave it no time at all.
inline void step_back() { setpriority(PRIO_PROCESS, static_cast<id_t>(gettid()), 15); }

}  // namespace margin::internal
