#include "journal/line.h"

#include <array>

#include "base/text.h"
#include "base/utc.h"
#include "journal/redact.h"

namespace margin::journal {
namespace {

// Of a message or a detail before it is escaped, which makes it six times as long at worst.
constexpr std::size_t kTextBytesMax = 500;
constexpr std::array<std::string_view, 4> kLevels = {"debug", "info", "warning", "error"};
constexpr std::array<std::string_view, 4> kColours = {"\x1b[2m", "\x1b[32m", "\x1b[33m", "\x1b[31m"};
constexpr std::string_view kPlain = "\x1b[0m";

template <class Words>
std::string_view of(Level level, const Words& words) {
  return words[static_cast<std::size_t>(level)];
}

// Masked before it is cut: half a secret is one too.
std::string cleaned(std::string_view text) {
  constexpr std::size_t kLookedAtMax = 4 * kTextBytesMax;
  std::string safe = redact(text.substr(0, kLookedAtMax));
  if (safe.size() > kTextBytesMax) safe.replace(kTextBytesMax, std::string::npos, "...");
  return safe;
}

std::string number_text(const Field& field) {
  if (const auto* whole = std::get_if<std::int64_t>(&field.value)) return std::to_string(*whole);
  return internal::json_number(std::get<double>(field.value));
}

std::string json_value(const Field& field) {
  const auto* text = std::get_if<std::string_view>(&field.value);
  return text != nullptr ? internal::json_string(cleaned(*text)) : number_text(field);
}

std::string pretty_value(const Field& field) {
  const auto* text = std::get_if<std::string_view>(&field.value);
  if (text == nullptr) return number_text(field);
  const std::string value = internal::printable(cleaned(*text), 2 * kTextBytesMax);
  return value.empty() || value.find_first_of(" \"=") != std::string::npos ? internal::json_string(value) : value;
}

// Appends what fits; the rest is left out as a whole, for half a detail misleads and half an object is no JSON.
template <class Detail>
void append_details(std::string& line, std::span<const Field> details, std::string_view left_out, const Detail& detail) {
  constexpr std::size_t kReserve = 64;  // for what ends the line
  for (const Field& field : details) {
    const std::string text = detail(field);
    if (line.size() + text.size() + kReserve > Journal::kLineBytesMax) {
      line += left_out;
      return;
    }
    line += text;
  }
}

}  // namespace

std::string json_line(const Line& line) {
  std::string out = "{\"time\":\"" + internal::utc_text(line.time_ms) + "\",\"level\":\"" + std::string(of(line.level, kLevels)) +
                    "\",\"message\":" + internal::json_string(cleaned(line.message));
  append_details(out, line.details, ",\"truncated\":true",
                 [](const Field& field) { return "," + internal::json_string(field.name) + ":" + json_value(field); });
  return out + "}\n";
}

std::string pretty_line(const Line& line, bool colour) {
  constexpr std::size_t kLevelWidth = 8;
  std::string level(of(line.level, kLevels));
  level.resize(kLevelWidth, ' ');
  if (colour) level = std::string(of(line.level, kColours)) + level + std::string(kPlain);
  std::string out = internal::utc_text(line.time_ms) + " " + level + internal::printable(cleaned(line.message), 2 * kTextBytesMax);
  append_details(out, line.details, " (more left out)",
                 [](const Field& field) { return " " + std::string(field.name) + "=" + pretty_value(field); });
  return out + "\n";
}

}  // namespace margin::journal
