// changes: what a reload would do, key by key; applied_at_once: what it does.
#include <map>
#include <span>
#include <utility>

#include "config/config.h"
#include "config/fields.h"
#include "config/pool_check.h"
#include "margin/digest.h"

namespace margin::config {
namespace {

std::string parameters_text(const Parameters& parameters) {
  std::string text;
  for (const auto& [name, value] : parameters) text += (text.empty() ? "" : ", ") + name + " = " + to_text(value);
  return "{" + text + "}";
}

struct Value {
  std::string key;
  std::string stated;  // as written in TOML
  std::string shown;   // the same as others may see it
  Applies applies = Applies::kAtOnce;
};
using Values = std::vector<Value>;  // in the order of the table

template <class Owner>
void add_fields(Values& values, const std::string& path, std::span<const Field<Owner>> fields, const Owner& owner) {
  for (const Field<Owner>& field : fields) {
    const std::string key = (path.empty() ? std::string(field.section) : path) + "." + std::string(field.key);
    values.push_back({key, toml_value(field.get(owner)), toml_value(public_value(field, owner)), field.applies});
  }
}

// Every key of a configuration.
Values values_of(const Config& config) {
  Values values;
  add_fields(values, "", fields(), config);
  for (const auto& [name, upstream] : config.upstreams) add_fields(values, "upstreams." + name, upstream_fields(), upstream);
  for (const auto& [name, pool] : config.pools) {
    const std::string path = "pools." + name;
    add_fields(values, path, pool_fields(), pool);
    for (const auto& [key, parameters] :
         {std::pair(kCalibratorParameters, &pool.calibrator_parameters), std::pair(kVoteParameters, &pool.vote_parameters)}) {
      const std::string text = parameters_text(*parameters);
      values.push_back({path + "." + std::string(key), text, text});
    }
  }
  return values;
}

}  // namespace

std::vector<Change> changes(const Config& before, const Config& after) {
  const Values was = values_of(before);
  const Values is = values_of(after);
  const auto by_key = [](const Values& values) {
    std::map<std::string_view, const Value*> found;
    for (const Value& value : values) found[value.key] = &value;
    return found;
  };
  const auto earlier = by_key(was);
  const auto later = by_key(is);
  std::vector<Change> found;
  for (const Value& value : was) {
    const auto now = later.find(value.key);
    if (now == later.end()) {
      found.push_back({value.key, value.shown, "", value.applies});
    } else if (now->second->stated != value.stated) {
      found.push_back({value.key, value.shown, now->second->shown, value.applies});
    }
  }
  for (const Value& value : is) {
    if (!earlier.contains(value.key)) found.push_back({value.key, "", value.shown, value.applies});
  }
  return found;
}

std::string config_hash(const Config& config) {
  std::string text;
  for (const Value& value : values_of(config)) text += value.key + "=" + value.stated + "\n";
  return digest_of(text + (config.default_stated ? "stated" : "")).hex();
}

Config applied_at_once(const Config& running, Config wanted) {
  for (const Field<Config>& field : fields()) {
    if (field.applies == Applies::kAtRestart) field.set(wanted, field.get(running));
  }
  return wanted;
}

}  // namespace margin::config
