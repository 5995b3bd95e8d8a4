// changes: what a reload would do, key by key; applied_at_once: what it does.
#include <set>

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

std::vector<std::string> upstream_values(const std::map<std::string, UpstreamSettings>& upstreams, const std::string& name) {
  const auto found = upstreams.find(name);
  std::vector<std::string> values;
  for (const Field<UpstreamSettings>& field : upstream_fields()) {
    values.push_back(found == upstreams.end() ? "" : toml_value(field.get(found->second)));
  }
  return values;
}

// Every key of a pool and its value; nothing for a pool that is not there.
std::vector<std::string> values_of(const std::map<std::string, PoolSettings>& pools, const std::string& name) {
  const auto found = pools.find(name);
  std::vector<std::string> values(pool_keys().size());
  if (found == pools.end()) return values;
  values.clear();
  for (const Field<PoolSettings>& field : pool_fields()) values.push_back(toml_value(field.get(found->second)));
  values.push_back(parameters_text(found->second.calibrator_parameters));
  values.push_back(parameters_text(found->second.vote_parameters));
  return values;
}

}  // namespace

std::vector<Change> changes(const Config& before, const Config& after) {
  std::vector<Change> found;
  const auto compare = [&](std::string key, std::string was, std::string is, Applies applies) {
    if (was != is) found.push_back({std::move(key), std::move(was), std::move(is), applies});
  };
  for (const Field<Config>& field : fields()) {
    compare(std::string(field.section) + "." + std::string(field.key), toml_value(field.get(before)), toml_value(field.get(after)),
            field.applies);
  }
  std::set<std::string> upstreams;
  for (const auto* all : {&before.upstreams, &after.upstreams}) {
    for (const auto& [name, settings] : *all) upstreams.insert(name);
  }
  for (const std::string& name : upstreams) {
    const std::vector<std::string> was = upstream_values(before.upstreams, name);
    const std::vector<std::string> is = upstream_values(after.upstreams, name);
    for (std::size_t i = 0; i < was.size(); ++i) {
      compare("upstreams." + name + "." + std::string(upstream_fields()[i].key), was[i], is[i], Applies::kAtOnce);
    }
  }
  std::set<std::string> names;
  for (const auto* pools : {&before.pools, &after.pools}) {
    for (const auto& [name, settings] : *pools) names.insert(name);
  }
  const std::vector<std::string> keys = pool_keys();
  for (const std::string& name : names) {
    const std::vector<std::string> was = values_of(before.pools, name);
    const std::vector<std::string> is = values_of(after.pools, name);
    for (std::size_t i = 0; i < keys.size(); ++i) compare("pools." + name + "." + keys[i], was[i], is[i], Applies::kAtOnce);
  }
  return found;
}

std::string config_hash(const Config& config) {
  Config nothing;
  // So that keys at their defaults are part of it.
  std::string text;
  for (const Field<Config>& field : fields()) {
    text += std::string(field.section) + "." + std::string(field.key) + "=" + toml_value(field.get(config)) + "\n";
    field.set(nothing, field.get(config));
  }
  for (const Change& change : changes(nothing, config)) text += change.key + "=" + change.after + "\n";
  return digest_of(text + (config.default_stated ? "stated" : "")).hex();
}

Config applied_at_once(const Config& running, Config wanted) {
  for (const Field<Config>& field : fields()) {
    if (field.applies == Applies::kAtRestart) field.set(wanted, field.get(running));
  }
  return wanted;
}

}  // namespace margin::config
