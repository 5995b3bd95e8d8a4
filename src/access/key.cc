#include "access/key.h"

#include <openssl/evp.h>
#include <sys/random.h>

#include <algorithm>
#include <cerrno>
#include <vector>

#include "base/check.h"
#include "base/suggest.h"
#include "base/text.h"

namespace margin::access {
namespace {

constexpr std::string_view kPrefix = "sk-mg-";
constexpr std::string_view kAlphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";

bool alphanumeric(std::string_view text) { return text.find_first_not_of(kAlphabet) == std::string_view::npos; }

Status refused(std::string_view field, std::string_view got, std::string_view expected) {
  return {ErrorCode::kInvalidArgument, std::string(field) + ": got " + std::string(got) + ", expected " + std::string(expected)};
}

}  // namespace

std::string Scopes::text() const {
  std::string words;
  for (std::size_t i = 0; i < kScopeNames.size(); ++i) {
    if (has(static_cast<Scope>(i))) words += (words.empty() ? "" : ",") + std::string(kScopeNames[i]);
  }
  return words;
}

Result<Scopes> parse_scopes(std::string_view text) {
  Scopes scopes;
  for (;;) {
    const std::size_t comma = text.find(',');
    const std::string_view word = text.substr(0, comma);
    const auto found = std::find(kScopeNames.begin(), kScopeNames.end(), word);
    if (found == kScopeNames.end()) {
      const std::vector<std::string> known(kScopeNames.begin(), kScopeNames.end());
      return Error{ErrorCode::kInvalidArgument, "no scope named \"" + internal::printable(word) + "\"" + internal::suggestion(word, known)};
    }
    scopes.add(static_cast<Scope>(found - kScopeNames.begin()));
    if (comma == std::string_view::npos) return scopes;
    text.remove_prefix(comma + 1);
  }
}

Status check_grant(const KeyGrant& grant) {
  constexpr std::size_t kNameBytesMax = 128;
  constexpr std::size_t kTenantBytesMax = 32;
  constexpr double kRateMax = 1e9;
  if (grant.name.empty() || grant.name.size() > kNameBytesMax || internal::printable(grant.name, kNameBytesMax + 1) != grant.name) {
    return refused("name", "\"" + internal::printable(grant.name) + "\"", "1 to 128 bytes without control characters");
  }
  if (grant.scopes.empty()) return refused("scope", "none", "at least one of infer, decide, feedback, read, admin");
  const bool tenant_legal = grant.tenant.size() <= kTenantBytesMax &&
                            grant.tenant.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_-") == std::string::npos;
  if (!tenant_legal) {
    return refused("tenant", "\"" + internal::printable(grant.tenant) + "\"", "at most 32 lower-case letters, digits, _ and -");
  }
  if (!(grant.weight >= 0.0 && grant.weight <= 1.0)) return refused("weight", internal::json_number(grant.weight), "a number in [0, 1]");
  if (!(grant.requests_per_second >= 0.0 && grant.requests_per_second <= kRateMax)) {
    return refused("requests_per_second", internal::json_number(grant.requests_per_second), "a number in [0, 1e+09]");
  }
  return {};
}

std::optional<KeyParts> split_key(std::string_view text) {
  if (text.size() != kPrefix.size() + kIdLength + 1 + kSecretLength || !text.starts_with(kPrefix)) return std::nullopt;
  text.remove_prefix(kPrefix.size());
  const KeyParts parts = {text.substr(0, kIdLength), text.substr(kIdLength + 1)};
  if (text[kIdLength] != '-' || !alphanumeric(parts.id) || !alphanumeric(parts.secret)) return std::nullopt;
  return parts;
}

std::string join_key(const KeyParts& parts) { return std::string(kPrefix) + std::string(parts.id) + "-" + std::string(parts.secret); }

Result<std::string> random_text(std::size_t length) {
  // The largest multiple of the alphabet below 256: bytes beyond it would favour its first letters.
  constexpr std::size_t kFair = 256 / kAlphabet.size() * kAlphabet.size();
  std::string text;
  while (text.size() < length) {
    unsigned char bytes[64];
    const ssize_t count = getrandom(bytes, sizeof bytes, 0);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return Error{ErrorCode::kCorrupt, "the system gives no random numbers"};
    for (ssize_t i = 0; i < count && text.size() < length; ++i) {
      if (bytes[i] < kFair) text += kAlphabet[bytes[i] % kAlphabet.size()];
    }
  }
  return text;
}

Sha256 sha256(std::string_view bytes) {
  Sha256 digest{};
  unsigned length = 0;
  // Looked up once: EVP_sha256() would have OpenSSL find its implementation again on every request.
  static const EVP_MD* const algorithm = EVP_MD_fetch(nullptr, "SHA256", nullptr);
  const int done = EVP_Digest(bytes.data(), bytes.size(), digest.data(), &length, algorithm, nullptr);
  MARGIN_CHECK(done == 1 && length == digest.size(), "OpenSSL has SHA-256");
  return digest;
}

}  // namespace margin::access
