#include "http/transport.h"

#include <array>
#include <boost/asio/buffer.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <utility>

#include "http/session.h"

namespace margin::http {
namespace asio = boost::asio;
namespace {

using boost::system::error_code;

// A write has a head and perhaps a large body.
constexpr std::size_t kPiecesMax = 2;

std::array<asio::const_buffer, kPiecesMax> buffers_of(Pieces pieces) {
  std::array<asio::const_buffer, kPiecesMax> buffers;
  for (std::size_t i = 0; i < pieces.size() && i < kPiecesMax; ++i) buffers[i] = asio::buffer(pieces[i].data(), pieces[i].size());
  return buffers;
}

template <class Stream>
class StreamTransport : public Transport {
 public:
  template <class... Arguments>
  explicit StreamTransport(Arguments&&... arguments) : stream_(std::forward<Arguments>(arguments)...) {}

  void read(std::shared_ptr<Session> session, std::span<char> space) override {
    stream_.async_read_some(asio::buffer(space.data(), space.size()),
                            [session = std::move(session)](const error_code& error, std::size_t bytes) { session->on_read(error, bytes); });
  }

  void write(std::shared_ptr<Session> session, Pieces pieces) override {
    stream_.async_write_some(buffers_of(pieces), [session = std::move(session)](const error_code& error, std::size_t bytes) {
      session->on_written(error, bytes);
    });
  }

  void close() override {
    error_code ignored;
    stream_.lowest_layer().close(ignored);
  }

 protected:
  void shut_down_socket() {
    error_code ignored;
    stream_.lowest_layer().shutdown(asio::socket_base::shutdown_send, ignored);
  }

  Stream stream_;
};

class PlainTransport final : public StreamTransport<Socket> {
 public:
  explicit PlainTransport(Socket socket) : StreamTransport(std::move(socket)) {
    error_code ignored;
    stream_.non_blocking(true, ignored);
  }

  void handshake(std::shared_ptr<Session> session) override { session->on_handshake({}); }

  std::size_t write_now(Pieces pieces) override {
    error_code error;
    // An error that stays shows again in write(), which reports it.
    const std::size_t bytes =
        pieces.back().empty() ? stream_.write_some(asio::buffer(pieces[0]), error) : stream_.write_some(buffers_of(pieces), error);
    return error ? 0 : bytes;
  }

  void shut_down_sending(std::shared_ptr<Session>) override { shut_down_socket(); }
};

class TlsTransport final : public StreamTransport<asio::ssl::stream<Socket>> {
 public:
  TlsTransport(Socket socket, std::shared_ptr<asio::ssl::context> context)
      : StreamTransport(std::move(socket), *context), context_(std::move(context)) {}

  void handshake(std::shared_ptr<Session> session) override {
    stream_.async_handshake(asio::ssl::stream_base::server,
                            [session = std::move(session)](const error_code& error) { session->on_handshake(error); });
  }

  std::size_t write_now(Pieces) override { return 0; }

  void shut_down_sending(std::shared_ptr<Session> session) override {
    // Keeps the session, and so this object, until the client has answered or the session's deadline closes the socket.
    stream_.async_shutdown([this, session = std::move(session)](const error_code&) { shut_down_socket(); });
  }

 private:
  std::shared_ptr<asio::ssl::context> context_;
};

}  // namespace

std::unique_ptr<Transport> plain_transport(Socket socket) { return std::make_unique<PlainTransport>(std::move(socket)); }

std::unique_ptr<Transport> tls_transport(Socket socket, std::shared_ptr<asio::ssl::context> context) {
  return std::make_unique<TlsTransport>(std::move(socket), std::move(context));
}

}  // namespace margin::http
