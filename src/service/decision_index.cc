#include "service/decision_index.h"

#include <algorithm>

namespace margin::service {
namespace {

// Not in the middle of a character.
std::string shortened(const std::string& text) {
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

void DecisionIndex::add(Uuid id, std::int64_t time_ms, const DecisionMade& decision) {
  DecisionRow row{.id = id,
                  .time_ms = time_ms,
                  .task = shortened(decision.task),
                  .p_correct = decision.sure.p_correct,
                  .status = decision.sure.status,
                  .abstained = decision.abstained,
                  .responses = static_cast<std::uint32_t>(decision.responses.size()),
                  .teaches = teaches(decision)};
  if (decision.selected != kNoAnswer) row.model = decision.selected_model;
  for (const RecordedResponse& response : decision.responses) {
    if (response.audit > 0.0) ++row.wanted;
    if (row.answer.empty() && response.answer == decision.selected && decision.selected != kNoAnswer) {
      row.answer = shortened(response.answer_text);
    }
  }
  if (rows_.size() < kRows) {
    places_[id] = rows_.size();
    rows_.push_back(std::move(row));
    return;
  }
  places_.erase(rows_[next_].id);
  places_[id] = next_;
  rows_[next_] = std::move(row);
  next_ = (next_ + 1) % kRows;
}

void DecisionIndex::grade(const DecisionView& view) {
  const auto found = places_.find(view.id);
  if (found == places_.end()) return;
  DecisionRow& row = rows_[found->second];
  row.graded = 0;
  row.outcome.reset();
  for (const ResponseView& response : view.responses) {
    if (!response.outcome) continue;
    ++row.graded;
    if (response.answer == view.selected && view.selected != kNoAnswer) row.outcome = response.outcome;
  }
}

void DecisionIndex::forget_texts(Uuid id) {
  const auto found = places_.find(id);
  if (found == places_.end()) return;
  rows_[found->second].task.clear();
  rows_[found->second].answer.clear();
}

std::vector<const DecisionRow*> DecisionIndex::search(const DecisionFilter& filter, std::size_t count) const {
  std::vector<const DecisionRow*> found;
  std::size_t begin = rows_.size();
  if (filter.before) {
    const auto place = places_.find(*filter.before);
    if (place == places_.end()) return found;
    begin = (place->second + rows_.size() - next_) % rows_.size();
  }
  for (std::size_t i = begin; i > 0 && found.size() < count; --i) {
    const DecisionRow& row = rows_[(next_ + i - 1) % rows_.size()];
    if (matches(filter, row)) found.push_back(&row);
  }
  return found;
}

std::vector<const DecisionRow*> DecisionIndex::queue(std::size_t count) const {
  std::vector<const DecisionRow*> open;
  for (const DecisionRow& row : rows_) {
    if (row.graded == 0) open.push_back(&row);
  }
  // What is wanted graded by the audit comes first: leaving it out would bias what is learned.
  const auto first = [](const DecisionRow* a, const DecisionRow* b) {
    if ((a->wanted > 0) != (b->wanted > 0)) return a->wanted > 0;
    return a->teaches != b->teaches ? a->teaches > b->teaches : b->id < a->id;
  };
  const std::size_t kept = std::min(count, open.size());
  std::partial_sort(open.begin(), open.begin() + static_cast<std::ptrdiff_t>(kept), open.end(), first);
  open.resize(kept);
  return open;
}

void DecisionIndex::for_each(const std::function<void(const DecisionRow&)>& visit) const {
  for (const DecisionRow& row : rows_) visit(row);
}

}  // namespace margin::service
