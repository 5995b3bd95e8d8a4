// The program's version, for whoever shows it.
#pragma once

#include <string_view>

namespace margin::cli {

[[nodiscard]] std::string_view version();

}  // namespace margin::cli
