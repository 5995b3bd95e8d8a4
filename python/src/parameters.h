// Parameters of methods and votes, between Python's values and the core's. Private to the module.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "bind.h"
#include "margin/parameter.h"

namespace margin::python {

// Numbers, names of choices and lists of numbers. WrongType: anything else.
[[nodiscard]] Parameters to_parameters(std::string_view owner, const py::dict& given);
[[nodiscard]] py::dict to_dict(const Parameters& parameters);
// {name: {"kind", "default", "low", "high", "choices", "meaning"}}
[[nodiscard]] py::dict to_dict(std::span<const ParameterSpec> specs);

}  // namespace margin::python
