// The Asio side of a Loop, for code that speaks Asio itself (the server's sockets, coroutines to upstreams).
#pragma once

#include <boost/asio/io_context.hpp>
#include <functional>

#include "http/loop.h"

namespace margin::http {

[[nodiscard]] boost::asio::io_context& io_context(Loop& loop);

// Runs `work` now, on the loop's thread, as if it had been posted.
void turn(Loop& loop, const std::function<void()>& work);

// Runs `serve` and what was posted meanwhile, again and again until neither finds anything to do, at most so many times: for whoever waits
// for his own sockets through Asio, since going through Asio each time costs as much as a small request's handling. Asio's own sockets and
// timers wait meanwhile.
void in_rounds(Loop& loop, int rounds_max, const std::function<bool()>& serve);

}  // namespace margin::http
