// The Asio side of a Loop, for code that speaks Asio itself (the server's sockets, coroutines to upstreams).
#pragma once

#include <boost/asio/io_context.hpp>

#include "http/loop.h"

namespace margin::http {

[[nodiscard]] boost::asio::io_context& io_context(Loop& loop);

}  // namespace margin::http
