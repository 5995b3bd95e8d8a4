#include "experiment/ablation.h"

#include <algorithm>

#include "base/suggest.h"
#include "base/text.h"

namespace margin::experiment {
namespace {

using internal::printable;

struct Preset {
  std::string_view name;
  std::string_view sweep;
};
constexpr Preset kPresets[] = {
    {"alpha", "margin.alpha=0.005,0.01,0.02,0.04,0.08,0.16,0.32"},
    {"bands", "margin.bands=1,2,3,5,10,20"},
    {"shrinkage", "margin.shrinkage=0,5,10,20,50,100,200,500,1000"},
    {"two_rate", "margin.alpha_correct/alpha_incorrect=0.04/0.04,0.02/0.08,0.08/0.02,0.01/0.04,0.04/0.01,0.08/0.04"},
};

Error bad(const std::string& message) { return {ErrorCode::kInvalidArgument, "sweep: " + message}; }

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  for (;;) {
    const std::size_t end = text.find(separator);
    parts.emplace_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

Result<const ParameterSpec*> find_spec(const CalibratorInfo& info, const std::string& name) {
  std::vector<std::string> known;
  for (const ParameterSpec& spec : info.parameters) {
    if (spec.name == name) return &spec;
    known.push_back(spec.name);
  }
  const std::string hint = known.empty() ? " (it has none)" : internal::suggestion(name, known);
  return bad(info.identifier + " has no parameter " + printable(name) + hint);
}

// What the parameter amounts to: a rate of the two-rate variant that is 0 stands for alpha.
ParameterValue effective(const Parameters& parameters, const std::string& name) {
  const ParameterValue& value = parameters.at(name);
  const bool stands_for_alpha = (name == "alpha_correct" || name == "alpha_incorrect") && value == ParameterValue(0.0);
  return stands_for_alpha && parameters.contains("alpha") ? parameters.at("alpha") : value;
}

std::string text_of(const Parameters& parameters, const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : "/") + to_text(effective(parameters, name));
  return text;
}

}  // namespace

Result<SweepRequest> parse_sweep(std::string_view text) {
  const std::size_t dot = text.find('.');
  const std::size_t equals = text.find('=');
  if (dot == std::string_view::npos || equals == std::string_view::npos || equals < dot || equals + 1 == text.size()) {
    return bad("got " + printable(text) + ", expected METHOD.name=value,value,...");
  }
  return SweepRequest{.method = std::string(text.substr(0, dot)),
                      .names = split(text.substr(dot + 1, equals - dot - 1), '/'),
                      .values = std::string(text.substr(equals + 1))};
}

Result<SweepRequest> sweep_preset(std::string_view name) {
  std::vector<std::string> known;
  for (const Preset& preset : kPresets) {
    if (preset.name == name) return parse_sweep(preset.sweep);
    known.emplace_back(preset.name);
  }
  return Error{ErrorCode::kNotFound, "preset: no " + printable(name) + internal::suggestion(name, known)};
}

Result<Sweep> make_sweep(const SweepRequest& request, const Calibrator& base) {
  const CalibratorInfo& info = base.info();
  std::vector<const ParameterSpec*> specs;
  Sweep sweep{.method = info.identifier};
  bool has_list = false;
  bool numeric = request.names.size() == 1;
  for (const std::string& name : request.names) {
    const Result<const ParameterSpec*> spec = find_spec(info, name);
    if (!spec) return spec.error();
    if (std::find(specs.begin(), specs.end(), *spec) != specs.end()) return bad("got " + printable(name) + " twice in one sweep");
    specs.push_back(*spec);
    sweep.parameter += (sweep.parameter.empty() ? "" : "/") + name;
    has_list = has_list || (*spec)->kind == ParameterSpec::Kind::kList;
    numeric = numeric && ((*spec)->kind == ParameterSpec::Kind::kNumber || (*spec)->kind == ParameterSpec::Kind::kInteger);
  }
  sweep.base_value = text_of(base.parameters(), request.names);

  for (const std::string& typed : split(request.values, has_list ? ';' : ',')) {
    const std::vector<std::string> parts = split(typed, '/');
    if (parts.size() != specs.size()) {
      return bad("got " + printable(typed) + " for " + printable(sweep.parameter) + ", expected a value for each, separated by /");
    }
    Parameters parameters = base.parameters();
    for (std::size_t i = 0; i < parts.size(); ++i) {
      Result<ParameterValue> value = parse_parameter(info.identifier, *specs[i], parts[i]);
      if (!value) return bad(value.error().message);
      parameters[request.names[i]] = std::move(*value);
    }
    const std::string label = text_of(parameters, request.names);
    for (const Entrant& other : sweep.entrants) {
      if (other.label == label) return bad("got " + printable(typed) + " twice for " + sweep.parameter);
    }
    if (label == sweep.base_value) sweep.base = sweep.entrants.size();
    if (numeric) sweep.numbers.push_back(std::get<double>(effective(parameters, request.names.front())));
    Result<std::unique_ptr<Calibrator>> made = make_calibrator(info.identifier, parameters);
    if (!made) return bad(made.error().message);
    sweep.entrants.push_back({label, std::move(*made)});
  }
  return sweep;
}

std::optional<std::vector<ConditionResult>> run_ablation(const Condition& condition, std::span<const Sweep> sweeps, const Vote& vote,
                                                         const ShiftOptions& options, Progress* progress) {
  std::vector<ConditionResult> results;
  for (const Sweep& sweep : sweeps) {
    std::optional<ConditionResult> result = run_shift(condition, sweep.entrants, vote, options, progress);
    if (!result) return std::nullopt;
    results.push_back(std::move(*result));
  }
  return results;
}

}  // namespace margin::experiment
