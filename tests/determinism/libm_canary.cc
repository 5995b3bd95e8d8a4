// A fingerprint of the C library's own functions. It must change when CPU features are masked, or the masking proves nothing.
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <initializer_list>

int main() {
  std::uint64_t hash = 0;
  for (int i = 1; i <= 1'000'000; ++i) {
    const double x = i * 4e-5;
    for (const double y : {std::exp(x), std::log(x), std::sin(x), std::pow(x, 1.7)})
      hash = (hash * 1099511628211U) ^ std::bit_cast<std::uint64_t>(y);
  }
  std::printf("%016llx\n", static_cast<unsigned long long>(hash));
  return 0;
}
