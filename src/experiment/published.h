// The published figures, as transcribed in published_tables.json (which is part of the program). `margin experiment paper` prints them
// beside its own. ECE, pass@1 and resolution are in percent there, and stay so here.
#pragma once

#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace margin::experiment {

// The whole file.
[[nodiscard]] std::string_view published_tables();

// What stands at a path of keys, such as {"shift_ece", "HE->BCB"}. A path that the file lacks, or that holds something else, is a broken
// invariant.
using PublishedPath = std::initializer_list<std::string_view>;
[[nodiscard]] std::optional<double> published_number(PublishedPath path);  // nullopt: null
// A list of numbers; null as a whole is a list without numbers.
[[nodiscard]] std::vector<std::optional<double>> published_numbers(PublishedPath path);
// A list of texts; numbers as they are written.
[[nodiscard]] std::vector<std::string> published_texts(PublishedPath path);
[[nodiscard]] std::string published_text(PublishedPath path);
// The keys of an object that do not begin with '_', in the order of the file.
[[nodiscard]] std::vector<std::string> published_keys(PublishedPath path);

}  // namespace margin::experiment
