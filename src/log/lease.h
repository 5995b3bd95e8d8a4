// Lease: the right of one process to write a store. Two servers on one file would each hold half of the truth.
#pragma once

#include <string>
#include <vector>

#include "log/descriptor.h"
#include "margin/result.h"

namespace margin::internal {

// Held until destroyed, or until the process ends, however it ends. STORE.lock stays and names its last holder. The other files that a
// running server has open are locked too: whoever removes STORE.lock lets nobody in.
class Lease {
 public:
  // Locks STORE.lock, made if it is not there, and writes into it who holds it; and of STORE, STORE.head and STORE.tail0 what is there.
  // kUnavailable: another has it, named in the message, or the file cannot be made.
  [[nodiscard]] static Result<Lease> take(const std::string& store);
  // Locks what has been made since, and writes behind what STORE.head says who holds the store. kUnavailable: another has it.
  [[nodiscard]] Status extend(const std::string& store);

  Lease() = default;
  void release() { files_.clear(); }

 private:
  [[nodiscard]] bool holds(const struct stat& wanted) const;
  Status lock_if_there(const std::string& path, const std::string& store);
  Status lock_itself(const std::string& store);
  std::vector<Descriptor> files_;
};

// Locks a file of SQLite's, behind what SQLite locks of it, until all descriptors of this opening are closed. False: another opening has it
// locked so; where the file system knows no locks nobody has.
[[nodiscard]] bool try_to_lock(int file);

}  // namespace margin::internal
