// The table of every key a configuration has: what it is called, may be, is without being stated, and means. Loading, environment, sample,
// schema and reload all walk it, so that a new key is one line in fields.cc and one member in config.h.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

#include "config/config.h"

namespace margin::config {

// The words of an enumeration, in its order.
template <class Enum>
inline constexpr std::array<std::string_view, 0> kWords{};
template <>
inline constexpr std::array<std::string_view, 2> kWords<MetricsAccess>{"key", "open"};
template <>
inline constexpr std::array<std::string_view, 2> kWords<Durability>{"disk", "process"};
template <>
inline constexpr std::array<std::string_view, 3> kWords<KeptAnswers>{"text", "hash", "none"};
template <>
inline constexpr std::array<std::string_view, 3> kWords<KeptAudit>{"all", "outcomes", "none"};
template <>
inline constexpr std::array<std::string_view, 3> kWords<LoggedRequests>{"off", "errors", "all"};
template <>
inline constexpr std::array<std::string_view, 2> kWords<LogFormat>{"pretty", "json"};
template <>
inline constexpr std::array<std::string_view, 4> kWords<LogLevel>{"debug", "info", "warning", "error"};
template <>
inline constexpr std::array<std::string_view, 2> kWords<Dialect>{"openai", "ollama"};
template <>
inline constexpr std::array<std::string_view, 4> kWords<Strategy>{"vote", "cascade", "single", "shadow"};
template <>
inline constexpr std::array<std::string_view, 6> kWords<TaskKind>{"code", "competition_code", "choice", "short_answer", "math", "free"};
template <>
inline constexpr std::array<std::string_view, 3> kWords<Elicitation>{"off", "line", "schema"};
template <>
inline constexpr std::array<std::string_view, 2> kWords<Channel>{"verbalized", "consistency"};
template <>
inline constexpr std::array<std::string_view, 4> kWords<RemedyChoice>{"none", "weighted", "implied", "estimated"};

template <class Enum>
[[nodiscard]] constexpr std::string_view word(Enum value) {
  return kWords<Enum>[static_cast<std::size_t>(value)];
}

// A reference is a text that says where a secret is; it is empty or as resolve_secret() wants it.
enum class FieldKind { kInteger, kNumber, kText, kChoice, kNames, kReference };
using Names = std::vector<std::string>;
using FieldValue = std::variant<std::int64_t, double, std::string, Names>;  // a choice is its word

struct Range {
  double low = 0.0;
  double high = 0.0;
  bool without_low = false;  // `low` itself is not in it
};

// One key of `Owner`: Config, PoolSettings for what stands under [pools.NAME], or UpstreamSettings for [upstreams.NAME].
template <class Owner>
struct Field {
  std::string_view section;  // empty where the section has a name of its own
  std::string_view key;
  FieldKind kind = FieldKind::kText;
  Range range{};                                // of numbers
  std::span<const std::string_view> choices{};  // of choices
  Applies applies = Applies::kAtRestart;
  std::string_view meaning;
  FieldValue (*get)(const Owner&) = nullptr;
  void (*set)(Owner&, const FieldValue&) = nullptr;  // a value of the kind, in range
};

[[nodiscard]] std::span<const Field<Config>> fields();
[[nodiscard]] std::span<const Field<PoolSettings>> pool_fields();
[[nodiscard]] std::span<const Field<UpstreamSettings>> upstream_fields();

// Texts are paths, addresses and names.
inline constexpr std::size_t kTextBytesMax = 4096;
inline constexpr std::size_t kNamesMax = 256;

// "a whole number in [0, 600000]", "one of disk, process".
template <class Owner>
[[nodiscard]] std::string expectation(const Field<Owner>& field);

// "0 to 600000", "disk | process"; empty for texts.
template <class Owner>
[[nodiscard]] std::string choices_text(const Field<Owner>& field);

// Whether `value` is of the field's kind and in its range.
template <class Owner>
[[nodiscard]] bool acceptable(const Field<Owner>& field, const FieldValue& value);

// As TOML writes it.
[[nodiscard]] std::string toml_value(const FieldValue& value);

// What logs and answers may tell of it: addresses of other servers come without a user's name and password, and
// without what stands behind a question mark, where some want a key.
template <class Owner>
[[nodiscard]] FieldValue public_value(const Field<Owner>& field, const Owner& owner);

}  // namespace margin::config
