// Random: our own seeded generator and shuffle, so that a seed means the same stream on every machine and with every compiler.
// xoshiro256** by Blackman and Vigna, seeded through splitmix64.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

namespace margin {

class Random {
 public:
  explicit Random(std::uint64_t seed);

  // 64 independent random bits.
  std::uint64_t bits();
  // Uniform in [0, 1), a multiple of 2^-53.
  double uniform();
  // Uniform in 0 .. bound-1 without bias; bound >= 1.
  std::uint64_t below(std::uint64_t bound);
  // True with probability p.
  bool chance(double p) { return uniform() < p; }
  // Standard normal, by the polar method with our own log.
  double normal();

  // Fisher-Yates.
  template <class T>
  void shuffle(std::span<T> items) {
    for (std::size_t i = items.size(); i > 1; --i) std::swap(items[i - 1], items[static_cast<std::size_t>(below(i))]);
  }

  // A generator for stream number `index` of this seed: independent streams for orderings, tasks, threads.
  [[nodiscard]] static Random stream(std::uint64_t seed, std::uint64_t index);

 private:
  std::uint64_t state_[4];
};

}  // namespace margin
