#include "log_backends.h"

#include <gtest/gtest.h>

#include "log/memory_log.h"
#include "log/sqlite_log.h"

namespace margin::conformance {
namespace {

std::unique_ptr<EventLog> open_sqlite(const std::string& path, const QueueLimits& limits, Durability durability) {
  Result<std::unique_ptr<SqliteLog>> log = SqliteLog::open(path, {.durability = durability, .queue = limits});
  EXPECT_TRUE(log.ok()) << (log ? "" : log.error().message);
  return log ? std::move(log).value() : nullptr;
}

}  // namespace

const std::vector<LogBackend>& log_backends() {
  static const std::vector<LogBackend> kBackends = {
      {.name = "memory",
       .open = [](const std::string&, const QueueLimits& limits) -> std::unique_ptr<EventLog> {
         return std::make_unique<MemoryLog>(MemoryLogOptions{.queue = limits});
       }},
      {.name = "sqlite_disk",
       .open = [](const std::string& path, const QueueLimits& limits) { return open_sqlite(path, limits, Durability::kDisk); },
       .survives_reopening = true},
      {.name = "sqlite_process",
       .open = [](const std::string& path, const QueueLimits& limits) { return open_sqlite(path, limits, Durability::kProcess); },
       .survives_reopening = true},
  };
  return kBackends;
}

Event numbered_event(std::uint64_t n) {
  Random random(n);
  const auto time_ms = static_cast<std::int64_t>(1'700'000'000'000 + n);
  Event event{.id = Uuid::make(time_ms, random), .time_ms = time_ms};
  switch (n % 3) {
    case 0: event.body = ModelJoined{.model = "model " + std::to_string(n)}; break;
    case 1:
      event.body =
          DecisionMade{.task = "task " + std::to_string(n),
                       .responses = {{.model = "a", .channel = "verbalized", .confidence = 0.9, .answer = 0, .answer_text = "Paris"}},
                       .answers = {digest_of("Paris")},
                       .selected = 0,
                       .selected_model = "a"};
      break;
    default: event.body = OutcomeObserved{.decision = {n, n}, .gold = "Paris", .source = "test"}; break;
  }
  return event;
}

}  // namespace margin::conformance
