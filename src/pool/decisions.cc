#include "pool/decisions.h"

#include <algorithm>
#include <utility>

#include "pool/id_encoding.h"
#include "pool/limits.h"

namespace margin::internal {

bool DecisionRecord::pending() const {
  return std::any_of(responses.begin(), responses.end(), [](const Response& response) { return response.usable && !response.graded(); });
}

bool DecisionRecord::settled() const {
  return std::any_of(responses.begin(), responses.end(),
                     [&](const Response& response) { return response.part && supports(response) && response.graded(); });
}

const DecisionRecord::Outcome& DecisionRecord::outcome_of(const Response& response) const {
  static constexpr Outcome kNone;
  const auto place = static_cast<std::size_t>(&response - responses.data());
  return place < later->outcomes.size() ? later->outcomes[place] : kNone;
}

DecisionRecord::Outcome& DecisionRecord::change_outcome(const Response& response) {
  later.change().outcomes.resize(responses.size());
  return later.change().outcomes[static_cast<std::size_t>(&response - responses.data())];
}

bool DecisionRecord::has_feedback(Uuid feedback) const {
  return std::any_of(later->feedbacks.begin(), later->feedbacks.end(), [&](const FeedbackMark& mark) { return mark.id == feedback; });
}

bool DecisionRecord::holds(std::size_t feedback) const {
  return later->feedbacks[feedback].heard || std::any_of(responses.begin(), responses.end(), [&](const Response& response) {
           return response.graded() && outcome_of(response).feedback == feedback;
         });
}

DecisionRecord& Decisions::add(DecisionRecord&& record) {
  numbers_.add(record.id);
  if (record.pending()) ++pending_;
  return records_.emplace_back(std::move(record));
}

void Decisions::forget_beyond(std::size_t count, const LastLook& last_look) {
  while (records_.size() > count) forget_oldest(last_look);
}

void Decisions::forget_before(std::int64_t time_ms, const LastLook& last_look) {
  while (!records_.empty() && records_.front().time_ms < time_ms) forget_oldest(last_look);
}

namespace {

void save_response(const DecisionRecord& record, const DecisionRecord::Response& response, Encoder& out) {
  out.values(response.model, response.cell, response.answer, response.usable, response.part, response.confidence, response.calibrated,
             record.audit_of(response), static_cast<std::uint8_t>(response.standing));
  if (response.standing == Standing::kOpen) return;
  const DecisionRecord::Outcome& outcome = record.outcome_of(response);
  out.values(outcome.value, response.learned);
  if (response.graded()) out.values(outcome.weight, outcome.feedback);
}

void load_response(Decoder& in, DecisionRecord& record, const Decisions::Bounds& bounds) {
  DecisionRecord::Response& response = record.responses.emplace_back();
  response.model = in.integer<ModelId>();
  response.cell = in.integer<CellId>();
  response.answer = in.integer<std::uint32_t>();
  response.usable = in.flag();
  response.part = in.flag();
  response.confidence = in.real();
  response.calibrated = in.real();
  if (response.model >= bounds.models || response.cell >= bounds.cells) in.fail();
  if (response.answer != kNoAnswer && response.answer >= record.answers.size()) in.fail();
  if (response.part && !response.usable) in.fail();
  const double audit = in.real();
  record.set_audit(response, audit);
  const auto standing = in.integer<std::uint8_t>();
  if (!is_probability(response.confidence) || !is_probability(response.calibrated) || !is_probability(audit)) in.fail();
  if (standing > static_cast<std::uint8_t>(Standing::kGraded)) in.fail();
  if (!in.ok()) return;
  response.standing = static_cast<Standing>(standing);
  if (response.standing == Standing::kOpen) return;
  DecisionRecord::Outcome& outcome = record.change_outcome(response);
  outcome.value = in.real();
  response.learned = in.flag();
  if (!is_probability(outcome.value)) in.fail();
  if (!response.graded()) return;
  outcome.weight = in.real();
  outcome.feedback = in.integer<std::uint32_t>();
  if (!(outcome.weight > 0.0 && outcome.weight <= 1.0) || outcome.feedback >= record.later->feedbacks.size()) in.fail();
}

void save_record(const DecisionRecord& record, Encoder& out) {
  encode(record.id, out);
  out.values(record.time_ms, static_cast<std::uint8_t>(record.kind), record.selected, record.p_correct, record.share.has_value());
  if (record.share) out.real(*record.share);
  out.real(record.audit_rate);
  out.integer(static_cast<std::uint64_t>(record.answers.size()));
  for (const Digest& answer : record.answers) encode(answer, out);
  out.integer(static_cast<std::uint64_t>(record.later->feedbacks.size()));
  for (const FeedbackMark& mark : record.later->feedbacks) {
    encode(mark.id, out);
    out.text(mark.source);
    out.flag(mark.reverted);
    out.integer(mark.time_ms);
    out.flag(mark.heard);
  }
  out.integer(static_cast<std::uint64_t>(record.responses.size()));
  for (const DecisionRecord::Response& response : record.responses) save_response(record, response, out);
  out.flag(record.watched);
  out.integer(static_cast<std::uint64_t>(record.later->opinions.size()));
  for (const Opinion& opinion : record.later->opinions) {
    out.integer(opinion.response);
    out.integer(opinion.source);
    out.real(opinion.outcome);
  }
}

}  // namespace

void Decisions::save(Encoder& out) const {
  out.integer(static_cast<std::uint64_t>(records_.size()));
  for (const DecisionRecord& record : records_) save_record(record, out);
}

const DecisionRecord* Decisions::find(Uuid id) const {
  const auto number = numbers_.find(id);
  return number ? &records_[static_cast<std::size_t>(*number - first_)] : nullptr;
}

DecisionRecord* Decisions::change(Uuid id) {
  const auto number = numbers_.find(id);
  return number ? &to_be_changed(*number) : nullptr;
}

void Decisions::change_all(const std::function<void(DecisionRecord&)>& change) {
  for (std::uint64_t number = first_; number < first_ + records_.size(); ++number) change(to_be_changed(number));
}

DecisionRecord& Decisions::to_be_changed(std::uint64_t number) {
  DecisionRecord& record = records_[static_cast<std::size_t>(number - first_)];
  if (copy_ && copy_->awaits(number)) copy_->keep(number, [&](Encoder& out) { save_record(record, out); });
  return record;
}

void Decisions::copy_some(std::size_t records) {
  for (; copy_ && !copy_->complete() && records > 0; --records) {
    const DecisionRecord& record = records_[static_cast<std::size_t>(copy_->next() - first_)];
    copy_->write_next([&](Encoder& out) { save_record(record, out); });
  }
}

RecordCopy::Pieces Decisions::take_copy() {
  RecordCopy::Pieces pieces = copy_->take();
  copy_.reset();
  return pieces;
}

void Decisions::forget_oldest(const LastLook& last_look) {
  if (copy_ && copy_->next() == first_) copy_some(1);
  last_look(records_.front());
  if (records_.front().pending()) --pending_;
  numbers_.forget(records_.front().id);
  records_.pop_front();
  ++first_;
}

void Decisions::load(Decoder& in, const Bounds& bounds) {
  const std::size_t count = in.length(16 + 8 + 1 + 4 + 1 + 4 * 8 + 1 + 8);
  std::int64_t latest_ms = 0;
  for (std::size_t i = 0; i < count && in.ok(); ++i) {
    DecisionRecord record;
    record.id = decode_uuid(in);
    record.time_ms = in.integer<std::int64_t>();
    const auto kind = in.integer<std::uint8_t>();
    record.selected = in.integer<std::uint32_t>();
    record.p_correct = in.real();
    if (in.flag()) record.share = in.real();
    record.audit_rate = in.real();
    record.answers.resize(in.length(16));
    for (Digest& answer : record.answers) answer = decode_digest(in);
    const std::size_t feedbacks = in.length(16 + 8 + 1 + 8 + 1);
    for (std::size_t f = 0; f < feedbacks && in.ok(); ++f) {
      FeedbackMark& mark = record.later.change().feedbacks.emplace_back();
      mark.id = decode_uuid(in);
      mark.source = in.text();
      mark.reverted = in.flag();
      mark.time_ms = in.integer<std::int64_t>();
      mark.heard = in.flag();
    }
    const std::size_t responses = in.length(3 * 4 + 3 + 3 * 8);
    record.responses.reserve(responses);
    for (std::size_t r = 0; r < responses && in.ok(); ++r) load_response(in, record, bounds);
    record.watched = in.flag();
    const std::size_t opinions = in.length(4 + 4 + 8);
    for (std::size_t o = 0; o < opinions && in.ok(); ++o) {
      Opinion& opinion = record.later.change().opinions.emplace_back();
      opinion = {in.integer<std::uint32_t>(), in.integer<std::uint32_t>(), in.real()};
      if (opinion.response >= record.responses.size() || !is_probability(opinion.outcome)) in.fail();
      if (!opinion.closes() && opinion.source >= bounds.sources) in.fail();
    }

    if (kind > static_cast<std::uint8_t>(AnswerKind::kText) || numbers_.contains(record.id) || record.time_ms < latest_ms) in.fail();
    if (record.selected != kNoAnswer && record.selected >= record.answers.size()) in.fail();
    if (!is_probability(record.p_correct) || !is_probability(record.audit_rate)) in.fail();
    if (record.share && (record.selected == kNoAnswer || !is_probability(*record.share))) in.fail();
    record.kind = static_cast<AnswerKind>(kind);
    latest_ms = record.time_ms;
    add(std::move(record));
  }
}

}  // namespace margin::internal
