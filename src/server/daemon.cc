#include "server/daemon.h"

#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <csignal>
#include <memory>
#include <random>
#include <vector>

#include "access/key_ring.h"
#include "base/text.h"
#include "gateway/gateway.h"
#include "http/loop.h"
#include "http/server.h"
#include "journal/journal.h"
#include "log/sqlite_log.h"
#include "server/app.h"
#include "server/demo.h"
#include "server/demo_quiz.h"
#include "service/service.h"
#include "trace/settings.h"
#include "trace/tracer.h"

namespace margin::server {
namespace {

constexpr std::chrono::seconds kStreamPing{15};
constexpr std::chrono::hours kRetainEvery{1};
constexpr std::chrono::seconds kLookAtStoreEvery{1};
constexpr std::chrono::seconds kFlushPatience{2};
constexpr rlim_t kFilesBesideConnections = 128;
constexpr std::int64_t kDayMs = 86'400'000;
constexpr std::uint64_t kLongJournalBytes = std::uint64_t{128} << 20;  // docs/event_log.md#the-sqlite-store

std::int64_t wall_clock_ms() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::system_clock::now().time_since_epoch()).count();
}

std::uint64_t random_seed() {
  std::random_device device;
  return (static_cast<std::uint64_t>(device()) << 32) | device();
}

http::Limits limits_of(const config::Limits& limits) {
  http::Limits out;
  out.header_bytes_max = static_cast<std::size_t>(limits.header_bytes);
  out.header_count_max = static_cast<std::size_t>(limits.headers);
  out.body_bytes_max = static_cast<std::size_t>(limits.body_bytes);
  out.connections_max = static_cast<std::size_t>(limits.connections);
  out.streams_max = static_cast<std::size_t>(limits.streams);
  out.stream_buffer_bytes_max = static_cast<std::size_t>(limits.stream_buffer_bytes);
  out.requests_per_connection_max = static_cast<std::uint64_t>(limits.requests_per_connection);
  out.idle_timeout = std::chrono::milliseconds(limits.idle_ms);
  out.header_timeout = std::chrono::milliseconds(limits.read_ms);
  out.body_timeout = std::chrono::milliseconds(limits.read_ms);
  out.write_timeout = std::chrono::milliseconds(limits.write_ms);
  return out;
}

service::ServiceBounds bounds_of(const config::Config& config) {
  return {.pools_max = static_cast<std::size_t>(config.limits.pools),
          .requests_max = static_cast<std::size_t>(config.limits.idempotency_keys),
          .snapshot_every = static_cast<std::uint64_t>(config.store.snapshot_every)};
}

std::map<std::string, PoolConfigured> pools_of(const config::Config& config) {
  std::map<std::string, PoolConfigured> pools;
  for (const auto& [name, settings] : config.pools) {
    if (config::is_stated(config, name)) pools[name] = config::pool_configured(config, settings);
  }
  return pools;
}

PoolConfigured defaults_of(const config::Config& config) { return config::pool_configured(config, config.pools.at("default")); }

Result<config::Config> load(const DaemonOptions& options) {
  auto config = config::load_config(options.config_file, options.environment);
  if (!config) return Error{ErrorCode::kInvalidArgument, config.error().message};  // one that cannot be read too
  if (options.listen) config->server.listen = *options.listen;
  if (options.admin_listen) config->server.admin_listen = *options.admin_listen;
  if (options.store) config->store.file = *options.store;
  if (config->store.file.empty()) return Error{ErrorCode::kInvalidArgument, "--store: expected the name of a file"};
  // Flags may not go with one another, nor with the file.
  if (const auto faults = config::address_faults(config->server); !faults.empty()) {
    return Error{ErrorCode::kInvalidArgument, faults.front()};
  }
  return config;
}

// A pipe gives what is in it once: read again it would be empty, as if all were by default, or nobody would write it and all would wait.
Status check_readable_again(const std::string& config_file) {
  struct stat found {};
  if (stat(config_file.c_str(), &found) != 0 || !S_ISFIFO(found.st_mode)) return {};
  return {ErrorCode::kInvalidArgument, internal::printable(config_file, 400) + ": is a pipe and has been read; a reload needs a file"};
}

// An address to listen on, and the key that says so.
struct Wanted {
  std::string_view key;
  config::Address address;
  Audience audience;
};

// The main one first. The configuration is a loaded one, so its addresses are known to be right.
std::vector<Wanted> wanted_listeners(const config::Server& server) {
  std::vector<Wanted> wanted;
  const bool apart = !server.admin_listen.empty();
  wanted.push_back({"server.listen", *config::parse_address(server.listen), apart ? Audience::kClients : Audience::kAll});
  if (apart) wanted.push_back({"server.admin_listen", *config::parse_address(server.admin_listen), Audience::kAll});
  return wanted;
}

// Nobody without a key may teach the calibrator from elsewhere. A server that runs goes on when its last key is revoked: it then answers
// 401.
Status check_exposure(const config::Server& server, bool has_keys) {
  if (has_keys) return {};
  for (const Wanted& wanted : wanted_listeners(server)) {
    if (http::is_loopback(wanted.address.host)) continue;
    return {ErrorCode::kInvalidArgument, std::string(wanted.key) + ": got " + wanted.address.host +
                                             ", expected a loopback address while there is no valid key; margin keys create makes one"};
  }
  return {};
}

http::ListenOptions listen_options(const config::Server& server, const config::Address& address) {
  return {.address = address.host, .port = address.port, .certificate_file = server.tls_certificate, .key_file = server.tls_key};
}

Result<std::unique_ptr<trace::Tracer>> make_tracer(http::Loop& loop, const config::Config& config, const config::Environment& environment,
                                                   const std::string& version, std::function<void(const std::string&)> complain) {
  trace::Configured configured{.endpoint = config.trace.endpoint, .service = config.trace.service, .sample = config.trace.sample};
  if (!config.trace.headers.empty()) {
    auto headers = config::resolve_secret(config.trace.headers, environment);
    if (!headers) return Error{headers.error().code, "trace.headers: " + headers.error().message};
    configured.headers = std::move(*headers);
  }
  auto settings = trace::trace_settings(configured, environment, version);
  if (!settings) return settings.error();
  return trace::Tracer::make(loop, std::move(*settings), environment, random_seed(), std::move(complain));
}

class Daemon {
 public:
  Daemon(const DaemonOptions& options, config::Config config, access::KeyRing keys)
      : options_(options),
        config_(std::move(config)),
        keys_(std::move(keys)),
        journal_(STDERR_FILENO, {config_.log.format, config_.log.level}, wall_clock_ms) {}

  Status run() {
    watch_hangup();
    allow_open_files();
    if (options_.demo) {
      simulated_ = std::make_unique<SimulatedModels>(loop_);
      if (Status started = simulated_->start(); !started) return started;
      simulated_->add_to(config_);
    }
    SqliteLogOptions store;
    store.durability = config_.store.durability == config::Durability::kDisk ? Durability::kDisk : Durability::kProcess;
    store.queue.records_max = static_cast<std::size_t>(config_.limits.queue);
    auto log = SqliteLog::open(config_.store.file, store);
    if (!log) return log.error();
    log_ = std::move(*log);
    if (!log_->warning().empty()) journal_.warning(log_->warning());
    auto service = service::Service::open(*log_, service_options());
    if (!service) return service.error();
    service_ = std::move(*service);
    if (Status configured = gateway_.configure(config_, options_.environment); !configured) return configured;
    auto tracer = make_tracer(loop_, config_, options_.environment, options_.version,
                              [this](const std::string& message) { journal_.warning(message); });
    if (!tracer) return tracer.error();
    tracer_ = std::move(*tracer);
    app_ = std::make_unique<App>(AppParts{*service_, journal_, config_, keys_, options_.version, options_.commit, gateway_, tracer_,
                                          options_.demo, [this] { return reload(); }});
    if (Status listening = listen(); !listening) return listening;
    if (options_.demo) quiz_ = std::make_unique<DemoQuiz>(loop_, *app_);
    if (options_.demo) demo_ = std::make_unique<Demo>(loop_, *service_);
    watch_signals();
    ping();
    retain();
    look_at_store();
    const auto url = [](const http::Server& server) { return (server.tls() ? "https://" : "http://") + server.address(); };
    const Addresses addresses{.main = url(*servers_.front()), .operators = servers_.size() > 1 ? url(*servers_.back()) : ""};
    warn_of_keys(false);
    journal_.info("listening", {{"url", addresses.main}, {"store", config_.store.file}, {"version", options_.version}});
    if (!addresses.operators.empty()) journal_.info("listening for operators", {{"url", addresses.operators}});
    if (options_.listening) options_.listening(addresses);
    loop_.run();
    service_->keep_snapshots();
    journal_.info("stopped");
    return {};
  }

 private:
  // Each listener is a server of its own, with limits of its own: operators get in while clients have used up theirs.
  Status listen() {
    for (const Wanted& wanted : wanted_listeners(config_.server)) {
      servers_.push_back(std::make_unique<http::Server>(loop_, listen_options(config_.server, wanted.address), limits_of(config_.limits),
                                                        app_->entrance(wanted.audience)));
      if (Status started = servers_.back()->start(); !started) return started;
    }
    app_->listens({.main = servers_.front().get(), .operators = servers_.size() > 1 ? servers_.back().get() : nullptr});
    return {};
  }

  service::ServiceOptions service_options() {
    service::ServiceOptions out;
    out.pools = pools_of(config_);
    out.pool_defaults = defaults_of(config_);
    out.continued = [this](const std::string& pool, const PoolConfigured& running) {
      return config::pool_continued(config_, config_.pools.at(pool), running);
    };
    out.reconfigured = [this](const std::string& pool, const service::PoolChanges& changes) {
      const bool kept = changes.lost.empty();
      journal_.write(kept ? journal::Level::kInfo : journal::Level::kWarning, "the file changes a pool",
                     {{"pool", pool}, {"changes", changes.keys}, {"starts_anew", kept ? "nothing" : changes.lost}});
    };
    out.bounds = bounds_of(config_);
    out.clock_ms = wall_clock_ms;
    out.seed = random_seed();
    out.post = [this](std::function<void()> work) { loop_.post(std::move(work)); };
    out.post_after = [this](std::chrono::microseconds delay, std::function<void()> work) { loop_.post_after(delay, std::move(work)); };
    out.complain = [this](const std::string& message) { journal_.warning(message); };
    return out;
  }

  // From the beginning: a reload that is asked for while the state is recovered comes when it is, and SIGTERM until then ends it at once.
  void watch_hangup() {
    // A file that may not grow and a reader that is gone are errors of the write, not the end of the process.
    std::signal(SIGXFSZ, SIG_IGN);
    std::signal(SIGPIPE, SIG_IGN);
    loop_.on_signal(SIGHUP, [this] { static_cast<void>(reload()); });
  }

  void watch_signals() {
    for (const int signal : {SIGTERM, SIGINT}) loop_.on_signal(signal, [this] { drain(); });
  }

  // Connections must not use up what the store's files and calls of models need: as many as the system allows.
  void allow_open_files() {
    rlimit limit{};
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
    if (limit.rlim_cur < limit.rlim_max) {
      limit.rlim_cur = limit.rlim_max;
      if (setrlimit(RLIMIT_NOFILE, &limit) != 0 && getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
    }
    const rlim_t listeners = config_.server.admin_listen.empty() ? 1 : 2;
    const rlim_t wanted = static_cast<rlim_t>(config_.limits.connections) * listeners + kFilesBesideConnections;
    if (limit.rlim_cur >= wanted) return;
    journal_.warning("connections may use up the files that the system lets this process open (ulimit -n)",
                     {{"files", static_cast<std::int64_t>(limit.rlim_cur)}, {"wanted", static_cast<std::int64_t>(wanted)}});
  }

  void ping() {
    pinger_ = loop_.after(kStreamPing, [this] {
      app_->events().keep_alive();
      look_at_journal();
      ping();
    });
  }

  void warn_of_keys(bool had_keys) {
    if (!keys_.empty() && !keys_.any_valid()) {
      journal_.warning("no valid key is left: what asks for one is answered 401; margin keys create makes one",
                       {{"file", config::keys_file(config_)}});
    } else if (had_keys && keys_.empty()) {
      journal_.warning("the file of keys is empty or gone: whoever is on this machine may now do everything",
                       {{"file", config::keys_file(config_)}});
    }
  }

  // It shortens by itself, unless a program that reads the store does not let go of it.
  void look_at_journal() {
    const LogFigures figures = log_->figures();
    if (figures.journal_bytes <= kLongJournalBytes) return;
    journal_.warning("the store's journal is long: is another program reading the store?",
                     {{"bytes", static_cast<std::int64_t>(figures.journal_bytes)},
                      {"held_up_seconds", std::chrono::duration<double>(figures.held_up).count()}});
  }

  // Requests hear of each failure; the log of each change.
  void look_at_store() {
    const Status writable = log_->writable();
    if (writable.ok() != store_writable_) {
      store_writable_ = writable.ok();
      store_writable_ ? journal_.info("the store can be written again")
                      : journal_.warning("the store cannot be written", {{"reason", writable.error().message}});
    }
    if (store_writable_ && service_->has_unwritten_pools()) service_->reconfigure(pools_of(config_), defaults_of(config_));
    store_watch_ = loop_.after(kLookAtStoreEvery, [this] { look_at_store(); });
  }

  void retain() {
    if (config_.store.retain_days > 0) {
      constexpr std::array kKept = {AuditKept::kEverything, AuditKept::kWithoutAnswers, AuditKept::kNothing};
      service_->retain(wall_clock_ms() - config_.store.retain_days * kDayMs, kKept[static_cast<std::size_t>(config_.store.audit)]);
    }
    retainer_ = loop_.after(kRetainEvery, [this] { retain(); });
  }

  // The second signal does not wait.
  void drain() {
    if (app_->draining()) return loop_.stop();
    journal_.info("draining", {{"patience_ms", config_.server.drain_ms}});
    demo_.reset();
    quiz_.reset();
    app_->drain();
    undrained_ = servers_.size();
    for (const auto& server : servers_) {
      server->drain(std::chrono::milliseconds(config_.server.drain_ms), [this] {
        if (--undrained_ > 0) return;
        // What the last requests did is worth a moment.
        tracer_->flush(kFlushPatience, [this] { loop_.stop(); });
      });
    }
  }

  // All or nothing: a bad file leaves everything as it was. What needs a restart is said, each time, and stays as it is: the addresses that
  // are listened on decide whether keys are needed, and the open store where they are.
  Result<Reloaded> reload() {
    const auto refused = [this](const Error& error, std::string_view told = "reload refused, the old configuration stays") {
      journal_.error(told, {{"reason", error.message}});
      return error;
    };
    if (Status readable = check_readable_again(options_.config_file); !readable) return refused(readable.error());
    auto wanted = load(options_);
    if (!wanted) return refused(wanted.error());
    if (simulated_) simulated_->add_to(*wanted);
    config::Config config = config::applied_at_once(config_, *wanted);
    auto keys = access::KeyRing::load(config::keys_file(config));
    if (!keys) return refused(keys.error(), "reload refused, the old keys stay");
    if (Status exposed = check_exposure(config_.server, !keys->empty()); !exposed) return refused(exposed.error());
    if (Status configured = gateway_.configure(config, options_.environment); !configured) return refused(configured.error());
    Reloaded reloaded;
    for (const config::Change& change : config::changes(config_, *wanted)) {
      const bool now = change.applies == config::Applies::kAtOnce;
      (now ? reloaded.changed : reloaded.needs_restart).push_back(change.key);
      journal_.write(now ? journal::Level::kInfo : journal::Level::kWarning, now ? "changed" : "changes at the next start",
                     {{"key", change.key}, {"before", change.before}, {"after", change.after}});
    }
    for (const auto& server : servers_) {
      if (Status read = server->reload_certificates(); !read) {
        journal_.error("the old certificate stays", {{"reason", read.error().message}});
        reloaded.warnings.push_back("the old certificate stays: " + read.error().message);
        break;  // the files are the same for all
      }
    }
    journal_.set({config.log.format, config.log.level});
    for (const auto& server : servers_) server->set_limits(limits_of(config.limits));
    service_->set_bounds(bounds_of(config));
    config_ = config;
    const bool had_keys = !keys_.empty();
    keys_ = *keys;
    warn_of_keys(had_keys);
    allow_open_files();
    service_->reconfigure(pools_of(config), defaults_of(config));
    app_->reload(std::move(config), std::move(*keys));
    journal_.info("reloaded");
    return reloaded;
  }

  const DaemonOptions& options_;
  config::Config config_;
  access::KeyRing keys_;
  journal::Journal journal_;
  http::Loop loop_;
  gateway::Gateway gateway_{loop_, random_seed()};
  std::shared_ptr<trace::Tracer> tracer_;
  std::unique_ptr<SqliteLog> log_;
  std::unique_ptr<service::Service> service_;
  std::unique_ptr<App> app_;
  std::vector<std::unique_ptr<http::Server>> servers_;  // the main one, and that of operators where they have one
  std::size_t undrained_ = 0;
  std::unique_ptr<Demo> demo_;
  std::unique_ptr<SimulatedModels> simulated_;
  std::unique_ptr<DemoQuiz> quiz_;
  http::Timer pinger_;
  http::Timer retainer_;
  http::Timer store_watch_;
  bool store_writable_ = true;
};

}  // namespace

Status check(const config::Config& config, const config::Environment& environment) {
  http::Loop loop;
  std::string faults;
  const auto note = [&faults](const Error& error) { faults += (faults.empty() ? "" : "\n") + error.message; };
  for (const auto& upstream : config.upstreams) {
    config::Config alone;
    alone.upstreams.insert(upstream);
    if (const Status configured = gateway::Gateway(loop, random_seed()).configure(alone, environment); !configured)
      note(configured.error());
  }
  if (const auto tracer = make_tracer(loop, config, environment, "", [](const std::string&) {}); !tracer) note(tracer.error());
  const auto main = listen_options(config.server, *config::parse_address(config.server.listen));
  if (const Status found = http::check_certificates(main); !found) note(found.error());
  if (const auto keys = access::KeyRing::load(config::keys_file(config)); !keys) {
    note(keys.error());
  } else if (const Status exposed = check_exposure(config.server, keys->any_valid()); !exposed) {
    note(exposed.error());
  }
  return faults.empty() ? Status() : Status(ErrorCode::kInvalidArgument, faults);
}

Status serve(const DaemonOptions& options) {
  auto config = load(options);
  if (!config) return config.error();
  if (Status checked = check(*config, options.environment); !checked) return checked;
  auto keys = access::KeyRing::load(config::keys_file(*config));
  if (!keys) return keys.error();
  return Daemon(options, std::move(*config), std::move(*keys)).run();
}

}  // namespace margin::server
