// Numbers and hostile text, made fit for each output. Everything the layer prints that it was given goes through one of these.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace margin::report {

// "0.032"; never "-0.000"; from 1e15 on "1.235e+20"; "-" for what is not finite.
[[nodiscard]] std::string fixed(double value, int digits);
// How many digits behind the point show all of `values` in full; at most `digits_max`.
[[nodiscard]] int digits_for(std::span<const double> values, int digits_max);
// "51,360"; fractions are rounded.
[[nodiscard]] std::string with_commas(double count);

// "9,999", then "51k", "1.2M", "3.0G".
[[nodiscard]] std::string compact(double count);

// Each of these first makes control characters, direction marks and broken UTF-8 visible as \xNN.
[[nodiscard]] std::string visible(std::string_view text);
[[nodiscard]] std::string escape_markup(std::string_view text);  // HTML and XML, content and quoted attributes
[[nodiscard]] std::string escape_markdown(std::string_view text);
[[nodiscard]] std::string escape_latex(std::string_view text);
// A field of RFC 4180, quoted where needed. What a spreadsheet would run as a formula gets a leading apostrophe.
[[nodiscard]] std::string csv_field(std::string_view text);

// How many columns of a terminal `text` takes: two for East Asian characters and emoji, none for combining accents.
[[nodiscard]] std::size_t columns_of(std::string_view text);
// At most `columns` columns of visible `text`, the last being "…" when something was cut.
[[nodiscard]] std::string shortened(std::string_view text, std::size_t columns);

}  // namespace margin::report
