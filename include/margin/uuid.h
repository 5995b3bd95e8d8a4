// Uuid: the id of an event, a decision or a feedback. UUIDv7: 48 bits of time, then randomness; made by the caller's clock and generator.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "margin/random.h"
#include "margin/result.h"

namespace margin {

struct Uuid {
  std::uint64_t high = 0;
  std::uint64_t low = 0;

  auto operator<=>(const Uuid&) const = default;

  // Version 7 from a clock in milliseconds since 1970 (0 <= time_ms < 2^48) and 74 bits of `random`.
  [[nodiscard]] static Uuid make(std::int64_t time_ms, Random& random);
  // A later one of the same millisecond: the 12 bits behind the time count on, the 62 after them are new; of the next millisecond when they
  // cannot. So first halves grow. For an id of version 7.
  [[nodiscard]] Uuid later(Random& random) const;
  // The 8-4-4-4-12 form, either case. kInvalidArgument for anything else. Any version is accepted: clients bring ids of their own.
  [[nodiscard]] static Result<Uuid> parse(std::string_view text);

  [[nodiscard]] std::string text() const;
  // Writes the same bytes.
  static constexpr std::size_t kTextBytes = 36;
  void write(char* to) const;
  // The time inside a version 7 id; meaningless for other versions.
  [[nodiscard]] std::int64_t time_ms() const { return static_cast<std::int64_t>(high >> 16); }
};

}  // namespace margin
