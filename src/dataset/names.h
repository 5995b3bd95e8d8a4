// Names: strings to dense numbers in order of appearance, and back. Used for the models, tasks, channels and answers of a log.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

namespace margin::dataset {

class Names {
 public:
  Names() = default;
  // The map's keys point into texts_, which a move carries along and a copy would not.
  Names(Names&&) = default;
  Names& operator=(Names&&) = default;

  // The number of `text`, a new one when it was never seen.
  std::uint32_t intern(std::string_view text) {
    if (const auto found = numbers_.find(text); found != numbers_.end()) return found->second;
    const auto number = static_cast<std::uint32_t>(texts_.size());
    numbers_.emplace(texts_.emplace_back(text), number);
    return number;
  }
  [[nodiscard]] std::optional<std::uint32_t> find(std::string_view text) const {
    const auto found = numbers_.find(text);
    return found == numbers_.end() ? std::nullopt : std::optional(found->second);
  }
  [[nodiscard]] const std::string& operator[](std::uint32_t number) const { return texts_[number]; }
  [[nodiscard]] std::uint32_t size() const { return static_cast<std::uint32_t>(texts_.size()); }

 private:
  std::deque<std::string> texts_;
  std::unordered_map<std::string_view, std::uint32_t> numbers_;
};

}  // namespace margin::dataset
