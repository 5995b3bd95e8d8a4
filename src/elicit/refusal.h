// Whether a reply declines to answer.
#pragma once

#include <string_view>

namespace margin::elicit {

// Conservative: a short text that begins as refusals do, or says nothing but that it does not know. For a text in which no answer was
// marked as one; an apology followed by pages of help is not a refusal.
[[nodiscard]] bool declines(std::string_view text);

}  // namespace margin::elicit
