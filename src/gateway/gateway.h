// Gateway: the models that chats can ask, made from the configuration; what a name in a chat's "model" field means; what keys have spent
// today; and figures for /metrics. Used by the chat handlers, on the loop's thread.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/config.h"
#include "gateway/chat.h"
#include "http/loop.h"
#include "margin/random.h"
#include "margin/result.h"

namespace margin::gateway {

// "margin/POOL" or "margin/POOL/STRATEGY".
struct PoolName {
  std::string pool;
  std::optional<config::Strategy> strategy;
};
// nullopt: not of that form, so it is an upstream's name.
[[nodiscard]] std::optional<PoolName> parse_pool_name(std::string_view model);

// What keys have used since midnight (UTC). Bounded: keys are.
class Ledger {
 public:
  struct Account {
    std::int64_t day = 0;
    double spend = 0.0;
    std::uint64_t tokens = 0;
  };
  void add(const std::string& key, std::int64_t now_ms, double spend, std::uint64_t tokens);
  [[nodiscard]] Account of(const std::string& key, std::int64_t now_ms) const;

 private:
  std::map<std::string, Account, std::less<>> accounts_;
};

struct ModelCounts {
  std::map<std::string, std::uint64_t, std::less<>> errors;  // by Candidate::error; "" is a usable reply
  std::uint64_t prompt_tokens = 0;
  std::uint64_t completion_tokens = 0;
  std::uint64_t replies = 0;
  double seconds = 0.0;  // of all replies
  double cost = 0.0;
};

class Gateway {
 public:
  Gateway(http::Loop& loop, std::uint64_t seed) : loop_(loop), random_(seed) {}

  // Makes the upstreams of the configuration; those that stay the same keep their connections. All or nothing. Errors: kInvalidArgument and
  // those of Upstream::make, with the upstream's name.
  Status configure(const config::Config& config, const config::Environment& environment);

  // nullptr: no such upstream.
  [[nodiscard]] const Model* find(std::string_view upstream) const;
  [[nodiscard]] const std::map<std::string, Model, std::less<>>& models() const { return models_; }
  // Of a pool whose configuration names upstreams.
  [[nodiscard]] std::vector<Model> models_of(const config::PoolSettings& pool) const;

  [[nodiscard]] http::Loop& loop() { return loop_; }
  [[nodiscard]] double chance() { return random_.uniform(); }
  [[nodiscard]] Ledger& ledger() { return ledger_; }
  [[nodiscard]] JsonParser& reply_parser() { return reply_parser_; }

  void count(const Heard& heard);
  [[nodiscard]] const std::map<std::string, ModelCounts>& counts() const { return counts_; }

  // Chats that go on after their answer; ended when the server drains.
  void keep(const std::shared_ptr<Chat>& chat);
  void drain();

 private:
  static constexpr std::size_t kReplyDepthMax = 64;

  http::Loop& loop_;
  Random random_;
  JsonParser reply_parser_{kReplyDepthMax};
  std::map<std::string, config::UpstreamSettings> settings_;
  std::map<std::string, std::string> secrets_;
  std::map<std::string, Model, std::less<>> models_;
  std::map<std::string, ModelCounts> counts_;
  Ledger ledger_;
  std::vector<std::weak_ptr<Chat>> background_;
};

}  // namespace margin::gateway
