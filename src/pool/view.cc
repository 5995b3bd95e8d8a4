// What a pool knows of its decisions, for those who show them.
#include <algorithm>

#include "pool/state.h"

namespace margin::internal {

std::optional<DecisionView> PoolState::view(Uuid id) const {
  const DecisionRecord* record = decisions.find(id);
  if (record == nullptr) return std::nullopt;
  DecisionView view{.id = record->id, .time_ms = record->time_ms, .selected = record->selected, .p_correct = record->p_correct};
  view.responses.reserve(record->responses.size());
  for (const DecisionRecord::Response& response : record->responses) {
    ResponseView& shown = view.responses.emplace_back();
    shown.model = members[response.model].name;
    shown.channel = cells[response.cell].channel;
    shown.segment = cells[response.cell].segment;
    shown.answer = response.answer;
    shown.usable = response.usable;
    shown.learned = response.learned;
    shown.confidence = response.confidence;
    shown.calibrated = response.calibrated;
    if (!response.graded()) continue;
    shown.outcome = record->outcome_of(response).value;
    shown.place = record->outcome_of(response).feedback;
    shown.feedback = record->later->feedbacks[shown.place].id;
  }
  return view;
}

std::vector<Uuid> PoolState::latest(std::size_t count) const {
  std::vector<Uuid> ids;
  const std::size_t known = decisions.size();
  auto record = decisions.begin();
  if (known > count) record += static_cast<std::ptrdiff_t>(known - count);
  for (; record != decisions.end(); ++record) ids.push_back(record->id);
  return ids;
}

}  // namespace margin::internal
