// Scratch: memory for what a function needs only until it returns. On the stack, and on the heap where that is not enough.
//
//   Scratch<4096> scratch;
//   std::pmr::vector<double> weights(&scratch);
#pragma once

#include <cstddef>
#include <memory_resource>

namespace margin::internal {

template <std::size_t kBytes>
class Scratch final : public std::pmr::monotonic_buffer_resource {
 public:
  Scratch() : monotonic_buffer_resource(bytes_, kBytes) {}

 private:
  alignas(std::max_align_t) std::byte bytes_[kBytes];  // nothing is read of it that was not written
};

}  // namespace margin::internal
