#include "parameters.h"

#include <vector>

#include "columns.h"

namespace margin::python {
namespace {

ParameterValue to_value(const std::string& field, const py::handle& value) {
  if (py::isinstance<py::str>(value)) return std::string(text_of(field, value));
  if (py::isinstance<py::list>(value) || py::isinstance<py::tuple>(value) || py::isinstance<py::array>(value)) {
    const DoubleArray numbers = number_column(field, value);
    return std::vector<double>(view(numbers).begin(), view(numbers).end());
  }
  const double number = PyBool_Check(value.ptr()) || value.is_none() ? -1.0 : PyFloat_AsDouble(value.ptr());
  if (PyErr_Occurred() != nullptr || PyBool_Check(value.ptr()) || value.is_none()) {
    PyErr_Clear();
    raise_wrong_type(field + ": got " + type_name(value) + ", expected a number, a name or a list of numbers");
  }
  return number;
}

py::object to_object(const ParameterValue& value) {
  if (const auto* number = std::get_if<double>(&value)) return py::float_(*number);
  if (const auto* name = std::get_if<std::string>(&value)) return py::str(*name);
  py::list numbers;
  for (const double number : std::get<std::vector<double>>(value)) numbers.append(number);
  return numbers;
}

const char* kind_name(ParameterSpec::Kind kind) {
  switch (kind) {
    case ParameterSpec::Kind::kNumber: return "number";
    case ParameterSpec::Kind::kInteger: return "integer";
    case ParameterSpec::Kind::kChoice: return "choice";
    case ParameterSpec::Kind::kList: return "list";
  }
  return "";
}

}  // namespace

Parameters to_parameters(std::string_view owner, const py::dict& given) {
  Parameters parameters;
  for (const auto& [key, value] : given) {
    const std::string name(text_of("parameter", key));
    parameters[name] = to_value(std::string(owner) + "." + name, value);
  }
  return parameters;
}

py::dict to_dict(const Parameters& parameters) {
  py::dict dict;
  for (const auto& [name, value] : parameters) dict[py::str(name)] = to_object(value);
  return dict;
}

py::dict to_dict(std::span<const ParameterSpec> specs) {
  py::dict all;
  for (const ParameterSpec& spec : specs) {
    py::dict one;
    one["kind"] = kind_name(spec.kind);
    one["default"] = to_object(spec.fallback);
    if (spec.kind == ParameterSpec::Kind::kChoice) {
      py::list choices;
      for (const std::string& choice : spec.choices) choices.append(choice);
      one["choices"] = choices;
    } else {
      one["low"] = spec.low;
      one["high"] = spec.high;
    }
    one["meaning"] = spec.meaning;
    all[py::str(spec.name)] = one;
  }
  return all;
}

}  // namespace margin::python
