// Records of the event log: any bytes are an event or a refusal, and what is an event is written again to the same event.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "log/codec.h"
#include "log/state_file.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  if (const auto record = margin::internal::decode(bytes, "p", 7)) {
    std::string again;
    margin::internal::encode(record->event, record->mark, record->note, again);
    const auto back = margin::internal::decode(again, "p", 7);
    if (!back) std::abort();
    std::string third;
    margin::internal::encode(back->event, back->mark, back->note, third);
    if (third != again) std::abort();
  }
  if (const auto state = margin::decode_state_file(bytes)) {
    if (margin::encode_state_file(*state) != bytes) std::abort();
  }
  return 0;
}
