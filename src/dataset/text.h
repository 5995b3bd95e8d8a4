// Text for people and for JSON. Names and answers of a log are hostile: nothing of them reaches a terminal or a file unescaped.
#pragma once

#include <string>
#include <string_view>

namespace margin::dataset {

// For a terminal: control characters (C0, DEL, C1), direction overrides and bytes that are not UTF-8 become \xNN, a longer text is cut
// after `bytes_max` bytes with "...".
[[nodiscard]] std::string printable(std::string_view text, std::size_t bytes_max = 80);

// A JSON string with its quotes. What printable() makes visible is escaped, so JSON may be looked at on a terminal too; bytes that are
// not UTF-8 become U+FFFD.
[[nodiscard]] std::string json_string(std::string_view text);

// The shortest decimal that reads back to the same bits; "null" for NaN.
[[nodiscard]] std::string json_number(double value);

}  // namespace margin::dataset
