#include "base/check.h"

#include <cstdio>
#include <cstdlib>

namespace margin::internal {

void check_failed(const char* file, int line, const char* condition, const char* why) {
  std::fprintf(stderr, "margin: %s:%d: broken invariant: %s (%s)\n", file, line, condition, why);
  std::abort();
}

}  // namespace margin::internal
