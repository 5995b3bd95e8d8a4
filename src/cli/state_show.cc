// `margin state show` and `margin state verify`: what is in a store, and whether it is whole. Both may run beside a server.
#include <fmt/format.h>

#include <memory>
#include <string>

#include "base/json_writer.h"
#include "base/text.h"
#include "base/utc.h"
#include "cli/state.h"
#include "log/recovery.h"
#include "report/table.h"

namespace margin::cli {
namespace {

using internal::JsonWriter;

struct Flags {
  std::string store;
  bool json = false;

  void add_to(CLI::App& app) {
    app.add_option("STORE", store, "The file that the server keeps its events in")->required()->type_name("");
    app.add_flag("--json", json, "For a program to read");
  }
};

std::string time_text(const Pool& pool) { return pool.time_ms() > 0 ? internal::utc_text(pool.time_ms()) : ""; }

int show(const Flags& flags) {
  const auto log = SqliteLog::look(flags.store);
  if (!log) return refuse(log.error());
  const auto positions = (*log)->pools();
  if (!positions) return refuse(positions.error());
  report::Table table{.columns = {{.name = "pool"},
                                  {.name = "events", .kind = report::Kind::kCount},
                                  {.name = "retained", .kind = report::Kind::kCount},
                                  {.name = "snapshots", .kind = report::Kind::kCount},
                                  {.name = "calibrator"},
                                  {.name = "models", .kind = report::Kind::kCount},
                                  {.name = "pending", .kind = report::Kind::kCount},
                                  {.name = "latest event"},
                                  {.name = "digest"}}};
  JsonWriter json;
  json.open('[');
  for (const PoolPosition& position : *positions) {
    const auto snapshots = (*log)->snapshots(position.pool);
    if (!snapshots) return refuse(snapshots.error());
    const auto state = recover(**log, position.pool, position.next);
    if (!state) return refuse(state.error());
    for (const std::string& finding : state->findings) complain(finding, 0);
    const Pool& pool = state->pool;
    const std::string digest = pool.digest().hex();
    table.rows.push_back({position.pool, position.next, position.next - position.first, snapshots->size(), pool.config().calibrator,
                          pool.present_models().size(), pool.pending_decisions(), time_text(pool), digest});
    json.open('{').key("pool").text(position.pool).key("first").number(position.first).key("next").number(position.next);
    json.key("snapshots").open('[');
    for (const std::uint64_t offset : *snapshots) json.number(offset);
    json.close(']').key("calibrator").text(pool.config().calibrator).key("vote").text(pool.config().vote).key("models").open('[');
    const std::vector<std::string> models = pool.present_models();
    for (const std::string& model : models) json.text(model);
    json.close(']').key("pending").number(pool.pending_decisions()).key("early").number(pool.waiting_outcomes());
    json.key("time_ms").number(pool.time_ms()).key("digest").text(digest).close('}');
  }
  json.close(']');
  if (flags.json) return print(json.take() + "\n");
  return print(table.rows.empty() ? "The store has no pool yet.\n" : report::to_text(table));
}

int verify_store(const Flags& flags) {
  const auto log = SqliteLog::look(flags.store);
  if (!log) return refuse(log.error());
  const Status file = (*log)->check_file();
  const auto verification = verify(**log);
  if (!verification) return refuse(verification.error());

  const bool sound = file.ok() && verification->sound();
  std::string text;
  JsonWriter json;
  json.open('{').key("sound").flag(sound).key("file");
  if (file.ok()) {
    json.null();
  } else {
    json.text(file.error().message);
    text += internal::printable(file.error().message, 500) + "\n";
  }
  json.key("pools").open('[');
  for (const VerifiedPool& pool : verification->pools) {
    text += fmt::format("pool {}: {} events from {} to {}, snapshots that equal their fold: {}, digest {}: {}\n",
                        internal::printable(pool.position.pool), pool.events, pool.position.first, pool.position.next,
                        pool.snapshots.size(), pool.digest.hex(), pool.findings.empty() ? "sound" : "NOT SOUND");
    json.open('{').key("pool").text(pool.position.pool).key("first").number(pool.position.first).key("next").number(pool.position.next);
    json.key("events").number(pool.events).key("snapshots").open('[');
    for (const std::uint64_t offset : pool.snapshots) json.number(offset);
    json.close(']').key("digest").text(pool.digest.hex()).key("findings").open('[');
    for (const std::string& finding : pool.findings) {
      json.text(finding);
      text += "  " + finding + "\n";
    }
    json.close(']').close('}');
  }
  json.close(']').close('}');
  text += sound ? "The store is sound.\n" : "The store is NOT sound.\n";
  const int printed = print(flags.json ? json.take() + "\n" : text);
  return printed != 0 || sound ? printed : kFailed;
}

Command make(CLI::App* app, int (*run)(const Flags&)) {
  const auto flags = std::make_shared<Flags>();
  flags->add_to(*app);
  return {app, [flags, run] { return run(*flags); }};
}

}  // namespace

Command add_state_show(CLI::App& state) {
  return make(state.add_subcommand("show", "The pools of a store: events, snapshots, models, digest"), show);
}

Command add_state_verify(CLI::App& state) {
  CLI::App* app = state.add_subcommand("verify", "Read everything, hold it against its checksums, and fold it again");
  app->footer("Exit code 1 when anything is damaged, missing or not what the events come to; each is named.");
  return make(app, verify_store);
}

}  // namespace margin::cli
