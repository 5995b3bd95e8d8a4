#include "client/http_client.h"

#include <netdb.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <memory>

#include "base/text.h"

namespace margin::client {
namespace {

constexpr std::size_t kReplyBytesMax = 16 << 20;

std::string shown(const Endpoint& server) {
  const bool is_address6 = server.host.find(':') != std::string::npos;
  const std::string host = is_address6 ? "[" + server.host + "]" : server.host;
  return internal::printable((server.tls ? "https://" : "http://") + host + ":" + server.port, 400);
}

Error unreachable(const Endpoint& server, const std::string& why) {
  return {ErrorCode::kNotFound, shown(server) + " does not answer: " + why + " (is the server running? `margin serve` starts one)"};
}

std::string system_words() { return errno == EAGAIN || errno == EINPROGRESS ? "no answer in time" : std::strerror(errno); }

std::string tls_words() {
  const unsigned long code = ERR_get_error();
  const char* reason = code == 0 ? nullptr : ERR_reason_error_string(code);
  return reason == nullptr ? "the TLS connection failed" : std::string("TLS: ") + reason;
}

// A connection, plain or TLS.
class Connection {
 public:
  Connection(const Endpoint& server, const HttpOptions& options) : server_(server), options_(options) {}
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;
  ~Connection() {
    if (socket_ >= 0) close(socket_);
  }

  Status open() {
    addrinfo hints{};
    hints.ai_socktype = SOCK_STREAM;
    addrinfo* found = nullptr;
    if (const int failed = getaddrinfo(server_.host.c_str(), server_.port.c_str(), &hints, &found); failed != 0) {
      return unreachable(server_, gai_strerror(failed));
    }
    const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> addresses(found, freeaddrinfo);
    for (const addrinfo* address = found; address != nullptr; address = address->ai_next) {
      if (connect_to(*address)) return server_.tls ? shake_hands() : Status();
    }
    return unreachable(server_, system_words());
  }

  Status send(std::string_view text) {
    while (!text.empty()) {
      const ssize_t sent = tls_ ? SSL_write(tls_.get(), text.data(), static_cast<int>(std::min(text.size(), std::size_t{1} << 20)))
                                : ::send(socket_, text.data(), text.size(), MSG_NOSIGNAL);
      if (sent <= 0) return unreachable(server_, tls_ ? tls_words() : system_words());
      text.remove_prefix(static_cast<std::size_t>(sent));
    }
    return {};
  }

  // Everything until the other side is done.
  Result<std::string> receive() {
    std::string bytes;
    char buffer[16384];
    for (;;) {
      const ssize_t count = tls_ ? SSL_read(tls_.get(), buffer, sizeof buffer) : ::recv(socket_, buffer, sizeof buffer, 0);
      if (count > 0) bytes.append(buffer, static_cast<std::size_t>(count));
      if (bytes.size() > kReplyBytesMax) return Error{ErrorCode::kLimit, shown(server_) + ": the response is larger than 16 MiB"};
      // A body cut short is told by its length; many servers end TLS without a farewell.
      const bool at_end = count == 0 || (count < 0 && tls_ && !bytes.empty());
      if (at_end) return bytes;
      if (count < 0) return unreachable(server_, tls_ ? tls_words() : system_words());
    }
  }

 private:
  bool connect_to(const addrinfo& address) {
    if (socket_ >= 0) close(socket_);
    socket_ = socket(address.ai_family, address.ai_socktype | SOCK_CLOEXEC, address.ai_protocol);
    if (socket_ < 0) return false;
    // On Linux the time to send bounds connecting too.
    const timeval patience = {.tv_sec = options_.timeout_s, .tv_usec = 0};
    setsockopt(socket_, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
    setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    return connect(socket_, address.ai_addr, address.ai_addrlen) == 0;
  }

  Status shake_hands() {
    std::signal(SIGPIPE, SIG_IGN);  // OpenSSL writes without MSG_NOSIGNAL
    context_.reset(SSL_CTX_new(TLS_client_method()));
    SSL_CTX_set_verify(context_.get(), SSL_VERIFY_PEER, nullptr);
    const int trusted = options_.certificates.empty() ? SSL_CTX_set_default_verify_paths(context_.get())
                                                      : SSL_CTX_load_verify_file(context_.get(), options_.certificates.c_str());
    if (trusted != 1) {
      return {ErrorCode::kInvalidArgument, internal::printable(options_.certificates, 400) + ": no certificates can be read from it"};
    }
    tls_.reset(SSL_new(context_.get()));
    X509_VERIFY_PARAM* expected = SSL_get0_param(tls_.get());
    if (X509_VERIFY_PARAM_set1_ip_asc(expected, server_.host.c_str()) != 1) {
      SSL_set1_host(tls_.get(), server_.host.c_str());
      SSL_set_tlsext_host_name(tls_.get(), server_.host.c_str());
    }
    SSL_set_fd(tls_.get(), socket_);
    ERR_clear_error();
    if (SSL_connect(tls_.get()) == 1) return {};
    const long verified = SSL_get_verify_result(tls_.get());
    const std::string why = verified == X509_V_OK ? tls_words() : X509_verify_cert_error_string(verified);
    return {ErrorCode::kNotFound, shown(server_) + ": no trusted connection: " + why};
  }

  const Endpoint& server_;
  const HttpOptions& options_;
  int socket_ = -1;
  std::unique_ptr<SSL_CTX, decltype(&SSL_CTX_free)> context_{nullptr, SSL_CTX_free};
  std::unique_ptr<SSL, decltype(&SSL_free)> tls_{nullptr, SSL_free};
};

}  // namespace

Result<Endpoint> parse_endpoint(std::string_view url) {
  const Error refused{ErrorCode::kInvalidArgument,
                      "got " + internal::printable(url, 400) + ", expected http://HOST:PORT or https://HOST:PORT, nothing behind it"};
  Endpoint endpoint;
  endpoint.tls = url.starts_with("https://");
  if (!endpoint.tls && !url.starts_with("http://")) return refused;
  url.remove_prefix(endpoint.tls ? 8 : 7);
  if (url.ends_with('/')) url.remove_suffix(1);
  const std::size_t bracket = url.rfind(']');
  const std::size_t colon = url.find(':', bracket == std::string_view::npos ? 0 : bracket);
  std::string_view host = url.substr(0, colon);
  const std::string_view port = colon == std::string_view::npos ? (endpoint.tls ? "443" : "80") : url.substr(colon + 1);
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  const bool legal = !host.empty() && host.find_first_of("/?#@[] \\") == std::string_view::npos && internal::printable(host, 256) == host &&
                     !port.empty() && port.size() <= 5 && port.find_first_not_of("0123456789") == std::string_view::npos;
  if (!legal) return refused;
  endpoint.host = host;
  endpoint.port = port;
  return endpoint;
}

Result<HttpReply> ask(const Endpoint& server, const HttpRequest& request, const HttpOptions& options) {
  const bool is_address6 = server.host.find(':') != std::string::npos;
  std::string head = request.method + " " + request.path + " HTTP/1.1\r\nHost: " + (is_address6 ? "[" + server.host + "]" : server.host) +
                     ":" + server.port + "\r\nConnection: close\r\nContent-Length: " + std::to_string(request.body.size()) + "\r\n";
  for (const auto& [name, value] : request.headers) {
    const bool breaks = value.find_first_of(std::string_view("\r\n\0", 3)) != std::string::npos;
    if (breaks) return Error{ErrorCode::kInvalidArgument, name + ": a line end within a header"};
    head.append(name).append(": ").append(value).append("\r\n");
  }
  Connection connection(server, options);
  if (const Status opened = connection.open(); !opened) return opened.error();
  // A server may answer before it has read everything (413): its words are worth more than the failed write.
  const Status sent = connection.send(head + "\r\n" + request.body);
  const Result<std::string> bytes = connection.receive();
  if (!bytes) return sent ? bytes.error() : sent.error();
  if (bytes->empty()) return unreachable(server, "it closed the connection without a word");
  Result<HttpReply> reply = parse_reply(*bytes);
  if (!reply) return Error{reply.error().code, shown(server) + ": " + reply.error().message};
  return reply;
}

}  // namespace margin::client
