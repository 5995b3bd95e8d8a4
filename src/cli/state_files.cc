// `margin state export` and `diff`: states as files, and how two differ.
#include <fmt/format.h>

#include <fstream>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>

#include "base/text.h"
#include "base/utc.h"
#include "cli/state.h"
#include "file/file.h"
#include "log/recovery.h"
#include "log/state_file.h"
#include "report/output_file.h"
#include "report/table.h"

namespace margin::cli {
namespace {

constexpr std::size_t kStateBytesMax = std::size_t{4} << 30;

struct ExportFlags {
  std::string store;
  std::string pool = "default";
  std::string out;
  std::optional<std::uint64_t> at;
};

int export_state(const ExportFlags& flags) {
  const auto log = SqliteLog::look(flags.store);
  if (!log) return refuse(log.error());
  const auto state = recover(**log, flags.pool, flags.at.value_or(std::numeric_limits<std::uint64_t>::max()));
  if (!state) return refuse(state.error());
  for (const std::string& finding : state->findings) complain(finding, 0);
  if (state->next == 0)
    return complain("pool " + internal::printable(flags.pool) + ": has no events in " + internal::printable(flags.store, 400));
  const StateFile file{.pool = flags.pool, .offset = state->next, .snapshot = state->pool.snapshot()};
  if (const Status written = report::write_file(flags.out, encode_state_file(file)); !written) return refuse(written.error());
  return print(
      fmt::format("pool {} after {} events, digest {}\n", internal::printable(flags.pool), state->next, state->pool.digest().hex()));
}

bool is_state_file(const std::string& path) {
  std::string start(kStateFileMagic.size(), '\0');
  return std::ifstream(path, std::ios::binary).read(start.data(), static_cast<std::streamsize>(start.size())) && start == kStateFileMagic;
}

// A state from an exported file, or from a pool of a store.
Result<Pool> load(const std::string& path, const std::string& pool) {
  const auto in_file = [&path](const Error& error) { return Error{error.code, internal::printable(path, 400) + ": " + error.message}; };
  if (is_state_file(path)) {
    const auto bytes = file::read(path, kStateBytesMax);
    if (!bytes) return bytes.error();
    const auto state = decode_state_file(*bytes);
    if (!state) return in_file(state.error());
    auto restored = Pool::restore(state->snapshot);
    if (!restored) return in_file(restored.error());
    return restored;
  }
  const auto log = SqliteLog::look(path);
  if (!log) return log.error();
  auto state = recover(**log, pool);
  if (!state) return in_file(state.error());
  return std::move(state->pool);
}

using Place = std::tuple<std::string, std::string, std::string, int>;  // model, channel, segment, band

std::map<Place, FactorRow> by_place(const Pool& pool) {
  std::map<Place, FactorRow> rows;
  std::vector<FactorRow> factors = pool.factors();
  for (FactorRow& row : factors) rows.emplace(Place{row.model, row.channel, row.segment, row.explanation.band}, std::move(row));
  return rows;
}

int diff(const std::string& first, const std::string& second, const std::string& pool) {
  const auto a = load(first, pool);
  if (!a) return refuse(a.error());
  const auto b = load(second, pool);
  if (!b) return refuse(b.error());
  if (a->digest() == b->digest()) return print("The states are equal, digest " + a->digest().hex() + ".\n");

  report::Table table{.title = "Factors that differ",
                      .columns = {{.name = "model"},
                                  {.name = "channel"},
                                  {.name = "segment"},
                                  {.name = "band", .kind = report::Kind::kCount},
                                  {.name = "first", .kind = report::Kind::kNumber, .digits = 4},
                                  {.name = "second", .kind = report::Kind::kNumber, .digits = 4},
                                  {.name = "first n", .kind = report::Kind::kNumber, .digits = 1},
                                  {.name = "second n", .kind = report::Kind::kNumber, .digits = 1}}};
  const std::map<Place, FactorRow> in_a = by_place(*a);
  const std::map<Place, FactorRow> in_b = by_place(*b);
  std::map<Place, std::pair<const FactorRow*, const FactorRow*>> both;
  for (const auto& [place, row] : in_a) both[place].first = &row;
  for (const auto& [place, row] : in_b) both[place].second = &row;
  const auto factor = [](const FactorRow* row) { return row == nullptr ? std::nullopt : std::optional(row->explanation.factor); };
  const auto seen = [](const FactorRow* row) { return row == nullptr ? std::nullopt : std::optional(row->explanation.observations); };
  for (const auto& [place, rows] : both) {
    const auto& [left, right] = rows;
    if (factor(left) == factor(right) && seen(left) == seen(right)) continue;
    const auto& [model, channel, segment, band] = place;
    table.rows.push_back({model, channel, segment, band, factor(left), factor(right), seen(left), seen(right)});
  }
  const auto described = [](const Pool& state) {
    return fmt::format("{} {} {}, {} models, {} pending, latest event {}\n", state.digest().hex(), state.config().calibrator,
                       state.config().calibrator_version, state.present_models().size(), state.pending_decisions(),
                       internal::utc_text(state.time_ms()));
  };
  return print("first:  " + described(*a) + "second: " + described(*b) +
               (table.rows.empty() ? "No factor differs.\n" : "\n" + report::to_text(table)));
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

Command add_state_diff(CLI::App& state) {
  CLI::App* app = state.add_subcommand("diff", "How two states differ: exported files, or pools of stores");
  const auto first = std::make_shared<std::string>();
  const auto second = std::make_shared<std::string>();
  const auto pool = std::make_shared<std::string>("default");
  app->add_option("FIRST", *first, "A state file or a store")->required()->type_name("");
  app->add_option("SECOND", *second, "Another")->required()->type_name("");
  app->add_option("--pool", *pool, "Which pool, of a store")->type_name("NAME")->capture_default_str();
  return {app, [first, second, pool] { return diff(*first, *second, *pool); }};
}

}  // namespace margin::cli
