#include "service/decision_index.h"

#include <algorithm>

namespace margin::service {
namespace {

// Not in the middle of a character.
std::string_view shortened(std::string_view text) {
  if (text.size() <= DecisionIndex::kTextBytesMax) return text;
  std::size_t end = DecisionIndex::kTextBytesMax;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) --end;
  return text.substr(0, end);
}

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

bool contains(const std::string& text, const std::string& part) {
  const auto same = [](char a, char b) { return lower(a) == lower(b); };
  return std::search(text.begin(), text.end(), part.begin(), part.end(), same) != text.end();
}

bool matches(const DecisionFilter& filter, const DecisionRow& row) {
  if (!filter.model.empty() && row.model != filter.model) return false;
  if (filter.status && row.status != *filter.status) return false;
  if (filter.answered && *filter.answered == (row.abstained || row.model.empty())) return false;
  if (filter.graded && *filter.graded != row.outcome.has_value()) return false;
  if (filter.text.empty()) return true;
  return contains(row.task, filter.text) || contains(row.answer, filter.text) || contains(row.id.text(), filter.text);
}

}  // namespace

double teaches(const DecisionMade& decision) {
  const auto unknown = [](double p, double n) { return p * (1.0 - p) / (1.0 + n); };
  double sum = decision.selected == kNoAnswer ? 0.0 : unknown(decision.sure.p_correct, decision.sure.effective_n);
  for (const RecordedResponse& response : decision.responses) {
    if (response.confidence && !response.abstained) sum += unknown(response.calibrated, response.n);
  }
  return sum;
}

std::optional<std::size_t> DecisionIndex::place_of(Uuid id) const {
  const auto number = numbers_.find(id);
  return number ? std::optional(static_cast<std::size_t>(*number % kRows)) : std::nullopt;
}

void DecisionIndex::add(Uuid id, std::int64_t time_ms, const DecisionMade& decision) {
  if (numbers_.contains(id)) return;
  const bool full = rows_.size() == kRows;
  if (full) numbers_.forget(rows_[next_].id);
  numbers_.add(id);
  DecisionRow& row = full ? rows_[next_] : rows_.emplace_back();
  if (full) next_ = (next_ + 1) % kRows;

  // In place: its texts mostly fit where the oldest row's were.
  row.id = id;
  row.time_ms = time_ms;
  row.task = shortened(decision.task);
  row.answer.clear();
  row.model = decision.selected == kNoAnswer ? std::string_view() : std::string_view(decision.selected_model);
  row.p_correct = decision.sure.p_correct;
  row.status = decision.sure.status;
  row.abstained = decision.abstained;
  row.responses = static_cast<std::uint32_t>(decision.responses.size());
  row.graded = 0;
  row.wanted = 0;
  row.outcome.reset();
  row.teaches = teaches(decision);
  for (const RecordedResponse& response : decision.responses) {
    if (response.audit > 0.0) ++row.wanted;
    if (row.answer.empty() && response.answer == decision.selected && decision.selected != kNoAnswer) {
      row.answer = shortened(response.answer_text);
    }
  }
}

void DecisionIndex::grade(const DecisionView& view) {
  const auto place = place_of(view.id);
  if (!place) return;
  DecisionRow& row = rows_[*place];
  row.graded = 0;
  row.outcome = view.outcome;
  for (const ResponseView& response : view.responses) {
    if (response.outcome) ++row.graded;
  }
}

void DecisionIndex::forget_texts(Uuid id) {
  const auto place = place_of(id);
  if (!place) return;
  rows_[*place].task.clear();
  rows_[*place].answer.clear();
}

std::vector<const DecisionRow*> DecisionIndex::search(const DecisionFilter& filter, std::size_t count) const {
  std::vector<const DecisionRow*> found;
  std::size_t begin = rows_.size();
  if (filter.before) {
    const auto place = place_of(*filter.before);
    if (!place) return found;
    begin = (*place + rows_.size() - next_) % rows_.size();
  }
  for (std::size_t i = begin; i > 0 && found.size() < count; --i) {
    const DecisionRow& row = rows_[(next_ + i - 1) % rows_.size()];
    if (matches(filter, row)) found.push_back(&row);
  }
  return found;
}

std::vector<const DecisionRow*> DecisionIndex::queue(std::size_t count, const std::function<bool(const DecisionRow&)>& open) const {
  std::vector<const DecisionRow*> found;
  for (const DecisionRow& row : rows_) {
    if (row.graded == 0 && open(row)) found.push_back(&row);
  }
  // What is wanted graded by the audit comes first: leaving it out would bias what is learned.
  const auto first = [](const DecisionRow* a, const DecisionRow* b) {
    if ((a->wanted > 0) != (b->wanted > 0)) return a->wanted > 0;
    return a->teaches != b->teaches ? a->teaches > b->teaches : b->id < a->id;
  };
  const std::size_t kept = std::min(count, found.size());
  std::partial_sort(found.begin(), found.begin() + static_cast<std::ptrdiff_t>(kept), found.end(), first);
  found.resize(kept);
  return found;
}

void DecisionIndex::for_each(const std::function<void(const DecisionRow&)>& visit) const {
  for (const DecisionRow& row : rows_) visit(row);
}

}  // namespace margin::service
