#include "server/request_log.h"

#include <algorithm>

namespace margin::server {
namespace {

constexpr std::size_t kIdBytesMax = 128;

bool is_plain(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '_' || c == ':' || c == '-';
}

}  // namespace

std::string request_id(const http::Request& request, Uuid fresh) {
  const std::string_view stated = request.header("X-Request-Id").value_or("");
  const bool usable = !stated.empty() && stated.size() <= kIdBytesMax && std::all_of(stated.begin(), stated.end(), is_plain);
  return usable ? std::string(stated) : fresh.text();
}

void log_request(journal::Journal& journal, config::LoggedRequests logged, const RequestFacts& request) {
  constexpr int kFirstError = 400;
  const bool wanted =
      logged == config::LoggedRequests::kAll || (logged == config::LoggedRequests::kErrors && request.sent.status >= kFirstError);
  if (!wanted) return;
  journal.info("request", {{"method", request.method},
                           {"path", request.path},
                           {"status", static_cast<std::int64_t>(request.sent.status)},
                           {"seconds", std::chrono::duration<double>(request.sent.took).count()},
                           {"key", request.sent.key},
                           {"request_id", request.id}});
}

}  // namespace margin::server
