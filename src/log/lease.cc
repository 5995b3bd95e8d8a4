#include "log/lease.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <ctime>

#include "base/text.h"

namespace margin::internal {
namespace {

std::string holder() {
  std::array<char, 256> host{};
  if (gethostname(host.data(), host.size() - 1) != 0) host[0] = '?';
  std::array<char, 32> since{};
  const std::time_t now = std::time(nullptr);
  std::tm utc{};
  gmtime_r(&now, &utc);
  std::strftime(since.data(), since.size(), "%Y-%m-%dT%H:%M:%SZ", &utc);
  return "process " + std::to_string(getpid()) + " on " + host.data() + " since " + since.data() + "\n";
}

std::string read_holder(int descriptor) {
  std::array<char, 512> text{};
  const ssize_t size = pread(descriptor, text.data(), text.size(), 0);
  std::string_view line(text.data(), size > 0 ? static_cast<std::size_t>(size) : 0);
  return printable(line.substr(0, line.find('\n')), text.size());
}

}  // namespace

Result<Lease> Lease::take(const std::string& path) {
  const int descriptor = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
  if (descriptor < 0) return {ErrorCode::kNotFound, path + ": cannot be made: " + std::strerror(errno)};
  Lease lease(descriptor);
  // A lock of the open file, not of the process: it also keeps off another log in this process, and is not lost when the file is opened
  // and closed elsewhere.
  struct flock lock {};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  if (fcntl(descriptor, F_OFD_SETLK, &lock) != 0) {
    if (errno == EAGAIN || errno == EACCES) return {ErrorCode::kUnavailable, path + ": held by " + read_holder(descriptor)};
    return {ErrorCode::kUnavailable, path + ": cannot be locked: " + std::strerror(errno)};
  }
  const std::string text = holder();
  // Only for people: on a full disk the lease holds without a name.
  if (ftruncate(descriptor, 0) == 0) static_cast<void>(pwrite(descriptor, text.data(), text.size(), 0) < 0);
  return lease;
}

}  // namespace margin::internal
