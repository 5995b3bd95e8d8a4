#include "pool/id_window.h"

#include "pool/id_encoding.h"

namespace margin::internal {

void IdWindow::save(Encoder& out) const {
  out.integer(static_cast<std::uint64_t>(order_.size()));
  for (const Entry& entry : order_) {
    encode(entry.id, out);
    out.integer(entry.time_ms);
  }
}

void IdWindow::load(Decoder& in) {
  const std::size_t count = in.length(16 + 8);
  for (std::size_t i = 0; i < count && in.ok(); ++i) {
    const Uuid id = decode_uuid(in);
    const auto time_ms = in.integer<std::int64_t>();
    if (!insert(id, time_ms)) in.fail();
  }
}

}  // namespace margin::internal
