#include "config/pool_check.h"

#include <algorithm>

#include "base/text.h"
#include "config/fields.h"
#include "margin/calibrator.h"
#include "margin/vote.h"

namespace margin::config {
namespace {

// Where and under which names one method of a pool stands.
struct Stated {
  std::string parameters_key;
  const std::string& name;
  const Parameters& parameters;
};

template <class Info, class Make>
void check_method(const Stated& stated, const Info& info, const Make& make, const std::string& path,
                  const std::function<Place(const std::string&)>& place_of, Faults& faults) {
  // One by one, so that each has its own place; then together, for what only the method itself can tell.
  bool sound = true;
  for (const auto& [name, value] : stated.parameters) {
    const Result<Parameters> resolved = resolve_parameters(path + "." + stated.parameters_key, info.parameters, {{name, value}});
    if (resolved) continue;
    sound = false;
    faults.add(place_of(stated.parameters_key + "." + name), resolved.error().message);
  }
  if (!sound) return;
  if (const auto made = make(stated.name, stated.parameters); !made) {
    faults.add(place_of(stated.parameters_key), path + "." + stated.parameters_key + ": " + made.error().message);
  }
}

bool name_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-' || c == '.' || c == '/';
}

}  // namespace

std::vector<std::string> pool_keys() {
  std::vector<std::string> keys;
  for (const Field<PoolSettings>& field : pool_fields()) keys.emplace_back(field.key);
  keys.emplace_back(kCalibratorParameters);
  keys.emplace_back(kVoteParameters);
  return keys;
}

Status check_pool_name(std::string_view stored) {
  constexpr std::size_t kNameBytesMax = 64;
  constexpr std::size_t kTenantBytesMax = 32;
  constexpr std::string_view kTenantLetters = "abcdefghijklmnopqrstuvwxyz0123456789_-";
  constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";
  std::string_view name = stored;
  bool legal = true;
  if (const std::size_t slash = stored.find('/'); slash != std::string_view::npos) {
    const std::string_view tenant = stored.substr(0, slash);
    legal = !tenant.empty() && tenant.size() <= kTenantBytesMax && tenant.find_first_not_of(kTenantLetters) == std::string_view::npos;
    name.remove_prefix(slash + 1);
  }
  legal = legal && !name.empty() && name.size() <= kNameBytesMax && name.find_first_not_of(kLetters) == std::string_view::npos;
  if (legal) return {};
  return {ErrorCode::kInvalidArgument, "got the name \"" + internal::printable(stored) + "\", expected 1 to " +
                                           std::to_string(kNameBytesMax) + " letters, digits and . _ -, behind TENANT/ for a tenant's"};
}

Status check_upstream_name(std::string_view name) {
  constexpr std::size_t kBytesMax = 128;
  const bool legal = !name.empty() && name.size() <= kBytesMax && std::all_of(name.begin(), name.end(), name_character) &&
                     std::string_view("_-./").find(name.front()) == std::string_view::npos;
  if (legal) return {};
  return {ErrorCode::kInvalidArgument, "got the name \"" + internal::printable(name) +
                                           "\", expected 1 to 128 letters, digits, _, -, . and /, beginning with a letter or digit"};
}

void check_pool(const PoolSettings& pool, const std::string& path, const std::function<Place(const std::string&)>& place_of,
                Faults& faults) {
  const Result<const CalibratorInfo*> calibrator = find_calibrator(pool.calibrator);
  if (!calibrator) {
    faults.add(place_of("calibrator"), path + ".calibrator: " + calibrator.error().message);
  } else if ((*calibrator)->design_time) {
    faults.add(place_of("calibrator"), path + ".calibrator: " + pool.calibrator + " is fitted at design time and would learn nothing here");
  } else {
    const auto make = [](const std::string& name, const Parameters& parameters) { return make_calibrator(name, parameters); };
    check_method({std::string(kCalibratorParameters), pool.calibrator, pool.calibrator_parameters}, **calibrator, make, path, place_of,
                 faults);
  }
  const Result<const CalibratorInfo*> trust = find_calibrator(pool.trust);
  if (!trust) {
    faults.add(place_of("trust"), path + ".trust: " + trust.error().message);
  } else if ((*trust)->design_time) {
    faults.add(place_of("trust"), path + ".trust: " + pool.trust + " is fitted at design time and would learn nothing here");
  }
  const Result<const VoteInfo*> vote = find_vote(pool.vote);
  if (!vote) {
    faults.add(place_of("vote"), path + ".vote: " + vote.error().message);
  } else {
    const auto make = [](const std::string& name, const Parameters& parameters) { return make_vote(name, parameters); };
    check_method({std::string(kVoteParameters), pool.vote, pool.vote_parameters}, **vote, make, path, place_of, faults);
  }
}

}  // namespace margin::config
