#include "config/fields.h"

#include <algorithm>
#include <cmath>

#include "base/text.h"

namespace margin::config {
namespace {

template <class T>
FieldValue to_value(const T& member) {
  if constexpr (std::is_enum_v<T>) {
    return std::string(word(member));
  } else {
    return member;
  }
}

template <class T>
void assign(T& member, const FieldValue& value) {
  if constexpr (std::is_enum_v<T>) {
    const std::string& chosen = std::get<std::string>(value);
    const auto found = std::find(kWords<T>.begin(), kWords<T>.end(), chosen);
    member = static_cast<T>(found - kWords<T>.begin());
  } else {
    member = std::get<T>(value);
  }
}

// What the table says of a key beside its name.
struct Described {
  Range range{};
  Applies applies = Applies::kAtRestart;
  std::string_view meaning;
  bool reference = false;  // of a text
};

template <class Owner, class T>
constexpr Field<Owner> describe(std::string_view section, std::string_view key, const Described& described) {
  Field<Owner> field{.section = section, .key = key, .range = described.range, .applies = described.applies, .meaning = described.meaning};
  if constexpr (std::is_enum_v<T>) {
    field.kind = FieldKind::kChoice;
    field.choices = kWords<T>;
  } else if constexpr (std::is_same_v<T, std::string>) {
    field.kind = described.reference ? FieldKind::kReference : FieldKind::kText;
  } else if constexpr (std::is_same_v<T, Names>) {
    field.kind = FieldKind::kNames;
  } else {
    field.kind = std::is_same_v<T, double> ? FieldKind::kNumber : FieldKind::kInteger;
  }
  return field;
}

template <class Member>
struct MemberOf;
template <class Owner, class T>
struct MemberOf<T Owner::*> {
  using Type = T;
};

template <auto Section, auto Member>
constexpr Field<Config> setting(std::string_view section, std::string_view key, const Described& described) {
  Field<Config> field = describe<Config, typename MemberOf<decltype(Member)>::Type>(section, key, described);
  field.get = [](const Config& config) { return to_value((config.*Section).*Member); };
  field.set = [](Config& config, const FieldValue& value) { assign((config.*Section).*Member, value); };
  return field;
}

// Of a section that has a name of its own.
template <class Owner, auto Member>
constexpr Field<Owner> named_setting(std::string_view key, const Described& described) {
  Field<Owner> field = describe<Owner, typename MemberOf<decltype(Member)>::Type>("", key, described);
  field.get = [](const Owner& owner) { return to_value(owner.*Member); };
  field.set = [](Owner& owner, const FieldValue& value) { assign(owner.*Member, value); };
  return field;
}
template <auto Member>
constexpr Field<PoolSettings> pool_setting(std::string_view key, const Described& described) {
  return named_setting<PoolSettings, Member>(key, described);
}
template <auto Member>
constexpr Field<UpstreamSettings> upstream_setting(std::string_view key, const Described& described) {
  return named_setting<UpstreamSettings, Member>(key, described);
}

template <auto Member>
constexpr Field<Config> server(std::string_view key, const Described& described) {
  return setting<&Config::server, Member>("server", key, described);
}
template <auto Member>
constexpr Field<Config> store(std::string_view key, const Described& described) {
  return setting<&Config::store, Member>("store", key, described);
}
template <auto Member>
constexpr Field<Config> log(std::string_view key, const Described& described) {
  return setting<&Config::log, Member>("log", key, described);
}
template <auto Member>
constexpr Field<Config> limit(std::string_view key, const Described& described) {
  return setting<&Config::limits, Member>("limits", key, described);
}

template <auto Member>
constexpr Field<Config> gateway(std::string_view key, const Described& described) {
  return setting<&Config::gateway, Member>("gateway", key, described);
}

template <auto Member>
constexpr Field<Config> trace(std::string_view key, const Described& described) {
  return setting<&Config::trace, Member>("trace", key, described);
}

constexpr double kHour = 3'600'000.0;  // in milliseconds
constexpr double kMebi = 1 << 20;
constexpr double kMany = 100'000'000.0;
constexpr Applies kNow = Applies::kAtOnce;

constexpr Field<Config> kFields[] = {
    server<&Server::listen>("listen", {.meaning = "Address and port. Anything but loopback is refused while there is no key"}),
    server<&Server::admin_listen>("admin_listen", {.meaning = "Another address and port, for operators: what asks for the scope admin, "
                                                              "/metrics, /status and the dashboard are then there alone; empty: none"}),
    server<&Server::tls_certificate>("tls_certificate", {.meaning = "PEM file with the certificate chain; empty: plain HTTP"}),
    server<&Server::tls_key>("tls_key", {.meaning = "PEM file with the certificate's private key"}),
    server<&Server::drain_ms>("drain_ms", {{0, kHour}, kNow, "How long SIGTERM waits for requests under way, in milliseconds"}),
    server<&Server::metrics>("metrics", {.applies = kNow, .meaning = "Whether /metrics asks for a key with the scope read"}),

    store<&Store::file>("file", {.meaning = "The event log, snapshots and index: one SQLite file"}),
    store<&Store::durability>("durability",
                              {.meaning = "What an acknowledged event survives: loss of power (disk) or only kill -9 (process)"}),
    store<&Store::answers>("answers", {.applies = kNow, .meaning = "What the log keeps of answers from now on"}),
    store<&Store::snapshot_every>(
        "snapshot_every", {{100, kMany}, kNow, "Events of a pool between two snapshots of its state; more where the state is large"}),
    store<&Store::retain_days>("retain_days", {{0, 36500}, kNow, "Events older than this may be compacted away; 0: kept for ever"}),
    store<&Store::audit>("audit", {.applies = kNow, .meaning = "What compaction leaves of old events for an audit"}),

    log<&Log::format>("format", {.applies = kNow, .meaning = "For people, or one JSON object per line"}),
    log<&Log::level>("level", {.applies = kNow, .meaning = "The least that is logged"}),
    log<&Log::requests>("requests", {.applies = kNow, .meaning = "Which requests have a line of level info, without bodies and secrets"}),

    setting<&Config::keys, &Keys::file>("keys", "file",
                                        {.applies = kNow, .meaning = "The file of keys; empty: the store's file with .keys added"}),

    limit<&Limits::body_bytes>("body_bytes", {{1024, 1024 * kMebi}, kNow, "A request's body"}),
    limit<&Limits::header_bytes>("header_bytes", {{1024, kMebi}, kNow, "A request's headers together"}),
    limit<&Limits::headers>("headers", {{8, 1000}, kNow, "Headers of a request"}),
    limit<&Limits::connections>("connections", {{1, 1'000'000}, kNow, "Open at the same time"}),
    limit<&Limits::requests_per_connection>("requests_per_connection", {{1, 1e12}, kNow, "After which a connection is closed"}),
    limit<&Limits::idle_ms>("idle_ms", {{100, 24 * kHour}, kNow, "Until a silent connection is closed"}),
    limit<&Limits::read_ms>("read_ms", {{100, kHour}, kNow, "For a request to arrive once it has begun"}),
    limit<&Limits::write_ms>("write_ms", {{100, kHour}, kNow, "For a client to take its response"}),
    limit<&Limits::json_depth>("json_depth", {{4, 256}, kNow, "Of nested arrays and objects"}),
    limit<&Limits::responses>("responses", {{1, 65536}, kNow, "In one decision"}),
    limit<&Limits::answer_bytes>("answer_bytes", {{1, 16 * kMebi}, kNow, "Of one answer"}),
    limit<&Limits::pools>("pools", {{1, 100'000}, kNow, "All pools together"}),
    limit<&Limits::models>("models", {{1, 1 << 20}, kNow, "Models of one pool"}),
    limit<&Limits::cells>("cells", {{1, 1 << 20}, kNow, "Pairs of channel and segment in one pool"}),
    limit<&Limits::label_values>(
        "label_values", {{1, 100'000}, kNow, "Models that have figures of their own in /metrics; the rest are left out and counted"}),
    limit<&Limits::pending>("pending", {{1, kMany}, kNow, "Decisions of one pool that wait for outcomes; the oldest expires"}),
    limit<&Limits::early>("early", {{1, kMany}, kNow, "Outcomes of one pool that wait for their decision"}),
    limit<&Limits::idempotency_keys>("idempotency_keys", {{1, kMany}, kNow, "Remembered; the oldest is forgotten"}),
    limit<&Limits::batch_lines>("batch_lines", {{1, 1'000'000}, kNow, "Of one batch of feedback"}),
    limit<&Limits::streams>("streams", {{0, 100'000}, kNow, "Clients that follow live events"}),
    limit<&Limits::stream_buffer_bytes>("stream_buffer_bytes",
                                        {{4096, 1024 * kMebi}, kNow, "Kept for a client that does not read; then it is cut off"}),
    limit<&Limits::queue>("queue", {{1, 10'000'000}, Applies::kAtRestart, "Appends that wait for the log; more are answered 503"}),
    limit<&Limits::requests_per_second>("requests_per_second", {{0, 1e9}, kNow, "Of a key that names no rate of its own; 0: no limit"}),

    gateway<&Gateway::keep_alive_ms>("keep_alive_ms",
                                     {{100, kHour}, kNow, "A streamed chat that waits for its models says so this often, in milliseconds"}),
    gateway<&Gateway::body_bytes>("body_bytes", {{1024, 1024 * kMebi}, kNow, "A chat's body, of callers who may chat: images are long"}),
    gateway<&Gateway::spend_per_day>(
        "spend_per_day", {{0, 1e12}, kNow, "What the chats of one key may cost in a day (UTC), by the upstreams' prices; 0: no limit"}),
    gateway<&Gateway::tokens_per_day>("tokens_per_day", {{0, 1e15}, kNow, "Tokens the chats of one key may use in a day; 0: no limit"}),

    trace<&Trace::endpoint>("endpoint", {.meaning = "OTLP collector that spans are sent to, as http://host:4318; empty: "
                                                    "OTEL_EXPORTER_OTLP_ENDPOINT of the environment, or none"}),
    trace<&Trace::headers>(
        "headers",
        {.meaning = "Of each batch, name=value with commas between them, by reference: env::NAME or file::PATH", .reference = true}),
    trace<&Trace::service>("service", {.meaning = "service.name of the spans; empty: OTEL_SERVICE_NAME, or margin"}),
    trace<&Trace::sample>("sample", {{0, 1}, Applies::kAtRestart, "Share of the traces that begin here; others are as their caller says"}),
};

constexpr Field<UpstreamSettings> kUpstreamFields[] = {
    upstream_setting<&UpstreamSettings::url>(
        "url", {.applies = kNow, .meaning = "What /chat/completions (ollama: /api/chat) is appended to: https://host/v1"}),
    upstream_setting<&UpstreamSettings::model>("model", {.applies = kNow, .meaning = "The model's name there; empty: the upstream's own"}),
    upstream_setting<&UpstreamSettings::dialect>("dialect", {.applies = kNow, .meaning = "What it speaks"}),
    upstream_setting<&UpstreamSettings::key>(
        "key", {.applies = kNow, .meaning = "Its bearer token, by reference: env::NAME or file::PATH; empty: none", .reference = true}),
    upstream_setting<&UpstreamSettings::ca_file>("ca_file",
                                                 {.applies = kNow, .meaning = "PEM file of who may vouch for it; empty: the system's"}),
    upstream_setting<&UpstreamSettings::price_prompt>("price_prompt", {{0, 1e9}, kNow, "Of a million prompt tokens, in any one currency"}),
    upstream_setting<&UpstreamSettings::price_completion>("price_completion", {{0, 1e9}, kNow, "Of a million completion tokens"}),
    upstream_setting<&UpstreamSettings::concurrency>("concurrency", {{1, 100'000}, kNow, "Calls at once; more wait in line"}),
    upstream_setting<&UpstreamSettings::connect_ms>("connect_ms", {{1, kHour}, kNow, "For a connection to be made"}),
    upstream_setting<&UpstreamSettings::timeout_ms>("timeout_ms", {{1, kHour}, kNow, "For a call with its retries"}),
    upstream_setting<&UpstreamSettings::retries>("retries",
                                                 {{0, 10}, kNow, "After 408, 429, 5xx, a failed connection or one cut before its reply"}),
    upstream_setting<&UpstreamSettings::breaker_failures>("breaker_failures",
                                                          {{1, 1000}, kNow, "Failures in a row after which it is left alone"}),
    upstream_setting<&UpstreamSettings::breaker_ms>("breaker_ms", {{1, kHour}, kNow, "For so long, in milliseconds"}),
    upstream_setting<&UpstreamSettings::reply_bytes>("reply_bytes", {{1024, 1024 * kMebi}, kNow, "Of its largest reply"}),
};

constexpr Field<PoolSettings> kPoolFields[] = {
    pool_setting<&PoolSettings::calibrator>(
        "calibrator", {.applies = kNow, .meaning = "NAME or NAME@VERSION of `margin methods`; a change starts calibration anew"}),
    pool_setting<&PoolSettings::vote>("vote", {.applies = kNow, .meaning = "NAME or NAME@VERSION of `margin methods`"}),
    pool_setting<&PoolSettings::pending_days>("pending_days", {{0.001, 3650}, kNow, "How long a decision waits for its outcomes"}),
    pool_setting<&PoolSettings::max_error>("max_error",
                                           {{0, 1, true}, kNow, "A decision whose chance of error is larger abstains; 1: none does"}),
    pool_setting<&PoolSettings::audit_rate>("audit_rate",
                                            {{0, 1}, kNow, "Share of responses not selected that should be graded all the same"}),
    pool_setting<&PoolSettings::remedy>("remedy", {.applies = kNow, .meaning = "What responses teach whose outcome never comes"}),
    pool_setting<&PoolSettings::trust>("trust", {.applies = kNow, .meaning = "NAME or NAME@VERSION of the calibrator of p_correct itself"}),
    pool_setting<&PoolSettings::source_share_max>(
        "source_share_max", {{0.001, 1}, kNow, "The most that one source of feedback may have of what a model learned of late; 1: no cap"}),
    pool_setting<&PoolSettings::watched_models>("watched_models",
                                                {{0, 1024}, kNow, "The first so many models are watched for drift and gaming"}),
    pool_setting<&PoolSettings::models>("models", {.applies = kNow, .meaning = "Upstreams that chats to margin/NAME ask; none: no chats"}),
    pool_setting<&PoolSettings::primary>(
        "primary", {.applies = kNow, .meaning = "Who gets tools and images, and answers for shadow; empty: the first"}),
    pool_setting<&PoolSettings::strategy>("strategy", {.applies = kNow, .meaning = "Of chats that name none"}),
    pool_setting<&PoolSettings::task>("task",
                                      {.applies = kNow, .meaning = "What is asked: decides the prompt and when two answers are equal"}),
    pool_setting<&PoolSettings::elicit>("elicit", {.applies = kNow, .meaning = "How a confidence is asked for"}),
    pool_setting<&PoolSettings::channel>("channel", {.applies = kNow, .meaning = "Stated by the model, or how often its samples agree"}),
    pool_setting<&PoolSettings::samples>("samples", {{2, 100}, kNow, "Of each model, in the consistency channel"}),
    pool_setting<&PoolSettings::temperature>("temperature", {{0, 2}, kNow, "Of those samples"}),
    pool_setting<&PoolSettings::min_responses>("min_responses", {{1, 256}, kNow, "Usable ones without which a chat fails"}),
    pool_setting<&PoolSettings::target>("target", {{0, 1}, kNow, "p_correct at which a cascade stops asking"}),
    pool_setting<&PoolSettings::explore>("explore", {{0, 1}, kNow, "Chance with which single asks another model than the best"}),
    pool_setting<&PoolSettings::decision_ms>("decision_ms", {{1, kHour}, kNow, "For all models of a chat together"}),
    pool_setting<&PoolSettings::fan_out_max>("fan_out_max", {{1, 10'000}, kNow, "Calls of one chat"}),
    pool_setting<&PoolSettings::tokens_max>("tokens_max", {{0, 1e12}, kNow, "Tokens of one chat, all calls together; 0: no limit"}),
    pool_setting<&PoolSettings::spend_max>("spend_max", {{0, 1e9}, kNow, "What one chat may cost, by the upstreams' prices; 0: no limit"}),
};

std::string plain(double value) { return internal::json_number(value); }

std::string end_of(FieldKind kind, double value) {
  return kind == FieldKind::kInteger ? std::to_string(static_cast<std::int64_t>(value)) : plain(value);
}

bool is_text(const std::string& text) { return text.size() <= kTextBytesMax && internal::printable(text, kTextBytesMax + 1) == text; }

bool is_reference(const std::string& text) { return text.empty() || text.starts_with("env::") || text.starts_with("file::"); }

// Keys that name another server.
bool is_url(std::string_view key) { return key == "url" || key == "endpoint"; }

bool are_names(Names names) {
  if (names.size() > kNamesMax || !std::all_of(names.begin(), names.end(), is_text)) return false;
  std::sort(names.begin(), names.end());
  return std::adjacent_find(names.begin(), names.end()) == names.end() && (names.empty() || !names.front().empty());
}

}  // namespace

std::span<const Field<Config>> fields() { return kFields; }
std::span<const Field<PoolSettings>> pool_fields() { return kPoolFields; }
std::span<const Field<UpstreamSettings>> upstream_fields() { return kUpstreamFields; }

template <class Owner>
std::string expectation(const Field<Owner>& field) {
  switch (field.kind) {
    case FieldKind::kInteger:
    case FieldKind::kNumber: {
      const std::string number = field.kind == FieldKind::kInteger ? "a whole number in " : "a number in ";
      return number + (field.range.without_low ? "(" : "[") + end_of(field.kind, field.range.low) + ", " +
             end_of(field.kind, field.range.high) + "]";
    }
    case FieldKind::kNames: return "a list of at most " + std::to_string(kNamesMax) + " names, each of them once";
    case FieldKind::kText: return "text of at most " + std::to_string(kTextBytesMax) + " bytes without control characters";
    case FieldKind::kReference: return "a reference, env::NAME or file::PATH";
    case FieldKind::kChoice: break;
  }
  std::string words = "one of ";
  for (const std::string_view choice : field.choices)
    words += (choice == field.choices.front() ? "\"" : ", \"") + std::string(choice) + '"';
  return words;
}

template <class Owner>
std::string choices_text(const Field<Owner>& field) {
  if (field.kind == FieldKind::kInteger || field.kind == FieldKind::kNumber) {
    return (field.range.without_low ? "above " : "") + end_of(field.kind, field.range.low) + " to " + end_of(field.kind, field.range.high);
  }
  std::string words;
  for (const std::string_view choice : field.choices) words += (words.empty() ? "" : " | ") + std::string(choice);
  return words;
}

template <class Owner>
bool acceptable(const Field<Owner>& field, const FieldValue& value) {
  const auto in_range = [&](double number) {
    return number >= field.range.low && number <= field.range.high && !(field.range.without_low && number == field.range.low);
  };
  const auto* whole = std::get_if<std::int64_t>(&value);
  const auto* number = std::get_if<double>(&value);
  const auto* text = std::get_if<std::string>(&value);
  const auto* names = std::get_if<Names>(&value);
  switch (field.kind) {
    case FieldKind::kInteger: return whole != nullptr && in_range(static_cast<double>(*whole));
    case FieldKind::kNumber: return number != nullptr && in_range(*number);
    case FieldKind::kText: return text != nullptr && is_text(*text);
    case FieldKind::kReference: return text != nullptr && is_text(*text) && is_reference(*text);
    case FieldKind::kNames: return names != nullptr && are_names(*names);
    case FieldKind::kChoice: return text != nullptr && std::find(field.choices.begin(), field.choices.end(), *text) != field.choices.end();
  }
  return false;
}

std::string toml_value(const FieldValue& value) {
  if (const auto* whole = std::get_if<std::int64_t>(&value)) return std::to_string(*whole);
  if (const auto* number = std::get_if<double>(&value)) {
    const std::string digits = plain(*number);
    return digits.find_first_of(".en") == std::string::npos ? digits + ".0" : digits;
  }
  if (const auto* names = std::get_if<Names>(&value)) {
    std::string list;
    for (const std::string& name : *names) list += (list.empty() ? "" : ", ") + internal::json_string(name);
    return "[" + list + "]";
  }
  return internal::json_string(std::get<std::string>(value));
}

template <class Owner>
FieldValue public_value(const Field<Owner>& field, const Owner& owner) {
  FieldValue value = field.get(owner);
  if (!is_url(field.key)) return value;
  std::string& url = std::get<std::string>(value);
  if (const std::size_t question = url.find('?'); question != std::string::npos) url.replace(question, std::string::npos, "?...");
  const std::size_t begin = url.find("://");
  if (const std::size_t at = url.rfind('@'); begin != std::string::npos && at != std::string::npos)
    url.replace(begin + 3, at - begin - 3, "...");
  return value;
}

template std::string expectation(const Field<Config>&);
template std::string expectation(const Field<PoolSettings>&);
template std::string expectation(const Field<UpstreamSettings>&);
template std::string choices_text(const Field<Config>&);
template std::string choices_text(const Field<PoolSettings>&);
template std::string choices_text(const Field<UpstreamSettings>&);
template bool acceptable(const Field<Config>&, const FieldValue&);
template bool acceptable(const Field<PoolSettings>&, const FieldValue&);
template bool acceptable(const Field<UpstreamSettings>&, const FieldValue&);
template FieldValue public_value(const Field<Config>&, const Config&);
template FieldValue public_value(const Field<PoolSettings>&, const PoolSettings&);
template FieldValue public_value(const Field<UpstreamSettings>&, const UpstreamSettings&);

}  // namespace margin::config
