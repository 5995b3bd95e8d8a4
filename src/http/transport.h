// A connection's bytes in and out, plain or TLS, behind one interface. Used by Session, which it calls back on the loop's thread.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/context.hpp>
#include <cstddef>
#include <memory>
#include <span>
#include <string_view>

namespace margin::http {

class Arrivals;
class Session;

// Not tcp::socket, whose executor is type-erased: that costs on every operation.
using Socket = boost::asio::basic_stream_socket<boost::asio::ip::tcp, boost::asio::io_context::executor_type>;

// The pieces of one write, in order: answers, and perhaps a large body.
using Pieces = std::span<const std::string_view>;
inline constexpr std::size_t kPiecesMax = 2;

// Belongs to the session it is used by.
class Transport {
 public:
  virtual ~Transport() = default;
  // Each of these ends in the session's on_handshake, on_read or on_written. At most one read and one write at a time.
  virtual void handshake(Session& session) = 0;
  // Into the session's space(), asked for at once or when something has come.
  virtual void read(Session& session) = 0;
  // What write_now() has just left.
  virtual void write(Session& session, Pieces pieces) = 0;
  // Writes what goes at once, without a callback; 0 when nothing did.
  virtual std::size_t write_now(Pieces pieces) = 0;
  // Tells the client that nothing more will come.
  virtual void shut_down_sending(Session& session) = 0;
  // Ends pending operations too; their callbacks may or may not come. Nothing may be asked of it afterwards.
  virtual void close() = 0;
};

// Takes `socket` over. nullptr: the system has no room for it. `arrivals` is shared with the server and its other connections.
[[nodiscard]] std::unique_ptr<Transport> plain_transport(int socket, std::shared_ptr<Arrivals> arrivals);
// `context` is shared with the server until it loads another certificate.
[[nodiscard]] std::unique_ptr<Transport> tls_transport(Socket socket, std::shared_ptr<boost::asio::ssl::context> context);

}  // namespace margin::http
