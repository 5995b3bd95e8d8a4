// Small files read and written whole: configurations, keys, secrets. What is large goes through dataset/ and report/.
#pragma once

#include <string>
#include <string_view>

#include "margin/result.h"

namespace margin::file {

// All of a file. kNotFound: there is none; kCorrupt: cannot be read; kLimit: longer than `bytes_max`.
[[nodiscard]] Result<std::string> read(const std::string& path, std::size_t bytes_max);

// The file that PATH leads to where it is a link, so that what is replaced is that one and not the link; else PATH.
[[nodiscard]] std::string behind(const std::string& path);

// Replaces a file by `text`, or leaves it as it was: written beside it, on disk, then renamed. Only its owner may read it.
// kCorrupt: could not be written.
[[nodiscard]] Status replace_private(const std::string& path, std::string_view text);

// Holds PATH locked against every other process and thread until destroyed; waits for whoever has it. The file stays, empty.
class Lock {
 public:
  // kNotFound: cannot be made.
  [[nodiscard]] static Result<Lock> take(const std::string& path);
  Lock(Lock&& other) noexcept : descriptor_(other.descriptor_) { other.descriptor_ = -1; }
  Lock& operator=(Lock&&) = delete;
  ~Lock();

 private:
  explicit Lock(int descriptor) : descriptor_(descriptor) {}
  int descriptor_;
};

}  // namespace margin::file
