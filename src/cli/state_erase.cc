// `margin state erase`: the texts of one decision taken out of a store that no server has, or by the server that has it.
#include <fmt/format.h>

#include <array>
#include <chrono>
#include <memory>
#include <string>

#include "base/text.h"
#include "base/utc.h"
#include "cli/server_flags.h"
#include "cli/state.h"
#include "client/words.h"

namespace margin::cli {
namespace {

struct EraseFlags {
  std::string store;
  std::string decision;
  ServerFlags server;
};

int erase_in(const std::string& store, const Uuid& decision) {
  const auto log = open_existing(store);
  if (!log) return refuse(log.error());
  const auto now_ms = std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::system_clock::now().time_since_epoch()).count();
  const std::string note = "erased " + internal::utc_text(now_ms) + " by margin state erase";
  const auto erased = (*log)->erase(std::array{ErasureWanted{.decision = decision, .note = note}});
  if (!erased) return refuse({erased.error().code, named(store) + ": " + erased.error().message});
  const Erasure& erasure = erased->front();
  if (!erasure.found) return complain(named(store) + ": decision: no event of " + decision.text() + " is in the store");
  print(fmt::format("decision {}: texts of {} event{} erased\n", decision.text(), erasure.records, erasure.records == 1 ? "" : "s"));
  for (const Uuid feedback : erasure.needed) {
    complain("feedback " + feedback.text() + " came before the decision: the text of its right answer stays until margin state compact " +
             "has taken it out of the log; then erase again");
  }
  return erasure.needed.empty() ? 0 : kFailed;
}

int run_erase(const EraseFlags& flags) {
  const auto id = Uuid::parse(flags.decision);
  if (!id) return complain("--decision: got " + internal::printable(flags.decision) + ", expected the id of a decision");
  if (!flags.store.empty()) return erase_in(flags.store, *id);
  return flags.server.ask({.method = "DELETE", .path = "/v1/decisions/" + id->text() + "/texts"}, client::erasure_words);
}

}  // namespace

Command add_state_erase(CLI::App& state) {
  CLI::App* app = state.add_subcommand("erase", "Take the texts of one decision out of a store; the state stays");
  const auto flags = std::make_shared<EraseFlags>();
  CLI::Option* store = app->add_option("STORE", flags->store, "A store that no server has; without it the server is asked")->type_name("");
  app->add_option("--decision", flags->decision, "Which decision")->required()->type_name("ID");
  flags->server.add_to(*app);
  for (const char* option : {"--server", "--key-file", "--certificates", "--timeout", "--json"}) app->get_option(option)->excludes(store);
  return {app, [flags] { return run_erase(*flags); }};
}

}  // namespace margin::cli
