#include "file/file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "base/text.h"

namespace margin::file {
namespace {

Error failure(ErrorCode code, const std::string& path, std::string_view what) {
  return {code, internal::printable(path, 400) + ": " + std::string(what) + ": " + std::strerror(errno)};
}

class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() { close(); }
  [[nodiscard]] int get() const { return number_; }
  bool close() {
    const bool closed = number_ < 0 || ::close(number_) == 0;
    number_ = -1;
    return closed;
  }

 private:
  int number_;
};

bool write_all(int descriptor, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(descriptor, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

// A rename is on disk when its folder is.
void sync_folder_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  const std::string folder = slash == std::string::npos ? "." : path.substr(0, slash + 1);
  const Descriptor descriptor(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (descriptor.get() >= 0) fsync(descriptor.get());
}

}  // namespace

Result<std::string> read(const std::string& path, std::size_t bytes_max) {
  const Descriptor descriptor(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (descriptor.get() < 0) return failure(errno == ENOENT ? ErrorCode::kNotFound : ErrorCode::kCorrupt, path, "cannot be read");
  std::string text;
  char buffer[16384];
  for (;;) {
    const ssize_t count = ::read(descriptor.get(), buffer, sizeof buffer);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return failure(ErrorCode::kCorrupt, path, "cannot be read");
    if (count == 0) return text;
    text.append(buffer, static_cast<std::size_t>(count));
    if (text.size() > bytes_max) {
      return Error{ErrorCode::kLimit, internal::printable(path, 400) + ": is larger than " + std::to_string(bytes_max) + " bytes"};
    }
  }
}

std::string behind(const std::string& path) {
  const std::unique_ptr<char, decltype([](char* text) { std::free(text); })> found(::realpath(path.c_str(), nullptr));
  return found == nullptr ? path : found.get();
}

Status replace_private(const std::string& path, std::string_view text) {
  std::string temporary = path + ".XXXXXX";
  Descriptor descriptor(mkostemp(temporary.data(), O_CLOEXEC));  // mode 0600
  if (descriptor.get() < 0) return failure(ErrorCode::kCorrupt, path, "cannot be written");
  // Made again by root, it stays the server's.
  struct stat before {};
  if (stat(path.c_str(), &before) == 0) static_cast<void>(!fchown(descriptor.get(), before.st_uid, before.st_gid));
  const bool written = write_all(descriptor.get(), text) && fsync(descriptor.get()) == 0 && descriptor.close();
  if (!written || ::rename(temporary.c_str(), path.c_str()) != 0) {
    const Error error = failure(ErrorCode::kCorrupt, path, "cannot be written");
    unlink(temporary.c_str());
    return error;
  }
  sync_folder_of(path);
  return {};
}

Result<Lock> Lock::take(const std::string& path) {
  const int descriptor = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (descriptor < 0) return failure(ErrorCode::kNotFound, path, "cannot be locked");
  while (flock(descriptor, LOCK_EX) != 0) {
    if (errno == EINTR) continue;
    const Error error = failure(ErrorCode::kNotFound, path, "cannot be locked");
    ::close(descriptor);
    return error;
  }
  return Lock(descriptor);
}

Lock::~Lock() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

}  // namespace margin::file
