// TextHash: lets a map of strings be asked with a view, without a copy.
#pragma once

#include <functional>
#include <string_view>

namespace margin::access {

struct TextHash {
  using is_transparent = void;
  std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>{}(text); }
};

}  // namespace margin::access
