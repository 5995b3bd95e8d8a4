// Lease: the right of one process to write a store. Two servers on one file would each hold half of the truth.
#pragma once

#include <string>

#include "log/descriptor.h"
#include "margin/result.h"

namespace margin::internal {

// Held until destroyed, or until the process ends, however it ends. The file stays and names its last holder.
class Lease {
 public:
  // Locks PATH, made if it is not there, and writes into it who holds it. kUnavailable: another has it, named in the message;
  // kNotFound: the file cannot be made.
  [[nodiscard]] static Result<Lease> take(const std::string& path);

  Lease() = default;
  void release() { file_ = Descriptor(); }

 private:
  explicit Lease(int descriptor) : file_(descriptor) {}
  Descriptor file_;
};

}  // namespace margin::internal
