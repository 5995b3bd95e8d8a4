// What a pool knows of its decisions, for those who show them.
#include <algorithm>
#include <limits>

#include "pool/state.h"

namespace margin::internal {

std::optional<DecisionView> PoolState::view(Uuid id) const {
  const DecisionRecord* record = decisions.find(id);
  if (record == nullptr) return std::nullopt;
  DecisionView view{.id = record->id, .time_ms = record->time_ms, .selected = record->selected, .p_correct = record->p_correct};
  view.responses.reserve(record->responses.size());
  std::uint32_t first = std::numeric_limits<std::uint32_t>::max();  // of the feedbacks that graded the selected answer
  for (const DecisionRecord::Response& response : record->responses) {
    ResponseView& shown = view.responses.emplace_back();
    shown.model = members[response.model].name;
    shown.channel = cells[response.cell].channel;
    shown.segment = cells[response.cell].segment;
    shown.answer = response.answer;
    shown.usable = response.usable;
    shown.part = response.part;
    shown.learned = response.learned;
    shown.confidence = response.confidence;
    shown.calibrated = response.calibrated;
    if (!response.graded()) continue;
    const DecisionRecord::Outcome& outcome = record->outcome_of(response);
    shown.outcome = outcome.value;
    shown.place = outcome.feedback;
    shown.feedback = record->later->feedbacks[outcome.feedback].id;
    if (!record->supports(response) || outcome.feedback > first) continue;
    view.outcome = outcome.feedback < first ? outcome.value : std::max(*view.outcome, outcome.value);
    view.settled_by = shown.feedback;
    first = outcome.feedback;
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
