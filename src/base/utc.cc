#include "base/utc.h"

#include <algorithm>

namespace margin::internal {
namespace {

void append(std::string& out, std::int64_t value, std::size_t digits) {
  const std::string text = std::to_string(value);
  out.append(digits - std::min(digits, text.size()), '0');
  out += text;
}

}  // namespace

std::string utc_text(std::int64_t time_ms) {
  constexpr std::int64_t kDayMs = 86'400'000;
  constexpr std::int64_t kFirstMs = -62'167'219'200'000;  // 0000-01-01
  constexpr std::int64_t kLastMs = 253'402'300'799'999;   // 9999-12-31
  const std::int64_t since = std::clamp(time_ms, kFirstMs, kLastMs) - kFirstMs;
  // Whole cycles of 400 years, then year by year from its 1 January; leap years are exact within the cycle.
  constexpr std::int64_t kCycleDays = 146'097;
  std::int64_t days = since / kDayMs;
  std::int64_t year = days / kCycleDays * 400;
  days %= kCycleDays;
  const auto leap = [](std::int64_t y) { return (y % 4 == 0 && y % 100 != 0) || y % 400 == 0; };
  for (; days >= (leap(year) ? 366 : 365); ++year) days -= leap(year) ? 366 : 365;
  const std::int64_t lengths[] = {31, leap(year) ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  std::size_t month = 0;
  for (; days >= lengths[month]; ++month) days -= lengths[month];

  const std::int64_t within = since % kDayMs;
  std::string text;
  append(text, year, 4);
  append(text += '-', static_cast<std::int64_t>(month) + 1, 2);
  append(text += '-', days + 1, 2);
  append(text += 'T', within / 3'600'000, 2);
  append(text += ':', within / 60'000 % 60, 2);
  append(text += ':', within / 1000 % 60, 2);
  append(text += '.', within % 1000, 3);
  return text += 'Z';
}

}  // namespace margin::internal
