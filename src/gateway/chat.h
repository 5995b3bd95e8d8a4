// Chat: one chat request on its way through a pool's models: asks whom the strategy names, reads what they reply, decides anew after each
// reply and stops when the strategy has heard enough. Writes nothing; whoever started it records the decision. On the loop's thread.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "config/config.h"
#include "elicit/elicit.h"
#include "gateway/chat_request.h"
#include "gateway/strategy.h"
#include "http/loop.h"
#include "json/json.h"
#include "margin/pool.h"
#include "service/served_pool.h"
#include "trace/chat_trace.h"
#include "upstream/chat.h"
#include "upstream/upstream.h"

namespace margin::gateway {

// A model that can be asked.
struct Model {
  std::string name;
  std::shared_ptr<upstream::Upstream> upstream;  // shared with the chats that ask it, so that a reload leaves them be
  double price_prompt = 0.0;                     // of a million tokens
  double price_completion = 0.0;
  [[nodiscard]] double cost_of(const upstream::Usage& usage) const;
};

// What one model had to say in one chat.
struct Candidate {
  std::string model;
  Progress progress = Progress::kIdle;
  std::string channel;      // with the template's version: what was asked differently is calibrated apart
  elicit::Reading reading;  // of its first sample
  std::optional<double> confidence;
  std::string error;      // why it has no part: "timeout", "status", "malformed", "refused", "no_confidence", "not_needed", ...
  std::string message;    // the same for people
  std::string served_as;  // the model's name in the upstream's reply
  std::string finish_reason;
  std::string reply;  // as it came
  upstream::Usage usage;
  double cost = 0.0;
  std::chrono::nanoseconds took{0};
  int attempts = 0;

  [[nodiscard]] bool usable() const { return progress == Progress::kAnswered && confidence && !reading.answer.empty(); }
};

// What came of it so far.
struct Heard {
  Question question;
  std::optional<DecisionMade> decision;  // none as long as fewer than min_responses are usable
  std::optional<Error> error;            // of deciding itself
  std::vector<Candidate> candidates;     // in the pool's order
  upstream::Usage usage;
  double cost = 0.0;
  std::size_t calls = 0;
  std::chrono::nanoseconds waited{0};  // for upstreams, from the first question to the last reply
};

struct ChatSettings {
  config::PoolSettings pool;
  config::Strategy strategy = config::Strategy::kVote;
  std::vector<Model> models;  // as pool.models
  double chance = 0.0;        // of the strategy
  std::uint64_t audit_seed = 0;
  JsonParser* parser = nullptr;             // of replies; chats may share it
  std::shared_ptr<trace::ChatTrace> trace;  // shared with whoever answers the client; none: nothing is told to upstreams
};

class Chat : public std::enable_shared_from_this<Chat> {
 public:
  struct Callbacks {
    std::function<void(const Heard&)> answer;  // once: the client can be answered
    std::function<void(Heard)> done;           // once, at the end, after or at the time of the answer
  };
  Chat(http::Loop& loop, const service::ServedPool& pool, ChatRequest request, ChatSettings settings, Callbacks callbacks);

  void start();
  // Ends it without a callback; calls under way are closed.
  void cancel();
  // Hears nobody else: whoever has not answered is left out.
  void finish_now();

  [[nodiscard]] const Heard& heard() const { return heard_; }
  [[nodiscard]] std::size_t answers() const;  // replies so far
  [[nodiscard]] std::size_t asked() const;
  [[nodiscard]] bool answered() const { return answered_; }

 private:
  using Moment = std::chrono::steady_clock::time_point;

  struct Sample {
    upstream::Call call;
    std::size_t traced = 0;  // its number there
    bool over = false;
    std::optional<elicit::Reading> reading;
  };

  void ask(std::size_t model);
  void on_reply(std::size_t model, std::size_t sample, upstream::Outcome outcome);
  // All samples of a model are in.
  void conclude(std::size_t model);
  void fail(std::size_t model, std::string error, std::string message);
  void advance();
  void decide();
  void finish();
  void release();
  [[nodiscard]] bool affordable(std::size_t model) const;
  [[nodiscard]] std::size_t samples() const;
  [[nodiscard]] elicit::Mode mode() const;
  [[nodiscard]] elicit::Task task() const;
  [[nodiscard]] double tokens_expected() const;  // of one call

  http::Loop& loop_;
  const service::ServedPool& pool_;
  const ChatRequest request_;
  const ChatSettings settings_;
  const Strategy& strategy_;
  Callbacks callbacks_;
  Heard heard_;
  std::vector<Contender> contenders_;
  std::vector<std::vector<Sample>> samples_;  // by model
  std::vector<Moment> began_;
  http::Timer deadline_;
  Moment started_;
  bool answered_ = false;
  bool over_ = false;
  bool advancing_ = false;
};

}  // namespace margin::gateway
