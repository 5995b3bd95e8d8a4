// `margin state export`, `import`, `merge` and `diff`: states as files, and what two of them have to do with each other.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <limits>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/text.h"
#include "base/utc.h"
#include "cli/state.h"
#include "config/pool_check.h"
#include "file/file.h"
#include "log/recovery.h"
#include "log/state_file.h"
#include "margin/state.h"
#include "report/output_file.h"
#include "report/table.h"

namespace margin::cli {
namespace {

constexpr std::size_t kStateBytesMax = std::size_t{4} << 30;
constexpr std::uint64_t kEverything = std::numeric_limits<std::uint64_t>::max();

bool is_state_file(const std::string& path) {
  std::string start(kStateFileMagic.size(), '\0');
  return std::ifstream(path, std::ios::binary).read(start.data(), static_cast<std::streamsize>(start.size())) && start == kStateFileMagic;
}

Result<StateFile> read_state_file(const std::string& path) {
  const auto bytes = file::read(path, kStateBytesMax);
  if (!bytes) return bytes.error();
  // A slip in a name is bad input; a state that is damaged is a failure.
  if (!bytes->starts_with(kStateFileMagic)) return {ErrorCode::kInvalidArgument, named(path) + ": not a state file"};
  auto state = decode_state_file(*bytes);
  if (!state) return {state.error().code, named(path) + ": " + state.error().message};
  return state;
}

// The state of a pool of a store, after all events before `until`.
Result<StateFile> read_store(const std::string& path, const std::string& pool, std::uint64_t until = kEverything) {
  const auto log = SqliteLog::look(path);
  if (!log) return log.error();
  const auto state = recover(**log, pool, until);
  if (!state) return {state.error().code, named(path) + ": " + state.error().message};
  for (const std::string& finding : state->findings) complain(finding, 0);
  const auto positions = (*log)->pools();
  if (!positions) return positions.error();
  const bool known = std::any_of(positions->begin(), positions->end(), [&](const PoolPosition& there) { return there.pool == pool; });
  if (!known || (state->next == 0 && until > 0))
    return {ErrorCode::kNotFound, "pool " + internal::printable(pool) + ": has no events in " + named(path)};
  if (until != kEverything && state->next != until) {
    return {ErrorCode::kInvalidArgument, "--at: got " + std::to_string(until) + ", expected a number of events that pool " +
                                             internal::printable(pool) + " has had and has kept: the nearest is " +
                                             std::to_string(state->next)};
  }
  if (state->pool.needs_fold()) {
    return {ErrorCode::kUnsupported, named(path) + ": the state of pool " + internal::printable(pool) +
                                         " is not finished: it holds an outcome that was reverted, and nothing can be made of it"};
  }
  return StateFile{.pool = pool, .offset = state->next, .snapshot = state->pool.snapshot()};
}

Result<StateFile> read_either(const std::string& path, const std::string& pool) {
  return is_state_file(path) ? read_state_file(path) : read_store(path, pool);
}

// A slip in a name must not cost a store, or a file of keys.
Status check_target(const std::string& path) {
  std::error_code error;
  const bool taken = std::filesystem::is_regular_file(path, error) && std::filesystem::file_size(path, error) > 0 && !is_state_file(path);
  if (!taken) return {};
  return {ErrorCode::kConflict, "--out: " + named(path) + " exists and is no state; a state replaces only another"};
}

int write(const std::string& path, const StateFile& state) {
  if (const Status free = check_target(path); !free) return refuse(free.error());
  if (const Status written = report::write_file(path, encode_state_file(state)); !written)
    return complain(written.error().message, kFailed);
  return print(fmt::format("{}: pool {} after {} events, digest {}\n", named(path), internal::printable(state.pool), state.offset,
                           digest_of(state.snapshot).hex()));
}

struct ExportFlags {
  std::string store;
  std::string pool = "default";
  std::string out;
  std::optional<std::uint64_t> at;
};

int export_state(const ExportFlags& flags) {
  const auto state = read_store(flags.store, flags.pool, flags.at.value_or(kEverything));
  if (!state) return refuse(state.error());
  return write(flags.out, *state);
}

struct ImportFlags {
  std::string state;
  std::string store;
  std::string pool = "default";
  double trust = 1.0;
};

// Events as a server would make them, each tried on the state before any is written.
class Planned {
 public:
  explicit Planned(Pool state) : state_(std::move(state)) {}

  Status add(EventBody body) {
    const std::int64_t clock =
        std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::system_clock::now().time_since_epoch()).count();
    const std::int64_t now = std::max(clock, state_.time_ms());
    Event event{.id = Uuid::make(now, random_), .time_ms = now, .body = std::move(body)};
    ApplyResult applied = state_.apply(event);
    if (applied.error) return std::move(*applied.error);
    events_.push_back(std::move(event));
    return {};
  }

  // All in one commit.
  Status append_to(EventLog& log, const std::string& pool) const {
    Status failed;
    Status taken;
    log.cork();
    for (const Event& event : events_) {
      taken = log.append({.pool = pool, .event = event, .note = "margin state import"}, [&failed](const Result<std::uint64_t>& offset) {
        if (!offset) failed = offset.error();
      });
      if (!taken) break;
    }
    log.flush();
    return taken ? std::move(failed) : std::move(taken);
  }

  [[nodiscard]] const Pool& state() const { return state_; }

 private:
  Pool state_;
  Random random_{std::random_device{}()};
  std::vector<Event> events_;
};

// The pool as it is in the store, or an empty one.
Result<RecoveredPool> pool_before(const std::string& store, const std::string& pool) {
  if (SqliteLog::is_unmade(store)) return RecoveredPool{};
  const auto log = SqliteLog::look(store);
  if (!log) return log.error();
  return recover(**log, pool);
}

int import_state(const ImportFlags& flags) {
  auto file = read_state_file(flags.state);
  if (!file) return refuse(file.error());
  const auto imported = Pool::restore(file->snapshot);
  if (!imported) return refuse(imported.error());
  auto before = pool_before(flags.store, flags.pool);
  if (!before) return refuse(before.error());
  const std::uint64_t next = before->next;
  Planned planned(std::move(before->pool));
  // A pool that is not there yet is made as the other was.
  if (next == 0) {
    if (const Status legal = config::check_pool_name(flags.pool); !legal) return complain("--pool: " + legal.error().message);
    if (const Status made = planned.add(imported->config()); !made) return refuse(made.error());
  }
  if (const Status done = planned.add(StateImported{.state = std::move(file->snapshot), .trust = flags.trust}); !done) {
    return refuse(done.error());
  }
  const auto log = SqliteLog::open(flags.store);
  if (!log) return refuse(log.error());
  const auto now = recover(**log, flags.pool);
  if (!now) return refuse(now.error());
  if (now->next != next) return complain("pool " + internal::printable(flags.pool) + ": has changed meanwhile; try again", kFailed);
  if (const Status done = planned.append_to(**log, flags.pool); !done) return refuse(done.error());
  return print(fmt::format("pool {} has the {} models of {} at a trust of {}\n", internal::printable(flags.pool),
                           planned.state().present_models().size(), named(flags.state), internal::json_number(flags.trust)));
}

struct PairFlags {
  std::string first, second;
  std::string pool = "default";
  std::string out;

  void add_to(CLI::App& app) {
    app.add_option("FIRST", first, "A state file or a store")->required()->type_name("");
    app.add_option("SECOND", second, "Another")->required()->type_name("");
    app.add_option("--pool", pool, "Which pool, of a store")->type_name("NAME")->capture_default_str();
  }
};

int merge(const PairFlags& flags) {
  const auto first = read_either(flags.first, flags.pool);
  if (!first) return refuse(first.error());
  const auto second = read_either(flags.second, flags.pool);
  if (!second) return refuse(second.error());
  auto merged = merge_states(first->snapshot, second->snapshot);
  if (!merged) return refuse(merged.error());
  return write(flags.out, {.pool = first->pool, .offset = first->offset + second->offset, .snapshot = std::move(merged).value()});
}

Result<std::string> described(const StateFile& state) {
  const auto pool = Pool::restore(state.snapshot);
  if (!pool) return pool.error();
  return fmt::format("{} {} {}, {} models, {} pending, latest event {}\n", digest_of(state.snapshot).hex(), pool->config().calibrator,
                     pool->config().calibrator_version, pool->present_models().size(), pool->pending_decisions(),
                     internal::utc_text(pool->time_ms()));
}

int diff(const PairFlags& flags) {
  const auto first = read_either(flags.first, flags.pool);
  if (!first) return refuse(first.error());
  const auto second = read_either(flags.second, flags.pool);
  if (!second) return refuse(second.error());
  if (first->snapshot == second->snapshot) return print("The states are equal, digest " + digest_of(first->snapshot).hex() + ".\n");

  const auto differences = diff_states(first->snapshot, second->snapshot);
  if (!differences) return refuse(differences.error());
  report::Table table{.title = "Factors that differ",
                      .columns = {{.name = "model"},
                                  {.name = "channel"},
                                  {.name = "segment"},
                                  {.name = "band", .kind = report::Kind::kCount},
                                  {.name = "first", .kind = report::Kind::kNumber, .digits = 4},
                                  {.name = "second", .kind = report::Kind::kNumber, .digits = 4},
                                  {.name = "first n", .kind = report::Kind::kNumber, .digits = 1},
                                  {.name = "second n", .kind = report::Kind::kNumber, .digits = 1}}};
  const auto value = [](const std::optional<BandState>& state, double BandState::*member) {
    return state ? std::optional((*state).*member) : std::nullopt;
  };
  for (const BandDifference& row : *differences) {
    const auto left = value(row.first, &BandState::factor), right = value(row.second, &BandState::factor);
    const auto left_n = value(row.first, &BandState::n), right_n = value(row.second, &BandState::n);
    if (left == right && left_n == right_n) continue;
    table.rows.push_back({row.model, row.channel, row.segment, row.band, left, right, left_n, right_n});
  }
  const auto above = described(*first);
  if (!above) return refuse(above.error());
  const auto below = described(*second);
  if (!below) return refuse(below.error());
  return print("first:  " + *above + "second: " + *below + (table.rows.empty() ? "No factor differs.\n" : "\n" + report::to_text(table)));
}

}  // namespace

Command add_state_export(CLI::App& state) {
  CLI::App* app = state.add_subcommand("export", "Write the state of a pool as a file; may run beside a server");
  const auto flags = std::make_shared<ExportFlags>();
  app->add_option("STORE", flags->store, "The file that the server keeps its events in")->required()->type_name("");
  app->add_option("--pool", flags->pool, "Which pool")->type_name("NAME")->capture_default_str();
  app->add_option("--out", flags->out, "The state")->required()->type_name("FILE");
  app->add_option("--at", flags->at, "As it was after so many events; now, by default")->check(not_negative)->type_name("N");
  return {app, [flags] { return export_state(*flags); }};
}

Command add_state_import(CLI::App& state) {
  CLI::App* app = state.add_subcommand("import", "Let a pool that has made no decision yet start from an exported state");
  const auto flags = std::make_shared<ImportFlags>();
  app->add_option("FILE", flags->state, "The state, as exported or merged")->required()->type_name("");
  app->add_option("STORE", flags->store, "The store that no server has; made if it is not there")->required()->type_name("");
  app->add_option("--pool", flags->pool, "Which pool; made as the other was if it is not there")->type_name("NAME")->capture_default_str();
  app->add_option("--trust", flags->trust, "What the evidence counts for here, in (0, 1]")->capture_default_str();
  return {app, [flags] { return import_state(*flags); }};
}

Command add_state_merge(CLI::App& state) {
  CLI::App* app = state.add_subcommand("merge", "Bring two states together, each as much as it has seen");
  const auto flags = std::make_shared<PairFlags>();
  flags->add_to(*app);
  app->add_option("--out", flags->out, "The state that knows both")->required()->type_name("FILE");
  return {app, [flags] { return merge(*flags); }};
}

Command add_state_diff(CLI::App& state) {
  CLI::App* app = state.add_subcommand("diff", "How two states differ: exported files, or pools of stores");
  const auto flags = std::make_shared<PairFlags>();
  flags->add_to(*app);
  return {app, [flags] { return diff(*flags); }};
}

}  // namespace margin::cli
