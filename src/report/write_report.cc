// Puts a report on disk, complete or not at all.
#include <filesystem>
#include <system_error>

#include "report/html.h"
#include "report/output_file.h"
#include "report/text.h"

namespace margin::report {

Result<std::string> write_report(const Report& report, const std::string& dir) {
  namespace fs = std::filesystem;
  std::error_code error;
  fs::create_directories(dir, error);
  if (error) return Error{ErrorCode::kNotFound, shortened(dir, 200) + ": cannot be written: " + error.message()};
  std::string target = (fs::path(dir) / "report.html").string();
  if (Status written = write_file(target, to_html(report)); !written) return written.error();
  return target;
}

}  // namespace margin::report
