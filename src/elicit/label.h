// "Label: value" lines, as models write them. Cheap, because every line of every reply is looked at: most have no colon near their start.
#pragma once

#include <re2/stringpiece.h>

#include <cstddef>
#include <optional>
#include <string_view>

namespace margin::elicit {

struct Labelled {
  std::string_view label;
  std::string_view value;
};

// A later colon belongs to a sentence.
inline constexpr std::size_t kLabelBytesMax = 96;

// At the first colon, plain or full-width.
[[nodiscard]] inline std::optional<Labelled> split_label(std::string_view line) {
  static constexpr std::string_view kWideColon = "：";
  const std::string_view start = line.substr(0, kLabelBytesMax);
  const std::size_t plain = start.find(':');
  const std::size_t wide = start.find(kWideColon);
  const std::size_t at = plain < wide ? plain : wide;
  if (at == std::string_view::npos) return std::nullopt;
  return Labelled{.label = line.substr(0, at), .value = line.substr(at + (plain < wide ? 1 : kWideColon.size()))};
}

[[nodiscard]] inline re2::StringPiece piece(std::string_view text) { return {text.data(), text.size()}; }

}  // namespace margin::elicit
