#include <array>
#include <boost/asio/buffer.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <utility>

#include "http/session.h"
#include "http/transport.h"

namespace margin::http {
namespace asio = boost::asio;
namespace {

// Pending operations keep the session, and so this object.
class TlsTransport final : public Transport {
 public:
  TlsTransport(Socket socket, std::shared_ptr<asio::ssl::context> context)
      : stream_(std::move(socket), *context), context_(std::move(context)) {}

  void handshake(Session& session) override {
    stream_.async_handshake(asio::ssl::stream_base::server,
                            [self = session.shared_from_this()](const boost::system::error_code& error) { self->on_handshake(error); });
  }

  void read(Session& session) override {
    const std::span<char> space = session.space();
    stream_.async_read_some(
        asio::buffer(space.data(), space.size()),
        [self = session.shared_from_this()](const boost::system::error_code& error, std::size_t bytes) { self->on_read(error, bytes); });
  }

  void write(Session& session, Pieces pieces) override {
    std::array<asio::const_buffer, kPiecesMax> buffers;
    for (std::size_t i = 0; i < pieces.size() && i < kPiecesMax; ++i) buffers[i] = asio::buffer(pieces[i].data(), pieces[i].size());
    stream_.async_write_some(buffers, [self = session.shared_from_this()](const boost::system::error_code& error, std::size_t bytes) {
      self->on_written(error, bytes);
    });
  }

  std::size_t write_now(Pieces) override { return 0; }

  void shut_down_sending(Session& session) override {
    // Until the client has answered or the session's deadline closes the socket.
    stream_.async_shutdown([this, self = session.shared_from_this()](const boost::system::error_code&) {
      boost::system::error_code ignored;
      stream_.lowest_layer().shutdown(asio::socket_base::shutdown_send, ignored);
    });
  }

  void close() override {
    boost::system::error_code ignored;
    stream_.lowest_layer().close(ignored);
  }

 private:
  asio::ssl::stream<Socket> stream_;
  std::shared_ptr<asio::ssl::context> context_;
};

}  // namespace

std::unique_ptr<Transport> tls_transport(Socket socket, std::shared_ptr<asio::ssl::context> context) {
  return std::make_unique<TlsTransport>(std::move(socket), std::move(context));
}

}  // namespace margin::http
