#include "upstream/upstream.h"

#include <algorithm>
#include <utility>

#include "upstream/call.h"
#include "upstream/connection.h"

namespace margin::upstream {
namespace {

constexpr std::size_t kJsonDepthMax = 64;
// Idle connections beyond this would only be kept for a burst that has passed.
constexpr std::size_t kIdleMax = 64;

std::string request_head(const Settings& settings, const Url& url, const std::optional<Proxy>& proxy) {
  std::string target = url.path;
  if (!settings.whole_url) {
    while (target.ends_with('/')) target.pop_back();
    target += settings.dialect == Dialect::kOllama ? "/api/chat" : "/chat/completions";
  }
  if (target.empty()) target = "/";
  std::string head = "POST ";
  // A plain request goes to the proxy as a whole URL; an encrypted one through a tunnel, as if there were no proxy.
  if (proxy && !url.tls) head += "http://" + url.host_header();
  head += target + url.query + " HTTP/1.1\r\nHost: " + url.host_header() + "\r\n";
  if (proxy && !url.tls && !proxy->authorization.empty()) head += "Proxy-Authorization: " + proxy->authorization + "\r\n";
  if (!settings.key.empty()) head += "Authorization: Bearer " + settings.key + "\r\n";
  head += "Content-Type: application/json\r\nUser-Agent: margin\r\nAccept-Encoding: identity\r\n";
  return head;
}

}  // namespace

std::string_view name_of(Failure failure) {
  switch (failure) {
    case Failure::kConnect: return "connect";
    case Failure::kTls: return "tls";
    case Failure::kTimeout: return "timeout";
    case Failure::kCut: return "cut";
    case Failure::kStatus: return "status";
    case Failure::kMalformed: return "malformed";
    case Failure::kTooLarge: return "too_large";
    case Failure::kBusy: return "busy";
    case Failure::kBreaker: return "breaker";
  }
  return "";
}

bool is_header(std::string_view name, std::string_view value) {
  const auto is_token = [](char c) { return c > ' ' && c < '\x7f' && c != ':'; };
  const auto is_text = [](char c) { return c == '\t' || (static_cast<unsigned char>(c) >= ' ' && c != '\x7f'); };
  return !name.empty() && std::all_of(name.begin(), name.end(), is_token) && std::all_of(value.begin(), value.end(), is_text);
}

Upstream::Impl::Impl(http::Loop& event_loop, Settings all_settings, std::uint64_t seed)
    : loop(event_loop),
      settings(std::move(all_settings)),
      breaker(settings.breaker_failures, settings.breaker_pause),
      jitter(seed),
      parser(kJsonDepthMax) {}

void Upstream::Impl::advance() {
  while (in_flight < settings.concurrency_max && !waiting.empty()) {
    Call::Impl* const call = waiting.front();
    waiting.pop_front();
    call->enter();
  }
}

void Upstream::Impl::refresh_counters() {
  counters.connects = origin->connects();
  counters.idle_connections = origin->idle();
  counters.in_flight = in_flight;
  counters.waiting = waiting.size();
  counters.breaker_open = breaker.open();
}

Result<std::unique_ptr<Upstream>> Upstream::make(http::Loop& loop, Settings settings, const Environment& environment, std::uint64_t seed) {
  const auto wrong = [&](const std::string& why) { return Error{ErrorCode::kInvalidArgument, "upstream '" + settings.name + "': " + why}; };
  Result<Url> url = parse_url(settings.url);
  if (!url.ok()) return wrong("url " + url.error().message);
  if (!url->user.empty()) return wrong("url holds a name or password before '@'; a key belongs into 'key'");
  if (!is_header("Authorization", settings.key)) return wrong("key holds a character that no header may have");
  Result<std::optional<Proxy>> proxy = proxy_for(*url, environment);
  if (!proxy.ok()) return proxy.error();
  Route route{*url, *proxy, nullptr, settings.connect_timeout};
  if (url->tls) {
    Result<std::shared_ptr<Tls>> tls = make_tls(settings.ca_file);
    if (!tls.ok()) return Error{tls.error().code, "upstream '" + settings.name + "': " + tls.error().message};
    route.tls = std::move(*tls);
  }
  auto impl = std::make_shared<Impl>(loop, std::move(settings), seed);
  impl->head = request_head(impl->settings, *url, *proxy);
  impl->origin = std::make_shared<Origin>(loop, std::move(route), std::min(impl->settings.concurrency_max, kIdleMax));
  return std::unique_ptr<Upstream>(new Upstream(std::move(impl)));
}

Upstream::Upstream(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}
Upstream::~Upstream() { impl_->origin->retire(); }

Call Upstream::ask(Ask ask, Done done, OnEvent on_event) {
  auto call = std::make_shared<Call::Impl>(impl_, std::move(ask), std::move(done), std::move(on_event));
  call->begin();
  return Call(std::move(call));
}

const Settings& Upstream::settings() const { return impl_->settings; }

const Counters& Upstream::counters() const {
  impl_->refresh_counters();
  return impl_->counters;
}

Call::Call() = default;
Call::Call(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}
Call::Call(Call&&) noexcept = default;
Call& Call::operator=(Call&& other) noexcept {
  if (this != &other) {
    cancel();
    impl_ = std::move(other.impl_);
  }
  return *this;
}
Call::~Call() { cancel(); }

void Call::cancel() {
  // The call ends before it is let go: whoever it calls back may hold this.
  if (const std::shared_ptr<Impl> impl = std::exchange(impl_, nullptr)) impl->cancel();
}

}  // namespace margin::upstream
