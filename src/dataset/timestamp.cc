#include "dataset/timestamp.h"

#include <algorithm>
#include <charconv>
#include <chrono>

namespace margin::dataset {
namespace {

// Takes exactly `digits` digits off the front.
bool take_number(std::string_view& text, std::size_t digits, int& value) {
  if (text.size() < digits) return false;
  for (const char c : text.substr(0, digits)) {
    if (c < '0' || c > '9') return false;
  }
  std::from_chars(text.data(), text.data() + digits, value);
  text.remove_prefix(digits);
  return true;
}

bool take(std::string_view& text, char c) {
  if (text.empty() || text.front() != c) return false;
  text.remove_prefix(1);
  return true;
}

// "08:30" with hours below `hours`, to minutes.
bool take_clock(std::string_view& text, int hours, int& minutes) {
  int h = 0;
  int m = 0;
  if (!take_number(text, 2, h) || !take(text, ':') || !take_number(text, 2, m) || h >= hours || m >= 60) return false;
  minutes = h * 60 + m;
  return true;
}

}  // namespace

std::optional<double> parse_timestamp(std::string_view text) {
  int year = 0;
  int month = 0;
  int day = 0;
  if (!take_number(text, 4, year) || !take(text, '-') || !take_number(text, 2, month) || !take(text, '-') || !take_number(text, 2, day))
    return {};
  const std::chrono::year_month_day date{std::chrono::year(year), std::chrono::month(static_cast<unsigned>(month)),
                                         std::chrono::day(static_cast<unsigned>(day))};
  if (!date.ok()) return {};
  double seconds = 86400.0 * static_cast<double>(std::chrono::sys_days(date).time_since_epoch().count());
  if (text.empty()) return seconds;

  int minutes = 0;
  if ((!take(text, 'T') && !take(text, ' ')) || !take_clock(text, 24, minutes)) return {};
  seconds += 60.0 * minutes;
  if (take(text, ':')) {
    double within = 0.0;
    const std::size_t length = std::min(text.find_first_not_of("0123456789."), text.size());
    const auto [end, error] = std::from_chars(text.data(), text.data() + length, within);
    if (error != std::errc{} || end != text.data() + length || length < 2 || within >= 61.0) return {};
    seconds += within;
    text.remove_prefix(length);
  }
  if (text.empty() || text == "Z") return seconds;

  const bool east = take(text, '+');
  if (!east && !take(text, '-')) return {};
  if (!take_clock(text, 24, minutes) || !text.empty()) return {};
  return seconds + (east ? -60.0 : 60.0) * minutes;
}

}  // namespace margin::dataset
