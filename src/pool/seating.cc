#include "pool/seating.h"

#include <algorithm>
#include <optional>
#include <set>

#include "base/same_text.h"

namespace margin::internal {

namespace {

bool before(const Seat& a, const Seat& b) { return a.model != b.model ? a.model < b.model : a.cell < b.cell; }

bool all_apart(Seats seats) {
  std::sort(seats.begin(), seats.end(), before);
  return std::adjacent_find(seats.begin(), seats.end(), [](const Seat& a, const Seat& b) { return !before(a, b); }) == seats.end();
}

}  // namespace

std::vector<Speaker> speakers_of(const std::vector<RecordedResponse>& responses) {
  std::vector<Speaker> speakers;
  speakers.reserve(responses.size());
  for (const RecordedResponse& response : responses) {
    speakers.push_back({response.model, response.channel, usable(response.confidence, response.abstained)});
  }
  return speakers;
}

bool find_seats(const std::vector<RecordedResponse>& responses, std::string_view segment, const Members& members, const Cells& cells,
                Seats& seats) {
  seats.resize(responses.size());
  // Most pools ask the same models in the same order, in one channel, each once.
  const Member* const first = members.all().data();
  const Member* const end = first + members.size();
  const Member* next = first;
  std::string_view channel;
  const Calibrator* calibrator = nullptr;
  CellId cell = 0;
  bool ordered = true;  // so far each model came once, by growing id
  Seat* seat = seats.data();
  for (const RecordedResponse& response : responses) {
    const Member* member = next;
    if (member == end || !same_text(member->name, response.model)) [[unlikely]] {
      const auto found = members.find(response.model);
      if (!found) return false;
      member = first + *found;
      ordered = ordered && member >= next;
    }
    next = member + 1;
    const auto model = static_cast<ModelId>(member - first);
    if (!same_text(response.channel, channel) || calibrator == nullptr) [[unlikely]] {
      const auto found = cells.find(response.channel, segment);
      if (!found) return false;
      cell = *found;
      channel = response.channel;
      calibrator = cells[cell].calibrator.get();
    }
    bool part = usable(response.confidence, response.abstained);
    if (part && !member->present()) [[unlikely]] {
      if (!member->joined()) return false;
      part = false;
    }
    if (part && !calibrator->known(model)) return false;
    *seat++ = {model, cell, part};
  }
  return !seats.empty() && (ordered || all_apart(Seats(seats, seats.get_allocator())));
}

Status check_room(std::span<const Speaker> speakers, std::string_view segment, const Members& members, const Cells& cells,
                  const PoolConfigured& config) {
  std::set<std::string_view> new_models;
  std::set<std::string_view> new_channels;
  for (const Speaker& speaker : speakers) {
    if (!members.find(speaker.model)) new_models.insert(speaker.model);
    if (!cells.find(speaker.channel, segment)) new_channels.insert(speaker.channel);
  }
  if (!new_models.empty() && members.size() + new_models.size() > config.models_max) {
    return {ErrorCode::kLimit, "models: " + std::to_string(members.size()) + " known and " + std::to_string(new_models.size()) +
                                   " new, expected at most models_max = " + std::to_string(config.models_max)};
  }
  if (!new_channels.empty() && cells.size() + new_channels.size() > config.cells_max) {
    return {ErrorCode::kLimit, "cells: " + std::to_string(cells.size()) + " known and " + std::to_string(new_channels.size()) +
                                   " new, expected at most cells_max = " + std::to_string(config.cells_max)};
  }
  return {};
}

void seat_all(std::span<const Speaker> speakers, std::string_view segment, Members& members, Cells& cells, const CalibratorRecipe& recipe,
              Seats& seats) {
  seats.clear();
  seats.reserve(speakers.size());
  for (const Speaker& speaker : speakers) {
    Seat seat{members.mention(speaker.model), cells.mention(speaker.channel, segment, recipe)};
    if (speaker.usable && !members[seat.model].joined()) members.join(seat.model);
    seat.part = speaker.usable && members[seat.model].present();
    if (seat.part) cells.enter(seat.cell, seat.model, members[seat.model].predecessor);
    seats.push_back(seat);
  }
}

}  // namespace margin::internal
