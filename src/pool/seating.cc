#include "pool/seating.h"

#include <algorithm>
#include <set>

namespace margin::internal {

namespace {

// Almost always each model comes once, in the order of joining.
bool all_apart(std::span<const Seat> seats) {
  const auto same = [](const Seat& a, const Seat& b) { return a.model == b.model && a.cell == b.cell; };
  const auto before = [](const Seat& a, const Seat& b) { return a.model != b.model ? a.model < b.model : a.cell < b.cell; };
  if (std::is_sorted(seats.begin(), seats.end(), before)) return std::adjacent_find(seats.begin(), seats.end(), same) == seats.end();
  std::vector<Seat> sorted(seats.begin(), seats.end());
  std::sort(sorted.begin(), sorted.end(), before);
  return std::adjacent_find(sorted.begin(), sorted.end(), same) == sorted.end();
}

}  // namespace

std::optional<std::vector<Seat>> find_seats(std::span<const Speaker> speakers, std::string_view segment, const Members& members,
                                            const Cells& cells) {
  std::vector<Seat> seats;
  seats.reserve(speakers.size());
  // Most pools ask the same models in the same order, in one channel.
  ModelId guess = 0;
  std::optional<CellId> cell;
  for (std::size_t i = 0; i < speakers.size(); ++i) {
    const Speaker& speaker = speakers[i];
    const auto model = members.find(speaker.model, guess);
    if (i == 0 || speaker.channel != speakers[i - 1].channel) cell = cells.find(speaker.channel, segment);
    if (!model || !cell) return std::nullopt;
    guess = *model + 1;
    const Member& member = members[*model];
    if (speaker.usable && !member.joined()) return std::nullopt;
    const bool part = speaker.usable && member.present();
    if (part && !cells[*cell].calibrator->known(*model)) return std::nullopt;
    seats.push_back({*model, *cell, part});
  }
  if (seats.empty() || !all_apart(seats)) return std::nullopt;
  return seats;
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

std::vector<Seat> seat_all(std::span<const Speaker> speakers, std::string_view segment, Members& members, Cells& cells,
                           const CalibratorRecipe& recipe) {
  std::vector<Seat> seats;
  seats.reserve(speakers.size());
  for (const Speaker& speaker : speakers) {
    Seat seat{members.mention(speaker.model), cells.mention(speaker.channel, segment, recipe)};
    if (speaker.usable && !members[seat.model].joined()) members.join(seat.model);
    seat.part = speaker.usable && members[seat.model].present();
    if (seat.part) cells.enter(seat.cell, seat.model, members[seat.model].predecessor);
    seats.push_back(seat);
  }
  return seats;
}

}  // namespace margin::internal
