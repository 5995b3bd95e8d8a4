// What is wrong with a configuration: gathered, so that a person mends all of it at once. Used while loading.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/text.h"
#include "margin/result.h"

namespace margin::config {

class Faults {
 public:
  // `where`: file and line, or a variable of the environment. Hostile text in `what` becomes visible.
  void add(std::string_view where, std::string_view what) {
    constexpr std::size_t kLineBytesMax = 1000;
    if (++count_ > kShownMax) return;
    message_ += (message_.empty() ? "" : "\n") + internal::printable(std::string(where) + ": " + std::string(what), kLineBytesMax);
  }
  [[nodiscard]] bool any() const { return count_ > 0; }
  [[nodiscard]] Error error() const {
    const std::string rest = count_ > kShownMax ? "\nand " + std::to_string(count_ - kShownMax) + " more" : "";
    return {ErrorCode::kInvalidArgument, message_ + rest};
  }

 private:
  static constexpr std::size_t kShownMax = 20;
  std::string message_;
  std::size_t count_ = 0;
};

}  // namespace margin::config
