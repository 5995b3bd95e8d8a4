// Any bytes on a connection: no crash, and the same requests, ended by a refusal or not, however they are cut into packets.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "http/request_reader_testing.h"

namespace {

// Of two faults a reader may report the one it sees first, and how much it sees depends on the packets.
std::vector<std::string> outcome(std::string_view bytes, const margin::http::Limits& limits, std::uint64_t seed) {
  std::vector<std::string> found = margin::http::read_all(bytes, limits, seed);
  if (!found.empty() && (found.back().starts_with('4') || found.back().starts_with('5'))) found.back() = "refused";
  return found;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  // Small limits, so that short inputs reach them.
  const margin::http::Limits limits{.target_bytes_max = 60, .header_bytes_max = 300, .header_count_max = 6, .body_bytes_max = 200};
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto whole = outcome(bytes, limits, 0);
  for (const std::uint64_t seed : {1, 2, 3}) {
    if (outcome(bytes, limits, seed) != whole) std::abort();
  }
  return 0;
}
