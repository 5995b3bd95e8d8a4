// Any bytes as a file of keys: no crash; what is accepted is written and read back to the same.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "access/key_ring.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using margin::access::KeyRing;
  const std::string text(reinterpret_cast<const char*>(data), size);
  const margin::Result<KeyRing> ring = KeyRing::parse(text, "k");
  if (!ring) return 0;
  const std::string written = ring->text();
  const margin::Result<KeyRing> again = KeyRing::parse(written, "k");
  if (!again || again->text() != written) std::abort();
  static_cast<void>(ring->authenticate(text));
  return 0;
}
