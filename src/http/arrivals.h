// The plain sockets of a server, in an epoll set of their own for which the loop waits as one. A socket is read when something has come
// for it, not tried after every answer; and what has come is received for all sockets first and served then, so that the processor does
// the same thing many times in a row. Used by the plain transports, on the loop's thread.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/basic_stream_descriptor.hpp>
#include <boost/system/error_code.hpp>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "http/loop.h"
#include "margin/result.h"

namespace margin::http {

class Session;

class Arrivals : public std::enable_shared_from_this<Arrivals> {
 public:
  // A read or write that is over, and which callback of its session is to hear of it.
  struct Ended {
    std::shared_ptr<Session> session;  // it may be closed before its turn comes
    void (Session::*callback)(const boost::system::error_code&, std::size_t);
    boost::system::error_code error;
    std::size_t bytes;
  };

  class Watched {
   public:
    virtual ~Watched() = default;
    // Does what can be done by now, given what epoll says, and appends what is over. Calls nobody.
    virtual void perform(std::uint32_t events, std::vector<Ended>& ended) = 0;
  };

  // Errors: kUnavailable (no descriptor left). `loop` outlives it.
  [[nodiscard]] static Result<std::shared_ptr<Arrivals>> open(Loop& loop);

  // From now on `watched` hears of every change, once: what it leaves undone it must ask for by soon(). False: the system has no room.
  [[nodiscard]] bool watch(int socket, Watched& watched);
  // Before `socket` is closed.
  void forget(int socket, Watched& watched);
  // `watched` performs in the loop's next turn, whether or not anything changes.
  void soon(Watched& watched);

 private:
  Arrivals(Loop& loop, int set);
  void wait();
  // Returns how many sockets had something.
  std::size_t serve();

  Loop& loop_;
  boost::asio::posix::basic_stream_descriptor<boost::asio::io_context::executor_type> set_;
  std::vector<Watched*> soon_;
};

}  // namespace margin::http
