#include "pool/decisions.h"

#include <algorithm>
#include <utility>

#include "pool/record_encoding.h"

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

bool DecisionRecord::grades(std::size_t feedback) const {
  return std::any_of(responses.begin(), responses.end(),
                     [&](const Response& response) { return response.graded() && outcome_of(response).feedback == feedback; });
}

bool DecisionRecord::holds(std::size_t feedback) const { return later->feedbacks[feedback].heard || grades(feedback); }

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

void Decisions::load(Decoder& in, RecordLayout layout, const Bounds& bounds) {
  const std::size_t count = in.length(record_bytes_min(layout));
  std::int64_t latest_ms = 0;
  for (std::size_t i = 0; i < count && in.ok(); ++i) {
    DecisionRecord record = load_record(in, layout, bounds);
    if (numbers_.contains(record.id) || record.time_ms < latest_ms) in.fail();
    latest_ms = record.time_ms;
    add(std::move(record));
  }
}

}  // namespace margin::internal
