#include "server/pool_settings.h"

#include <algorithm>

#include "base/suggest.h"
#include "base/text.h"
#include "config/pool_check.h"
#include "margin/remedy.h"

namespace margin::server {
namespace {

void read_parameters(ObjectReader& in, std::string_view key, Parameters& parameters) {
  const Json* given = in.object(key);
  if (given == nullptr) return;
  for (const Json& member : given->items()) {
    const std::string path = std::string(key) + "." + std::string(member.key());
    switch (member.type()) {
      case Json::Type::kNumber: parameters[std::string(member.key())] = member.number(); break;
      case Json::Type::kText: parameters[std::string(member.key())] = std::string(member.text()); break;
      case Json::Type::kList: {
        std::vector<double> numbers;
        for (const Json& item : member.items()) {
          if (item.type() != Json::Type::kNumber) return in.fail(path, "expected a list of numbers");
          numbers.push_back(item.number());
        }
        parameters[std::string(member.key())] = std::move(numbers);
        break;
      }
      default: return in.fail(path, "expected a number, a word or a list of numbers");
    }
  }
}

void read_remedy(ObjectReader& in, std::string_view name, config::PoolSettings& settings) {
  const auto known = std::find(kRemedyNames.begin(), kRemedyNames.end(), name);
  if (known == kRemedyNames.end()) {
    const std::vector<std::string> names(kRemedyNames.begin(), kRemedyNames.end());
    return in.fail("remedy", "no remedy named " + internal::printable(name) + internal::suggestion(name, names));
  }
  settings.remedy = static_cast<config::RemedyChoice>(known - kRemedyNames.begin());
}

// A file's faults are told by file and section; here both are the body.
Error in_body(Error error) {
  constexpr std::string_view kPlace = "body: pool.";
  for (std::size_t at = 0; (at = error.message.find(kPlace, at)) != std::string::npos;) error.message.erase(at, kPlace.size());
  return error;
}

}  // namespace

Result<PoolConfigured> read_pool_settings(const Json& body, const config::Config& config, const std::string& pool) {
  const config::PoolSettings* inherited = config::default_for(config, pool);
  config::PoolSettings settings;
  ObjectReader in(body, "");
  if (const auto calibrator = in.text("calibrator")) settings.calibrator = *calibrator;
  if (const auto vote = in.text("vote")) settings.vote = *vote;
  read_parameters(in, "calibrator_parameters", settings.calibrator_parameters);
  read_parameters(in, "vote_parameters", settings.vote_parameters);
  if (const auto days = in.in_range("pending_days", 0.001, 3650.0)) settings.pending_days = *days;
  if (const auto rate = in.in_range("audit_rate", 0.0, 1.0)) settings.audit_rate = *rate;
  if (const auto remedy = in.text("remedy")) read_remedy(in, *remedy, settings);
  if (inherited != nullptr) settings.max_error = inherited->max_error;
  if (const auto max_error = in.number("max_error")) {
    if (!(*max_error > 0.0 && *max_error <= 1.0)) {
      in.fail("max_error", "got " + internal::json_number(*max_error) + ", expected a number in (0, 1]");
    } else if (inherited != nullptr && *max_error != settings.max_error) {
      return {ErrorCode::kConflict, "max_error: of a tenant's default pool it is that of [pools.default] of the configuration file, " +
                                        internal::json_number(settings.max_error) + "; change it there, or leave it out"};
    }
    settings.max_error = *max_error;
  }
  if (auto fault = in.finish()) return {ErrorCode::kInvalidArgument, fault->message};
  config::Faults faults;
  config::check_pool(
      settings, "pool", [](const std::string&) { return config::Place{"body"}; }, faults);
  if (faults.any()) return in_body(faults.error());
  return config::pool_configured(config, settings);
}

}  // namespace margin::server
