// Seating: which model and cell each response of a task belongs to, and how models and cells come into being with a task's responses.
// decide() seats newcomers in a copy, apply() in the state itself: the same code, so both see the same numbers.
#pragma once

#include <memory_resource>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "margin/event.h"
#include "margin/result.h"
#include "pool/cells.h"
#include "pool/limits.h"
#include "pool/members.h"

namespace margin::internal {

// A response as far as seating goes.
struct Speaker {
  std::string_view model;
  std::string_view channel;
  bool usable = false;
};

struct Seat {
  ModelId model = 0;
  CellId cell = 0;
  bool part = false;  // usable and present: calibrated
};

using Seats = std::pmr::vector<Seat>;

// The result points into the responses.
[[nodiscard]] std::vector<Speaker> speakers_of(const std::vector<RecordedResponse>& responses);

// The seats when everyone has one of their own already. False, and no matter what is in `seats`, when somebody or some cell is new, two
// would share one, or there is nobody.
[[nodiscard]] bool find_seats(const std::vector<RecordedResponse>& responses, std::string_view segment, const Members& members,
                              const Cells& cells, Seats& seats);

// kLimit: seating them would take more models or cells than configured.
[[nodiscard]] Status check_room(std::span<const Speaker> speakers, std::string_view segment, const Members& members, const Cells& cells,
                                const PoolConfigured& config);

// Seats everyone, in order: mentions models and cells, lets models with a usable response join the pool and enter their cell.
void seat_all(std::span<const Speaker> speakers, std::string_view segment, Members& members, Cells& cells, const CalibratorRecipe& recipe,
              Seats& seats);

}  // namespace margin::internal
