// Any bytes as a model's reply: every mode reads it, what is shown lacks at most one confidence line, and a confidence line that
// follows plain text is always found.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <iterator>
#include <string>
#include <string_view>

#include "elicit/confidence.h"
#include "elicit/elicit.h"
#include "elicit/lines.h"

namespace {

using namespace margin::elicit;

void require(bool holds) {
  if (!holds) std::abort();
}

// Whether `cut` is one line that states a number, with nothing but space around.
bool is_confidence_line(std::string_view cut) {
  const std::string_view line = trimmed(cut);
  const auto stated = line.find('\n') == std::string_view::npos ? read_confidence_line(line) : std::nullopt;
  return stated && stated->is_number();
}

void check_shown(std::string_view reply, std::string_view shown) {
  require(shown.size() <= reply.size());
  const std::size_t cut = reply.size() - shown.size();
  if (cut == 0) return require(shown == reply);
  const auto same = static_cast<std::size_t>(std::mismatch(shown.begin(), shown.end(), reply.begin()).first - shown.begin());
  // Where the cut's first bytes equal those behind it, it may have been made a little earlier.
  for (std::size_t at = same + 1; at-- > 0 && same - at <= cut;) {
    if (reply.substr(at + cut) == shown.substr(at) && is_confidence_line(reply.substr(at, cut))) return;
  }
  std::abort();
}

void check_reading(const Reading& reading) {
  require(reading.confidence.has_value() == (reading.missing == Missing::kNone));
  require(!reading.confidence || (*reading.confidence >= 0.0 && *reading.confidence <= 1.0));
  require(!reading.refused || (reading.answer.empty() && !reading.confidence));
  require(reading.refused || reading.malformed || !reading.answer.empty());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view reply(reinterpret_cast<const char*>(data), size);
  const Task task = kTasks[size % std::size(kTasks)];
  const Reading off = read_reply(task, Mode::kOff, reply);
  check_reading(off);
  require(off.shown == reply && off.missing == Missing::kNotAsked);
  const Reading line = read_reply(task, Mode::kLine, reply);
  check_reading(line);
  if (reply.find("\"confidence\"") == std::string_view::npos) check_shown(reply, line.shown);  // else it may be the object
  check_reading(read_reply(task, Mode::kSchema, reply));
  check_reading(read_reply(task, Mode::kLine, reply, true));
  if (reply.find_first_of("`~<>:{\xef") == std::string_view::npos) {
    const std::string asked = std::string(reply) + "\n\nConfidence: 37";
    const Reading reading = read_reply(Task::kFree, Mode::kLine, asked);
    require(reading.refused || reading.confidence == 0.37);
    const std::string_view kept = trimmed(reply);
    require(reading.shown == (kept.empty() ? "" : reply.substr(0, static_cast<std::size_t>(kept.data() - reply.data()) + kept.size())));
  }
  return 0;
}
