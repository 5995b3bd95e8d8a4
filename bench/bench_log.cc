// The event log beside what it stands on: its records beside a copy of the same bytes, its appends beside bare SQLite with the same rows,
// its commits beside bare fdatasync on the same disk, and recovery beside reading the file.
#include <benchmark/benchmark.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <unistd.h>

#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <latch>
#include <memory>
#include <string>
#include <vector>

#include "event_samples.h"
#include "log/codec.h"
#include "log/recovery.h"
#include "log/sqlite_log.h"
#include "ratio_report.h"

namespace margin {
namespace {

constexpr std::size_t kBatch = 256;  // appends in flight together, as from 256 connections
constexpr std::size_t kStored = 20'000;

[[noreturn]] void fail(const std::string& why) {
  std::fprintf(stderr, "%s\n", why.c_str());
  std::exit(1);
}

// Gone at the end of the program. In the folder where it runs, since a folder of temporary files may be no disk.
class Folder {
 public:
  Folder() {
    if (mkdtemp(path_.data()) == nullptr) fail("no folder for the stores can be made here");
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  [[nodiscard]] std::string file(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_ = "bench_log_XXXXXX";
};

const Folder& folder() {
  static const Folder kFolder;
  return kFolder;
}

const std::vector<Event>& events() {
  static const std::vector<Event> kEvents = [] {
    Random random(1);
    std::vector<Event> made;
    for (std::size_t i = 0; i < kBatch; ++i) made.push_back(typical_decision(10, random));
    return made;
  }();
  return kEvents;
}

std::string encoded(const Event& event) {
  std::string bytes;
  internal::encode(event, std::nullopt, "key", bytes);
  return bytes;
}

void copy_record(benchmark::State& state) {
  const std::string bytes = encoded(events()[0]);
  std::string out;
  for (auto _ : state) {
    out.assign(bytes);
    benchmark::DoNotOptimize(out.data());
  }
  state.SetItemsProcessed(state.iterations());
}

void encode_decision(benchmark::State& state) {
  std::string out;
  for (auto _ : state) {
    out.clear();
    internal::encode(events()[0], std::nullopt, "key", out);
    benchmark::DoNotOptimize(out.data());
  }
  state.SetItemsProcessed(state.iterations());
}

void decode_decision(benchmark::State& state) {
  const std::string bytes = encoded(events()[0]);
  for (auto _ : state) {
    auto record = internal::decode(bytes, "p", 0);
    benchmark::DoNotOptimize(record);
  }
  state.SetItemsProcessed(state.iterations());
}

std::unique_ptr<SqliteLog> open_log(const std::string& name, Durability durability) {
  Result<std::unique_ptr<SqliteLog>> log = SqliteLog::open(folder().file(name), {.durability = durability});
  if (!log) fail(log.error().message);
  return std::move(log).value();
}

// Batches of appends, each waited for: one commit each, or a few.
void append(benchmark::State& state, Durability durability) {
  static int number = 0;
  const auto log = open_log("append" + std::to_string(++number), durability);
  for (auto _ : state) {
    std::latch done(kBatch);
    for (const Event& event : events()) {
      const Status taken = log->append({.pool = "default", .event = event, .note = "key"}, [&](const Result<std::uint64_t>& offset) {
        if (!offset) fail(offset.error().message);
        done.count_down();
      });
      if (!taken) fail(taken.error().message);
    }
    done.wait();
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(kBatch));
}

// The same rows by SQLite alone: one table, one index, one transaction per batch, encoded beforehand.
void append_bare_sqlite(benchmark::State& state) {
  static int number = 0;
  sqlite3* handle = nullptr;
  const std::string path = folder().file("bare" + std::to_string(++number));
  const char* tables =
      "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; CREATE TABLE events (row INTEGER PRIMARY KEY, key INTEGER, record BLOB); "
      "CREATE INDEX events_by_key ON events (key)";
  if (sqlite3_open(path.c_str(), &handle) != SQLITE_OK || sqlite3_exec(handle, tables, nullptr, nullptr, nullptr) != SQLITE_OK) fail(path);
  sqlite3_stmt* insert = nullptr;
  sqlite3_prepare_v2(handle, "INSERT INTO events (key, record) VALUES (?1, ?2)", -1, &insert, nullptr);
  std::vector<std::string> records;
  for (const Event& event : events()) records.push_back(encoded(event));
  for (auto _ : state) {
    sqlite3_exec(handle, "BEGIN IMMEDIATE", nullptr, nullptr, nullptr);
    for (std::size_t i = 0; i < records.size(); ++i) {
      sqlite3_bind_int64(insert, 1, static_cast<sqlite3_int64>(events()[i].id.high));
      sqlite3_bind_blob(insert, 2, records[i].data(), static_cast<int>(records[i].size()), SQLITE_STATIC);
      if (sqlite3_step(insert) != SQLITE_DONE) fail(sqlite3_errmsg(handle));
      sqlite3_reset(insert);
    }
    sqlite3_exec(handle, "COMMIT", nullptr, nullptr, nullptr);
  }
  sqlite3_finalize(insert);
  sqlite3_close(handle);
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(kBatch));
}

// One event at a time, each on the disk before the next.
void commit_on_disk(benchmark::State& state) {
  static int number = 0;
  const auto log = open_log("commit" + std::to_string(++number), Durability::kDisk);
  for (auto _ : state) {
    std::latch done(1);
    if (!log->append({.pool = "default", .event = events()[0]}, [&](const Result<std::uint64_t>&) { done.count_down(); })) fail("refused");
    done.wait();
  }
  state.SetItemsProcessed(state.iterations());
}

// What no durable commit can avoid: as many bytes as a journal frame has, and fdatasync, over a file that is already there.
void write_and_fdatasync(benchmark::State& state) {
  constexpr off_t kBytes = off_t{4} << 20;
  const std::string path = folder().file("raw");
  const int file = ::open(path.c_str(), O_RDWR | O_CREAT, 0644);
  const std::string page(4096 + 24, 'x');
  off_t at = 0;
  if (file < 0 || posix_fallocate(file, 0, kBytes + 8192) != 0) fail(path);
  for (auto _ : state) {
    if (pwrite(file, page.data(), page.size(), at) < 0 || fdatasync(file) != 0) fail(path);
    at = (at + 4120) % kBytes;
  }
  close(file);
  state.SetItemsProcessed(state.iterations());
}

// A log of decisions and their outcomes, at rest.
const std::string& stored() {
  static const std::string kPath = [] {
    const auto log = open_log("stored", Durability::kProcess);
    Pool pool;
    Random random(2);
    std::int64_t now = 1'700'000'000'000;
    const auto put = [&](EventBody body) {
      now += 10;
      const Event event{.id = Uuid::make(now, random), .time_ms = now, .body = std::move(body)};
      pool.apply(event);
      if (!log->append({.pool = "default", .event = event}, {})) log->flush();
      return event.id;
    };
    for (std::size_t i = 0; i < kStored / 2; ++i) {
      Question question{.task = std::to_string(i)};
      for (std::size_t m = 0; m < 10; ++m) {
        question.responses.push_back(
            {.model = "model-" + std::to_string(m), .answer = std::to_string(random.below(3)), .confidence = random.uniform()});
      }
      const Uuid decision = put(pool.decide(question).value());
      put(OutcomeObserved{.decision = decision, .gold = "0"});
    }
    log->flush();
    const Result<RecoveredPool> recovered = recover(*log, "default");
    if (!recovered || recovered->pool.digest() != pool.digest()) fail("the recovered state is not the live one");
    return folder().file("stored");
  }();
  return kPath;
}

void read_file(benchmark::State& state) {
  std::string buffer(std::size_t{1} << 20, '\0');
  for (auto _ : state) {
    std::ifstream file(stored(), std::ios::binary);
    unsigned sum = 0;
    while (file.read(buffer.data(), static_cast<std::streamsize>(buffer.size())) || file.gcount() > 0) {
      for (std::streamsize i = 0; i < file.gcount(); i += 64) sum += static_cast<unsigned char>(buffer[static_cast<std::size_t>(i)]);
    }
    benchmark::DoNotOptimize(sum);
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(kStored));
}

// Checksums and decoding, without the fold.
void read_log(benchmark::State& state) {
  const auto log = SqliteLog::look(stored());
  for (auto _ : state) {
    std::uint64_t next = 0;
    while (true) {
      const auto records = (*log)->read("default", next, 4096);
      if (!records) fail(records.error().message);
      if (records->empty()) break;
      next += records->size();
    }
    if (next != kStored) fail("events are missing");
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(kStored));
}

void recover_log(benchmark::State& state) {
  const auto log = SqliteLog::look(stored());
  for (auto _ : state) {
    const auto recovered = recover(**log, "default");
    if (!recovered) fail(recovered.error().message);
    benchmark::DoNotOptimize(recovered);
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(kStored));
}

}  // namespace
}  // namespace margin

int main(int argc, char** argv) {
  using namespace margin;
  std::printf("%zu events in a store of %.1f MB, folded to the live digest\n", kStored,
              static_cast<double>(std::filesystem::file_size(stored())) / 1e6);
  benchmark::RegisterBenchmark("copy_record", copy_record);
  benchmark::RegisterBenchmark("encode_decision", encode_decision);
  benchmark::RegisterBenchmark("decode_decision", decode_decision);
  benchmark::RegisterBenchmark("append_bare_sqlite", append_bare_sqlite)->UseRealTime();
  benchmark::RegisterBenchmark("append_process", append, Durability::kProcess)->UseRealTime();
  benchmark::RegisterBenchmark("append_disk", append, Durability::kDisk)->UseRealTime();
  benchmark::RegisterBenchmark("write_and_fdatasync", write_and_fdatasync)->UseRealTime();
  benchmark::RegisterBenchmark("commit_on_disk", commit_on_disk)->UseRealTime();
  benchmark::RegisterBenchmark("read_file", read_file);
  benchmark::RegisterBenchmark("read_log", read_log);
  benchmark::RegisterBenchmark("recover_log", recover_log);
  return bench::run(argc, argv, {{"append_process", "append_bare_sqlite", 2.0}, {"commit_on_disk", "write_and_fdatasync", 2.0}});
}
