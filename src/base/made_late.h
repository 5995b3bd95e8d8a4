// MadeLate: a value that most of its owners never need. Until it is changed it takes a pointer's room and reads as its default.
#pragma once

#include <memory>

namespace margin::internal {

template <class T>
class MadeLate {
 public:
  [[nodiscard]] const T* operator->() const { return made_ ? made_.get() : &kNone; }
  [[nodiscard]] T& change() {
    if (!made_) made_ = std::make_unique<T>();
    return *made_;
  }

 private:
  static inline const T kNone{};

  std::unique_ptr<T> made_;
};

}  // namespace margin::internal
