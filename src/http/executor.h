// The Asio side of a Loop, for code that speaks Asio itself (the server's sockets, coroutines to upstreams).
#pragma once

#include <boost/asio/io_context.hpp>
#include <functional>

#include "http/loop.h"

namespace margin::http {

[[nodiscard]] boost::asio::io_context& io_context(Loop& loop);

// Runs `work` now, on the loop's thread, as if it had been posted.
void turn(Loop& loop, const std::function<void()>& work);

}  // namespace margin::http
