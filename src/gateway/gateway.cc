#include "gateway/gateway.h"

#include <algorithm>

#include "config/fields.h"

namespace margin::gateway {
namespace {

constexpr std::int64_t kDayMs = 86'400'000;

upstream::Settings settings_for(const std::string& name, const config::UpstreamSettings& from, std::string key) {
  const auto ms = [](std::int64_t count) { return std::chrono::milliseconds(count); };
  upstream::Settings settings;
  settings.name = name;
  settings.url = from.url;
  settings.model = from.model.empty() ? name : from.model;
  settings.dialect = from.dialect == config::Dialect::kOllama ? upstream::Dialect::kOllama : upstream::Dialect::kOpenAi;
  settings.key = std::move(key);
  settings.ca_file = from.ca_file;
  settings.concurrency_max = static_cast<std::size_t>(from.concurrency);
  settings.connect_timeout = ms(from.connect_ms);
  settings.timeout = ms(from.timeout_ms);
  settings.retries_max = static_cast<int>(from.retries);
  settings.breaker_failures = static_cast<int>(from.breaker_failures);
  settings.breaker_pause = ms(from.breaker_ms);
  settings.reply_bytes_max = static_cast<std::size_t>(from.reply_bytes);
  return settings;
}

}  // namespace

std::optional<PoolName> parse_pool_name(std::string_view model) {
  constexpr std::string_view kPrefix = "margin/";
  if (!model.starts_with(kPrefix) || model.size() == kPrefix.size()) return std::nullopt;
  const std::string_view rest = model.substr(kPrefix.size());
  const std::size_t slash = rest.rfind('/');
  if (slash != std::string_view::npos && slash > 0) {
    const auto& words = config::kWords<config::Strategy>;
    const auto found = std::find(words.begin(), words.end(), rest.substr(slash + 1));
    if (found != words.end()) return PoolName{std::string(rest.substr(0, slash)), static_cast<config::Strategy>(found - words.begin())};
  }
  return PoolName{std::string(rest), std::nullopt};
}

void Ledger::add(const std::string& key, std::int64_t now_ms, double spend, std::uint64_t tokens) {
  Account& account = accounts_[key];
  if (account.day != now_ms / kDayMs) account = {.day = now_ms / kDayMs};
  account.spend += spend;
  account.tokens += tokens;
}

Ledger::Account Ledger::of(const std::string& key, std::int64_t now_ms) const {
  const auto found = accounts_.find(key);
  return found != accounts_.end() && found->second.day == now_ms / kDayMs ? found->second : Account{.day = now_ms / kDayMs};
}

Status Gateway::configure(const config::Config& config, const config::Environment& environment) {
  std::map<std::string, Model, std::less<>> models;
  std::map<std::string, std::string> secrets;
  for (const auto& [name, settings] : config.upstreams) {
    std::string secret;
    if (!settings.key.empty()) {
      auto resolved = config::resolve_secret(settings.key, environment);
      if (!resolved) return {resolved.error().code, "upstreams." + name + ".key: " + resolved.error().message};
      secret = std::move(*resolved);
    }
    Model model{.name = name, .upstream = nullptr, .price_prompt = settings.price_prompt, .price_completion = settings.price_completion};
    const auto before = settings_.find(name);
    if (before != settings_.end() && before->second == settings && secrets_[name] == secret) {
      model.upstream = models_.at(name).upstream;
    } else {
      auto made = upstream::Upstream::make(loop_, settings_for(name, settings, secret), environment, random_.bits());
      if (!made) return {made.error().code, "upstreams." + name + ": " + made.error().message};
      model.upstream = std::move(*made);
    }
    secrets[name] = std::move(secret);
    models.emplace(name, std::move(model));
  }
  models_ = std::move(models);
  secrets_ = std::move(secrets);
  settings_ = config.upstreams;
  return {};
}

const Model* Gateway::find(std::string_view upstream) const {
  const auto found = models_.find(upstream);
  return found == models_.end() ? nullptr : &found->second;
}

std::vector<Model> Gateway::models_of(const config::PoolSettings& pool) const {
  std::vector<Model> models;
  for (const std::string& name : pool.models) {
    if (const Model* model = find(name)) models.push_back(*model);
  }
  return models;
}

void Gateway::count(const Heard& heard) {
  for (const Candidate& candidate : heard.candidates) {
    if (candidate.progress == Progress::kIdle) continue;
    ModelCounts& counts = counts_[candidate.model];
    ++counts.errors[candidate.error];
    counts.prompt_tokens += candidate.usage.prompt_tokens;
    counts.completion_tokens += candidate.usage.completion_tokens;
    counts.cost += candidate.cost;
    if (candidate.progress != Progress::kAnswered) continue;
    ++counts.replies;
    counts.seconds += std::chrono::duration<double>(candidate.took).count();
  }
}

void Gateway::keep(const std::shared_ptr<Chat>& chat) {
  std::erase_if(background_, [](const std::weak_ptr<Chat>& each) { return each.expired(); });
  background_.push_back(chat);
}

void Gateway::drain() {
  for (const std::weak_ptr<Chat>& each : std::exchange(background_, {})) {
    if (const auto chat = each.lock()) chat->finish_now();
  }
}

}  // namespace margin::gateway
