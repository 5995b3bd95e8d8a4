// Config: what `margin.toml`, the environment and the defaults say together, as plain values. Read once by the command line, handed on by
// value; docs/configuration.md describes every key. `fields.h` is the one table that loading, the sample and the schema are made from.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "journal/journal.h"
#include "margin/event.h"
#include "margin/parameter.h"
#include "margin/result.h"

namespace margin::config {

enum class MetricsAccess { kKey, kOpen };           // whether /metrics asks for a key
enum class Durability { kDisk, kProcess };          // what an acknowledged event survives: power loss, or only kill -9
enum class KeptAnswers { kText, kHash, kNone };     // what the log keeps of answers
enum class KeptAudit { kAll, kOutcomes, kNone };    // what compaction keeps of events beyond retention
enum class LoggedRequests { kOff, kErrors, kAll };  // which requests have a line in the log; errors: answered with 400 or above
using LogFormat = journal::Format;
using LogLevel = journal::Level;
enum class Dialect { kOpenAi, kOllama };                                               // what an upstream speaks
enum class Strategy { kVote, kCascade, kSingle, kShadow };                             // whom a chat request asks (docs/gateway.md)
enum class TaskKind { kCode, kCompetitionCode, kChoice, kShortAnswer, kMath, kFree };  // as elicit::Task
enum class Elicitation { kOff, kLine, kSchema };                                       // as elicit::Mode
enum class Channel { kVerbalized, kConsistency };
enum class RemedyChoice { kNone, kWeighted, kImplied, kEstimated };  // as RemedyKind of margin/remedy.h

struct Server {
  std::string listen = "127.0.0.1:8080";
  std::string admin_listen;     // where operators are answered; empty: on listen, with everybody else
  std::string tls_certificate;  // PEM file; empty: plain HTTP
  std::string tls_key;
  std::int64_t drain_ms = 10'000;
  MetricsAccess metrics = MetricsAccess::kKey;
};

struct Store {
  std::string file = "margin.db";
  Durability durability = Durability::kDisk;
  KeptAnswers answers = KeptAnswers::kText;
  std::int64_t snapshot_every = 100'000;  // events
  std::int64_t retain_days = 0;           // 0: for ever
  KeptAudit audit = KeptAudit::kAll;
};

struct Log {
  LogFormat format = LogFormat::kPretty;
  LogLevel level = LogLevel::kInfo;
  LoggedRequests requests = LoggedRequests::kOff;
};

struct Keys {
  std::string file;  // empty: see keys_file()
};

struct Limits {
  std::int64_t body_bytes = 1 << 20;
  std::int64_t header_bytes = 16 << 10;
  std::int64_t headers = 64;
  std::int64_t connections = 1024;
  std::int64_t requests_per_connection = 100'000;
  std::int64_t idle_ms = 60'000;
  std::int64_t read_ms = 10'000;
  std::int64_t write_ms = 10'000;
  std::int64_t json_depth = 32;
  std::int64_t responses = 256;  // in one decision
  std::int64_t answer_bytes = 64 << 10;
  std::int64_t pools = 256;
  std::int64_t models = 1000;        // in one pool
  std::int64_t cells = 1000;         // (channel, segment) pairs of one pool
  std::int64_t label_values = 200;   // models with figures in /metrics
  std::int64_t pending = 1'000'000;  // decisions of one pool that wait for outcomes
  std::int64_t early = 100'000;      // outcomes of one pool that wait for their decision
  std::int64_t idempotency_keys = 100'000;
  std::int64_t batch_lines = 10'000;
  std::int64_t streams = 1024;
  std::int64_t stream_buffer_bytes = 1 << 20;
  std::int64_t queue = 65'536;       // appends that wait for the log
  double requests_per_second = 0.0;  // of a key that names no rate; 0: no limit
};

// What chat requests may use, whatever the pool. In memory: a restart begins anew.
struct Gateway {
  std::int64_t keep_alive_ms = 15'000;
  std::int64_t body_bytes = 32 << 20;
  double spend_per_day = 0.0;       // of one key, in the currency of the prices; 0: no limit
  std::int64_t tokens_per_day = 0;  // of one key; 0: no limit
};

// Where the spans of chats go. Empty: as OpenTelemetry's own variables say, see trace/settings.h.
struct Trace {
  std::string endpoint;
  std::string headers;  // a reference, see resolve_secret()
  std::string service;
  double sample = 1.0;
};

// One model endpoint: [upstreams.NAME].
struct UpstreamSettings {
  std::string url;
  std::string model;  // empty: the upstream's name
  Dialect dialect = Dialect::kOpenAi;
  std::string key;  // a reference, see resolve_secret()
  std::string ca_file;
  double price_prompt = 0.0;  // of a million tokens
  double price_completion = 0.0;
  std::int64_t concurrency = 64;
  std::int64_t connect_ms = 5'000;
  std::int64_t timeout_ms = 60'000;
  std::int64_t retries = 2;
  std::int64_t breaker_failures = 5;
  std::int64_t breaker_ms = 10'000;
  std::int64_t reply_bytes = 8 << 20;

  bool operator==(const UpstreamSettings&) const = default;
};

// One pool as the file names it: [pools.NAME].
struct PoolSettings {
  std::string calibrator = "margin_adaptive";  // NAME or NAME@VERSION
  Parameters calibrator_parameters;            // as given; pool_configured() completes them
  std::string vote = "sum";
  Parameters vote_parameters;
  double pending_days = 30.0;
  double max_error = 1.0;   // a decision less sure than 1 - max_error abstains; 1: never
  double audit_rate = 0.0;  // of responses that were not selected and should be graded all the same
  RemedyChoice remedy = RemedyChoice::kNone;
  std::string trust = "margin_adaptive";  // calibrator of the decisions' own probability
  double source_share_max = 1.0;          // of what a model learned of late, by one source of feedback; 1: no cap
  std::int64_t watched_models = 64;       // for drift and gaming: the first so many

  // What chat requests to margin/NAME do.
  std::vector<std::string> models;  // upstreams; none: the pool takes decisions only
  std::string primary;              // empty: the first of them
  Strategy strategy = Strategy::kVote;
  TaskKind task = TaskKind::kFree;
  Elicitation elicit = Elicitation::kLine;
  Channel channel = Channel::kVerbalized;
  std::int64_t samples = 5;  // of each model, in the consistency channel
  double temperature = 0.7;  // of them
  std::int64_t min_responses = 1;
  double target = 0.9;    // p_correct at which a cascade stops
  double explore = 0.02;  // chance with which `single` asks another model than the best
  std::int64_t decision_ms = 120'000;
  std::int64_t fan_out_max = 16;
  std::int64_t tokens_max = 0;  // of one request, all calls together; 0: no limit
  double spend_max = 0.0;       // likewise

  bool operator==(const PoolSettings&) const = default;
};

struct Config {
  Server server;
  Store store;
  Log log;
  Keys keys;
  Limits limits;
  Gateway gateway;
  Trace trace;
  std::map<std::string, UpstreamSettings> upstreams;
  std::map<std::string, PoolSettings> pools;  // "default" is always among them
  bool default_stated = false;                // whether the file has [pools.default]
};

// The environment, passed in by the command line; nothing here asks the process for it.
using Environment = std::map<std::string, std::string, std::less<>>;

[[nodiscard]] Config default_config();

// The defaults, overridden by the file, overridden by MARGIN_<SECTION>__<KEY> of the environment, all of it checked; an empty `path` means
// no file. Every fault is one line of the message, with file, line, key, value and what was expected. kNotFound, kCorrupt: the
// file is not there, cannot be read; kInvalidArgument: anything else.
[[nodiscard]] Result<Config> load_config(const std::string& path, const Environment& environment);
// The same for text that is already there; `name` stands for it in messages.
[[nodiscard]] Result<Config> parse_config(std::string_view text, std::string_view name, const Environment& environment);

// The event that makes a pool what its settings and the limits say: versions and every parameter spelled out. The settings come from a
// loaded configuration, so they are known to be right.
[[nodiscard]] PoolConfigured pool_configured(const Config& config, const PoolSettings& pool);
// The same for a pool that runs: where the settings name no version of a method, the one that runs stays.
[[nodiscard]] PoolConfigured pool_continued(const Config& config, PoolSettings pool, const PoolConfigured& running);

// Whether the file names the pool, which is then the file's: nothing else configures it.
[[nodiscard]] bool is_stated(const Config& config, const std::string& pool);

// [pools.default] where `pool` is a tenant's own `default`, which the file does not name: its max_error is that section's. nullptr: the
// file has no such section, or it is another pool.
[[nodiscard]] const PoolSettings* default_for(const Config& config, const std::string& pool);

// keys.file, or the store's file with ".keys" added.
[[nodiscard]] std::string keys_file(const Config& config);

// "127.0.0.1:8080", "[::1]:8080" or "localhost:8080".
struct Address {
  std::string host;
  std::uint16_t port = 0;  // 0: any that is free
};
// kInvalidArgument: not of that form.
[[nodiscard]] Result<Address> parse_address(std::string_view text);
// What is wrong with the addresses to listen on, each by itself and together; each fault begins with its key.
[[nodiscard]] std::vector<std::string> address_faults(const Server& server);

// What a reload would change.
enum class Applies { kAtOnce, kAtRestart };
struct Change {
  std::string key;     // "log.level", "pools.law.vote"
  std::string before;  // as written in TOML, without secrets; empty: was not there
  std::string after;   // empty: is no longer there
  Applies applies = Applies::kAtOnce;
};
[[nodiscard]] std::vector<Change> changes(const Config& before, const Config& after);
// 32 hexadecimal digits of every key and its value, to tell whether two servers run with the same. Secrets are references, and not in it.
[[nodiscard]] std::string config_hash(const Config& config);
// Every key and its value as one JSON object, "section.key" to value, for operators to see. Secrets are references and stay so; of an
// address of another server what stands before '@' or behind '?' is left out, where some want a key.
[[nodiscard]] std::string to_json(const Config& config);
// What a server that runs with `running` goes on with: `wanted`, but for what waits for a restart.
[[nodiscard]] Config applied_at_once(const Config& running, Config wanted);

// The configuration as a documented file, every key with its default; and as a JSON Schema (2020-12) for editors.
[[nodiscard]] std::string sample();
[[nodiscard]] std::string schema();

// A secret stands in a configuration only by reference: "env::NAME" or "file::PATH" (without the line end at its end).
// kInvalidArgument: something else, an unset or empty variable, an unreadable or empty file. The message never has the secret.
[[nodiscard]] Result<std::string> resolve_secret(std::string_view reference, const Environment& environment);

}  // namespace margin::config
