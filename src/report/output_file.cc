#include "report/output_file.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "base/text.h"

namespace margin::report {
namespace {

Error failure(ErrorCode code, const std::string& path, std::string_view what) {
  return {code, internal::printable(path, 400) + ": " + std::string(what) + ": " + std::strerror(errno)};
}

}  // namespace

Result<OutputFile> OutputFile::create(const std::string& path) {
  struct stat status {};
  const bool exists = stat(path.c_str(), &status) == 0;
  if (exists && S_ISDIR(status.st_mode)) {
    errno = EISDIR;
    return failure(ErrorCode::kNotFound, path, "cannot be written");
  }
  if (exists && !S_ISREG(status.st_mode)) {
    std::FILE* file = std::fopen(path.c_str(), "wb");
    if (file == nullptr) return failure(ErrorCode::kNotFound, path, "cannot be written");
    return OutputFile(file, path, "");
  }
  std::string temporary = path + ".XXXXXX";
  const int descriptor = mkstemp(temporary.data());
  if (descriptor < 0) return failure(ErrorCode::kNotFound, path, "cannot be written");
  // mkstemp makes a private file; a result is as readable as any other new file.
  const mode_t mask = umask(0);
  umask(mask);
  fchmod(descriptor, exists ? status.st_mode & 0777U : 0666U & ~mask);
  return OutputFile(fdopen(descriptor, "wb"), path, temporary);
}

OutputFile::~OutputFile() {
  if (file_ != nullptr && !temporary_.empty()) unlink(temporary_.c_str());
}

void OutputFile::write(std::string_view text) { std::fwrite(text.data(), 1, text.size(), file_.get()); }

Status OutputFile::commit() {
  const bool flushed = std::fflush(file_.get()) == 0 && std::ferror(file_.get()) == 0;
  if (!flushed || (!temporary_.empty() && std::rename(temporary_.c_str(), path_.c_str()) != 0)) {
    return failure(ErrorCode::kCorrupt, path_, "cannot be written");
  }
  file_.reset();
  return {};
}

Status write_file(const std::string& path, std::string_view text) {
  Result<OutputFile> file = OutputFile::create(path);
  if (!file) return file.error();
  file->write(text);
  return file->commit();
}

}  // namespace margin::report
