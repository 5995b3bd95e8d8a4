// The files of the dashboard, as part of the program. Made from dashboard/ by cmake/MarginDashboard.cmake; where that was not built, the
// only file is a page that says so.
#pragma once

#include <span>
#include <string_view>

namespace margin::server {

struct DashboardFile {
  std::string_view name;  // "index.html", "assets/index-8c1f.js"
  std::string_view content_type;
  std::string_view etag;  // with its quotes
  std::string_view bytes;
  std::string_view gzip;  // empty: not worth it
};

[[nodiscard]] std::span<const DashboardFile> dashboard_files();

}  // namespace margin::server
