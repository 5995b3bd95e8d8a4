#include "pool/record_encoding.h"

#include <bit>

#include "pool/id_encoding.h"
#include "pool/limits.h"

namespace margin::internal {
namespace {

using Response = DecisionRecord::Response;
using Outcome = DecisionRecord::Outcome;

// What a record has, in a byte of its own.
constexpr unsigned kWatched = 1;
constexpr unsigned kShare = 2;
constexpr unsigned kAuditRate = 4;
constexpr unsigned kAudits = 8;
constexpr unsigned kFeedbacks = 16;
constexpr unsigned kOpinions = 32;
constexpr unsigned kHasEnd = 64;

// What a response is, likewise.
constexpr unsigned kUsable = 1;
constexpr unsigned kPart = 2;
constexpr unsigned kLearned = 4;
constexpr unsigned kStanding = 8;  // times its number
constexpr unsigned kIsEnd = 32;

// Also a negative zero is something: what was recorded is saved to the bit.
bool is_nothing(double value) { return std::bit_cast<std::uint64_t>(value) == 0; }

// kNoAnswer is the largest number, and becomes the smallest.
Small small_answer(std::uint32_t answer) { return {answer + 1}; }

unsigned had_by(const DecisionRecord& record) {
  return (record.watched ? kWatched : 0) | (record.share ? kShare : 0) | (is_nothing(record.audit_rate) ? 0 : kAuditRate) |
         (record.later->audits.empty() ? 0 : kAudits) | (record.later->feedbacks.empty() ? 0 : kFeedbacks) |
         (record.later->opinions.empty() ? 0 : kOpinions);
}

void save_response(const DecisionRecord& record, const Response& response, unsigned has, Encoder& out) {
  const unsigned is = (response.usable ? kUsable : 0) | (response.part ? kPart : 0) | (response.learned ? kLearned : 0) |
                      kStanding * static_cast<unsigned>(response.standing);
  out.values(Small{response.model}, Small{response.cell}, small_answer(response.answer), static_cast<std::uint8_t>(is), response.confidence,
             response.calibrated);
  if ((has & kAudits) != 0) out.real(record.audit_of(response));
  if (response.standing == Standing::kOpen) return;
  const Outcome& outcome = record.outcome_of(response);
  out.real(outcome.value);
  if (response.graded()) out.values(outcome.weight, Small{outcome.feedback});
}

void save_feedbacks(const std::vector<FeedbackMark>& feedbacks, Encoder& out) {
  out.values(Small{static_cast<std::uint32_t>(feedbacks.size())});
  for (const FeedbackMark& mark : feedbacks) {
    encode(mark.id, out);
    out.text(mark.source);
    out.values(mark.reverted, mark.time_ms, mark.heard);
  }
}

void load_feedbacks(Decoder& in, std::size_t count, DecisionRecord& record) {
  for (std::size_t i = 0; i < count && in.ok(); ++i) {
    FeedbackMark& mark = record.later.change().feedbacks.emplace_back();
    mark.id = decode_uuid(in);
    mark.source = in.text();
    mark.reverted = in.flag();
    mark.time_ms = in.integer<std::int64_t>();
    mark.heard = in.flag();
  }
}

void load_opinions(Decoder& in, std::size_t count, DecisionRecord& record) {
  for (std::size_t i = 0; i < count && in.ok(); ++i) {
    Opinion& opinion = record.later.change().opinions.emplace_back();
    opinion = {in.integer<std::uint32_t>(), in.integer<std::uint32_t>(), in.real()};
  }
}

constexpr std::size_t kFeedbackBytesMin = 16 + 8 + 1 + 8 + 1;
constexpr std::size_t kOpinionBytes = 4 + 4 + 8;

// A reader of either layout reads one thing after the other and leaves it to check() what may be.
struct Packed {
  static constexpr std::size_t kResponseBytesMin = 4 + 2 * 8;
  static constexpr std::size_t kBytesMin = 16 + 8 + 1 + 1 + 1 + 8 + 1 + 1;

  static void load_response(Decoder& in, unsigned has, DecisionRecord& record) {
    Response& response = record.responses.emplace_back();
    response.model = in.small();
    response.cell = in.small();
    response.answer = in.small() - 1;
    const unsigned is = in.integer<std::uint8_t>();
    if (is >= kIsEnd) in.fail();
    response.usable = (is & kUsable) != 0;
    response.part = (is & kPart) != 0;
    response.learned = (is & kLearned) != 0;
    response.standing = static_cast<Standing>(is / kStanding);
    response.confidence = in.real();
    response.calibrated = in.real();
    if ((has & kAudits) != 0) record.set_audit(response, in.real());
    if (response.standing == Standing::kOpen) return;
    Outcome& outcome = record.change_outcome(response);
    outcome.value = in.real();
    if (!response.graded()) return;
    outcome.weight = in.real();
    outcome.feedback = in.small();
  }

  static DecisionRecord load(Decoder& in) {
    DecisionRecord record;
    record.id = decode_uuid(in);
    record.time_ms = in.integer<std::int64_t>();
    const unsigned has = in.integer<std::uint8_t>();
    record.kind = static_cast<AnswerKind>(in.integer<std::uint8_t>());
    record.selected = in.small() - 1;
    record.p_correct = in.real();
    record.watched = (has & kWatched) != 0;
    if ((has & kShare) != 0) record.share = in.real();
    if ((has & kAuditRate) != 0) record.audit_rate = in.real();
    record.answers.resize(in.small_length(16));
    for (Digest& answer : record.answers) answer = decode_digest(in);
    if ((has & kFeedbacks) != 0) load_feedbacks(in, in.small_length(kFeedbackBytesMin), record);
    const std::size_t responses = in.small_length(kResponseBytesMin);
    record.responses.reserve(responses);
    for (std::size_t i = 0; i < responses && in.ok(); ++i) load_response(in, has, record);
    if ((has & kOpinions) != 0) load_opinions(in, in.small_length(kOpinionBytes), record);
    // Equal records have equal bytes: what is said to be there is.
    if (has >= kHasEnd || has != had_by(record)) in.fail();
    return record;
  }
};

// Everything in its full width and always there: snapshots before MPL3.
struct Fixed {
  static constexpr std::size_t kResponseBytesMin = 3 * 4 + 3 + 3 * 8;
  static constexpr std::size_t kBytesMin = 16 + 8 + 1 + 4 + 1 + 4 * 8 + 1 + 8;

  static void load_response(Decoder& in, DecisionRecord& record) {
    Response& response = record.responses.emplace_back();
    response.model = in.integer<ModelId>();
    response.cell = in.integer<CellId>();
    response.answer = in.integer<std::uint32_t>();
    response.usable = in.flag();
    response.part = in.flag();
    response.confidence = in.real();
    response.calibrated = in.real();
    record.set_audit(response, in.real());
    response.standing = static_cast<Standing>(in.integer<std::uint8_t>());
    if (response.standing == Standing::kOpen) return;
    Outcome& outcome = record.change_outcome(response);
    outcome.value = in.real();
    response.learned = in.flag();
    if (!response.graded()) return;
    outcome.weight = in.real();
    outcome.feedback = in.integer<std::uint32_t>();
  }

  static DecisionRecord load(Decoder& in) {
    DecisionRecord record;
    record.id = decode_uuid(in);
    record.time_ms = in.integer<std::int64_t>();
    record.kind = static_cast<AnswerKind>(in.integer<std::uint8_t>());
    record.selected = in.integer<std::uint32_t>();
    record.p_correct = in.real();
    if (in.flag()) record.share = in.real();
    record.audit_rate = in.real();
    record.answers.resize(in.length(16));
    for (Digest& answer : record.answers) answer = decode_digest(in);
    load_feedbacks(in, in.length(kFeedbackBytesMin), record);
    const std::size_t responses = in.length(kResponseBytesMin);
    record.responses.reserve(responses);
    for (std::size_t i = 0; i < responses && in.ok(); ++i) load_response(in, record);
    record.watched = in.flag();
    load_opinions(in, in.length(kOpinionBytes), record);
    return record;
  }
};

bool may_be(const DecisionRecord& record, const Response& response, const Decisions::Bounds& bounds) {
  if (response.model >= bounds.models || response.cell >= bounds.cells) return false;
  if (response.answer != kNoAnswer && response.answer >= record.answers.size()) return false;
  if (response.part && !response.usable) return false;
  if (!is_probability(response.confidence) || !is_probability(response.calibrated) || !is_probability(record.audit_of(response)))
    return false;
  if (response.standing > Standing::kGraded) return false;
  if (response.standing == Standing::kOpen) return !response.learned;
  const Outcome& outcome = record.outcome_of(response);
  if (!is_probability(outcome.value)) return false;
  return !response.graded() || (outcome.weight > 0.0 && outcome.weight <= 1.0 && outcome.feedback < record.later->feedbacks.size());
}

bool may_be(const DecisionRecord& record, const Decisions::Bounds& bounds) {
  if (record.kind > AnswerKind::kText) return false;
  if (record.selected != kNoAnswer && record.selected >= record.answers.size()) return false;
  if (!is_probability(record.p_correct) || !is_probability(record.audit_rate)) return false;
  if (record.share && (record.selected == kNoAnswer || !is_probability(*record.share))) return false;
  for (const Response& response : record.responses) {
    if (!may_be(record, response, bounds)) return false;
  }
  for (const Opinion& opinion : record.later->opinions) {
    if (opinion.response >= record.responses.size() || !is_probability(opinion.outcome)) return false;
    if (!opinion.closes() && opinion.source >= bounds.sources) return false;
  }
  return true;
}

}  // namespace

void save_record(const DecisionRecord& record, Encoder& out) {
  const unsigned has = had_by(record);
  encode(record.id, out);
  out.values(record.time_ms, static_cast<std::uint8_t>(has), static_cast<std::uint8_t>(record.kind), small_answer(record.selected),
             record.p_correct);
  if (record.share) out.real(*record.share);
  if ((has & kAuditRate) != 0) out.real(record.audit_rate);
  out.values(Small{static_cast<std::uint32_t>(record.answers.size())});
  for (const Digest& answer : record.answers) encode(answer, out);
  if ((has & kFeedbacks) != 0) save_feedbacks(record.later->feedbacks, out);
  out.values(Small{static_cast<std::uint32_t>(record.responses.size())});
  for (const Response& response : record.responses) save_response(record, response, has, out);
  if ((has & kOpinions) == 0) return;
  out.values(Small{static_cast<std::uint32_t>(record.later->opinions.size())});
  for (const Opinion& opinion : record.later->opinions) out.values(opinion.response, opinion.source, opinion.outcome);
}

std::size_t record_bytes_min(RecordLayout layout) { return layout == RecordLayout::kPacked ? Packed::kBytesMin : Fixed::kBytesMin; }

DecisionRecord load_record(Decoder& in, RecordLayout layout, const Decisions::Bounds& bounds) {
  DecisionRecord record = layout == RecordLayout::kPacked ? Packed::load(in) : Fixed::load(in);
  if (!may_be(record, bounds)) in.fail();
  return record;
}

}  // namespace margin::internal
