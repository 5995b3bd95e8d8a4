#include "margin/random.h"

#include <bit>
#include <cmath>

#include "margin/math.h"

namespace margin {
namespace {

std::uint64_t splitmix(std::uint64_t& state) {
  std::uint64_t z = (state += 0x9e3779b97f4a7c15ULL);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
  return z ^ (z >> 31);
}

}  // namespace

Random::Random(std::uint64_t seed) : state_{} {
  for (auto& word : state_) word = splitmix(seed);
}

Random Random::stream(std::uint64_t seed, std::uint64_t index) {
  std::uint64_t mixed = index;
  return Random(seed ^ splitmix(mixed));
}

std::uint64_t Random::bits() {
  const std::uint64_t result = std::rotl(state_[1] * 5, 7) * 9;
  const std::uint64_t shifted = state_[1] << 17;
  state_[2] ^= state_[0];
  state_[3] ^= state_[1];
  state_[1] ^= state_[2];
  state_[0] ^= state_[3];
  state_[2] ^= shifted;
  state_[3] = std::rotl(state_[3], 45);
  return result;
}

double Random::uniform() { return static_cast<double>(bits() >> 11) * 0x1p-53; }

std::uint64_t Random::below(std::uint64_t bound) {
  // Refuse the short last run of multiples, so that every remainder is equally likely.
  const std::uint64_t refuse = (0 - bound) % bound;
  std::uint64_t x = bits();
  while (x < refuse) x = bits();
  return x % bound;
}

double Random::normal() {
  for (;;) {
    const double u = 2.0 * uniform() - 1.0;
    const double v = 2.0 * uniform() - 1.0;
    const double s = u * u + v * v;
    if (s > 0.0 && s < 1.0) return u * std::sqrt(-2.0 * log(s) / s);
  }
}

}  // namespace margin
