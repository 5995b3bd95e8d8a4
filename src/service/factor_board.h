// FactorBoard: the factors of a pool for those who look at all of them again and again. Made anew when somebody asks and the state has
// moved, but not more often than once a second, nor so often that it takes more than a fiftieth of the time.
#pragma once

#include <chrono>
#include <cstdint>
#include <vector>

#include "margin/pool.h"

namespace margin::service {

class FactorBoard {
 public:
  // As they were at most a moment ago; `offset` says which state `pool` is.
  [[nodiscard]] const std::vector<FactorRow>& rows(const Pool& pool, std::uint64_t offset, std::chrono::steady_clock::time_point now);
  // The state is another, whatever its offset.
  void forget() { made_ = false; }

 private:
  std::vector<FactorRow> rows_;
  std::uint64_t offset_ = 0;
  bool made_ = false;
  std::chrono::steady_clock::time_point not_before_;
};

}  // namespace margin::service
