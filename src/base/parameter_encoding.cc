#include "base/parameter_encoding.h"

namespace margin::internal {

void encode(const Parameters& parameters, Encoder& out) {
  out.integer(static_cast<std::uint64_t>(parameters.size()));
  for (const auto& [name, value] : parameters) {
    out.text(name);
    out.integer(static_cast<std::uint8_t>(value.index()));
    if (const auto* number = std::get_if<double>(&value)) out.real(*number);
    if (const auto* word = std::get_if<std::string>(&value)) out.text(*word);
    if (const auto* numbers = std::get_if<std::vector<double>>(&value)) out.reals(*numbers);
  }
}

Parameters decode_parameters(Decoder& in) {
  Parameters parameters;
  for (std::size_t rest = in.length(1); rest > 0; --rest) {
    std::string name = in.text();
    switch (in.integer<std::uint8_t>()) {
      case 0: parameters[std::move(name)] = in.real(); break;
      case 1: parameters[std::move(name)] = in.text(); break;
      case 2: parameters[std::move(name)] = in.reals(); break;
      default: in.fail();
    }
    if (!in.ok()) break;
  }
  return parameters;
}

}  // namespace margin::internal
