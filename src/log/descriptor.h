// Descriptor: an open file of the system's, closed when it goes.
#pragma once

#include <sys/stat.h>
#include <unistd.h>

#include <utility>

namespace margin::internal {

class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int number) : number_(number) {}
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  ~Descriptor() {
    if (open()) ::close(number_);
  }

  [[nodiscard]] bool open() const { return number_ >= 0; }
  [[nodiscard]] int get() const { return number_; }

 private:
  int number_ = -1;
};

// As SQLite does with its journal: who may not read the store may not read what is about to go into it or came from it, and who may write
// it may. Only the owner and the superuser can do that; for others it is as it can be.
inline void resemble(int file, const struct stat& store) {
  if (geteuid() == 0) static_cast<void>(fchown(file, store.st_uid, store.st_gid) == 0);
  static_cast<void>(fchmod(file, store.st_mode & 0777) == 0);
}

}  // namespace margin::internal
