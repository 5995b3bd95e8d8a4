// to_json: the configuration that runs, as operators see it.
#include "base/json_writer.h"
#include "config/config.h"
#include "config/fields.h"
#include "config/pool_check.h"

namespace margin::config {
namespace {

using internal::JsonWriter;

template <class... Kinds>
struct Overloaded : Kinds... {
  using Kinds::operator()...;
};

void write_value(JsonWriter& out, const FieldValue& value) {
  std::visit(Overloaded{[&](const std::string& text) { out.text(text); },
                        [&](const Names& names) {
                          out.open('[');
                          for (const std::string& name : names) out.text(name);
                          out.close(']');
                        },
                        [&](auto number) { out.number(number); }},
             value);
}

void write_parameters(JsonWriter& out, const std::string& path, const Parameters& parameters) {
  for (const auto& [name, value] : parameters) {
    out.foreign_key(path + "." + name);
    std::visit(Overloaded{[&](double number) { out.number(number); }, [&](const std::string& word) { out.text(word); },
                          [&](const std::vector<double>& numbers) {
                            out.open('[');
                            for (const double number : numbers) out.number(number);
                            out.close(']');
                          }},
               value);
  }
}

// Keys that name another server.
bool is_url(std::string_view key) { return key == "url" || key == "endpoint"; }

FieldValue without_query(FieldValue value) {
  std::string& url = std::get<std::string>(value);
  if (const std::size_t question = url.find('?'); question != std::string::npos) url.replace(question, std::string::npos, "?...");
  return value;
}

template <class Owner>
void write_fields(JsonWriter& out, const std::string& path, std::span<const Field<Owner>> fields, const Owner& owner) {
  for (const Field<Owner>& field : fields) {
    out.foreign_key((path.empty() ? std::string(field.section) : path) + "." + std::string(field.key));
    write_value(out, is_url(field.key) ? without_query(field.get(owner)) : field.get(owner));
  }
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
