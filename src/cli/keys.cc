// `margin keys`: who may use the server. Works on the file of keys; a running server reads it again on SIGHUP.
#include <fmt/format.h>

#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include "access/key_ring.h"
#include "base/text.h"
#include "base/utc.h"
#include "cli/config_flags.h"
#include "cli/group.h"
#include "cli/server_commands.h"
#include "report/table.h"

namespace margin::cli {
namespace {

// Where the keys are.
struct KeyFileFlags {
  ConfigFlags config;
  std::string file;

  void add_to(CLI::App& app) {
    config.add_to(app);
    app.add_option("--keys", file, "The file of keys, instead of the configured one")->type_name("FILE");
  }
  [[nodiscard]] Result<std::string> path() const {
    if (!file.empty()) return file;
    const Result<config::Config> loaded = config.load();
    if (!loaded) return loaded.error();
    return config::keys_file(*loaded);
  }
};

std::int64_t now_ms() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::system_clock::now().time_since_epoch()).count();
}

// What a person asked for that is not there or not legal is bad input; a file that does not take it is a failure.
int refuse(const Error& error) { return complain(error.message, error.code == ErrorCode::kCorrupt ? kFailed : kBadInput); }

std::string scopes_json(const access::Scopes& scopes) {
  std::string words;
  for (std::size_t i = 0; i < access::kScopeNames.size(); ++i) {
    if (scopes.has(static_cast<access::Scope>(i))) words += fmt::format("{}\"{}\"", words.empty() ? "" : ",", access::kScopeNames[i]);
  }
  return "[" + words + "]";
}

std::string grant_json(const access::KeyGrant& grant) {
  return fmt::format("\"name\":{},\"scopes\":{},\"tenant\":{},\"weight\":{},\"requests_per_second\":{}", internal::json_string(grant.name),
                     scopes_json(grant.scopes), internal::json_string(grant.tenant), internal::json_number(grant.weight),
                     internal::json_number(grant.requests_per_second));
}

struct CreateFlags {
  KeyFileFlags where;
  access::KeyGrant grant;
  std::optional<std::string> tenant;
  std::string scopes;
  bool json = false;
};

int create(CreateFlags flags) {
  // A variable that is not set must not make a key that is confined to nobody, nor one that swallows the next flag.
  if (flags.tenant && (flags.tenant->empty() || flags.tenant->starts_with('-')))
    return complain("--tenant: got \"" + internal::printable(*flags.tenant) +
                    "\", expected a name; without the flag the key is not confined");
  flags.grant.tenant = flags.tenant.value_or("");
  const Result<access::Scopes> scopes = access::parse_scopes(flags.scopes);
  if (!scopes) return complain("--scope: " + scopes.error().message);
  flags.grant.scopes = *scopes;
  const Result<std::string> path = flags.where.path();
  if (!path) return complain(path.error().message);
  const Result<std::string> key = access::create_key(*path, flags.grant, now_ms());
  if (!key) return refuse(key.error());
  const std::string id(access::split_key(*key)->id);
  if (flags.json) return print(fmt::format("{{\"id\":\"{}\",\"key\":\"{}\",{}}}\n", id, *key, grant_json(flags.grant)));
  complain("key " + id + " is in " + internal::printable(*path, 400) +
               ". Its secret is shown this once; a running server learns of it on SIGHUP",
           0);
  return print(*key + "\n");
}

int list(const KeyFileFlags& where, bool json) {
  const Result<std::string> path = where.path();
  if (!path) return complain(path.error().message);
  const Result<access::KeyRing> ring = access::KeyRing::load(*path);
  if (!ring) return refuse(ring.error());
  report::Table table{.columns = {{.name = "id"},
                                  {.name = "name"},
                                  {.name = "scopes"},
                                  {.name = "tenant"},
                                  {.name = "weight", .kind = report::Kind::kNumber},
                                  {.name = "requests/s"},
                                  {.name = "created"},
                                  {.name = "revoked"}}};
  std::string objects;
  for (const access::Key& key : ring->keys()) {
    const std::string revoked = key.revoked_ms ? internal::utc_text(*key.revoked_ms) : "";
    const std::string created = internal::utc_text(key.created_ms);
    const std::string rate = key.grant.requests_per_second > 0 ? internal::json_number(key.grant.requests_per_second) : "default";
    table.rows.push_back({key.id, key.grant.name, key.grant.scopes.text(), key.grant.tenant, key.grant.weight, rate, created, revoked});
    objects += fmt::format("{}{{\"id\":\"{}\",{},\"created\":\"{}\",\"revoked\":{}}}", objects.empty() ? "\n" : ",\n", key.id,
                           grant_json(key.grant), created, revoked.empty() ? "null" : "\"" + revoked + "\"");
  }
  if (json) return print("[" + objects + "]\n");
  if (table.rows.empty()) return print("No keys in " + internal::printable(*path, 400) + ".\n");
  return print(report::to_text(table));
}

int revoke(const KeyFileFlags& where, const std::string& named) {
  const Result<std::string> path = where.path();
  if (!path) return complain(path.error().message);
  // A whole key may be pasted too.
  const std::optional<access::KeyParts> parts = access::split_key(named);
  const std::string id(parts ? parts->id : named);
  const Status revoked = access::revoke_key(*path, id, now_ms());
  if (!revoked) return refuse({revoked.error().code, internal::printable(id) + ": " + revoked.error().message});
  complain("key " + id + " is revoked; a running server learns of it on SIGHUP", 0);
  return 0;
}

Command add_create(CLI::App& parent) {
  CLI::App* app = parent.add_subcommand("create", "Make a key and print it, the only time it is seen");
  const auto flags = std::make_shared<CreateFlags>();
  app->add_option("--name", flags->grant.name, "Who will use it, for people")->type_name("TEXT")->required();
  app->add_option("--scope", flags->scopes, "What it may do: any of infer, decide, feedback, read, admin")->type_name("a,b")->required();
  app->add_option("--tenant", flags->tenant, "Confine it to the pools and decisions of a tenant")->type_name("NAME");
  app->add_option("--weight", flags->grant.weight, "What its feedback teaches, in [0, 1]; 0: recorded, never taught")
      ->capture_default_str();
  app->add_option("--rate", flags->grant.requests_per_second, "Requests per second; 0: the configured default")->capture_default_str();
  app->add_flag("--json", flags->json, "For a program to read");
  flags->where.add_to(*app);
  return {app, [flags] { return create(*flags); }};
}

Command add_list(CLI::App& parent) {
  CLI::App* app = parent.add_subcommand("list", "List the keys, without their secrets");
  const auto where = std::make_shared<KeyFileFlags>();
  const auto json = std::make_shared<bool>(false);
  app->add_flag("--json", *json, "For a program to read");
  where->add_to(*app);
  return {app, [where, json] { return list(*where, *json); }};
}

Command add_revoke(CLI::App& parent) {
  CLI::App* app = parent.add_subcommand("revoke", "Make a key useless, for ever");
  const auto where = std::make_shared<KeyFileFlags>();
  const auto id = std::make_shared<std::string>();
  app->add_option("ID", *id, "The public part of the key, as `margin keys list` shows it")->type_name("")->required();
  where->add_to(*app);
  return {app, [where, id] { return revoke(*where, *id); }};
}

}  // namespace

Command add_keys(CLI::App& root) {
  CLI::App* app = root.add_subcommand("keys", "Make, list and revoke the keys of a server");
  return group(app, "what to do", {add_create(*app), add_list(*app), add_revoke(*app)});
}

}  // namespace margin::cli
