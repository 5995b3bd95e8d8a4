// `margin state backup`, `restore` and `compact`: a store copied, put back and made smaller.
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <map>
#include <memory>
#include <string>

#include "base/text.h"
#include "cli/state.h"
#include "log/recovery.h"

namespace margin::cli {
namespace {

// "3 pools, 1200 events".
Result<std::string> contents_of(SqliteLog& log) {
  const auto positions = log.pools();
  if (!positions) return positions.error();
  std::uint64_t events = 0;
  for (const PoolPosition& position : *positions) events += position.next;
  return fmt::format("{} pool{}, {} event{}", positions->size(), positions->size() == 1 ? "" : "s", events, events == 1 ? "" : "s");
}

int backup(const std::string& store, const std::string& target) {
  const auto log = SqliteLog::look(store);
  if (!log) return refuse(log.error());
  if (const Status status = (*log)->backup(target); !status) return refuse(status.error());
  const auto copy = SqliteLog::look(target);
  if (!copy) return refuse(copy.error());
  const auto contents = contents_of(**copy);
  if (!contents) return refuse(contents.error());
  return print(named(target) + ": " + *contents + "\n");
}

int restore(const std::string& source, const std::string& store, bool replace) {
  struct stat found {};
  std::string before;
  if (stat(store.c_str(), &found) == 0) {
    if (!replace) return complain(named(store) + ": exists; --replace puts the backup in its place, and what it has since is lost");
    const auto log = SqliteLog::look(store);
    const auto contents = log ? contents_of(**log) : Result<std::string>(log.error());
    before = "; before: " + (contents ? *contents : "a store that cannot be read");
  }
  if (const Status status = SqliteLog::restore(source, store); !status) return refuse(status.error());
  const auto log = SqliteLog::look(store);
  if (!log) return refuse(log.error());
  const auto contents = contents_of(**log);
  if (!contents) return refuse(contents.error());
  return print(named(store) + ": " + *contents + before + "\n");
}

struct CompactFlags {
  std::string store;
  std::string pool = "default";
  std::uint64_t keep = 100'000;
  std::string audit = "without-answers";
};

Result<AuditKept> parse_audit(const std::string& text) {
  const std::map<std::string, AuditKept> known = {
      {"everything", AuditKept::kEverything}, {"without-answers", AuditKept::kWithoutAnswers}, {"nothing", AuditKept::kNothing}};
  if (const auto found = known.find(text); found != known.end()) return found->second;
  return {ErrorCode::kInvalidArgument, "--audit: got " + internal::printable(text) + ", expected everything, without-answers or nothing"};
}

int compact(const CompactFlags& flags) {
  const Result<AuditKept> audit = parse_audit(flags.audit);
  if (!audit) return refuse(audit.error());
  const auto log = open_existing(flags.store);
  if (!log) return refuse(log.error());
  const auto state = recover(**log, flags.pool);
  if (!state) return refuse(state.error());
  for (const std::string& finding : state->findings) complain(finding, 0);
  if (state->next == 0) return complain("pool " + internal::printable(flags.pool) + ": has no events in " + named(flags.store));
  if (state->pool.needs_fold()) return kFailed;
  const std::string bytes = state->pool.snapshot();
  // One snapshot where the retained events begin, so that reverts among them can be folded; one at the end, to start from.
  const auto earliest = earliest_start(**log, flags.pool);
  if (!earliest) return refuse(earliest.error());
  const std::uint64_t before = std::max(*earliest, state->next - std::min(flags.keep, state->next));
  const auto horizon = recover_horizon(**log, flags.pool, before);
  if (!horizon) return refuse(horizon.error());
  const std::string first = horizon->snapshot();
  for (const StoredSnapshot& snapshot :
       {StoredSnapshot{state->next, bytes, digest_of(bytes)}, StoredSnapshot{before, first, digest_of(first)}}) {
    if (const Status kept = (*log)->keep_snapshot(flags.pool, snapshot); !kept) return refuse(kept.error());
  }
  if (const Status done = (*log)->compact(flags.pool, before, *audit); !done) return refuse(done.error());
  if (const Status done = (*log)->shrink(); !done) return refuse(done.error());
  return print(fmt::format("pool {}: events {} to {} are retained\n", internal::printable(flags.pool), before, state->next));
}

}  // namespace

Command add_state_backup(CLI::App& state) {
  CLI::App* app = state.add_subcommand("backup", "Copy a store, as it is at this moment, while a server goes on writing it");
  const auto store = std::make_shared<std::string>();
  const auto target = std::make_shared<std::string>();
  app->add_option("STORE", *store, "The file that the server keeps its events in")->required()->type_name("");
  app->add_option("FILE", *target, "The backup; it must not exist")->required()->type_name("");
  return {app, [store, target] { return backup(*store, *target); }};
}

Command add_state_restore(CLI::App& state) {
  CLI::App* app = state.add_subcommand("restore", "Put a backup in the place of a store that no server has");
  const auto source = std::make_shared<std::string>();
  const auto store = std::make_shared<std::string>();
  const auto replace = std::make_shared<bool>(false);
  app->add_option("FILE", *source, "The backup; it is checked first")->required()->type_name("");
  app->add_option("STORE", *store, "Where the server will look for it")->required()->type_name("");
  app->add_flag("--replace", *replace, "Even if there is a store; what it has and the backup has not is lost");
  return {app, [source, store, replace] { return restore(*source, *store, *replace); }};
}

Command add_state_compact(CLI::App& state) {
  CLI::App* app = state.add_subcommand("compact", "Take old events out of a store that no server has; the state stays");
  const auto flags = std::make_shared<CompactFlags>();
  app->add_option("STORE", flags->store, "The file that the server keeps its events in")->required()->type_name("");
  app->add_option("--pool", flags->pool, "Which pool")->type_name("NAME")->capture_default_str();
  app->add_option("--keep", flags->keep, "How many of the latest events stay, for reverts and replays")
      ->check(not_negative)
      ->type_name("N")
      ->capture_default_str();
  app->add_option("--audit", flags->audit, "What stays of the others, to be found by id: everything, without-answers or nothing")
      ->type_name("WHAT")
      ->capture_default_str();
  return {app, [flags] { return compact(*flags); }};
}

}  // namespace margin::cli
