// What the doctor found, in words a manager reads. Names in the sentences are hostile text: whoever prints them escapes.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "experiment/doctor.h"

namespace margin::experiment {

[[nodiscard]] std::string_view name_of(Health health);  // ok, warn, bad
[[nodiscard]] std::string_view name_of(Answer answer);  // yes, no: worse, no: too little, not known yet, ...
[[nodiscard]] std::string_view name_of(Aspect aspect);  // what is counted, in a few words

// One or two sentences, beginning with yes, no, or not enough data.
[[nodiscard]] std::string verdict(const Diagnosis& found);

// Paragraphs of the sections.
[[nodiscard]] std::vector<std::string> usability_words(const LogFacts& facts);
[[nodiscard]] std::vector<std::string> calibration_words(const Diagnosis& found);
[[nodiscard]] std::vector<std::string> voting_words(const Diagnosis& found);
[[nodiscard]] std::vector<std::string> need_words(const Diagnosis& found);
[[nodiscard]] std::vector<std::string> change_words(const Diagnosis& found);

}  // namespace margin::experiment
