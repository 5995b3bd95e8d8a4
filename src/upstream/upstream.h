// Upstream: one model endpoint that is asked over HTTP or HTTPS. Keeps its connections, deadlines, retries, its breaker and its limit of
// calls at once. Knows no pool and no vote; the gateway asks several of them. Everything here is used on the loop's thread only.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "http/loop.h"
#include "margin/result.h"

namespace margin::upstream {

enum class Dialect { kOpenAi, kOllama };  // /chat/completions, or Ollama's own /api/chat

struct Settings {
  std::string name;   // how people and metrics call it
  std::string url;    // "https://host:port/v1": what "/chat/completions" ("/api/chat") is appended to
  std::string model;  // its name at that endpoint
  Dialect dialect = Dialect::kOpenAi;
  bool whole_url = false;            // nothing is appended to the url; for what is no chat
  std::string key;                   // bearer token; empty: none. Never in a message or a log line.
  std::string ca_file;               // PEM; empty: the system's
  std::size_t concurrency_max = 64;  // calls at once; beyond: they wait in line
  std::size_t queue_max = 1024;      // in line; beyond: kBusy
  std::chrono::milliseconds connect_timeout{5'000};
  std::chrono::milliseconds timeout{60'000};        // of one call, with its retries
  int retries_max = 2;                              // after 408, 429, 5xx, connect failures and connections cut before a reply began
  std::chrono::milliseconds backoff{250};           // first pause; doubles, with jitter; Retry-After is honoured where it fits the deadline
  int breaker_failures = 5;                         // attempts in a row that open the breaker
  std::chrono::milliseconds breaker_pause{10'000};  // until one trial call is let through
  std::size_t reply_bytes_max = 8 << 20;
};

struct Ask {
  std::string body;     // in OpenAI's shape, whatever the dialect; its "model" is already this upstream's
  bool stream = false;  // the body asks for a stream; on_event hears each event
  std::vector<std::pair<std::string, std::string>> headers;  // traceparent, Idempotency-Key
  std::chrono::milliseconds timeout{0};                      // 0: the settings'; else the shorter of both
};

enum class Failure { kConnect, kTls, kTimeout, kCut, kStatus, kMalformed, kTooLarge, kBusy, kBreaker };
// "timeout", "status", ...: for metrics and explanations.
[[nodiscard]] std::string_view name_of(Failure failure);

struct Outcome {
  std::optional<Failure> failure;  // nothing: a 2xx reply, read to its end
  std::string message;             // of a failure, for people: names the upstream, never its key
  int status = 0;                  // of the last reply; 0: there was none
  std::string content_type;
  std::string body;  // whole, in OpenAI's shape; of a stream: what was not an event. Of kStatus: the error's body as it came
  std::optional<std::chrono::seconds> retry_after;
  int attempts = 0;
  std::chrono::nanoseconds took{0};        // all attempts and pauses
  std::chrono::nanoseconds first_byte{0};  // of the reply, from the start of the last attempt
};

// A call under way. Destroyed or cancelled, its connection is closed and its callbacks are not called.
class Call {
 public:
  Call();
  Call(Call&&) noexcept;
  Call& operator=(Call&&) noexcept;
  ~Call();
  void cancel();

  struct Impl;
  explicit Call(std::shared_ptr<Impl> impl);

 private:
  std::shared_ptr<Impl> impl_;  // shared with the connection while that calls it
};

struct Counters {
  std::map<std::string, std::uint64_t> outcomes;  // "ok", "cancelled" or the failure's name
  std::uint64_t retries = 0;
  std::uint64_t connects = 0;
  std::size_t in_flight = 0;
  std::size_t waiting = 0;
  std::size_t idle_connections = 0;
  bool breaker_open = false;
};

class Upstream {
 public:
  // The payload of one "data:" line of a stream, in OpenAI's shape, without [DONE].
  using OnEvent = std::function<void(std::string_view json)>;
  using Done = std::function<void(Outcome)>;

  // `environment`: http_proxy, https_proxy, no_proxy and the upper-case forms of them. `seed`: of the jitter.
  // kInvalidArgument: the url is not http(s)://host[:port][/path]; kNotFound, kCorrupt: the CA file.
  [[nodiscard]] static Result<std::unique_ptr<Upstream>> make(http::Loop& loop, Settings settings,
                                                              const std::map<std::string, std::string, std::less<>>& environment,
                                                              std::uint64_t seed);
  ~Upstream();
  Upstream(const Upstream&) = delete;
  Upstream& operator=(const Upstream&) = delete;

  // `done` is called once, from the loop, never from within ask(), unless the Call is cancelled first.
  [[nodiscard]] Call ask(Ask ask, Done done, OnEvent on_event = {});

  [[nodiscard]] const Settings& settings() const;
  [[nodiscard]] const Counters& counters() const;

  struct Impl;

 private:
  explicit Upstream(std::shared_ptr<Impl> impl);
  std::shared_ptr<Impl> impl_;  // shared with the calls under way
};

}  // namespace margin::upstream
