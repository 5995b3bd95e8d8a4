#include "upstream/retry.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <string_view>

namespace margin::upstream {
namespace {

using std::chrono::milliseconds;

// Beyond this nobody waits; keeps the arithmetic far from overflow.
constexpr milliseconds kPauseMax = std::chrono::hours(24 * 365);

std::optional<milliseconds> parse_pause(std::string_view text, double unit_ms) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, std::chars_format::fixed);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(number) || number < 0) {
    return std::nullopt;
  }
  return milliseconds(static_cast<std::int64_t>(std::min(std::ceil(number * unit_ms), static_cast<double>(kPauseMax.count()))));
}

std::optional<unsigned> parse_digits(std::string_view text, std::size_t position, std::size_t count) {
  unsigned number = 0;
  for (const char c : text.substr(position, count)) {
    if (c < '0' || c > '9') return std::nullopt;
    number = number * 10 + static_cast<unsigned>(c - '0');
  }
  return number;
}

// "Sun, 06 Nov 1994 08:49:37 GMT", the one form that may be sent.
std::optional<std::chrono::sys_seconds> parse_date(std::string_view text) {
  static constexpr std::array<std::string_view, 12> kMonths = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                               "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  if (text.size() != 29 || text.substr(3, 2) != ", " || !text.ends_with(" GMT")) return std::nullopt;
  const auto month = std::find(kMonths.begin(), kMonths.end(), text.substr(8, 3));
  const auto day = parse_digits(text, 5, 2);
  const auto year = parse_digits(text, 12, 4);
  const auto hour = parse_digits(text, 17, 2);
  const auto minute = parse_digits(text, 20, 2);
  const auto second = parse_digits(text, 23, 2);
  if (month == kMonths.end() || !day || !year || !hour || !minute || !second) return std::nullopt;
  const std::chrono::year_month_day date{std::chrono::year(static_cast<int>(*year)),
                                         std::chrono::month(static_cast<unsigned>(month - kMonths.begin() + 1)), std::chrono::day(*day)};
  if (!date.ok() || *hour > 23 || *minute > 59 || *second > 60) return std::nullopt;
  return std::chrono::sys_days(date) + std::chrono::hours(*hour) + std::chrono::minutes(*minute) + std::chrono::seconds(*second);
}

}  // namespace

std::optional<milliseconds> retry_after(const ReplyHead& head, std::chrono::system_clock::time_point now) {
  if (const auto pause = parse_pause(head.retry_after_ms, 1)) return pause;
  if (const auto pause = parse_pause(head.retry_after, 1000)) return pause;
  const auto date = parse_date(head.retry_after);
  if (!date) return std::nullopt;
  return std::clamp(std::chrono::ceil<milliseconds>(*date - now), milliseconds(0), kPauseMax);
}

bool may_retry(const ReplyHead& head) {
  if (head.should_retry == "true") return true;
  if (head.should_retry == "false") return false;
  return head.status == 408 || head.status == 429 || head.status / 100 == 5;
}

milliseconds pause_before(int attempt, milliseconds first, std::optional<milliseconds> asked, Random& random) {
  const double jitter = random.uniform() / 2;
  if (asked) return *asked + std::chrono::round<milliseconds>(first * jitter);
  const int doublings = std::clamp(attempt - 2, 0, 20);
  return std::min(std::chrono::round<milliseconds>(first * ((1 - jitter) * static_cast<double>(1 << doublings))), kPauseMax);
}

Breaker::Verdict Breaker::ask(Moment now) {
  if (!open_) return Verdict::kPass;
  if (trying_ || now < until_) return Verdict::kRefuse;
  trying_ = true;
  return Verdict::kTrial;
}

void Breaker::succeeded() {
  failures_ = 0;
  open_ = trying_ = false;
}

void Breaker::failed(Moment now, bool trial) {
  ++failures_;
  if (!trial && (open_ || failures_ < failures_max_)) return;
  open_ = true;
  until_ = now + pause_;
  trying_ = false;
}

void Breaker::abandoned(bool trial) {
  if (trial) trying_ = false;
}

}  // namespace margin::upstream
