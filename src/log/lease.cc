#include "log/lease.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <string_view>
#include <utility>

#include "base/text.h"
#include "log/high_water.h"
#include "log/store_format.h"
#include "log/tail.h"

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

std::string read_holder(int descriptor, off_t at) {
  std::array<char, 512> text{};
  const ssize_t size = pread(descriptor, text.data(), text.size(), at);
  std::string_view line(text.data(), size > 0 ? static_cast<std::size_t>(size) : 0);
  return printable(line.substr(0, line.find('\n')), text.size());
}

// Only for people: on a full disk the lease holds without a name.
void write_holder(int descriptor, off_t at) {
  const std::string text = holder();
  if (ftruncate(descriptor, at) == 0) static_cast<void>(pwrite(descriptor, text.data(), text.size(), at) < 0);
}

// A lock of the open file, not of the process: it also keeps off another log in this process, and is not lost when the file is opened and
// closed elsewhere.
bool lock(int descriptor, off_t from = 0) {
  struct flock wanted {};
  wanted.l_type = F_WRLCK;
  wanted.l_whence = SEEK_SET;
  wanted.l_start = from;
  return fcntl(descriptor, F_OFD_SETLK, &wanted) == 0;
}

bool is_taken() { return errno == EAGAIN || errno == EACCES; }

// Of the store's own file, behind all bytes that SQLite locks. This one is found under every name that the file has.
constexpr off_t kBehindSqlite = off_t{1} << 62;

// What HighWater reads ends there.
constexpr off_t kNameInHead = static_cast<off_t>(HighWater::kBytes);

}  // namespace

bool try_to_lock(int file) { return lock(file, kBehindSqlite) || !is_taken(); }

Result<Lease> Lease::take(const std::string& store) {
  const std::string path = lock_path(store);
  Descriptor file(::open(path.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0644));
  if (!file.open()) return {ErrorCode::kUnavailable, path + ": cannot be made: " + std::strerror(errno)};
  if (!lock(file.get())) {
    if (is_taken()) return {ErrorCode::kUnavailable, path + ": held by " + read_holder(file.get(), 0)};
    return {ErrorCode::kUnavailable, path + ": cannot be locked: " + std::strerror(errno)};
  }
  struct stat its {};
  if (stat(store.c_str(), &its) == 0) resemble(file.get(), its);
  Lease lease;
  for (const std::string& other : {high_water_path(store), tail_path(store, 0)}) {
    if (Status status = lease.lock_if_there(other, store); !status) return status.error();
  }
  if (Status status = lease.lock_itself(store); !status) return status.error();
  write_holder(file.get(), 0);
  lease.files_.push_back(std::move(file));
  return lease;
}

Status Lease::extend(const std::string& store) {
  const std::string head = high_water_path(store);
  for (const std::string& other : {head, tail_path(store, 0)}) {
    if (Status status = lock_if_there(other, store); !status) return status;
  }
  if (Status status = lock_itself(store); !status) return status;
  if (const Descriptor file(::open(head.c_str(), O_RDWR | O_CLOEXEC)); file.open()) write_holder(file.get(), kNameInHead);
  return {};
}

bool Lease::holds(const struct stat& wanted) const {
  return std::any_of(files_.begin(), files_.end(), [&wanted](const Descriptor& each) {
    struct stat its {};
    return fstat(each.get(), &its) == 0 && its.st_dev == wanted.st_dev && its.st_ino == wanted.st_ino;
  });
}

// The descriptor stays open as long as SQLite has the file: closing any lets go of the locks that a process has through the others.
Status Lease::lock_itself(const std::string& store) {
  struct stat found {};
  if (stat(store.c_str(), &found) != 0 || !S_ISREG(found.st_mode) || holds(found)) return {};
  Descriptor file(::open(store.c_str(), O_RDWR | O_CLOEXEC));
  if (!file.open()) return {};
  if (!try_to_lock(file.get()))
    return {ErrorCode::kUnavailable, store + ": held by another process, which knows the same file under another name"};
  // Kept also where the file system does not take this lock.
  files_.push_back(std::move(file));
  return {};
}

// A file that cannot be opened or locked for another reason is left: the lock file is locked.
Status Lease::lock_if_there(const std::string& path, const std::string& store) {
  Descriptor file(::open(path.c_str(), O_RDWR | O_CLOEXEC));
  struct stat found {};
  if (!file.open() || fstat(file.get(), &found) != 0) return {};
  if (holds(found)) return {};
  if (lock(file.get())) {
    files_.push_back(std::move(file));
    return {};
  }
  if (!is_taken()) return {};
  const Descriptor head(::open(high_water_path(store).c_str(), O_RDONLY | O_CLOEXEC));
  const std::string name = head.open() ? read_holder(head.get(), kNameInHead) : "";
  return {ErrorCode::kUnavailable, path + ": held by " + (name.empty() ? "another process" : name) +
                                       ", which has the store although its lock file was removed: that lets nobody in; end the process"};
}

}  // namespace margin::internal
