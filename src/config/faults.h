// What is wrong with a configuration: gathered, so that a person mends all of it at once. Used while loading.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/text.h"
#include "margin/result.h"

namespace margin::config {

// Where something was stated: file and line, or a variable of the environment.
struct Place {
  std::string text;
  std::uint32_t line = UINT32_MAX;  // variables come behind the file
};

class Faults {
 public:
  // Hostile text in `what` becomes visible.
  void add(const Place& where, std::string_view what) {
    constexpr std::size_t kLineBytesMax = 1000;
    if (found_.size() < kKeptMax) found_.push_back({where.line, internal::printable(where.text + ": " + std::string(what), kLineBytesMax)});
  }
  [[nodiscard]] bool any() const { return !found_.empty(); }
  // One line each, in the order of the file.
  [[nodiscard]] Error error() const {
    std::vector<Fault> sorted = found_;
    std::stable_sort(sorted.begin(), sorted.end(), [](const Fault& a, const Fault& b) { return a.line < b.line; });
    std::string message;
    for (std::size_t i = 0; i < std::min(sorted.size(), kShownMax); ++i) message += (i == 0 ? "" : "\n") + sorted[i].text;
    if (sorted.size() > kShownMax) message += "\nand " + std::to_string(sorted.size() - kShownMax) + " more";
    return {ErrorCode::kInvalidArgument, message};
  }

 private:
  static constexpr std::size_t kShownMax = 20;
  static constexpr std::size_t kKeptMax = 1000;
  struct Fault {
    std::uint32_t line;
    std::string text;
  };
  std::vector<Fault> found_;
};

}  // namespace margin::config
