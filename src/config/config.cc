#include "config/config.h"

#include <charconv>

#include "base/check.h"
#include "base/text.h"
#include "config/fields.h"
#include "file/file.h"
#include "margin/calibrator.h"
#include "margin/remedy.h"
#include "margin/vote.h"

namespace margin::config {
namespace {

constexpr std::size_t kSecretBytesMax = 64 << 10;
constexpr double kDayMs = 24.0 * 3600.0 * 1000.0;

template <class Info>
Parameters completed(const Info& info, const Parameters& given) {
  Result<Parameters> resolved = resolve_parameters(info.identifier, info.parameters, given);
  MARGIN_CHECK(resolved.ok(), "a loaded configuration has checked parameters");
  return *std::move(resolved);
}

Error no_address(std::string_view text) {
  return {ErrorCode::kInvalidArgument,
          "got \"" + internal::printable(text) + "\", expected HOST:PORT such as 127.0.0.1:8080 or [::1]:8080"};
}

// Whether no two sockets can listen on both: the same host, by another name perhaps, or one that stands for all of them.
bool overlap(const Address& a, const Address& b) {
  const auto named = [](const std::string& host) { return host == "localhost" ? std::string("127.0.0.1") : host; };
  const auto is_any = [](const std::string& host) { return host == "0.0.0.0" || host == "::"; };
  // Port 0 is another free one each time.
  if (a.port != b.port || a.port == 0) return false;
  return named(a.host) == named(b.host) || is_any(a.host) || is_any(b.host);
}

}  // namespace

Config default_config() {
  Config config;
  config.pools.emplace("default", PoolSettings{});
  return config;
}

PoolConfigured pool_configured(const Config& config, const PoolSettings& pool) {
  const Result<const CalibratorInfo*> calibrator = find_calibrator(pool.calibrator);
  const Result<const VoteInfo*> vote = find_vote(pool.vote);
  const Result<const CalibratorInfo*> trust = find_calibrator(pool.trust);
  MARGIN_CHECK(calibrator.ok() && vote.ok() && trust.ok(), "a loaded configuration names known methods");
  const auto bound = [](std::int64_t limit) { return static_cast<std::uint32_t>(limit); };
  return {.calibrator = (*calibrator)->identifier,
          .calibrator_version = (*calibrator)->version,
          .calibrator_parameters = completed(**calibrator, pool.calibrator_parameters),
          .vote = (*vote)->identifier,
          .vote_version = (*vote)->version,
          .vote_parameters = completed(**vote, pool.vote_parameters),
          .trust = (*trust)->identifier,
          .trust_version = (*trust)->version,
          .remedy = std::string(kRemedyNames[static_cast<std::size_t>(pool.remedy)]),
          .audit_rate = pool.audit_rate,
          .source_share_max = pool.source_share_max,
          .max_error = pool.max_error,
          .pending_ms_max = static_cast<std::int64_t>(pool.pending_days * kDayMs),
          .models_max = bound(config.limits.models),
          .cells_max = bound(config.limits.cells),
          .responses_max = bound(config.limits.responses),
          .decisions_max = bound(config.limits.pending),
          .early_max = bound(config.limits.early),
          .watched_models_max = bound(pool.watched_models)};
}

PoolConfigured pool_continued(const Config& config, PoolSettings pool, const PoolConfigured& running) {
  const auto keep = [](std::string& named, const auto& find, const std::string& identifier, int version, const Parameters& given) {
    if (named != identifier) return;
    const std::string kept = identifier + "@" + std::to_string(version);
    // Parameters of a later version ask for that one.
    const auto info = find(kept);
    if (info.ok() && resolve_parameters(identifier, (*info)->parameters, given).ok()) named = kept;
  };
  const auto calibrator = [](const std::string& name) { return find_calibrator(name); };
  keep(pool.calibrator, calibrator, running.calibrator, running.calibrator_version, pool.calibrator_parameters);
  keep(pool.trust, calibrator, running.trust, running.trust_version, {});
  keep(
      pool.vote, [](const std::string& name) { return find_vote(name); }, running.vote, running.vote_version, pool.vote_parameters);
  return pool_configured(config, pool);
}

bool is_stated(const Config& config, const std::string& pool) {
  return config.pools.contains(pool) && (pool != "default" || config.default_stated);
}

const PoolSettings* default_for(const Config& config, const std::string& pool) {
  return config.default_stated && pool.ends_with("/default") && !config.pools.contains(pool) ? &config.pools.at("default") : nullptr;
}

std::string keys_file(const Config& config) { return config.keys.file.empty() ? config.store.file + ".keys" : config.keys.file; }

Result<Address> parse_address(std::string_view text) {
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) return no_address(text);
  std::string_view host = text.substr(0, colon);
  const std::string_view digits = text.substr(colon + 1);
  const bool bracketed = host.size() > 2 && host.front() == '[' && host.back() == ']';
  if (bracketed) host = host.substr(1, host.size() - 2);
  // A colon outside brackets could be an address's or the port's.
  const bool ambiguous = !bracketed && host.find(':') != std::string_view::npos;
  const bool strange = host.find_first_of("[] \t/@") != std::string_view::npos;
  std::uint16_t port = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), port);
  if (host.empty() || ambiguous || strange || digits.empty() || error != std::errc() || end != digits.data() + digits.size()) {
    return no_address(text);
  }
  return Address{std::string(host), port};
}

std::vector<std::string> address_faults(const Server& server) {
  std::vector<std::string> faults;
  const Result<Address> address = parse_address(server.listen);
  if (!address) faults.push_back("server.listen: " + address.error().message);
  if (server.admin_listen.empty()) return faults;
  const Result<Address> admin = parse_address(server.admin_listen);
  if (!admin) {
    faults.push_back("server.admin_listen: " + admin.error().message);
  } else if (address && overlap(*address, *admin)) {
    faults.push_back("server.admin_listen: got \"" + internal::printable(server.admin_listen) +
                     "\", expected another port or address than server.listen, \"" + internal::printable(server.listen) + "\"");
  }
  return faults;
}

Result<std::string> resolve_secret(std::string_view reference, const Environment& environment) {
  constexpr std::string_view kVariable = "env::";
  constexpr std::string_view kFile = "file::";
  std::string secret;
  if (reference.starts_with(kVariable)) {
    const std::string_view name = reference.substr(kVariable.size());
    const auto found = environment.find(name);
    if (found != environment.end()) secret = found->second;
    if (secret.empty()) return Error{ErrorCode::kInvalidArgument, internal::printable(reference) + ": that variable is not set, or empty"};
    return secret;
  }
  if (reference.starts_with(kFile)) {
    Result<std::string> text = file::read(std::string(reference.substr(kFile.size())), kSecretBytesMax);
    if (!text) return Error{ErrorCode::kInvalidArgument, text.error().message};
    secret = *std::move(text);
    while (secret.ends_with('\n') || secret.ends_with('\r')) secret.pop_back();
    if (secret.empty()) return Error{ErrorCode::kInvalidArgument, internal::printable(reference, 400) + ": that file is empty"};
    return secret;
  }
  return Error{ErrorCode::kInvalidArgument, "a secret stands here by reference only: env::NAME or file::PATH"};
}

}  // namespace margin::config
