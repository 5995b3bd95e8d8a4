// Keys: who may ask the server what. A key is `sk-mg-<12 public>-<48 secret>`; its public part may be logged, its secret is shown once and
// only the secret's SHA-256 is kept. docs/keys.md describes them to operators.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "margin/result.h"

namespace margin::access {

// What a route asks for. None implies another.
enum class Scope : std::uint8_t {
  kInfer,     // the gateway: ask models through the server
  kDecide,    // decisions
  kFeedback,  // outcomes
  kRead,      // pools, factors, decisions, events, metrics
  kAdmin,     // pools and models come and go, reverts, state in and out
};
inline constexpr std::array<std::string_view, 5> kScopeNames = {"infer", "decide", "feedback", "read", "admin"};

class Scopes {
 public:
  void add(Scope scope) { bits_ |= bit(scope); }
  [[nodiscard]] bool has(Scope scope) const { return (bits_ & bit(scope)) != 0; }
  [[nodiscard]] bool empty() const { return bits_ == 0; }
  // "decide,feedback"
  [[nodiscard]] std::string text() const;
  bool operator==(const Scopes&) const = default;

 private:
  static constexpr unsigned bit(Scope scope) { return 1U << static_cast<unsigned>(scope); }
  unsigned bits_ = 0;
};
// "decide,feedback". kInvalidArgument: empty, or a word that is no scope.
[[nodiscard]] Result<Scopes> parse_scopes(std::string_view text);

using Sha256 = std::array<std::uint8_t, 32>;

// What whoever makes a key decides about it.
struct KeyGrant {
  std::string name;  // for people; 1 to 128 bytes
  Scopes scopes;
  std::string tenant;                // "" or [a-z0-9_-]{1,32}: sees only its own pools and decisions
  double weight = 1.0;               // of its feedback, in [0, 1]; 0: recorded, never taught
  double requests_per_second = 0.0;  // 0: the configured default
};
// kInvalidArgument names the field, the value and what was expected.
[[nodiscard]] Status check_grant(const KeyGrant& grant);

struct Key {
  std::string id;  // the public part
  KeyGrant grant;
  std::int64_t created_ms = 0;
  std::optional<std::int64_t> revoked_ms;
  Sha256 secret{};  // of the secret part
};

// The two parts of a key as it is sent.
struct KeyParts {
  std::string_view id;
  std::string_view secret;
};
inline constexpr std::size_t kIdLength = 12;
inline constexpr std::size_t kSecretLength = 48;
// nullopt: not of the form sk-mg-<12>-<48>, letters and digits.
[[nodiscard]] std::optional<KeyParts> split_key(std::string_view text);
[[nodiscard]] std::string join_key(const KeyParts& parts);

// `length` letters and digits from the system's generator, each equally likely. kCorrupt: it does not answer.
[[nodiscard]] Result<std::string> random_text(std::size_t length);

[[nodiscard]] Sha256 sha256(std::string_view bytes);

}  // namespace margin::access
