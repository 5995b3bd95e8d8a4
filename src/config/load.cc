// load_config: TOML and environment to a Config, every fault found and named with its place.
#include <toml++/toml.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <functional>
#include <optional>

#include "base/suggest.h"
#include "base/text.h"
#include "config/config.h"
#include "config/faults.h"
#include "config/fields.h"
#include "config/pool_check.h"
#include "file/file.h"

namespace margin::config {
namespace {

constexpr std::size_t kFileBytesMax = 256 << 10;
// Each dot of a dotted key is a table inside a table, and the parser takes nested tables apart by recursion.
constexpr std::ptrdiff_t kDotsMax = 8192;
constexpr std::string_view kPools = "pools";
constexpr std::string_view kUpstreams = "upstreams";
constexpr std::string_view kPrefix = "MARGIN_";

std::string quoted(std::string_view text) { return "\"" + internal::printable(text) + "\""; }

// A value as a person wrote it, or what it is.
std::string shown(const toml::node& node) {
  if (const auto* text = node.as_string()) return quoted(text->get());
  if (const auto* whole = node.as_integer()) return std::to_string(whole->get());
  if (const auto* number = node.as_floating_point()) {
    const double value = number->get();
    if (std::isnan(value)) return "nan";
    return std::isinf(value) ? (value > 0 ? "inf" : "-inf") : internal::json_number(value);
  }
  if (const auto* truth = node.as_boolean()) return truth->get() ? "true" : "false";
  return node.is_table() ? "a table" : node.is_array() ? "an array" : "a date or time";
}

std::string no_table(const std::string& path, const toml::node& node) {
  return path + ": got " + shown(node) + ", expected a table, [" + path + "]";
}

std::string dotted(std::string_view section, std::string_view key) { return std::string(section) + "." + std::string(key); }

template <class Owner>
std::optional<FieldValue> value_of(const Field<Owner>& field, const toml::node& node) {
  const auto* whole = node.as_integer();
  if (field.kind == FieldKind::kNumber && whole != nullptr) return static_cast<double>(whole->get());
  if (whole != nullptr) return whole->get();
  if (const auto* number = node.as_floating_point()) {
    // 1e6 is a whole number to people and to JSON Schema.
    constexpr double kExact = 9'007'199'254'740'992.0;
    const double value = number->get();
    const bool is_whole = field.kind == FieldKind::kInteger && std::abs(value) <= kExact && value == std::floor(value);
    return is_whole ? FieldValue(static_cast<std::int64_t>(value)) : FieldValue(value);
  }
  if (const auto* text = node.as_string()) return text->get();
  const auto* array = node.as_array();
  if (array == nullptr || field.kind != FieldKind::kNames) return std::nullopt;
  Names names;
  for (const toml::node& element : *array) {
    const auto* text = element.as_string();
    if (text == nullptr) return std::nullopt;
    names.push_back(text->get());
  }
  return names;
}

template <class Number>
std::optional<FieldValue> number_of(std::string_view text) {
  Number number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

std::optional<FieldValue> value_of(const Field<Config>& field, std::string_view text) {
  switch (field.kind) {
    case FieldKind::kInteger: return number_of<std::int64_t>(text);
    case FieldKind::kNumber: return number_of<double>(text);
    default: return std::string(text);
  }
}

// A number, word or list of numbers; nullopt: nothing a parameter can be.
std::optional<ParameterValue> parameter_of(const toml::node& node) {
  if (const auto* text = node.as_string()) return text->get();
  if (const auto number = node.value<double>(); number && node.is_number()) return *number;
  const auto* array = node.as_array();
  if (array == nullptr) return std::nullopt;
  std::vector<double> numbers;
  for (const toml::node& element : *array) {
    const auto number = element.value<double>();
    if (!number || !element.is_number()) return std::nullopt;
    numbers.push_back(*number);
  }
  return numbers;
}

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return out;
}

std::string upper(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  return out;
}

std::vector<std::string> section_names() {
  std::vector<std::string> names;
  for (const Field<Config>& field : fields()) {
    if (names.empty() || names.back() != field.section) names.emplace_back(field.section);
  }
  names.emplace_back(kUpstreams);
  names.emplace_back(kPools);
  return names;
}

std::vector<std::string> keys_of(std::string_view section) {
  std::vector<std::string> names;
  for (const Field<Config>& field : fields()) {
    if (field.section == section) names.emplace_back(field.key);
  }
  return names;
}

const Field<Config>* find_field(std::string_view section, std::string_view key) {
  const auto found = std::find_if(fields().begin(), fields().end(), [&](const auto& f) { return f.section == section && f.key == key; });
  return found == fields().end() ? nullptr : &*found;
}

class Loader {
 public:
  explicit Loader(std::string_view name) : name_(internal::printable(name, 400)) {}

  Result<Config> load(std::string_view text, const Environment& environment) {
    if (text.size() > kFileBytesMax || std::count(text.begin(), text.end(), '.') > kDotsMax) {
      faults_.add({name_},
                  "is too large: expected at most " + std::to_string(kFileBytesMax) + " bytes and " + std::to_string(kDotsMax) + " dots");
      return faults_.error();
    }
    try {
      read_file(toml::parse(text, name_));
    } catch (const toml::parse_error& error) {
      faults_.add(place(error.source()), error.description());
      return faults_.error();
    }
    read_environment(environment);
    check_together();
    if (faults_.any()) return faults_.error();
    return config_;
  }

 private:
  [[nodiscard]] Place place(const toml::source_region& source) const {
    return {name_ + ":" + std::to_string(source.begin.line), source.begin.line};
  }

  // Where a key was stated; the file as a whole when nobody did.
  [[nodiscard]] Place place_of(const std::string& key) const {
    const auto found = places_.find(key);
    return found == places_.end() ? Place{name_, 0} : found->second;
  }

  template <class Owner>
  void set(const Field<Owner>& field, Owner& owner, const std::string& key, const Place& where, const std::optional<FieldValue>& value,
           const std::string& got) {
    places_[key] = where;
    if (value && acceptable(field, *value)) {
      field.set(owner, *value);
    } else {
      // What stands where a reference should may be the secret itself.
      const std::string stated = field.kind == FieldKind::kReference ? "" : "got " + got + ", ";
      faults_.add(where, key + ": " + stated + "expected " + expectation(field));
    }
  }

  void read_file(const toml::table& root) {
    for (const auto& [name, node] : root) {
      const std::string section(name.str());
      const std::vector<std::string> known = section_names();
      const bool is_known = std::find(known.begin(), known.end(), section) != known.end();
      if (!is_known) {
        faults_.add(place(name.source()),
                    "no section named " + quoted(section) + elsewhere(section).value_or(internal::suggestion(section, known)));
      } else if (!node.is_table()) {
        faults_.add(place(name.source()), no_table(section, node));
      } else if (section == kPools) {
        read_named(kPools, *node.as_table(), [this](const std::string& path, const std::string& pool, const toml::table& table) {
          if (pool == "default") config_.default_stated = true;
          read_pool(path, table, config_.pools[pool]);
        });
      } else if (section == kUpstreams) {
        read_named(kUpstreams, *node.as_table(), [this](const std::string& path, const std::string& upstream, const toml::table& table) {
          read_upstream(path, table, config_.upstreams[upstream]);
        });
      } else {
        read_section(section, *node.as_table());
      }
    }
  }

  // The section that has such a key, for those who put it into another.
  [[nodiscard]] static std::optional<std::string> elsewhere(std::string_view key) {
    for (const Field<Config>& field : fields()) {
      if (field.key == key) return " (did you mean " + std::string(field.section) + "." + std::string(key) + "?)";
    }
    return std::nullopt;
  }

  void read_section(const std::string& section, const toml::table& table) {
    for (const auto& [name, node] : table) {
      const std::string key(name.str());
      const Field<Config>* field = find_field(section, key);
      if (field != nullptr) {
        set(*field, config_, dotted(section, key), place(name.source()), value_of(*field, node), shown(node));
      } else {
        faults_.add(place(name.source()),
                    section + ": no key named " + quoted(key) + elsewhere(key).value_or(internal::suggestion(key, keys_of(section))));
      }
    }
  }

  // A section of sections, each with a name of its own.
  void read_named(std::string_view section, const toml::table& all,
                  const std::function<void(const std::string& path, const std::string& name, const toml::table&)>& read) {
    for (const auto& [key, node] : all) {
      const std::string name(key.str());
      if (const Status legal = section == kPools ? check_pool_name(name) : check_upstream_name(name); !legal) {
        faults_.add(place(key.source()), std::string(section) + ": " + legal.error().message);
      } else if (!node.is_table()) {
        faults_.add(place(key.source()), no_table(dotted(section, name), node));
      } else {
        read(dotted(section, name), name, *node.as_table());
      }
    }
  }

  void read_upstream(const std::string& path, const toml::table& table, UpstreamSettings& upstream) {
    std::vector<std::string> known;
    for (const auto& field : upstream_fields()) known.emplace_back(field.key);
    for (const auto& [name, node] : table) {
      const std::string key(name.str());
      const auto field = std::find_if(upstream_fields().begin(), upstream_fields().end(), [&](const auto& f) { return f.key == key; });
      if (field != upstream_fields().end()) {
        set(*field, upstream, dotted(path, key), place(name.source()), value_of(*field, node), shown(node));
      } else {
        faults_.add(place(name.source()), path + ": no key named " + quoted(key) + internal::suggestion(key, known));
      }
    }
    const Place where = place(table.source());
    if (upstream.url.empty()) faults_.add(where, path + ".url: expected where it is, such as \"https://host/v1\"");
  }

  void read_pool(const std::string& path, const toml::table& table, PoolSettings& pool) {
    std::map<std::string, Place> stated;  // where, by key and parameter
    for (const auto& [name, node] : table) {
      const std::string key(name.str());
      stated[key] = place(name.source());
      const auto field = std::find_if(pool_fields().begin(), pool_fields().end(), [&](const auto& f) { return f.key == key; });
      if (field != pool_fields().end()) {
        set(*field, pool, dotted(path, key), stated[key], value_of(*field, node), shown(node));
      } else if (key == kCalibratorParameters) {
        read_parameters(dotted(path, key), node, pool.calibrator_parameters, stated);
      } else if (key == kVoteParameters) {
        read_parameters(dotted(path, key), node, pool.vote_parameters, stated);
      } else {
        faults_.add(stated[key], path + ": no key named " + quoted(key) + internal::suggestion(key, pool_keys()));
      }
    }
    check_pool(
        pool, path,
        [&](const std::string& key) {
          return stated.contains(key) ? stated[key] : Place{name_, 0};
        },
        faults_);
  }

  void read_parameters(const std::string& path, const toml::node& node, Parameters& parameters, std::map<std::string, Place>& stated) {
    const toml::table* table = node.as_table();
    if (table == nullptr) {
      faults_.add(place(node.source()), path + ": got " + shown(node) + ", expected a table of parameters");
      return;
    }
    const std::string owner = path.substr(path.rfind('.') + 1);
    for (const auto& [name, value] : *table) {
      const std::string key(name.str());
      stated[dotted(owner, key)] = place(name.source());
      if (std::optional<ParameterValue> parameter = parameter_of(value)) {
        parameters[key] = *std::move(parameter);
      } else {
        faults_.add(place(name.source()),
                    dotted(path, key) + ": got " + shown(value) + ", expected a number, a word or an array of numbers");
      }
    }
  }

  void read_environment(const Environment& environment) {
    for (auto entry = environment.lower_bound(kPrefix); entry != environment.end() && entry->first.starts_with(kPrefix); ++entry) {
      const auto& [name, text] = *entry;
      const std::string_view rest = std::string_view(name).substr(kPrefix.size());
      const std::size_t bar = rest.find("__");
      if (bar == std::string_view::npos) continue;  // a variable of something else of ours
      const std::string section = lower(rest.substr(0, bar));
      const std::string key = lower(rest.substr(bar + 2));
      if (const Field<Config>* field = find_field(section, key)) {
        set(*field, config_, dotted(section, key), {name}, value_of(*field, text), quoted(text));
      } else if (section == kPools || section == kUpstreams) {
        faults_.add({name}, section + " are configured in the file, not in the environment");
      } else {
        faults_.add({name}, "no such setting" + variable_suggestion(section, name));
      }
    }
  }

  static std::string variable_suggestion(std::string_view section, std::string_view name) {
    std::vector<std::string> variables;
    for (const Field<Config>& field : fields()) {
      const bool near = keys_of(section).empty() || field.section == section;
      if (near) variables.push_back(std::string(kPrefix) + upper(field.section) + "__" + upper(field.key));
    }
    const std::string hint = internal::suggestion(name, variables);
    return hint.starts_with(" (did") ? hint : " (expected " + std::string(kPrefix) + "SECTION__KEY)";
  }

  // What no key can tell alone.
  void check_together() {
    for (const std::string& fault : address_faults(config_.server)) faults_.add(place_of(fault.substr(0, fault.find(':'))), fault);
    if (config_.server.tls_certificate.empty() != config_.server.tls_key.empty()) {
      const std::string stated = config_.server.tls_key.empty() ? "tls_certificate" : "tls_key";
      const std::string missing = config_.server.tls_key.empty() ? "tls_key" : "tls_certificate";
      faults_.add(place_of("server." + stated), "server." + stated + ": needs server." + missing + " beside it");
    }
    if (config_.store.file.empty()) faults_.add(place_of("store.file"), "store.file: got \"\", expected the name of a file");
    if (keys_file(config_) == config_.store.file) faults_.add(place_of("keys.file"), "keys.file: is the store's file too");
    check_models();
    if (const auto count = static_cast<std::int64_t>(config_.pools.size()); count > config_.limits.pools) {
      faults_.add(place_of("limits.pools"),
                  "pools: " + std::to_string(count) + " are configured, limits.pools allows " + std::to_string(config_.limits.pools));
    }
  }

  // Pools ask upstreams that are there.
  void check_models() {
    std::vector<std::string> known;
    for (const auto& [name, settings] : config_.upstreams) known.push_back(name);
    for (const auto& [name, pool] : config_.pools) {
      const std::string path = dotted(kPools, name);
      for (const std::string& model : pool.models) {
        if (config_.upstreams.contains(model)) continue;
        faults_.add(place_of(path + ".models"), path + ".models: no upstream named " + quoted(model) + internal::suggestion(model, known));
      }
      if (!pool.primary.empty() && std::find(pool.models.begin(), pool.models.end(), pool.primary) == pool.models.end()) {
        faults_.add(place_of(path + ".primary"), path + ".primary: got " + quoted(pool.primary) + ", expected one of its models");
      }
      if (!pool.models.empty() && pool.min_responses > static_cast<std::int64_t>(pool.models.size())) {
        faults_.add(place_of(path + ".min_responses"),
                    path + ".min_responses: got " + std::to_string(pool.min_responses) + ", expected at most the number of its models");
      }
      const bool silent = pool.elicit == Elicitation::kOff && pool.channel == Channel::kVerbalized;
      if (!pool.models.empty() && silent) {
        faults_.add(place_of(path + ".elicit"),
                    path + ".elicit: off leaves nothing to calibrate, expected channel = \"consistency\" with it");
      }
    }
  }

  std::string name_;
  Config config_ = default_config();
  std::map<std::string, Place> places_;
  Faults faults_;
};

}  // namespace

Result<Config> parse_config(std::string_view text, std::string_view name, const Environment& environment) {
  return Loader(name).load(text, environment);
}

Result<Config> load_config(const std::string& path, const Environment& environment) {
  if (path.empty()) return parse_config("", "margin", environment);
  const Result<std::string> text = file::read(path, kFileBytesMax);
  if (!text) return text.error();
  return parse_config(*text, path, environment);
}

}  // namespace margin::config
