#include "log/replacement.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <vector>

#include "log/descriptor.h"
#include "log/sqlite_writer.h"
#include "log/store_format.h"

namespace margin::internal {
namespace {

// In the order in which they leave. STORE.head stays until all is done: with it no server takes a part for the whole.
constexpr std::array kMoved = {"-wal", ".tail0", ".tail1", ""};

std::string aside(const std::string& store) { return store + ".replaced"; }

bool is_there(const std::string& path) { return access(path.c_str(), F_OK) == 0; }

Status move(const std::string& from, const std::string& to) {
  if (std::rename(from.c_str(), to.c_str()) == 0) return {};
  return {ErrorCode::kUnavailable, from + ": cannot be moved to " + to + ": " + std::strerror(errno)};
}

// What is moved comes back when the rest cannot be.
Status exchange(const std::string& ready, const std::string& store) {
  std::vector<std::string> moved;
  Status status;
  for (auto suffix = kMoved.begin(); suffix != kMoved.end() && status.ok(); ++suffix) {
    if (!is_there(store + *suffix)) continue;
    status = move(store + *suffix, aside(store) + *suffix);
    if (status.ok()) moved.emplace_back(*suffix);
  }
  if (status.ok()) status = move(ready, store);
  for (; !status.ok() && !moved.empty(); moved.pop_back()) static_cast<void>(move(aside(store) + moved.back(), store + moved.back()));
  return status;
}

// Of an exchange that was cut off. Not when another store stands there already: its journal would be a stranger's.
void put_back(const std::string& store) {
  if (is_there(store) && is_there(aside(store))) return;
  for (auto suffix = kMoved.rbegin(); suffix != kMoved.rend(); ++suffix) {
    if (is_there(aside(store) + *suffix) && !is_there(store + *suffix)) static_cast<void>(move(aside(store) + *suffix, store + *suffix));
  }
}

}  // namespace

Status check_replacement_is_over(const std::string& store) {
  std::vector<std::string> left = {partial_path(store)};
  for (const char* suffix : kMoved) left.push_back(aside(store) + suffix);
  for (const std::string& path : left) {
    if (!is_there(path)) continue;
    return {ErrorCode::kUnavailable,
            path +
                ": a restore was cut off here, and what is in the store's place may not be all of it; restore again, "
                "or remove it and the like where the store is known to be whole"};
  }
  return {};
}

Status put_file_on_disk(const std::string& path) {
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.open() || fsync(file.get()) != 0)
    return {ErrorCode::kUnavailable, std::string("the disk does not take it: ") + std::strerror(errno)};
  return put_names_on_disk(path);
}

Status replace_store(const std::string& ready, const std::string& store) {
  put_back(store);
  if (Status status = put_file_on_disk(ready); !status) return status;
  if (Status exchanged = exchange(ready, store); !exchanged) return exchanged;
  if (Status status = put_names_on_disk(store); !status) return status;
  // The number of what was acknowledged is that of another history.
  for (const std::string& stale : {store + "-shm", high_water_path(store)}) unlink(stale.c_str());
  for (const char* suffix : kMoved) unlink((aside(store) + suffix).c_str());
  return put_names_on_disk(store);
}

}  // namespace margin::internal
