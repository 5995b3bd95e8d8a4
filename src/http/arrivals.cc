#include "http/arrivals.h"

#include <sys/epoll.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <span>
#include <string>
#include <utility>

#include "http/executor.h"
#include "http/session.h"

namespace margin::http {
namespace {

// So many sockets are served in one turn; others wait for the next. All of a turn are answered at its end: where many come at once, after
// the machine stood still for a moment, the first should not wait for the last. Fewer would cost the processor more.
constexpr int kTurnMax = 8;
// So many turns follow each other, and so many sockets are served in them at the least, before accepting and timers have theirs.
constexpr int kRoundsMax = 16;
constexpr std::size_t kServedMax = 128;

}  // namespace

Result<std::shared_ptr<Arrivals>> Arrivals::open(Loop& loop) {
  const int set = ::epoll_create1(EPOLL_CLOEXEC);
  if (set < 0) return Error{ErrorCode::kUnavailable, std::string("no descriptor to wait for connections with: ") + std::strerror(errno)};
  std::shared_ptr<Arrivals> arrivals(new Arrivals(loop, set));
  arrivals->wait();
  return arrivals;
}

Arrivals::Arrivals(Loop& loop, int set) : loop_(loop), set_(io_context(loop), set) {}

bool Arrivals::watch(int socket, Watched& watched) {
  epoll_event event{};
  event.events = EPOLLIN | EPOLLPRI | EPOLLOUT | EPOLLRDHUP | EPOLLET;
  event.data.ptr = &watched;
  return ::epoll_ctl(set_.native_handle(), EPOLL_CTL_ADD, socket, &event) == 0;
}

void Arrivals::forget(int socket, Watched& watched) {
  // Closing the socket alone would leave it in the set if another process had it too.
  epoll_event unused{};
  ::epoll_ctl(set_.native_handle(), EPOLL_CTL_DEL, socket, &unused);
  std::erase(soon_, &watched);
}

void Arrivals::soon(Watched& watched) {
  soon_.push_back(&watched);
  if (soon_.size() > 1) return;  // the turn is asked for already
  loop_.post([weak = weak_from_this()] {
    if (const auto self = weak.lock()) self->serve();
  });
}

void Arrivals::wait() {
  set_.async_wait(decltype(set_)::wait_read, [weak = weak_from_this()](const boost::system::error_code& error) {
    const auto self = weak.lock();
    if (error || self == nullptr) return;
    std::size_t served = 0;
    in_rounds(self->loop_, kRoundsMax, [&] {
      const std::size_t now = served < kServedMax ? self->serve() : 0;
      served += now;
      return now > 0;
    });
    self->wait();
  });
}

std::size_t Arrivals::serve() {
  std::array<epoll_event, kTurnMax> events;
  // An error can only be a signal's; then what is ready is found the next time.
  const auto ready = static_cast<std::size_t>(std::max(::epoll_wait(set_.native_handle(), events.data(), kTurnMax, 0), 0));
  std::vector<Ended> ended;
  ended.reserve(soon_.size() + ready);
  // Nobody is called yet, so nobody who is still to perform can go.
  for (Watched* watched : std::exchange(soon_, {})) watched->perform(0, ended);
  for (const epoll_event& event : std::span(events).first(ready)) static_cast<Watched*>(event.data.ptr)->perform(event.events, ended);
  turn(loop_, [&ended] {
    for (const Ended& one : ended) (one.session.get()->*one.callback)(one.error, one.bytes);
  });
  return ready;
}

}  // namespace margin::http
