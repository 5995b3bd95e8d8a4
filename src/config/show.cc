// to_json: the configuration that runs, as operators see it.
#include "base/json_writer.h"
#include "config/config.h"
#include "config/fields.h"
#include "config/pool_check.h"

namespace margin::config {
namespace {

using internal::JsonWriter;

void write(JsonWriter& out, const std::string& text) { out.text(text); }
void write(JsonWriter& out, std::int64_t number) { out.number(number); }
void write(JsonWriter& out, double number) { out.number(number); }
template <class Each>
void write(JsonWriter& out, const std::vector<Each>& list) {
  out.open('[');
  for (const Each& each : list) write(out, each);
  out.close(']');
}

template <class... Kinds>
void write_pair(JsonWriter& out, const std::string& path, std::string_view key, const std::variant<Kinds...>& value) {
  out.foreign_key(std::string(path).append(".").append(key));
  std::visit([&](const auto& kind) { write(out, kind); }, value);
}

template <class Owner>
void write_fields(JsonWriter& out, const std::string& path, std::span<const Field<Owner>> fields, const Owner& owner) {
  for (const Field<Owner>& field : fields) {
    write_pair(out, path.empty() ? std::string(field.section) : path, field.key, public_value(field, owner));
  }
}

void write_parameters(JsonWriter& out, const std::string& path, const Parameters& parameters) {
  for (const auto& [name, value] : parameters) write_pair(out, path, name, value);
}

}  // namespace

std::string to_json(const Config& config) {
  JsonWriter out;
  out.open('{');
  write_fields(out, "", fields(), config);
  for (const auto& [name, upstream] : config.upstreams) write_fields(out, "upstreams." + name, upstream_fields(), upstream);
  for (const auto& [name, pool] : config.pools) {
    const std::string path = "pools." + name;
    write_fields(out, path, pool_fields(), pool);
    write_parameters(out, path + "." + std::string(kCalibratorParameters), pool.calibrator_parameters);
    write_parameters(out, path + "." + std::string(kVoteParameters), pool.vote_parameters);
  }
  return out.close('}').take();
}

}  // namespace margin::config
