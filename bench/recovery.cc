// recovery EVENTS: makes a store of so many events (decisions of three responses, each followed by its outcome) in the folder where it
// runs, and says what recovering its state takes beside reading the file: from the first event, and from a snapshot with 10,000 events
// after it. Processor time, since other programs disturb it least. By hand: docs/performance.md#the-event-log; 10^7 events are 5 GB.
#include "log/recovery.h"

#include <sys/resource.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "log/sqlite_log.h"
#include "margin/random.h"

namespace {

using namespace margin;

constexpr std::uint64_t kTail = 10'000;
constexpr std::string_view kPool = "default";

[[noreturn]] void fail(const std::string& why) {
  std::fprintf(stderr, "recovery: %s\n", why.c_str());
  std::exit(1);
}

double processor_seconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& time) { return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6; };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

template <class Work>
double timed(const char* what, std::uint64_t events, const Work& work) {
  const double before = processor_seconds();
  const auto began = std::chrono::steady_clock::now();
  work();
  const double spent = processor_seconds() - before;
  const double elapsed = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  std::printf("%-28s %8.2f s of processor time, %8.2f s elapsed, %7.0f ns per event\n", what, spent, elapsed,
              spent * 1e9 / static_cast<double>(events));
  std::fflush(stdout);
  return spent;
}

void fill(EventLog& log, std::uint64_t events) {
  Random random(1);
  Pool pool;
  std::int64_t now = 1'700'000'000'000;
  std::uint64_t written = 0;
  const auto put = [&](EventBody body) {
    now += 10;
    const Event event{.id = Uuid::make(now, random), .time_ms = now, .body = std::move(body)};
    while (!log.append({.pool = std::string(kPool), .event = event}, {})) log.flush();
    ++written;
    return event.id;
  };
  // Decisions repeat under new ids: what they say does not matter here, and deciding would take longer than writing.
  std::vector<DecisionMade> decisions;
  for (int i = 0; i < 1000; ++i) {
    Question question{.task = "task-" + std::to_string(i)};
    for (const char* model : {"alpha", "beta", "gamma"}) {
      question.responses.push_back({.model = model, .answer = std::to_string(random.below(3)), .confidence = random.uniform()});
    }
    decisions.push_back(pool.decide(question).value());
    for (std::size_t r = 0; r < question.responses.size(); ++r) decisions.back().responses[r].answer_text = *question.responses[r].answer;
  }
  put(PoolConfigured{});
  while (written < events) {
    const DecisionMade& decision = decisions[random.below(decisions.size())];
    OutcomeObserved outcome{.source = "recovery"};
    for (const RecordedResponse& response : decision.responses) outcome.grades.push_back({response.model, random.chance(0.7) ? 1.0 : 0.0});
    outcome.decision = put(decision);
    if (written < events) put(std::move(outcome));
  }
  log.flush();
}

void read_file(const std::string& path) {
  std::string buffer(std::size_t{1} << 20, '\0');
  std::ifstream file(path, std::ios::binary);
  unsigned sum = 0;
  while (file.read(buffer.data(), static_cast<std::streamsize>(buffer.size())) || file.gcount() > 0) {
    for (std::streamsize i = 0; i < file.gcount(); i += 64) sum += static_cast<unsigned char>(buffer[static_cast<std::size_t>(i)]);
  }
  if (sum == 0) fail("the file is empty");
}

RecoveredPool recovered(EventLog& log, std::uint64_t until) {
  auto pool = recover(log, kPool, until);
  if (!pool) fail(pool.error().message);
  return std::move(*pool);
}

void measure(const std::string& path, std::uint64_t events) {
  auto log = SqliteLog::open(path, {.durability = Durability::kProcess});
  if (!log) fail(log.error().message);
  timed("written", events, [&] { fill(**log, events); });
  std::printf("%.2f GB\n", static_cast<double>(std::filesystem::file_size(path)) / 1e9);
  const double file = timed("file read", events, [&] { read_file(path); });
  Digest whole;
  const double first = timed("from the first event", events, [&] { whole = recovered(**log, events).pool.digest(); });

  const RecoveredPool before = recovered(**log, events - kTail);
  const std::string bytes = before.pool.snapshot();
  if (Status kept = (*log)->keep_snapshot(kPool, {.offset = before.next, .bytes = bytes, .digest = digest_of(bytes)}); !kept) {
    fail(kept.error().message);
  }
  std::printf("snapshot of %.1f MB\n", static_cast<double>(bytes.size()) / 1e6);
  Digest tail;
  const double snapshot = timed("from the snapshot", events, [&] {
    const RecoveredPool pool = recovered(**log, events);
    if (pool.from != before.next) fail("the snapshot was passed over");
    tail = pool.pool.digest();
  });
  if (whole != tail) fail("the snapshot and its tail are another state");
  std::printf("beside reading the file: %.1f from the first event, %.2f from the snapshot\n", first / file, snapshot / file);
}

}  // namespace

int main(int argc, char** argv) {
  const std::uint64_t events = argc == 2 ? std::strtoull(argv[1], nullptr, 10) : 0;
  if (events < 2 * kTail) fail("expected a number of events, at least " + std::to_string(2 * kTail));
  std::string folder = "recovery_XXXXXX";
  if (mkdtemp(folder.data()) == nullptr) fail("no folder for the store can be made here");
  measure(folder + "/store", events);
  std::filesystem::remove_all(folder);
}
