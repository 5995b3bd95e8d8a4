#include "upstream/connection.h"

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <unistd.h>

#include <array>
#include <boost/asio/buffer.hpp>
#include <boost/asio/ip/address.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/error.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/write.hpp>
#include <utility>
#include <vector>

#include "http/executor.h"
#include "upstream/reply_reader.h"

namespace margin::upstream {
namespace asio = boost::asio;
namespace ssl = boost::asio::ssl;
using asio::ip::tcp;
using boost::system::error_code;

class Tls {
 public:
  explicit Tls() : context_(ssl::context::tls_client) {
    SSL_CTX* const native = context_.native_handle();
    SSL_CTX_set_min_proto_version(native, TLS1_2_VERSION);
    SSL_CTX_set_mode(native, SSL_MODE_RELEASE_BUFFERS);
    static constexpr unsigned char kProtocols[] = {8, 'h', 't', 't', 'p', '/', '1', '.', '1'};
    SSL_CTX_set_alpn_protos(native, kProtocols, sizeof kProtocols);
    context_.set_verify_mode(ssl::verify_peer);
    // The latest session is offered to the next connection, which then needs no certificate and no signature.
    SSL_CTX_set_session_cache_mode(native, SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL);
    SSL_CTX_set_ex_data(native, place_of_self(), this);
    SSL_CTX_sess_set_new_cb(native, [](SSL* connection, SSL_SESSION* session) {
      auto* const self = static_cast<Tls*>(SSL_CTX_get_ex_data(SSL_get_SSL_CTX(connection), place_of_self()));
      self->session_.reset(session);
      return 1;  // kept
    });
  }

  Status trust(const std::string& ca_file) {
    error_code error;
    if (ca_file.empty()) {
      context_.set_default_verify_paths(error);
      return error ? Status(ErrorCode::kCorrupt, "the system's certificates cannot be read: " + error.message()) : Status();
    }
    if (::access(ca_file.c_str(), R_OK) != 0) return {ErrorCode::kNotFound, "ca_file '" + ca_file + "' cannot be read"};
    context_.load_verify_file(ca_file, error);
    if (error) return {ErrorCode::kCorrupt, "ca_file '" + ca_file + "' holds no PEM certificate: " + error.message()};
    return {};
  }

  [[nodiscard]] ssl::context& context() { return context_; }

  // Makes `connection` refuse whoever cannot prove to be `host`.
  void prepare(SSL* connection, const std::string& host) {
    error_code not_an_address;
    asio::ip::make_address(host, not_an_address);
    if (not_an_address) {
      SSL_set_tlsext_host_name(connection, host.c_str());
      SSL_set_hostflags(connection, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
      SSL_set1_host(connection, host.c_str());
    } else {
      X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(connection), host.c_str());
    }
    if (session_) SSL_set_session(connection, session_.get());
  }

 private:
  // In OpenSSL's context; its "app data" is Asio's.
  static int place_of_self() {
    static const int place = SSL_CTX_get_ex_new_index(0, nullptr, nullptr, nullptr, nullptr);
    return place;
  }

  ssl::context context_;
  std::unique_ptr<SSL_SESSION, decltype(&SSL_SESSION_free)> session_{nullptr, SSL_SESSION_free};
};

Result<std::shared_ptr<Tls>> make_tls(const std::string& ca_file) {
  auto tls = std::make_shared<Tls>();
  if (const Status trusted = tls->trust(ca_file); !trusted.ok()) return trusted.error();
  return tls;
}

namespace {

// Not type-erased: that costs on every operation.
using Executor = asio::io_context::executor_type;
using Socket = asio::basic_stream_socket<tcp, Executor>;
using Resolver = asio::ip::basic_resolver<tcp, Executor>;
using Clock = std::chrono::steady_clock;

constexpr std::size_t kReadBytes = 16 << 10;

class AsioConnection final : public Connection, public std::enable_shared_from_this<AsioConnection> {
 public:
  AsioConnection(asio::io_context& context, Route route, std::shared_ptr<Listener> listener)
      : route_(std::move(route)), listener_(std::move(listener)), resolver_(context), socket_(context), timer_(context) {}

  void open() {
    deadline_ = Clock::now() + route_.connect_timeout;
    wait_until(deadline_);
    const std::string& host = route_.proxy ? route_.proxy->host : route_.url.host;
    const std::uint16_t port = route_.proxy ? route_.proxy->port : route_.url.port;
    error_code not_an_address;
    const auto address = asio::ip::make_address(host, not_an_address);
    if (!not_an_address) {
      addresses_.emplace_back(address, port);
      // Not at once: a failure is told from the loop.
      return asio::post(socket_.get_executor(), [self = shared_from_this()] {
        if (!self->closed_) self->connect_next({});
      });
    }
    resolver_.async_resolve(host, std::to_string(port), Resolver::numeric_service,
                            [self = shared_from_this()](const error_code& error, const Resolver::results_type& results) {
                              if (self->closed_) return;
                              if (error) return self->fail(Failure::kConnect, "its host name cannot be resolved: " + error.message());
                              for (const auto& result : results) self->addresses_.push_back(result.endpoint());
                              self->connect_next({});
                            });
  }

  void set_listener(std::shared_ptr<Listener> listener) override { listener_ = std::move(listener); }

  void write(std::string head, std::shared_ptr<const std::string> body) override {
    head_ = std::move(head);
    body_ = std::move(body);
    Buffers buffers = {asio::buffer(head_), body_ ? asio::buffer(*body_) : asio::const_buffer()};
    writing_ = true;
    if (tls_) return write_all(*tls_, buffers);
    error_code error;  // one that stays shows again below
    std::size_t sent = socket_.write_some(buffers, error);
    if (sent == buffers[0].size() + buffers[1].size()) {
      writing_ = false;
      return;
    }
    for (asio::const_buffer& buffer : buffers) {
      const std::size_t gone = std::min(sent, buffer.size());
      buffer += gone;
      sent -= gone;
    }
    write_all(socket_, buffers);
  }

  [[nodiscard]] bool writing() const override { return writing_; }

  void close() override {
    if (std::exchange(closed_, true)) return;
    listener_.reset();
    resolver_.cancel();
    timer_.cancel();
    // Otherwise OpenSSL takes the session for broken and does not offer it again.
    if (tls_) SSL_set_shutdown(tls_->native_handle(), SSL_SENT_SHUTDOWN | SSL_RECEIVED_SHUTDOWN);
    error_code ignored;
    socket_.close(ignored);
  }

 private:
  using Buffers = std::array<asio::const_buffer, 2>;

  // What cannot be written shows when reading: as the reply that made it superfluous, or as the end.
  template <class Stream>
  void write_all(Stream& stream, const Buffers& buffers) {
    asio::async_write(stream, buffers,
                      [self = shared_from_this()](const error_code& error, std::size_t) { self->writing_ = static_cast<bool>(error); });
  }

  void fail(std::optional<Failure> failure, std::string why) {
    const std::shared_ptr<Listener> listener = listener_;
    close();
    if (listener) listener->on_closed(*this, {failure, std::move(why)});
  }

  void wait_until(Clock::time_point moment) {
    timer_.expires_at(moment);
    timer_.async_wait([self = shared_from_this()](const error_code& error) {
      if (!error && !self->closed_) self->on_timer();
    });
  }

  void on_timer() {
    if (Clock::now() < deadline_ && next_address_ < addresses_.size()) {
      connect_next("no answer");
    } else {
      fail(Failure::kConnect, "no connection within " + std::to_string(route_.connect_timeout.count()) + " ms");
    }
  }

  // `why`: what was wrong with the address before. Each address has its share of the time that is left, so that one which never answers
  // does not keep us from the others.
  void connect_next(const std::string& why) {
    if (next_address_ == addresses_.size()) return fail(Failure::kConnect, "it cannot be connected to: " + why);
    const tcp::endpoint& address = addresses_[next_address_++];
    const auto share = (deadline_ - Clock::now()) / static_cast<int>(addresses_.size() - next_address_ + 1);
    if (addresses_.size() > 1) wait_until(Clock::now() + share);
    error_code error;
    socket_.close(error);
    socket_.open(address.protocol(), error);
    if (!error) socket_.non_blocking(true, error);
    if (error) return fail(Failure::kConnect, "no socket: " + error.message());
    socket_.set_option(tcp::no_delay(true), error);
    socket_.set_option(asio::socket_base::keep_alive(true), error);
    socket_.async_connect(address, [self = shared_from_this(), attempt = next_address_](const error_code& failed) {
      if (self->closed_ || attempt != self->next_address_) return;
      if (failed) return self->connect_next(failed.message());
      self->on_connected();
    });
  }

  void on_connected() {
    if (addresses_.size() > 1) wait_until(deadline_);
    next_address_ = addresses_.size();
    if (route_.proxy && route_.tls) return open_tunnel();
    if (route_.tls) return shake_hands();
    opened();
  }

  void open_tunnel() {
    const std::string authority = route_.url.authority();
    head_ = "CONNECT " + authority + " HTTP/1.1\r\nHost: " + authority + "\r\n";
    if (!route_.proxy->authorization.empty()) head_ += "Proxy-Authorization: " + route_.proxy->authorization + "\r\n";
    head_ += "\r\n";
    asio::async_write(socket_, asio::buffer(head_), [self = shared_from_this()](const error_code& error, std::size_t) {
      if (self->closed_) return;
      if (error) return self->fail(Failure::kConnect, "the proxy ended the connection: " + error.message());
      self->tunnel_reply_ = std::make_unique<ReplyReader>(0);
      self->tunnel_reply_->start(true);
      self->read_tunnel_reply();
    });
  }

  void read_tunnel_reply() {
    socket_.async_read_some(asio::buffer(buffer_), [self = shared_from_this()](const error_code& error, std::size_t bytes) {
      if (self->closed_) return;
      ReplyReader& reply = *self->tunnel_reply_;
      if (error) {
        reply.end(false);
      } else {
        reply.feed({self->buffer_.data(), bytes});
      }
      const ReplyReader::Step step = reply.next();
      if (step == ReplyReader::Step::kNeedMore) return self->read_tunnel_reply();
      if (step != ReplyReader::Step::kHead) return self->fail(Failure::kConnect, "the proxy's reply: " + reply.why());
      if (reply.head().status / 100 != 2) {
        return self->fail(Failure::kConnect, "the proxy refused with status " + std::to_string(reply.head().status));
      }
      self->tunnel_reply_.reset();
      self->shake_hands();
    });
  }

  void shake_hands() {
    tls_.emplace(socket_, route_.tls->context());
    route_.tls->prepare(tls_->native_handle(), route_.url.host);
    tls_->async_handshake(ssl::stream_base::client, [self = shared_from_this()](const error_code& error) {
      if (self->closed_) return;
      if (!error) return self->opened();
      const long verified = SSL_get_verify_result(self->tls_->native_handle());
      if (verified != X509_V_OK) {
        return self->fail(Failure::kTls, std::string("its certificate is not accepted: ") + X509_verify_cert_error_string(verified));
      }
      // Cut in the middle is a matter of the connection; everything else would be the same again.
      const bool cut = error.category() == asio::error::get_system_category() || error == asio::error::eof ||
                       error == asio::ssl::error::stream_truncated;
      self->fail(cut ? Failure::kConnect : Failure::kTls, "the TLS handshake failed: " + error.message());
    });
  }

  void opened() {
    timer_.cancel();
    read();
    const std::shared_ptr<Listener> listener = listener_;
    listener->on_open(*this);
  }

  void read() {
    auto on_read = [self = shared_from_this()](const error_code& error, std::size_t bytes) { self->on_read(error, bytes); };
    if (tls_) {
      tls_->async_read_some(asio::buffer(buffer_), std::move(on_read));
    } else {
      socket_.async_read_some(asio::buffer(buffer_), std::move(on_read));
    }
  }

  void on_read(const error_code& error, std::size_t bytes) {
    if (closed_) return;
    if (error == asio::error::eof) return fail(std::nullopt, "the other side closed the connection");
    if (error) return fail(Failure::kCut, error.message());
    const std::shared_ptr<Listener> listener = listener_;
    listener->on_bytes(*this, {buffer_.data(), bytes});
    if (!closed_) read();
  }

  const Route route_;
  std::shared_ptr<Listener> listener_;
  Resolver resolver_;
  Socket socket_;
  std::optional<ssl::stream<Socket&>> tls_;
  asio::basic_waitable_timer<Clock, asio::wait_traits<Clock>, Executor> timer_;
  Clock::time_point deadline_;  // of connecting
  std::vector<tcp::endpoint> addresses_;
  std::size_t next_address_ = 0;
  std::unique_ptr<ReplyReader> tunnel_reply_;
  std::array<char, kReadBytes> buffer_;
  std::string head_;
  std::shared_ptr<const std::string> body_;  // shared with the call, which sends it again when it retries
  bool writing_ = false;
  bool closed_ = false;
};

}  // namespace

std::shared_ptr<Connection> connect(http::Loop& loop, const Route& route, std::shared_ptr<Connection::Listener> listener) {
  auto connection = std::make_shared<AsioConnection>(http::io_context(loop), route, std::move(listener));
  connection->open();
  return connection;
}

}  // namespace margin::upstream
