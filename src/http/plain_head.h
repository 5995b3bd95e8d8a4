// The head of a request that is written as nearly all are, read in one pass. Used by RequestReader before it asks Beast, whose grammar
// has room for much more.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

#include "http/message.h"

namespace margin::http {

struct PlainHead {
  std::string_view method;
  std::string_view target;     // a path and perhaps a query
  std::size_t body_bytes = 0;  // as Content-Length says
};

// `head`: whole lines, the last of them empty. A plain head is one of HTTP/1.1, has one Host, and nothing in it changes how its body or the
// connection is to be read but a Content-Length. nullopt: not plain, whether or not it is a head; `headers` then mean nothing.
[[nodiscard]] std::optional<PlainHead> read_plain_head(std::string_view head, std::vector<Header>& headers);

}  // namespace margin::http
