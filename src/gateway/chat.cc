#include "gateway/chat.h"

#include <algorithm>

namespace margin::gateway {
namespace {

// Where nothing is known of a call's size: bytes of a token, and tokens of a reply nobody limited.
constexpr double kBytesPerToken = 4.0;
constexpr double kTokensOfAReply = 1024.0;
constexpr double kMillion = 1e6;
// What is expected of a model nobody knows, and how many outcomes that is worth.
constexpr double kUnknown = 0.5;
constexpr double kUnknownOutcomes = 2.0;

double expected_of(const service::ServedPool& pool, const std::string& model) {
  const auto found = pool.scores().find(model);
  if (found == pool.scores().end()) return kUnknown;
  const auto count = static_cast<double>(found->second.count());
  const double mean = found->second.mean_confidence(service::ScoreWindow::Stage::kCalibrated);
  return (count * mean + kUnknownOutcomes * kUnknown) / (count + kUnknownOutcomes);
}

elicit::Reading refusal(std::string text) {
  elicit::Reading reading;
  reading.shown = std::move(text);
  reading.refused = true;
  reading.missing = elicit::Missing::kRefused;
  return reading;
}

}  // namespace

double Model::cost_of(const upstream::Usage& usage) const {
  return (static_cast<double>(usage.prompt_tokens) * price_prompt + static_cast<double>(usage.completion_tokens) * price_completion) /
         kMillion;
}

Chat::Chat(http::Loop& loop, const service::ServedPool& pool, ChatRequest request, ChatSettings settings, Callbacks callbacks)
    : loop_(loop),
      pool_(pool),
      request_(std::move(request)),
      settings_(std::move(settings)),
      strategy_(find_strategy(settings_.strategy)),
      callbacks_(std::move(callbacks)),
      samples_(settings_.models.size()),
      began_(settings_.models.size()),
      started_(std::chrono::steady_clock::now()) {
  const std::string channel =
      settings_.pool.channel == config::Channel::kConsistency ? "consistency" + std::to_string(samples()) + ":" : "verbalized:";
  for (const Model& model : settings_.models) {
    Candidate& candidate = heard_.candidates.emplace_back();
    candidate.model = model.name;
    candidate.channel = channel + std::string(elicit::find_template(task(), mode()).name);
    contenders_.push_back({.progress = Progress::kIdle,
                           .price = tokens_expected() * model.price_prompt + kTokensOfAReply * model.price_completion,
                           .expected = expected_of(pool_, model.name)});
  }
  heard_.question.task = request_.options.task_id;
  heard_.question.segment = request_.options.segment;
  heard_.question.kind = elicit::equivalence(task());
  heard_.question.vote = request_.options.vote;
  heard_.question.max_error = request_.options.max_error;
  heard_.question.audits.seed = settings_.audit_seed;
  if (strategy_.follows_primary()) {
    heard_.question.primary = settings_.pool.primary.empty() ? settings_.models.front().name : settings_.pool.primary;
    heard_.question.vote.clear();
  }
}

std::size_t Chat::samples() const {
  return settings_.pool.channel == config::Channel::kConsistency ? static_cast<std::size_t>(settings_.pool.samples) : 1;
}

elicit::Task Chat::task() const { return request_.options.task.value_or(static_cast<elicit::Task>(settings_.pool.task)); }

// A format of the client's own leaves no room for a schema of ours.
elicit::Mode Chat::mode() const {
  const auto mode = static_cast<elicit::Mode>(settings_.pool.elicit);
  return mode == elicit::Mode::kSchema && request_.has_response_format ? elicit::Mode::kLine : mode;
}

double Chat::tokens_expected() const { return static_cast<double>(request_.messages.size()) / kBytesPerToken; }

std::size_t Chat::answers() const {
  return static_cast<std::size_t>(std::count_if(contenders_.begin(), contenders_.end(), [](const Contender& contender) {
    return contender.progress == Progress::kAnswered || contender.progress == Progress::kFailed;
  }));
}

std::size_t Chat::asked() const {
  return static_cast<std::size_t>(
      std::count_if(contenders_.begin(), contenders_.end(), [](const Contender& each) { return each.progress != Progress::kIdle; }));
}

void Chat::start() {
  const auto self = shared_from_this();
  deadline_ = loop_.after(std::chrono::milliseconds(settings_.pool.decision_ms), [self] { self->finish_now(); });
  advance();
}

// What it and the calls under way may cost at most, as far as that can be told, still fits.
bool Chat::affordable(std::size_t model) const {
  const auto calls = static_cast<double>(samples());
  double tokens = static_cast<double>(heard_.usage.total_tokens);
  double cost = heard_.cost;
  const double reply = request_.tokens_asked.value_or(kTokensOfAReply);
  const auto add = [&](std::size_t index) {
    const Model& asked = settings_.models[index];
    tokens += calls * (tokens_expected() + reply);
    cost += calls * (tokens_expected() * asked.price_prompt + reply * asked.price_completion) / kMillion;
  };
  add(model);
  for (std::size_t i = 0; i < contenders_.size(); ++i) {
    if (contenders_[i].progress == Progress::kAsked) add(i);
  }
  const bool tokens_fit = settings_.pool.tokens_max == 0 || tokens <= static_cast<double>(settings_.pool.tokens_max);
  const bool cost_fits = settings_.pool.spend_max == 0.0 || cost <= settings_.pool.spend_max;
  return tokens_fit && cost_fits;
}

void Chat::ask(std::size_t model) {
  if (heard_.calls + samples() > static_cast<std::size_t>(settings_.pool.fan_out_max)) {
    return fail(model, "fan_out",
                "not asked: the chat has made " + std::to_string(heard_.calls) + " calls, and fan_out_max allows no more");
  }
  if (!affordable(model)) return fail(model, "budget", "not asked: the chat could exceed tokens_max or spend_max");
  contenders_[model].progress = heard_.candidates[model].progress = Progress::kAsked;
  began_[model] = std::chrono::steady_clock::now();
  upstream::Ask ask;
  ask.body = body_for(request_, {.model = settings_.models[model].upstream->settings().model,
                                 .asking = &elicit::find_template(task(), mode()),
                                 .temperature = samples() > 1 ? std::optional(settings_.pool.temperature) : std::nullopt});
  ask.timeout = std::chrono::milliseconds(settings_.pool.decision_ms);
  samples_[model].resize(samples());
  for (std::size_t sample = 0; sample < samples(); ++sample) {
    ++heard_.calls;
    if (settings_.trace) {
      samples_[model][sample].traced = settings_.trace->call(settings_.models[model].upstream->settings());
      ask.headers = settings_.trace->headers(samples_[model][sample].traced);
    }
    const auto self = shared_from_this();
    samples_[model][sample].call = settings_.models[model].upstream->ask(
        ask, [self, model, sample](upstream::Outcome outcome) { self->on_reply(model, sample, std::move(outcome)); });
  }
}

void Chat::on_reply(std::size_t model, std::size_t sample, upstream::Outcome outcome) {
  if (over_) return;
  Candidate& candidate = heard_.candidates[model];
  Sample& own = samples_[model][sample];
  own.over = true;
  const auto traced = [&](const upstream::ChatReply* reply) {
    if (settings_.trace) settings_.trace->ended(own.traced, outcome, reply);
  };
  candidate.attempts += outcome.attempts;
  candidate.took = std::chrono::steady_clock::now() - began_[model];
  if (outcome.failure) {
    traced(nullptr);
    candidate.error = upstream::name_of(*outcome.failure);
    candidate.message = std::move(outcome.message);
  } else if (auto reply = upstream::read_chat_reply(*settings_.parser, outcome.body); !reply) {
    traced(nullptr);
    candidate.error = "malformed";
    candidate.message = settings_.models[model].name + ": " + reply.error().message;
  } else {
    traced(&*reply);
    candidate.usage += reply->usage;
    heard_.usage += reply->usage;
    const double cost = settings_.models[model].cost_of(reply->usage);
    candidate.cost += cost;
    heard_.cost += cost;
    own.reading = reply->refusal.empty() ? elicit::read_reply(task(), mode(), reply->content, reply->finish_reason == "length")
                                         : refusal(reply->refusal);
    if (sample == 0) {
      candidate.served_as = std::move(reply->model);
      candidate.finish_reason = std::move(reply->finish_reason);
      candidate.reply = std::move(reply->content);
    }
  }
  const auto& all = samples_[model];
  if (!std::all_of(all.begin(), all.end(), [](const Sample& each) { return each.over; })) return;
  conclude(model);
  advance();
}

void Chat::conclude(std::size_t model) {
  Candidate& candidate = heard_.candidates[model];
  std::vector<Sample>& all = samples_[model];
  const auto first = std::find_if(all.begin(), all.end(), [](const Sample& sample) { return sample.reading.has_value(); });
  if (first == all.end()) {
    contenders_[model].progress = candidate.progress = Progress::kFailed;
    return;
  }
  contenders_[model].progress = candidate.progress = Progress::kAnswered;
  candidate.error.clear();
  candidate.message.clear();
  candidate.reading = *first->reading;
  candidate.confidence = candidate.reading.confidence;
  if (samples() > 1) {
    // A sample that failed is no sample.
    std::vector<std::string> answers;
    for (const Sample& sample : all) {
      if (sample.reading) answers.push_back(sample.reading->answer);
    }
    candidate.confidence = answers.size() > 1 ? elicit::agreement(task(), answers) : std::nullopt;
  }
  const elicit::Reading& reading = candidate.reading;
  if (reading.refused) {
    candidate.error = "refused";
    candidate.message = candidate.model + " declined to answer";
  } else if (reading.answer.empty()) {
    candidate.error = "no_answer";
    candidate.message = candidate.model + ": no answer of the task's form was found in the reply";
  } else if (!candidate.confidence) {
    candidate.error = "no_confidence";
    candidate.message = candidate.model + ": no confidence (" + std::string(elicit::name_of(reading.missing)) + ")";
  }
}

void Chat::fail(std::size_t model, std::string error, std::string message) {
  Candidate& candidate = heard_.candidates[model];
  contenders_[model].progress = candidate.progress = Progress::kFailed;
  candidate.error = std::move(error);
  candidate.message = candidate.model + ": " + std::move(message);
}

void Chat::decide() {
  heard_.question.responses.clear();
  std::size_t usable = 0;
  for (const Candidate& candidate : heard_.candidates) {
    if (candidate.progress != Progress::kAnswered) continue;
    const bool answers = !candidate.reading.answer.empty();
    if (candidate.usable()) ++usable;
    heard_.question.responses.push_back({.model = candidate.model,
                                         .answer = answers ? std::optional(candidate.reading.answer) : std::nullopt,
                                         .confidence = answers ? candidate.confidence : std::nullopt,
                                         .channel = candidate.channel,
                                         .abstained = candidate.reading.refused});
  }
  heard_.decision.reset();
  heard_.error.reset();
  // A strategy that asks one model at a time cannot have more answers than it asked for.
  const bool one_by_one = settings_.strategy == config::Strategy::kSingle || settings_.strategy == config::Strategy::kCascade;
  const std::size_t needed = one_by_one ? 1 : static_cast<std::size_t>(settings_.pool.min_responses);
  if (usable < needed) return;
  auto decided = pool_.pool().decide(heard_.question);
  if (decided) {
    heard_.decision = std::move(*decided);
  } else {
    heard_.error = decided.error();
  }
}

void Chat::advance() {
  if (over_ || advancing_) return;
  advancing_ = true;
  const auto self = shared_from_this();  // a callback may let go of the last other reference
  for (bool again = true; again && !over_;) {
    again = false;
    decide();
    const auto outstanding = static_cast<std::size_t>(std::count_if(
        contenders_.begin(), contenders_.end(), [](const Contender& contender) { return contender.progress == Progress::kAsked; }));
    Standing standing{.contenders = contenders_,
                      .decision = heard_.decision ? &*heard_.decision : nullptr,
                      .settled = heard_.decision && pool_.pool().settled(*heard_.decision, outstanding),
                      .target = settings_.pool.target,
                      .explore = settings_.pool.explore,
                      .chance = settings_.chance};
    for (std::size_t i = 0; i < settings_.models.size(); ++i) {
      if (settings_.models[i].name == settings_.pool.primary) standing.primary = i;
    }
    const Step step = strategy_.next(standing);
    if (step.propensity < 1.0) heard_.question.propensity = step.propensity;
    for (const std::size_t model : step.ask) ask(model);
    // Somebody who could not be asked at all changes how things stand.
    again =
        std::any_of(step.ask.begin(), step.ask.end(), [&](std::size_t model) { return contenders_[model].progress == Progress::kFailed; });
    if (step.answer && !answered_) {
      answered_ = true;
      heard_.waited = std::chrono::steady_clock::now() - started_;
      if (!step.done) callbacks_.answer(heard_);
    }
    if (step.done) finish();
  }
  advancing_ = false;
}

void Chat::finish_now() {
  if (over_) return;
  const auto self = shared_from_this();
  for (std::size_t i = 0; i < contenders_.size(); ++i) {
    if (contenders_[i].progress == Progress::kAsked || contenders_[i].progress == Progress::kIdle) {
      const bool asked = contenders_[i].progress == Progress::kAsked;
      for (Sample& sample : samples_[i]) sample.call.cancel();
      fail(i, asked ? "timeout" : "not_asked", asked ? "no reply within the time of the decision" : "the time of the decision was over");
    }
  }
  advance();
  if (!over_) finish();
}

void Chat::finish() {
  release();
  for (std::size_t i = 0; i < contenders_.size(); ++i) {
    Candidate& candidate = heard_.candidates[i];
    if (candidate.progress == Progress::kAsked) {
      candidate.error = "not_needed";
      candidate.message = candidate.model + ": cancelled, no reply could have changed the answer";
    }
  }
  if (heard_.waited.count() == 0) heard_.waited = std::chrono::steady_clock::now() - started_;
  Callbacks callbacks = std::exchange(callbacks_, {});
  if (!answered_) answered_ = true;
  callbacks.done(std::exchange(heard_, {}));
}

void Chat::cancel() {
  if (over_) return;
  const auto self = shared_from_this();
  release();
  callbacks_ = {};
}

// Closes what is under way and lets go of everything that holds this chat.
void Chat::release() {
  over_ = true;
  deadline_.cancel();
  for (auto& all : samples_) {
    for (Sample& sample : all) sample.call.cancel();
  }
}

}  // namespace margin::gateway
