#include "log/wire_decision.h"

#include <event.pb.h>
#include <google/protobuf/io/coded_stream.h>

#include <bit>
#include <cstring>
#include <limits>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/copy_text.h"
#include "log/codec.h"
#include "log/left_out.h"

namespace margin::internal {
namespace {

using google::protobuf::io::CodedInputStream;
using google::protobuf::io::CodedOutputStream;

// How the value of a field is written.
enum Type : unsigned { kVarint = 0, kFixed = 1, kLength = 2 };

constexpr unsigned tag_of(int field, Type type) { return (static_cast<unsigned>(field) << 3) | type; }

// A larger record's room is given back.
constexpr std::size_t kRoomKept = std::size_t{64} << 10;

// Writes from the end of the record to its beginning: a message's length stands before it, and is known once the message is written. So
// fields come with the highest number first. As in proto3, what has its default takes no space.
class Backwards {
 public:
  explicit Backwards(std::uint8_t* end) : at_(end) {}
  [[nodiscard]] const std::uint8_t* begin() const { return at_; }

  void present(int field, double value) {
    fixed(std::bit_cast<std::uint64_t>(value));
    tag(field, kFixed);
  }
  // A negative zero is no default.
  void real(int field, double value) {
    if (std::bit_cast<std::uint64_t>(value) != 0) present(field, value);
  }
  void real(int field, const std::optional<double>& value) {
    if (value) present(field, *value);
  }
  [[gnu::always_inline]] void count(int field, std::uint64_t value) {
    if (value != 0) number(field, kVarint, value);
  }
  void bits(int field, std::uint64_t value) {
    if (value == 0) return;
    fixed(value);
    tag(field, kFixed);
  }
  [[gnu::always_inline]] void text(int field, std::string_view value) {
    if (value.empty()) return;
    at_ -= value.size();
    copy_text(at_, value);
    length(field, value.size());
  }
  void reals(int field, const std::vector<double>& values) {
    if (values.empty()) return;
    for (auto value = values.rbegin(); value != values.rend(); ++value) fixed(std::bit_cast<std::uint64_t>(*value));
    length(field, values.size() * sizeof(double));
  }
  // What `count_of` tells of each.
  template <class T, class CountOf>
  void counts(int field, const std::vector<T>& values, const CountOf& count_of) {
    const std::uint8_t* const end = at_;
    for (auto value = values.rbegin(); value != values.rend(); ++value) varint(count_of(*value));
    length(field, static_cast<std::size_t>(end - at_));
  }
  // `more`: what writing it depends on besides.
  template <class T, class... More>
  void message(int field, const T& value, const More&... more) {
    const std::uint8_t* const end = at_;
    put(value, more..., *this);
    length(field, static_cast<std::size_t>(end - at_));
  }
  template <class T>
  void messages(int field, const std::vector<T>& values) {
    for (auto value = values.rbegin(); value != values.rend(); ++value) message(field, *value);
  }

 private:
  void fixed(std::uint64_t value) { CodedOutputStream::WriteLittleEndian64ToArray(value, at_ -= sizeof value); }
  [[gnu::always_inline]] void varint(std::uint64_t value) {
    if (value < 0x80) {
      *--at_ = static_cast<std::uint8_t>(value);
    } else if (value < 0x4000) {
      at_ -= 2;
      at_[0] = static_cast<std::uint8_t>(value | 0x80);
      at_[1] = static_cast<std::uint8_t>(value >> 7);
    } else {
      at_ = long_varint(at_, value);
    }
  }
  // Apart from the others, and without `this`: so the place stays in a register for them.
  [[gnu::noinline]] static std::uint8_t* long_varint(std::uint8_t* end, std::uint64_t value) {
    std::uint8_t* const at = end - CodedOutputStream::VarintSize64(value);
    CodedOutputStream::WriteVarint64ToArray(value, at);
    return at;
  }
  // A number behind its tag; mostly both have one byte.
  [[gnu::always_inline]] void number(int field, Type type, std::uint64_t value) {
    const unsigned tag = tag_of(field, type);
    if (tag < 0x80 && value < 0x80) {
      at_ -= 2;
      at_[0] = static_cast<std::uint8_t>(tag);
      at_[1] = static_cast<std::uint8_t>(value);
    } else {
      varint(value);
      varint(tag);
    }
  }
  void tag(int field, Type type) { varint(tag_of(field, type)); }
  [[gnu::always_inline]] void length(int field, std::size_t bytes) { number(field, kLength, bytes); }

  std::uint8_t* at_;
};

// Every struct is taken apart by a structured binding of all its fields, as in wire_event.cc.

void put(const Term& from, Backwards& to) {
  using Message = wire::Term;
  const auto& [name, value] = from;
  to.real(Message::kValueFieldNumber, value);
  to.text(Message::kNameFieldNumber, name);
}

void put(const RecordedResponse& from, bool first, const LeftOut& left_out, Backwards& to) {
  using Message = wire::RecordedResponse;
  const auto& [model, channel, confidence, answer, answer_text, abstained, calibrated, audit, factor, band, n, weight, terms] = from;
  to.messages(Message::kTermsFieldNumber, terms);
  if (!left_out.weights()) to.real(Message::kWeightFieldNumber, weight);
  to.real(Message::kNFieldNumber, n);
  to.count(Message::kBandFieldNumber, band);
  if (!left_out.factors()) to.real(Message::kFactorFieldNumber, factor);
  to.real(Message::kAuditFieldNumber, audit);
  to.real(Message::kCalibratedFieldNumber, calibrated);
  to.count(Message::kAbstainedFieldNumber, abstained ? 1 : 0);
  to.text(Message::kAnswerTextFieldNumber, answer_text);
  to.count(Message::kAnswerFieldNumber, answer + 1);
  if (!left_out.confidences()) to.real(Message::kConfidenceFieldNumber, confidence);
  if (first || !left_out.channels()) to.text(Message::kChannelFieldNumber, channel);
  to.text(Message::kModelFieldNumber, model);
}

void put(const Digest& from, Backwards& to) {
  const auto& [high, low] = from;
  to.bits(wire::Hash::kLowFieldNumber, low);
  to.bits(wire::Hash::kHighFieldNumber, high);
}

void put(const RequestMark& from, Backwards& to) {
  const auto& [key, body] = from;
  to.message(wire::Mark::kBodyFieldNumber, body);
  to.message(wire::Mark::kKeyFieldNumber, key);
}

void put(const Sureness& from, Backwards& to) {
  using Message = wire::Sureness;
  const auto& [p_correct, low, high, effective_n, status] = from;
  to.count(Message::kStatusFieldNumber, static_cast<std::uint32_t>(status));
  to.real(Message::kEffectiveNFieldNumber, effective_n);
  to.real(Message::kHighFieldNumber, high);
  to.real(Message::kLowFieldNumber, low);
  to.real(Message::kPCorrectFieldNumber, p_correct);
}

void put(const DecisiveModel& from, Backwards& to) {
  const auto& [model, answer] = from;
  to.count(wire::DecisiveModel::kAnswerFieldNumber, answer + 1);
  to.text(wire::DecisiveModel::kModelFieldNumber, model);
}

void put(const DecisionMade& from, const LeftOut& left_out, Backwards& to) {
  using Message = wire::DecisionMade;
  const auto& [task, segment, kind, responses, answers, selected, selected_model, share, runner_up_gap, scores, sure, max_error, abstained,
               decisive, audit_rate, probe, vote, propensity] = from;
  if (left_out.confidences()) {
    to.counts(Message::kConfidencesFieldNumber, responses,
              [](const RecordedResponse& response) { return LeftOut::listed(response.confidence); });
  }
  to.count(Message::kLeftOutFieldNumber, left_out.bits());
  if (propensity != 1.0) to.present(Message::kPropensityFieldNumber, propensity);
  to.text(Message::kVoteFieldNumber, vote);
  to.count(Message::kProbeFieldNumber, probe ? 1 : 0);
  to.real(Message::kAuditRateFieldNumber, audit_rate);
  to.messages(Message::kDecisiveFieldNumber, decisive);
  to.count(Message::kAbstainedFieldNumber, abstained ? 1 : 0);
  to.real(Message::kMaxErrorFieldNumber, max_error);
  to.message(Message::kSureFieldNumber, sure);
  to.reals(Message::kScoresFieldNumber, scores);
  to.real(Message::kRunnerUpGapFieldNumber, runner_up_gap);
  to.real(Message::kShareFieldNumber, share);
  to.text(Message::kSelectedModelFieldNumber, selected_model);
  to.count(Message::kSelectedFieldNumber, selected + 1);
  to.messages(Message::kAnswersFieldNumber, answers);
  for (auto response = responses.rbegin(); response != responses.rend(); ++response) {
    to.message(Message::kResponsesFieldNumber, *response, &*response == responses.data(), left_out);
  }
  to.count(Message::kKindFieldNumber, static_cast<std::uint32_t>(kind));
  to.text(Message::kSegmentFieldNumber, segment);
  to.text(Message::kTaskFieldNumber, task);
}

// No message is larger: a tag and a number take at most 11 bytes, a tag and a length at most 7.
constexpr std::size_t kTextBytes = 7;
constexpr std::size_t kNumberBytes = 11;
// An envelope but for its note and its event: a mark is two hashes of two numbers.
constexpr std::size_t kEnvelopeBytes = 5 * kTextBytes + 8 * kNumberBytes;

std::size_t most_bytes(const DecisionMade& decision) {
  std::size_t bytes = decision.task.size() + decision.segment.size() + decision.selected_model.size() + decision.vote.size();
  bytes += 9 * kTextBytes + 17 * kNumberBytes + decision.answers.size() * (kTextBytes + 2 * kNumberBytes) +
           decision.scores.size() * sizeof(double);
  for (const RecordedResponse& response : decision.responses) {
    bytes += 4 * kTextBytes + 9 * kNumberBytes + response.model.size() + response.channel.size() + response.answer_text.size();
    for (const Term& term : response.terms) bytes += 2 * kTextBytes + kNumberBytes + term.name.size();
  }
  for (const DecisiveModel& decisive : decision.decisive) bytes += 2 * kTextBytes + kNumberBytes + decisive.model.size();
  return bytes;
}

// Reads what Backwards wrote: fields in the order of their numbers, none twice, none unknown. Whoever reads a message asks for all of its
// fields in that order, and then whether that was all(). What is absent has its default, as in proto3.
class Forwards {
 public:
  explicit Forwards(std::string_view bytes) : at_(bytes.data()), end_(at_ + bytes.size()) {}

  // Everything was read, and as it was asked for.
  [[nodiscard]] bool all() const { return at_ == end_ && !failed_; }
  void fail() {
    failed_ = true;
    at_ = end_;
  }

  // Whether a text or a message comes next under this number.
  [[nodiscard]] bool has(int field) const { return tag_bytes(field, kLength) != 0; }
  // Whether it was there.
  bool present(int field, double& value) {
    if (!is_next(field, kFixed)) return false;
    value = std::bit_cast<double>(fixed());
    return true;
  }
  void real(int field, double& value) {
    if (!present(field, value)) value = 0.0;
  }
  void real(int field, std::optional<double>& value) {
    if (double number = 0.0; present(field, number)) value = number;
  }
  [[nodiscard]] std::uint64_t bits(int field) { return is_next(field, kFixed) ? fixed() : 0; }
  [[nodiscard]] std::uint64_t count(int field, std::uint64_t most) {
    const std::uint64_t value = is_next(field, kVarint) ? varint() : 0;
    if (value > most) fail();
    return value;
  }
  [[nodiscard]] std::uint32_t count(int field) {
    return static_cast<std::uint32_t>(count(field, std::numeric_limits<std::uint32_t>::max()));
  }
  void flag(int field, bool& value) { value = count(field, 1) == 1; }
  [[nodiscard]] std::string_view text(int field) { return is_next(field, kLength) ? stretch() : std::string_view(); }
  void text(int field, std::string& value) { value = text(field); }
  void reals(int field, std::vector<double>& values) {
    const std::string_view bytes = text(field);
    if (bytes.size() % sizeof(double) != 0) return fail();
    values.resize(bytes.size() / sizeof(double));
    Forwards numbers(bytes);
    for (double& value : values) value = std::bit_cast<double>(numbers.fixed());
  }
  [[nodiscard]] std::vector<std::uint32_t> counts(int field) {
    std::vector<std::uint32_t> values;
    Forwards numbers(text(field));
    if (numbers.left() > 0) values.reserve(numbers.left() / 2 + 1);
    while (numbers.left() > 0) {
      const std::uint64_t value = numbers.varint();
      if (value > std::numeric_limits<std::uint32_t>::max()) fail();
      values.push_back(static_cast<std::uint32_t>(value));
    }
    if (numbers.failed_) fail();
    return values;
  }
  template <class T>
  void message(int field, T& value) {
    Forwards inner(text(field));
    take(inner, value);
    if (!inner.all()) fail();
  }
  template <class T>
  void messages(int field, std::vector<T>& values) {
    const char* const first = at_;
    std::size_t count = 0;
    for (; is_next(field, kLength); ++count) static_cast<void>(stretch());
    if (failed_ || count == 0) return;
    at_ = first;
    values.resize(count);
    for (T& value : values) message(field, value);
  }

 private:
  [[nodiscard]] std::size_t left() const { return static_cast<std::size_t>(end_ - at_); }
  [[nodiscard]] unsigned byte(std::size_t place) const { return static_cast<unsigned char>(at_[place]); }
  // How many bytes the tag takes, if it is what comes next; else 0.
  [[nodiscard]] std::size_t tag_bytes(int field, Type type) const {
    const unsigned tag = tag_of(field, type);
    if (tag < 0x80) return left() > 0 && byte(0) == tag ? 1 : 0;
    return left() > 1 && byte(0) == ((tag & 0x7f) | 0x80) && byte(1) == tag >> 7 ? 2 : 0;
  }
  bool is_next(int field, Type type) {
    const std::size_t bytes = tag_bytes(field, type);
    at_ += bytes;
    return bytes != 0;
  }
  std::uint64_t fixed() {
    std::uint64_t value = 0;
    if (left() < sizeof value) {
      fail();
    } else {
      CodedInputStream::ReadLittleEndian64FromArray(reinterpret_cast<const std::uint8_t*>(at_), &value);
      at_ += sizeof value;
    }
    return value;
  }
  std::uint64_t varint() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64 && left() > 0; shift += 7) {
      const std::uint64_t next = byte(0);
      if (shift == 63 && next > 1) break;
      ++at_;
      value |= (next & 0x7f) << shift;
      if (next < 0x80) return value;
    }
    fail();
    return 0;
  }
  std::string_view stretch() {
    const std::uint64_t size = varint();
    if (size > left()) fail();
    if (failed_) return {};
    const std::string_view bytes(at_, size);
    at_ += size;
    return bytes;
  }

  const char* at_;
  const char* end_;
  bool failed_ = false;
};

void take(Forwards& from, Term& to) {
  using Message = wire::Term;
  auto& [name, value] = to;
  from.text(Message::kNameFieldNumber, name);
  from.real(Message::kValueFieldNumber, value);
}

void take(Forwards& from, RecordedResponse& to) {
  using Message = wire::RecordedResponse;
  auto& [model, channel, confidence, answer, answer_text, abstained, calibrated, audit, factor, band, n, weight, terms] = to;
  from.text(Message::kModelFieldNumber, model);
  from.text(Message::kChannelFieldNumber, channel);
  from.real(Message::kConfidenceFieldNumber, confidence);
  answer = from.count(Message::kAnswerFieldNumber) - 1;
  from.text(Message::kAnswerTextFieldNumber, answer_text);
  from.flag(Message::kAbstainedFieldNumber, abstained);
  from.real(Message::kCalibratedFieldNumber, calibrated);
  from.real(Message::kAuditFieldNumber, audit);
  from.real(Message::kFactorFieldNumber, factor);
  band = from.count(Message::kBandFieldNumber);
  from.real(Message::kNFieldNumber, n);
  from.real(Message::kWeightFieldNumber, weight);
  from.messages(Message::kTermsFieldNumber, terms);
}

void take(Forwards& from, Digest& to) {
  auto& [high, low] = to;
  high = from.bits(wire::Hash::kHighFieldNumber);
  low = from.bits(wire::Hash::kLowFieldNumber);
}

void take(Forwards& from, Sureness& to) {
  using Message = wire::Sureness;
  auto& [p_correct, low, high, effective_n, status] = to;
  from.real(Message::kPCorrectFieldNumber, p_correct);
  from.real(Message::kLowFieldNumber, low);
  from.real(Message::kHighFieldNumber, high);
  from.real(Message::kEffectiveNFieldNumber, effective_n);
  status = static_cast<TrustStatus>(from.count(Message::kStatusFieldNumber, static_cast<std::uint64_t>(TrustStatus::kCalibrated)));
}

void take(Forwards& from, DecisiveModel& to) {
  auto& [model, answer] = to;
  from.text(wire::DecisiveModel::kModelFieldNumber, model);
  answer = from.count(wire::DecisiveModel::kAnswerFieldNumber) - 1;
}

void take(Forwards& from, DecisionMade& to) {
  using Message = wire::DecisionMade;
  auto& [task, segment, kind, responses, answers, selected, selected_model, share, runner_up_gap, scores, sure, max_error, abstained,
         decisive, audit_rate, probe, vote, propensity] = to;
  from.text(Message::kTaskFieldNumber, task);
  from.text(Message::kSegmentFieldNumber, segment);
  kind = static_cast<AnswerKind>(from.count(Message::kKindFieldNumber, static_cast<std::uint64_t>(AnswerKind::kText)));
  from.messages(Message::kResponsesFieldNumber, responses);
  from.messages(Message::kAnswersFieldNumber, answers);
  selected = from.count(Message::kSelectedFieldNumber) - 1;
  from.text(Message::kSelectedModelFieldNumber, selected_model);
  from.real(Message::kShareFieldNumber, share);
  from.real(Message::kRunnerUpGapFieldNumber, runner_up_gap);
  from.reals(Message::kScoresFieldNumber, scores);
  from.message(Message::kSureFieldNumber, sure);
  from.real(Message::kMaxErrorFieldNumber, max_error);
  from.flag(Message::kAbstainedFieldNumber, abstained);
  from.messages(Message::kDecisiveFieldNumber, decisive);
  from.real(Message::kAuditRateFieldNumber, audit_rate);
  from.flag(Message::kProbeFieldNumber, probe);
  from.text(Message::kVoteFieldNumber, vote);
  if (!from.present(Message::kPropensityFieldNumber, propensity)) propensity = 1.0;
  const std::uint64_t left_out = from.count(Message::kLeftOutFieldNumber, std::numeric_limits<std::uint64_t>::max());
  if (!LeftOut::put_back(left_out, from.counts(Message::kConfidencesFieldNumber), to)) from.fail();
}

void take(Forwards& from, RequestMark& to) {
  auto& [key, body] = to;
  from.message(wire::Mark::kKeyFieldNumber, key);
  from.message(wire::Mark::kBodyFieldNumber, body);
}

std::uint64_t zigzag(std::int64_t value) { return (static_cast<std::uint64_t>(value) << 1) ^ static_cast<std::uint64_t>(value >> 63); }
std::int64_t unzigzag(std::uint64_t value) { return static_cast<std::int64_t>((value >> 1) ^ (~(value & 1) + 1)); }

}  // namespace

std::optional<Record> read_decision(std::string_view bytes) {
  using Message = wire::Envelope;
  std::optional<Record> record(std::in_place);
  auto& [offset, event, mark, note] = *record;
  auto& [id, time_ms, body] = event;
  Forwards from(bytes);
  const std::uint64_t version = from.count(Message::kVersionFieldNumber, kFormatVersion);
  id.high = from.bits(Message::kIdHighFieldNumber);
  id.low = from.bits(Message::kIdLowFieldNumber);
  time_ms = unzigzag(from.count(Message::kTimeMsFieldNumber, std::numeric_limits<std::uint64_t>::max()));
  if (from.has(Message::kMarkFieldNumber)) from.message(Message::kMarkFieldNumber, mark.emplace());
  from.text(Message::kNoteFieldNumber, note);
  if (version == 0 || !from.has(Message::kDecisionMadeFieldNumber)) return std::nullopt;
  from.message(Message::kDecisionMadeFieldNumber, body.emplace<DecisionMade>());
  return from.all() ? std::move(record) : std::nullopt;
}

void append_decision(const Event& event, const DecisionMade& decision, const std::optional<RequestMark>& mark, std::string_view note,
                     std::string& out) {
  using Message = wire::Envelope;
  thread_local std::vector<std::uint8_t> room;
  const std::size_t most = kEnvelopeBytes + note.size() + most_bytes(decision);
  if (room.size() < most) room.resize(most);
  std::uint8_t* const end = room.data() + room.size();
  Backwards to(end);
  const LeftOut left_out = LeftOut::of(decision);
  to.message(Message::kDecisionMadeFieldNumber, decision, left_out);
  to.text(Message::kNoteFieldNumber, note);
  if (mark) to.message(Message::kMarkFieldNumber, *mark);
  to.count(Message::kTimeMsFieldNumber, zigzag(event.time_ms));
  to.bits(Message::kIdLowFieldNumber, event.id.low);
  to.bits(Message::kIdHighFieldNumber, event.id.high);
  to.count(Message::kVersionFieldNumber, left_out.nothing() ? kFirstFormat : kLeftOutFormat);
  MARGIN_CHECK(static_cast<std::size_t>(end - to.begin()) <= most, "a record is no larger than what was made room for");
  out.append(reinterpret_cast<const char*>(to.begin()), static_cast<std::size_t>(end - to.begin()));
  if (room.size() > kRoomKept) room = {};
}

}  // namespace margin::internal
