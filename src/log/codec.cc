#include "log/codec.h"

#include <google/protobuf/arena.h>
#include <google/protobuf/io/coded_stream.h>

#include <array>
#include <utility>

#include "base/text.h"
#include "log/wire_decision.h"
#include "log/wire_event.h"
#include "pool/snapshot_format.h"

namespace margin::internal {
namespace {

// Messages live in an arena that each thread keeps: its first block holds a decision of dozens of responses without asking the heap.
class Scratch {
 public:
  Scratch() : arena_(options(block_)) {}
  template <class Message>
  Message& fresh() {
    arena_.Reset();
    return *google::protobuf::Arena::CreateMessage<Message>(&arena_);
  }

 private:
  using Block = std::array<char, std::size_t{32} << 10>;
  static google::protobuf::ArenaOptions options(Block& block) {
    google::protobuf::ArenaOptions options;
    options.initial_block = block.data();
    options.initial_block_size = block.size();
    return options;
  }
  Block block_;
  google::protobuf::Arena arena_;
};

Scratch& scratch() {
  thread_local Scratch scratch;
  return scratch;
}

// The number of the event type in a record whose type this binary does not know, 0 for none: event.proto keeps a range of numbers for types
// alone.
std::uint32_t unknown_type(std::string_view record) {
  google::protobuf::io::CodedInputStream in(reinterpret_cast<const std::uint8_t*>(record.data()), static_cast<int>(record.size()));
  while (const std::uint32_t tag = in.ReadTag()) {
    const std::uint32_t field = tag >> 3;
    if (field >= 16 && field <= 127) return field;
    std::uint64_t ignored = 0;
    std::uint32_t size = 0;
    switch (tag & 7) {
      case 0:
        if (!in.ReadVarint64(&ignored)) return 0;
        break;
      case 1:
        if (!in.Skip(8)) return 0;
        break;
      case 2:
        if (!in.ReadVarint32(&size) || !in.Skip(static_cast<int>(size))) return 0;
        break;
      case 5:
        if (!in.Skip(4)) return 0;
        break;
      default: return 0;
    }
  }
  return 0;
}

// Of anything but a decision.
std::uint32_t oldest_format(const EventBody& body) {
  const auto* config = std::get_if<PoolConfigured>(&body);
  if (config != nullptr && config->max_error != 1.0) return kMaxErrorFormat;
  // Who cannot read the state would refuse the event, and fold to another one.
  const auto* imported = std::get_if<StateImported>(&body);
  if (imported != nullptr && snapshot_format(imported->state) == kMaxErrorSnapshot) return kMaxErrorFormat;
  return kFirstFormat;
}

}  // namespace

void encode(const Event& event, const std::optional<RequestMark>& mark, std::string_view note, std::string& out) {
  const auto& [id, time_ms, body] = event;
  if (const auto* decision = std::get_if<DecisionMade>(&body)) return append_decision(event, *decision, mark, note, out);
  auto& envelope = scratch().fresh<wire::Envelope>();
  envelope.set_version(oldest_format(body));
  envelope.set_id_high(id.high);
  envelope.set_id_low(id.low);
  envelope.set_time_ms(time_ms);
  if (mark) to_wire(*mark, *envelope.mutable_mark());
  envelope.set_note(note.data(), note.size());
  to_wire(body, envelope);
  envelope.AppendToString(&out);
}

Result<Record> decode(std::string_view bytes, std::string_view pool, std::uint64_t offset) {
  if (std::optional<Record> decision = bytes.size() > kRecordBytesMax ? std::nullopt : read_decision(bytes)) {
    decision->offset = offset;
    return std::move(*decision);
  }
  const auto where = [&] { return "event " + std::to_string(offset) + " of pool " + printable(pool); };
  auto& envelope = scratch().fresh<wire::Envelope>();
  if (bytes.size() > kRecordBytesMax || !envelope.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())) || envelope.version() == 0) {
    return {ErrorCode::kCorrupt, where() + ": the bytes are no record"};
  }
  if (envelope.version() > kFormatVersion) {
    return {ErrorCode::kUnsupported, where() + " has format " + std::to_string(envelope.version()) + ", this binary reads up to " +
                                         std::to_string(kFormatVersion) + ": it needs a newer margin"};
  }
  Record record{.offset = offset};
  auto& [id, time_ms, body] = record.event;
  if (!from_wire(envelope, body)) {
    const std::uint32_t type = envelope.body_case() == wire::Envelope::BODY_NOT_SET ? unknown_type(bytes) : 0;
    if (type != 0)
      return {ErrorCode::kUnsupported, where() + " is of the unknown type " + std::to_string(type) + ": it needs a newer margin"};
    return {ErrorCode::kCorrupt, where() + ": the bytes are no event"};
  }
  id = {envelope.id_high(), envelope.id_low()};
  time_ms = envelope.time_ms();
  if (envelope.has_mark()) from_wire(envelope.mark(), record.mark.emplace());
  record.note = envelope.note();
  return record;
}

}  // namespace margin::internal
