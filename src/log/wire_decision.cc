#include "log/wire_decision.h"

#include <event.pb.h>
#include <google/protobuf/io/coded_stream.h>

#include <bit>
#include <cstring>
#include <optional>
#include <string_view>
#include <vector>

#include "base/check.h"

namespace margin::internal {
namespace {

using google::protobuf::io::CodedOutputStream;

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
  void count(int field, std::uint32_t value) {
    if (value == 0) return;
    varint(value);
    tag(field, kVarint);
  }
  void bits(int field, std::uint64_t value) {
    if (value == 0) return;
    fixed(value);
    tag(field, kFixed);
  }
  void text(int field, std::string_view value) {
    if (value.empty()) return;
    at_ -= value.size();
    std::memcpy(at_, value.data(), value.size());
    length(field, value.size());
  }
  void reals(int field, const std::vector<double>& values) {
    if (values.empty()) return;
    for (std::size_t i = values.size(); i > 0; --i) fixed(std::bit_cast<std::uint64_t>(values[i - 1]));
    length(field, values.size() * sizeof(double));
  }
  template <class T>
  void message(int field, const T& value) {
    const std::uint8_t* const end = at_;
    put(value, *this);
    length(field, static_cast<std::size_t>(end - at_));
  }
  template <class T>
  void messages(int field, const std::vector<T>& values) {
    for (std::size_t i = values.size(); i > 0; --i) message(field, values[i - 1]);
  }

 private:
  enum Type : unsigned { kVarint = 0, kFixed = 1, kLength = 2 };

  void fixed(std::uint64_t value) { CodedOutputStream::WriteLittleEndian64ToArray(value, at_ -= sizeof value); }
  void varint(std::uint64_t value) {
    if (value < 0x80) {
      *--at_ = static_cast<std::uint8_t>(value);
    } else {
      at_ -= CodedOutputStream::VarintSize64(value);
      CodedOutputStream::WriteVarint64ToArray(value, at_);
    }
  }
  void tag(int field, Type type) { varint((static_cast<unsigned>(field) << 3) | type); }
  void length(int field, std::size_t bytes) {
    varint(bytes);
    tag(field, kLength);
  }

  std::uint8_t* at_;
};

// Every struct is taken apart by a structured binding of all its fields, as in wire_event.cc.

void put(const Term& from, Backwards& to) {
  using Message = wire::Term;
  const auto& [name, value] = from;
  to.real(Message::kValueFieldNumber, value);
  to.text(Message::kNameFieldNumber, name);
}

void put(const RecordedResponse& from, Backwards& to) {
  using Message = wire::RecordedResponse;
  const auto& [model, channel, confidence, answer, answer_text, abstained, calibrated, audit, factor, band, n, weight, terms] = from;
  to.messages(Message::kTermsFieldNumber, terms);
  to.real(Message::kWeightFieldNumber, weight);
  to.real(Message::kNFieldNumber, n);
  to.count(Message::kBandFieldNumber, band);
  to.real(Message::kFactorFieldNumber, factor);
  to.real(Message::kAuditFieldNumber, audit);
  to.real(Message::kCalibratedFieldNumber, calibrated);
  to.count(Message::kAbstainedFieldNumber, abstained ? 1 : 0);
  to.text(Message::kAnswerTextFieldNumber, answer_text);
  to.count(Message::kAnswerFieldNumber, answer + 1);
  to.real(Message::kConfidenceFieldNumber, confidence);
  to.text(Message::kChannelFieldNumber, channel);
  to.text(Message::kModelFieldNumber, model);
}

void put(const Digest& from, Backwards& to) {
  const auto& [high, low] = from;
  to.bits(wire::Hash::kLowFieldNumber, low);
  to.bits(wire::Hash::kHighFieldNumber, high);
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

void put(const DecisionMade& from, Backwards& to) {
  using Message = wire::DecisionMade;
  const auto& [task, segment, kind, responses, answers, selected, selected_model, share, runner_up_gap, scores, sure, max_error, abstained,
               decisive, audit_rate, probe, vote, propensity] = from;
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
  to.messages(Message::kResponsesFieldNumber, responses);
  to.count(Message::kKindFieldNumber, static_cast<std::uint32_t>(kind));
  to.text(Message::kSegmentFieldNumber, segment);
  to.text(Message::kTaskFieldNumber, task);
}

// No message is larger: a tag and a number take at most 11 bytes, a tag and a length at most 7.
constexpr std::size_t kTextBytes = 7;
constexpr std::size_t kNumberBytes = 11;

std::size_t most_bytes(const DecisionMade& decision) {
  std::size_t bytes = decision.task.size() + decision.segment.size() + decision.selected_model.size() + decision.vote.size();
  bytes += 8 * kTextBytes + 16 * kNumberBytes + decision.answers.size() * (kTextBytes + 2 * kNumberBytes) +
           decision.scores.size() * sizeof(double);
  for (const RecordedResponse& response : decision.responses) {
    bytes += 4 * kTextBytes + 9 * kNumberBytes + response.model.size() + response.channel.size() + response.answer_text.size();
    for (const Term& term : response.terms) bytes += 2 * kTextBytes + kNumberBytes + term.name.size();
  }
  for (const DecisiveModel& decisive : decision.decisive) bytes += 2 * kTextBytes + kNumberBytes + decisive.model.size();
  return bytes;
}

}  // namespace

void append_decision(const DecisionMade& decision, std::string& out) {
  thread_local std::vector<std::uint8_t> room;
  const std::size_t most = most_bytes(decision);
  if (room.size() < most) room.resize(most);
  std::uint8_t* const end = room.data() + room.size();
  Backwards to(end);
  to.message(wire::Envelope::kDecisionMadeFieldNumber, decision);
  MARGIN_CHECK(static_cast<std::size_t>(end - to.begin()) <= most, "a record is no larger than what was made room for");
  out.append(reinterpret_cast<const char*>(to.begin()), static_cast<std::size_t>(end - to.begin()));
  if (room.size() > kRoomKept) room = {};
}

}  // namespace margin::internal
