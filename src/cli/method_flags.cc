#include "cli/method_flags.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/suggest.h"
#include "cli/command.h"
#include "dataset/text.h"

namespace margin::cli {
namespace {

using dataset::printable;

// A method or the vote, before it is made.
struct Owner {
  std::string label;  // as typed
  std::string identifier;
  const std::vector<ParameterSpec>* specs = nullptr;
  Parameters given;

  [[nodiscard]] const ParameterSpec* find(std::string_view name) const {
    const auto found = std::find_if(specs->begin(), specs->end(), [&](const ParameterSpec& spec) { return spec.name == name; });
    return found == specs->end() ? nullptr : &*found;
  }
  Status set(const ParameterSpec& spec, std::string_view text) {
    Result<ParameterValue> value = parse_parameter(identifier, spec, text);
    if (!value) return value.error();
    given[spec.name] = std::move(*value);
    return {};
  }
};

Status set_by_name(Owner& owner, std::string_view flag, std::string_view name, std::string_view text) {
  const ParameterSpec* spec = owner.find(name);
  if (spec != nullptr) return owner.set(*spec, text);
  std::vector<std::string> known;
  for (const ParameterSpec& candidate : *owner.specs) known.push_back(candidate.name);
  const std::string hint = known.empty() ? " (it has none)" : internal::suggestion(name, known);
  return {ErrorCode::kInvalidArgument, fmt::format("{}: {} has no parameter {}{}", flag, owner.identifier, printable(name), hint)};
}

// A method with parameters of its own: "margin:target=pool_band:alpha=0.02".
Status apply_label(Owner& owner) {
  std::string_view rest = owner.label;
  while (rest.find(':') != std::string_view::npos) {
    rest.remove_prefix(rest.find(':') + 1);
    const std::string_view setting = rest.substr(0, rest.find(':'));
    const std::size_t equals = setting.find('=');
    if (equals == std::string_view::npos) {
      return {ErrorCode::kInvalidArgument, fmt::format("--method: got {}, expected METHOD:name=value", printable(owner.label))};
    }
    if (Status status = set_by_name(owner, "--method", setting.substr(0, equals), setting.substr(equals + 1)); !status) return status;
  }
  return {};
}

Result<std::vector<Owner>> find_methods(const std::vector<std::string>& names) {
  std::vector<Owner> owners;
  if (names == std::vector<std::string>{"all"}) {
    for (const CalibratorInfo* info : calibrator_catalog()) owners.push_back({info->identifier, info->identifier, &info->parameters, {}});
    return owners;
  }
  for (const std::string& label : names) {
    const std::string name = label.substr(0, label.find(':'));
    const Result<const CalibratorInfo*> info = find_calibrator(name);
    if (!info) return Error{info.error().code, "--method: " + printable(info.error().message)};
    Owner owner{label, name, &(*info)->parameters, {}};
    const bool twice = std::any_of(owners.begin(), owners.end(), [&](const Owner& other) { return other.label == label; });
    if (twice)
      return Error{ErrorCode::kInvalidArgument, fmt::format("--method: got {} twice, expected each method once", printable(label))};
    owners.push_back(std::move(owner));
  }
  return owners;
}

std::string names_of(const std::vector<Owner>& owners) {
  std::string names;
  for (const Owner& owner : owners) names += (names.empty() ? "" : ", ") + owner.identifier;
  return names;
}

// --alpha and its like go to every selected method that has the parameter.
Status apply_shared(std::vector<Owner>& owners, const std::string& name, const std::string& text) {
  bool used = false;
  for (Owner& owner : owners) {
    const ParameterSpec* spec = owner.find(name);
    if (spec == nullptr) continue;
    if (Status status = owner.set(*spec, text); !status) return status;
    used = true;
  }
  if (used) return {};
  return {ErrorCode::kInvalidArgument, fmt::format("--{}: none of the selected methods has it ({})", name, names_of(owners))};
}

Status apply_set(std::vector<Owner>& owners, Owner& vote, const std::string& typed) {
  const std::size_t dot = typed.find('.');
  const std::size_t equals = typed.find('=');
  if (dot == std::string::npos || equals == std::string::npos || equals < dot) {
    return {ErrorCode::kInvalidArgument, fmt::format("--set: got {}, expected METHOD.name=value", printable(typed))};
  }
  const std::string identifier = typed.substr(0, dot);
  const std::string name = typed.substr(dot + 1, equals - dot - 1);
  std::vector<Owner*> meant;
  std::vector<std::string> selected = {vote.identifier};
  if (vote.identifier == identifier) meant.push_back(&vote);
  for (Owner& candidate : owners) {
    if (candidate.identifier == identifier) meant.push_back(&candidate);  // every variant of the method
    selected.push_back(candidate.identifier);
  }
  if (meant.empty()) {
    return {ErrorCode::kNotFound, fmt::format("--set: {} is not among the selected methods and vote{}", printable(identifier),
                                              internal::suggestion(identifier, selected))};
  }
  for (Owner* owner : meant) {
    if (Status status = set_by_name(*owner, "--set", name, std::string_view(typed).substr(equals + 1)); !status) return status;
  }
  return {};
}

}  // namespace

void MethodFlags::add_to(CLI::App& app) {
  const std::string defaults = fmt::format("{}", fmt::join(methods, ","));
  repeatable(app.add_option(
                 "--method", methods,
                 "Calibrators: a,b,... or all; with parameters of its own as NAME:x=1:y=2 (margin methods lists them) [" + defaults + "]"))
      ->delimiter(',')
      ->type_name("NAMES");
  app.add_option("--vote", vote, "How a task's answer is selected from calibrated confidences")->type_name("NAME")->capture_default_str();
  const auto add_shared = [&](const std::string& name, const std::string& meaning) {
    app.add_option_function<std::string>(
           "--" + name, [this, name](const std::string& text) { shared[name] = text; }, meaning)
        ->type_name("X");
  };
  add_shared("alpha", "Rate of the averages, for each selected method that has it");
  add_shared("bands", "Number of confidence bands, likewise");
  add_shared("shrinkage", "Observations at which a band's own factor weighs half, likewise");
  add_shared("window", "Length of the sliding window, likewise");
  repeatable(app.add_option("--set", set, "One parameter of one method or of the vote; wins over the shared flags; repeatable"))
      ->type_name("METHOD.name=value");
}

Result<Methods> make_methods(const MethodFlags& flags) {
  Result<std::vector<Owner>> owners = find_methods(flags.methods);
  if (!owners) return owners.error();
  const Result<const VoteInfo*> vote_info = find_vote(flags.vote);
  if (!vote_info) return Error{vote_info.error().code, "--vote: " + printable(vote_info.error().message)};
  Owner vote{flags.vote, flags.vote, &(*vote_info)->parameters, {}};
  for (const auto& [name, text] : flags.shared) {
    if (Status status = apply_shared(*owners, name, text); !status) return status.error();
  }
  for (const std::string& typed : flags.set) {
    if (Status status = apply_set(*owners, vote, typed); !status) return status.error();
  }
  for (Owner& owner : *owners) {  // last: what a label says of its own variant wins
    if (Status status = apply_label(owner); !status) return status.error();
  }
  Methods methods;
  for (const Owner& owner : *owners) {
    Result<std::unique_ptr<Calibrator>> made = make_calibrator(owner.identifier, owner.given);
    if (!made) return made.error();
    methods.calibrators.push_back(std::move(*made));
    methods.labels.push_back(owner.label);
  }
  Result<std::unique_ptr<Vote>> made = make_vote(vote.identifier, vote.given);
  if (!made) return made.error();
  methods.vote = std::move(*made);
  return methods;
}

}  // namespace margin::cli
