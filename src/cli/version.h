// The program's version, for whoever shows it.
#pragma once

#include <string_view>

namespace margin::cli {

[[nodiscard]] std::string_view version();
// Of its sources, "unknown" where they were no checkout.
[[nodiscard]] std::string_view commit();

}  // namespace margin::cli
