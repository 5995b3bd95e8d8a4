// App: the application behind the listener. Finds the route, asks for the key, counts, and hands over; what a request means is in the
// handle_*.cc files. All on the loop's thread.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "access/key_ring.h"
#include "access/rate_limiter.h"
#include "config/config.h"
#include "gateway/gateway.h"
#include "http/server.h"
#include "journal/journal.h"
#include "json/json.h"
#include "server/chat_desk.h"
#include "server/event_stream.h"
#include "server/experiments.h"
#include "server/metrics.h"
#include "server/routes.h"
#include "service/service.h"
#include "trace/tracer.h"

namespace margin::server {

// What reading the configuration again did, by keys of it.
struct Reloaded {
  std::vector<std::string> changed;        // and applies from now on
  std::vector<std::string> needs_restart;  // differs from what runs, which stays
  std::vector<std::string> warnings;       // what else could not be had, in words
};

struct AppParts {
  service::Service& service;
  journal::Journal& journal;
  config::Config config;
  access::KeyRing keys;
  std::string version;
  std::string commit;  // that it was built from
  gateway::Gateway& gateway;
  std::shared_ptr<trace::Tracer> tracer;  // shared weakly with chats
  bool demo = false;                      // a pool of simulated models is among the served ones
  // What SIGHUP does: reads configuration, keys and certificates again, and tells the application by App::reload(). After an error all is
  // as it was.
  std::function<Result<Reloaded>()> read_again;
};

// Where it listens; `operators` is null where they have no listener of their own.
struct Listeners {
  const http::Server* main = nullptr;
  const http::Server* operators = nullptr;
};

class App {
 public:
  explicit App(AppParts parts);
  App(const App&) = delete;
  App& operator=(const App&) = delete;

  // What a listener for `audience` gives its requests to.
  [[nodiscard]] http::Handler& entrance(Audience audience) { return audience == Audience::kAll ? for_all_ : for_clients_; }

  [[nodiscard]] service::Service& service() { return parts_.service; }
  [[nodiscard]] const config::Config& config() const { return parts_.config; }
  [[nodiscard]] const std::string& version() const { return parts_.version; }
  [[nodiscard]] const std::string& commit() const { return parts_.commit; }
  [[nodiscard]] const access::KeyRing& keys() const { return parts_.keys; }
  [[nodiscard]] bool demo() const { return parts_.demo; }
  [[nodiscard]] JsonParser& parser() { return parser_; }
  [[nodiscard]] Metrics& metrics() { return metrics_; }
  [[nodiscard]] EventStream& events() { return events_; }
  [[nodiscard]] Experiments& experiments() { return experiments_; }
  [[nodiscard]] std::int64_t started_ms() const { return started_ms_; }
  [[nodiscard]] gateway::Gateway& gateway() { return parts_.gateway; }
  [[nodiscard]] const std::shared_ptr<trace::Tracer>& tracer() const { return parts_.tracer; }
  [[nodiscard]] ChatDesk& chats() { return chats_; }
  [[nodiscard]] journal::Journal& journal() { return parts_.journal; }

  // For /metrics and /status.
  void listens(const Listeners& listeners) { listeners_ = listeners; }
  [[nodiscard]] const Listeners& listeners() const { return listeners_; }

  [[nodiscard]] Result<Reloaded> read_again() { return parts_.read_again(); }
  // A reload: keys, pools and limits of requests from now on.
  void reload(config::Config config, access::KeyRing keys);
  // The default pool of a tenant that has none yet, as it would be made; there until the next call. Only to be read: what is only looked at
  // is not made.
  [[nodiscard]] service::ServedPool& unmade_default(const std::string& stored);

  // No further requests are welcome: /ready says so, and streams end.
  void drain();
  [[nodiscard]] bool draining() const { return draining_; }

 private:
  class Entrance final : public http::Handler {
   public:
    Entrance(App& app, Audience audience) : app_(app), audience_(audience) {}
    void handle(const http::Request& request, http::Reply reply) override;
    [[nodiscard]] std::size_t body_bytes_max(const http::Request& head, std::size_t standard) const override;

   private:
    App& app_;
    const Audience audience_;
  };

  void handle(const http::Request& request, http::Reply reply, Audience audience);
  // A chat, a log for an experiment and a state may be larger than other bodies, from whoever may send one.
  [[nodiscard]] std::size_t body_bytes_max(const http::Request& head, std::size_t standard, Audience audience) const;
  // Whose key came with the request.
  [[nodiscard]] Result<const access::Key*> key_of(const http::Request& request) const;
  // Says in the call who its caller is. False: refused, and answered.
  [[nodiscard]] bool admit(const Route& route, Call& call);
  [[nodiscard]] static bool admit_local(const Route& route, Call& call);

  AppParts parts_;
  JsonParser parser_;
  Metrics metrics_;
  EventStream events_;
  ChatDesk chats_;
  access::RateLimiter limiter_;
  Experiments experiments_;
  std::unique_ptr<service::ServedPool> unmade_;
  std::int64_t started_ms_;
  Listeners listeners_;
  Entrance for_all_{*this, Audience::kAll};
  Entrance for_clients_{*this, Audience::kClients};
  bool draining_ = false;
};

// The pool a caller names, or an answer that there is none. Where the request only reads, it may be unmade_default().
[[nodiscard]] service::ServedPool* find_pool(App& app, const Call& call, std::string_view name);
// What the configuration says of a pool; nullptr where it says nothing.
[[nodiscard]] const config::PoolSettings* settings_of(const App& app, const service::ServedPool& pool);
// The request's body as an object, or an answer what is wrong with it.
[[nodiscard]] const Json* body_of(App& app, const Call& call);
// What is wrong with the name of a pool as the caller knows it: that of a tenant's has TENANT/ before it to who is of no tenant. Empty:
// nothing.
[[nodiscard]] std::string pool_name_fault(const Caller& caller, std::string_view name);

}  // namespace margin::server
