// Puts a report on disk, complete or not at all.
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <system_error>

#include "report/html.h"
#include "report/text.h"

namespace margin::report {
namespace {

namespace fs = std::filesystem;

Error failure(ErrorCode code, const fs::path& path, const std::string& why) {
  return {code, shortened(path.string(), 200) + ": cannot be written: " + why};
}

}  // namespace

Result<std::string> write_report(const Report& report, const std::string& dir) {
  std::error_code error;
  fs::create_directories(dir, error);
  if (error) return failure(ErrorCode::kNotFound, dir, error.message());
  const fs::path target = fs::path(dir) / "report.html";
  fs::path temporary = target;
  temporary += "." + std::to_string(getpid());  // in the same folder, so that the rename is atomic

  errno = 0;
  std::ofstream file(temporary, std::ios::binary | std::ios::trunc);
  if (!file) return failure(ErrorCode::kNotFound, target, std::strerror(errno));
  file << to_html(report);
  file.close();
  if (file) fs::rename(temporary, target, error);
  if (!file || error) {
    const std::string why = error ? error.message() : std::strerror(errno);
    fs::remove(temporary, error);
    return failure(ErrorCode::kCorrupt, target, why);
  }
  return target.string();
}

}  // namespace margin::report
