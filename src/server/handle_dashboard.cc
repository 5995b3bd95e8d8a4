// The dashboard's own files. They hold no data and ask for no key; what they show comes from the other routes, with the reader's key.
#include <algorithm>

#include "server/app.h"
#include "server/dashboard_files.h"

namespace margin::server {
namespace {

// Nothing from elsewhere is loaded, nothing inline runs, nobody may frame it.
constexpr std::string_view kPolicy =
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'";

// Whether one of the comma-separated tokens is `wanted`, or `*`; weights but q=0 are not looked at.
bool lists(std::string_view header, std::string_view wanted) {
  while (!header.empty()) {
    std::string_view token = header.substr(0, header.find(','));
    header.remove_prefix(std::min(header.size(), token.size() + 1));
    token.remove_prefix(std::min(token.find_first_not_of(" \t"), token.size()));
    if (token.starts_with("W/")) token.remove_prefix(2);
    const std::string_view name = token.substr(0, token.find_first_of("; \t"));
    const std::string_view rest = token.substr(name.size());
    const bool refused = rest.find("q=0") != std::string_view::npos && rest.find("q=0.") == std::string_view::npos;
    if ((name == wanted || name == "*") && !refused) return true;
  }
  return false;
}

void send_file(const Call& call, std::string_view name) {
  const auto files = dashboard_files();
  const auto file = std::find_if(files.begin(), files.end(), [&](const DashboardFile& one) { return one.name == name; });
  if (file == files.end()) return call.answer->send(refusal(404, "not_found", "path: the dashboard has no such file"));
  http::Response response;
  response.content_type = file->content_type;
  // Names of assets change with what is in them.
  const bool lasting = name.starts_with("assets/");
  response.headers = {
      {"ETag", std::string(file->etag)},     {"Cache-Control", lasting ? "public, max-age=31536000, immutable" : "no-cache"},
      {"Vary", "Accept-Encoding"},           {"Content-Security-Policy", std::string(kPolicy)},
      {"X-Content-Type-Options", "nosniff"}, {"X-Frame-Options", "DENY"},
      {"Referrer-Policy", "no-referrer"},    {"Cross-Origin-Opener-Policy", "same-origin"}};
  if (lists(call.request.header("If-None-Match").value_or(""), file->etag)) {
    response.status = 304;
    response.content_type = {};
  } else if (!file->gzip.empty() && lists(call.request.header("Accept-Encoding").value_or(""), "gzip")) {
    response.body = file->gzip;
    response.headers.emplace_back("Content-Encoding", "gzip");
  } else {
    response.body = file->bytes;
  }
  call.answer->send(std::move(response));
}

}  // namespace

// Relative, so that it also holds behind a proxy that adds a prefix.
void open_dashboard(App& /*app*/, const Call& call) {
  http::Response response;
  response.status = 302;
  response.content_type = "text/plain";
  response.headers = {{"Location", "dashboard/"}};
  response.body = "dashboard/\n";
  call.answer->send(std::move(response));
}

void show_dashboard(App& /*app*/, const Call& call) { send_file(call, "index.html"); }

void show_dashboard_file(App& /*app*/, const Call& call) { send_file(call, "assets/" + call.arguments[0]); }

}  // namespace margin::server
