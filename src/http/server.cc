#include "http/server.h"

#include <algorithm>
#include <boost/asio/ip/address.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <ctime>
#include <utility>

#include "http/arrivals.h"
#include "http/executor.h"
#include "http/session.h"
#include "http/tls.h"
#include "http/transport.h"

namespace margin::http {
namespace asio = boost::asio;
namespace {

using boost::system::error_code;
using std::chrono::milliseconds;
using Tcp = asio::ip::tcp;
using Acceptor = asio::basic_socket_acceptor<Tcp, asio::io_context::executor_type>;

// How long accepting rests when the system has no descriptor or memory left.
constexpr milliseconds kAcceptPause{50};
// So many connections too many get a polite refusal; more are closed unheard.
constexpr std::size_t kTurnedAwayMax = 16;

std::string http_date() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&now, &parts);
  std::string text(32, '\0');
  // The C locale's names, as HTTP wants them: the program never calls setlocale for times.
  text.resize(std::strftime(text.data(), text.size(), "%a, %d %b %Y %H:%M:%S GMT", &parts));
  return text;
}

Result<asio::ip::address> parse_address(const std::string& text) {
  if (text == "localhost") return asio::ip::address(asio::ip::address_v4::loopback());
  error_code error;
  asio::ip::address address = asio::ip::make_address(text, error);
  if (error) return Error{ErrorCode::kInvalidArgument, "address '" + text + "' is neither an IP address nor localhost"};
  return address;
}

bool is_loopback(const asio::ip::address& address) {
  if (address.is_v6() && address.to_v6().is_v4_mapped()) {
    return asio::ip::make_address_v4(asio::ip::v4_mapped, address.to_v6()).is_loopback();
  }
  return address.is_loopback();
}

}  // namespace

Counters& Counters::operator+=(const Counters& other) {
  connections_open += other.connections_open;
  streams_open += other.streams_open;
  connections_accepted += other.connections_accepted;
  connections_refused += other.connections_refused;
  accept_failures += other.accept_failures;
  tls_failures += other.tls_failures;
  requests += other.requests;
  replies_forgotten += other.replies_forgotten;
  streams_refused += other.streams_refused;
  slow_readers += other.slow_readers;
  bytes_in += other.bytes_in;
  bytes_out += other.bytes_out;
  for (std::size_t kind = 0; kind < refused.size(); ++kind) refused[kind] += other.refused[kind];
  return *this;
}

class Server::Impl : public std::enable_shared_from_this<Server::Impl> {
 public:
  Impl(Loop& loop, ListenOptions options, const Limits& limits, Handler& handler)
      : host(loop, limits, handler), options_(std::move(options)), acceptor_(io_context(loop)), next_(io_context(loop)) {}

  Status listen();
  Status load_certificates();
  void drain(milliseconds patience, std::function<void()> done);
  void close();
  // The place with this port.
  [[nodiscard]] std::string where(std::uint16_t at) const {
    const bool bare = options_.address.find(':') == std::string::npos;
    return (bare ? options_.address : "[" + options_.address + "]") + ":" + std::to_string(at);
  }
  [[nodiscard]] bool tls() const { return !options_.certificate_file.empty() || !options_.key_file.empty(); }

  Host host;
  std::uint16_t port = 0;

 private:
  void accept();
  void take(Socket socket);
  void sweep();
  void finish_drain();

  const ListenOptions options_;
  Acceptor acceptor_;
  Socket next_;
  std::shared_ptr<asio::ssl::context> tls_context_;  // shared with the connections made under it
  std::shared_ptr<Arrivals> arrivals_;               // shared with the connections; none under TLS
  Timer sweep_timer_;
  Timer accept_timer_;
  Timer drain_timer_;
  std::function<void()> drained_;
};

Status Server::Impl::listen() {
  if (tls()) {
    if (Status loaded = load_certificates(); !loaded) return loaded;
  } else {
    Result<std::shared_ptr<Arrivals>> opened = Arrivals::open(host.loop);
    if (!opened) return opened.error();
    arrivals_ = *std::move(opened);
  }
  Result<asio::ip::address> address = parse_address(options_.address);
  if (!address) return address.error();
  const Tcp::endpoint endpoint(*address, options_.port);
  const auto failed = [&](const error_code& error) {
    const bool in_use = error == asio::error::address_in_use;
    acceptor_.close();
    return Status(in_use ? ErrorCode::kConflict : ErrorCode::kInvalidArgument,
                  "cannot listen on " + where(options_.port) + ": " + (in_use ? "another program listens there already" : error.message()));
  };
  error_code error;
  acceptor_.open(endpoint.protocol(), error);
  if (error) return failed(error);
  // A restart need not wait for old connections to time out; a second server on the port is still refused.
  acceptor_.set_option(asio::socket_base::reuse_address(true), error);
  if (error) return failed(error);
  acceptor_.bind(endpoint, error);
  if (error) return failed(error);
  acceptor_.listen(asio::socket_base::max_listen_connections, error);
  if (error) return failed(error);
  port = acceptor_.local_endpoint(error).port();
  sweep();
  accept();
  return {};
}

Status Server::Impl::load_certificates() {
  Result<std::shared_ptr<asio::ssl::context>> loaded = load_tls(options_);
  if (!loaded) return loaded.error();
  tls_context_ = *std::move(loaded);
  return {};
}

void Server::Impl::accept() {
  acceptor_.async_accept(next_, [self = shared_from_this()](const error_code& error) {
    if (!self->acceptor_.is_open()) {
      error_code ignored;
      self->next_.close(ignored);  // accepted before the end, but too late to be served
      return;
    }
    if (!error) {
      self->take(std::exchange(self->next_, Socket(io_context(self->host.loop))));
      self->accept();
    } else if (error == asio::error::connection_aborted) {
      self->accept();  // the client was gone before we looked
    } else {
      ++self->host.counters.accept_failures;
      self->accept_timer_ = self->host.loop.after(kAcceptPause, [&impl = *self] { impl.accept(); });
    }
  });
}

void Server::Impl::take(Socket socket) {
  error_code error;
  const Tcp::endpoint peer = socket.remote_endpoint(error);
  if (error) return;
  socket.set_option(Tcp::no_delay(true), error);
  ++host.counters.connections_accepted;
  const bool full = host.sessions.size() >= host.limits.connections_max;
  if (full) {
    ++host.counters.connections_refused;
    if (tls() || host.sessions.size() >= host.limits.connections_max + kTurnedAwayMax) return;
  }
  auto transport = tls() ? tls_transport(std::move(socket), tls_context_) : plain_transport(socket.release(error), arrivals_);
  if (transport == nullptr) {
    ++host.counters.accept_failures;
    return;
  }
  const auto session = std::make_shared<Session>(host, std::move(transport), peer.address().to_string(), is_loopback(peer.address()));
  host.add(session);
  if (full) {
    session->turn_away();
  } else {
    session->start();
  }
}

// Deadlines are set and looked at in rounds: most states are over before that, and cost no look at the clock.
void Server::Impl::sweep() {
  host.set_date(http_date());
  const Moment now = std::chrono::steady_clock::now();
  for (std::size_t i = host.sessions.size(); i-- > 0;) {
    // A session that ends is replaced by the last, which has been looked at.
    if (i < host.sessions.size()) std::shared_ptr(host.sessions[i])->check_deadline(now);
  }
  const milliseconds shortest =
      std::min({host.limits.idle_timeout, host.limits.header_timeout, host.limits.body_timeout, host.limits.write_timeout});
  sweep_timer_ = host.loop.after(std::clamp(shortest / 4, milliseconds(5), milliseconds(250)), [this] { sweep(); });
}

void Server::Impl::drain(milliseconds patience, std::function<void()> done) {
  host.draining = true;
  drained_ = std::move(done);
  accept_timer_.cancel();
  acceptor_.close();
  for (std::size_t i = host.sessions.size(); i-- > 0;) std::shared_ptr(host.sessions[i])->drain();
  host.on_session_closed = [this] {
    if (host.sessions.empty()) finish_drain();
  };
  drain_timer_ = host.loop.after(patience, [this] {
    while (!host.sessions.empty()) std::shared_ptr(host.sessions.back())->abort();
  });
  if (host.sessions.empty()) finish_drain();
}

void Server::Impl::finish_drain() {
  drain_timer_.cancel();
  // Not at once: we may stand inside a session that is just closing.
  if (drained_) host.loop.post(std::exchange(drained_, nullptr));
}

void Server::Impl::close() {
  sweep_timer_.cancel();
  accept_timer_.cancel();
  drain_timer_.cancel();
  host.on_session_closed = nullptr;
  error_code ignored;
  acceptor_.close(ignored);
  while (!host.sessions.empty()) std::shared_ptr(host.sessions.back())->abort();
  arrivals_.reset();
}

Server::Server(Loop& loop, ListenOptions options, Limits limits, Handler& handler)
    : impl_(std::make_shared<Impl>(loop, std::move(options), limits, handler)) {}
Server::~Server() { impl_->close(); }

Status Server::start() { return impl_->listen(); }
std::uint16_t Server::port() const { return impl_->port; }
std::string Server::address() const { return impl_->where(impl_->port); }
bool Server::tls() const { return impl_->tls(); }
Status Server::reload_certificates() { return tls() ? impl_->load_certificates() : Status(); }
void Server::set_limits(const Limits& limits) { impl_->host.limits = limits; }
void Server::drain(milliseconds patience, std::function<void()> done) { impl_->drain(patience, std::move(done)); }
const Counters& Server::counters() const { return impl_->host.counters; }

}  // namespace margin::http
