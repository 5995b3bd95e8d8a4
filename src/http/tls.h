// The server's certificate and the rules of TLS. Used by Server.
#pragma once

#include <boost/asio/ssl/context.hpp>
#include <memory>

#include "http/server.h"

namespace margin::http {

// Errors: kNotFound (a file cannot be read), kCorrupt (not PEM, or the key is not the certificate's).
[[nodiscard]] Result<std::shared_ptr<boost::asio::ssl::context>> load_tls(const ListenOptions& options);

}  // namespace margin::http
