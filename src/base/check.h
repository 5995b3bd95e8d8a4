// MARGIN_CHECK: an invariant that must hold in every build. A failure names the place and stops the program:
// going on with a broken invariant would teach the calibrator from nonsense.
#pragma once

namespace margin::internal {

[[noreturn]] void check_failed(const char* file, int line, const char* condition, const char* why);

}  // namespace margin::internal

#define MARGIN_CHECK(condition, why)                                        \
  (__builtin_expect(static_cast<bool>(condition), 1) ? static_cast<void>(0) \
                                                     : ::margin::internal::check_failed(__FILE__, __LINE__, #condition, why))
