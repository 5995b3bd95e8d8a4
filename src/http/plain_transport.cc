#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <boost/asio/error.hpp>
#include <cerrno>
#include <utility>

#include "http/arrivals.h"
#include "http/session.h"
#include "http/transport.h"

namespace margin::http {
namespace {

using boost::system::error_code;

// Again when a signal came in between.
template <class Call>
ssize_t uninterrupted(Call call) {
  ssize_t result = 0;
  do {
    result = call();
  } while (result < 0 && errno == EINTR);
  return result;
}

bool would_block() { return errno == EAGAIN || errno == EWOULDBLOCK; }

error_code last_error() { return {errno, boost::system::system_category()}; }

class PlainTransport final : public Transport, public Arrivals::Watched {
 public:
  PlainTransport(int socket, std::shared_ptr<Arrivals> arrivals) : socket_(socket), arrivals_(std::move(arrivals)) {}
  ~PlainTransport() override { PlainTransport::close(); }
  PlainTransport(const PlainTransport&) = delete;
  PlainTransport& operator=(const PlainTransport&) = delete;

  [[nodiscard]] bool watch() { return arrivals_->watch(socket_, *this); }

  void handshake(Session& session) override { session.on_handshake({}); }

  void read(Session& session) override {
    session_ = &session;
    reading_ = true;
    if (readable_) arrivals_->soon(*this);
  }

  void write(Session& session, Pieces pieces) override {
    session_ = &session;
    std::copy(pieces.begin(), pieces.end(), unwritten_.begin());
    writing_ = true;
    if (writable_) arrivals_->soon(*this);
  }

  std::size_t write_now(Pieces pieces) override {
    // An error that stays shows again in write(), which reports it.
    return static_cast<std::size_t>(std::max<ssize_t>(send(pieces), 0));
  }

  void shut_down_sending(Session&) override { ::shutdown(socket_, SHUT_WR); }

  void close() override {
    if (socket_ < 0) return;
    arrivals_->forget(socket_, *this);
    ::close(std::exchange(socket_, -1));
    arrivals_.reset();  // a reply may hold a closed session for longer than there is a server
  }

  void perform(std::uint32_t events, std::vector<Arrivals::Ended>& ended) override {
    constexpr std::uint32_t kOver = EPOLLRDHUP | EPOLLHUP | EPOLLERR;
    if ((events & (EPOLLPRI | kOver)) != 0) short_reads_ = true;
    if ((events & (EPOLLIN | EPOLLPRI | kOver)) != 0) readable_ = true;
    if ((events & (EPOLLOUT | EPOLLHUP | EPOLLERR)) != 0) writable_ = true;
    if (readable_ && reading_) receive(ended);
    if (writable_ && writing_) send_rest(ended);
  }

 private:
  void receive(std::vector<Arrivals::Ended>& ended) {
    const std::span<char> space = session_->space();
    const ssize_t bytes = uninterrupted([&] { return ::recv(socket_, space.data(), space.size(), MSG_DONTWAIT); });
    if (bytes < 0 && would_block()) {
      readable_ = false;
      return;
    }
    // A read that does not fill its space has taken all there was: what comes later is told anew. Only an end that came along is not, nor
    // what follows an urgent byte.
    readable_ = short_reads_ || static_cast<std::size_t>(std::max<ssize_t>(bytes, 0)) == space.size();
    const error_code error = bytes < 0 ? last_error() : bytes == 0 ? error_code(boost::asio::error::eof) : error_code();
    reading_ = false;
    ended.push_back({session_->shared_from_this(), &Session::on_read, error, static_cast<std::size_t>(std::max<ssize_t>(bytes, 0))});
  }

  void send_rest(std::vector<Arrivals::Ended>& ended) {
    const ssize_t bytes = send(unwritten_);
    if (bytes < 0 && would_block()) return;
    const error_code error = bytes < 0 ? last_error() : error_code();
    writing_ = false;
    ended.push_back({session_->shared_from_this(), &Session::on_written, error, static_cast<std::size_t>(std::max<ssize_t>(bytes, 0))});
  }

  // As the system's call does it. What it does not take it will take when epoll says so.
  ssize_t send(Pieces pieces) {
    std::array<iovec, kPiecesMax> parts;
    std::size_t count = 0;
    std::size_t size = 0;
    for (const std::string_view piece : pieces) {
      if (piece.empty()) continue;
      parts[count++] = {const_cast<char*>(piece.data()), piece.size()};
      size += piece.size();
    }
    msghdr message{};
    message.msg_iov = parts.data();
    message.msg_iovlen = count;
    constexpr int kFlags = MSG_DONTWAIT | MSG_NOSIGNAL;
    const ssize_t bytes = uninterrupted(
        [&] { return count == 1 ? ::send(socket_, parts[0].iov_base, parts[0].iov_len, kFlags) : ::sendmsg(socket_, &message, kFlags); });
    writable_ = bytes < 0 ? !would_block() : static_cast<std::size_t>(bytes) == size;
    return bytes;
  }

  int socket_;
  std::shared_ptr<Arrivals> arrivals_;  // shared with the server and its other connections
  Session* session_ = nullptr;          // owns this
  std::array<std::string_view, kPiecesMax> unwritten_;
  bool reading_ = false;  // a read waits
  bool writing_ = false;  // a write waits
  bool readable_ = false;
  bool writable_ = true;
  // The client has ended its side or broken off, or sent an urgent byte: there may be more to read than a read brings.
  bool short_reads_ = false;
};

}  // namespace

std::unique_ptr<Transport> plain_transport(int socket, std::shared_ptr<Arrivals> arrivals) {
  auto transport = std::make_unique<PlainTransport>(socket, std::move(arrivals));
  if (!transport->watch()) return nullptr;
  return transport;
}

}  // namespace margin::http
