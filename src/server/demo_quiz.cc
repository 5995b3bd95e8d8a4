#include "server/demo_quiz.h"

#include <algorithm>
#include <array>
#include <chrono>

#include "base/json_writer.h"
#include "margin/digest.h"
#include "server/pool_chat.h"

namespace margin::server {
namespace {

using internal::JsonWriter;

constexpr std::chrono::milliseconds kQuizTick{250};
constexpr std::size_t kGradedBehind = 8;  // chats between an answer and its grade
constexpr std::string_view kPool = "quiz";
constexpr std::string_view kQuestion = "Simulated question ";

struct SimulatedChatModel {
  std::string_view name;
  double skill;     // the chance of a right answer
  double says_low;  // stated confidence is uniform from here to 1
  double price;     // of a million tokens
};
constexpr std::array kChatModels = {SimulatedChatModel{"simulated-chat-large", 0.80, 0.70, 10.0},
                                    SimulatedChatModel{"simulated-chat-boaster", 0.45, 0.92, 3.0},
                                    SimulatedChatModel{"simulated-chat-small", 0.68, 0.50, 1.0}};
constexpr std::array<std::string_view, 4> kLetters = {"A", "B", "C", "D"};

// Everybody who knows a question's text knows its right answer: the models err on purpose.
std::size_t right_answer(std::string_view question) { return digest_of(question).low % kLetters.size(); }

// The question as it stands in the last message; the whole text when it is somebody else's.
std::string_view question_in(std::string_view text) {
  const std::size_t found = text.rfind(kQuestion);
  return found == std::string_view::npos ? text : text.substr(found, text.find('.', found) - found);
}

}  // namespace

SimulatedModels::SimulatedModels(http::Loop& loop) : server_(loop, {}, {}, *this) {}

void SimulatedModels::handle(const http::Request& request, http::Reply reply) {
  const auto parsed = parser_.parse(request.body);
  const Json* name = parsed ? (*parsed)->find("model") : nullptr;
  const Json* messages = parsed ? (*parsed)->find("messages") : nullptr;
  const auto model =
      std::find_if(kChatModels.begin(), kChatModels.end(), [&](const auto& each) { return name != nullptr && each.name == name->text(); });
  if (model == kChatModels.end() || messages == nullptr || messages->items().empty()) {
    return std::move(reply).send(http::error_response(404, {.message = "no such simulated model", .code = "model_not_found"}));
  }
  const Json* content = messages->items().back().find("content");
  const std::size_t right = right_answer(question_in(content == nullptr ? "" : content->text()));
  const double confidence = model->says_low + (1.0 - model->says_low) * random_.uniform();
  const bool knows = random_.chance(model->skill);
  const std::size_t said = knows ? right : (right + 1 + random_.below(kLetters.size() - 1)) % kLetters.size();
  const auto percent = static_cast<int>(confidence * 100.0);
  JsonWriter out;
  out.open('{').key("id").text("simulated").key("object").text("chat.completion").key("created").number(0).key("model").text(model->name);
  out.key("choices").open('[').open('{').key("index").number(0).key("message").open('{').key("role").text("assistant").key("content");
  out.text("Simulated answer.\n\nAnswer: " + std::string(kLetters[said]) + "\nConfidence: " + std::to_string(percent));
  out.close('}').key("finish_reason").text("stop").close('}').close(']').key("usage").open('{');
  const std::size_t prompt = request.body.size() / 4;
  out.key("prompt_tokens").number(prompt).key("completion_tokens").number(12).key("total_tokens").number(prompt + 12).close('}').close('}');
  http::Response response;
  response.body = out.take();
  std::move(reply).send(std::move(response));
}

void SimulatedModels::add_to(config::Config& config) const {
  config::PoolSettings& pool = config.pools[std::string(kPool)];
  pool.task = config::TaskKind::kChoice;
  pool.models.clear();
  for (const SimulatedChatModel& model : kChatModels) {
    config::UpstreamSettings& upstream = config.upstreams[std::string(model.name)];
    upstream.url = "http://127.0.0.1:" + std::to_string(server_.port()) + "/v1";
    upstream.price_prompt = upstream.price_completion = model.price;
    pool.models.emplace_back(model.name);
  }
}

void DemoQuiz::tick() {
  timer_ = loop_.after(kQuizTick, [this] {
    ask();
    grade();
    tick();
  });
}

void DemoQuiz::ask() {
  service::ServedPool* pool = app_.service().find(kPool);
  const config::PoolSettings* settings = pool == nullptr ? nullptr : settings_of(app_, *pool);
  if (settings == nullptr || settings->models.empty()) return;
  const std::string question = std::string(kQuestion) + std::to_string(++asked_);
  gateway::ChatRequest request;
  request.model = "margin/" + std::string(kPool);
  request.options.task_id = question;
  request.messages = R"([{"role":"user","content":")" + question + R"(. Which letter, A, B, C or D?"}])";
  request.leading_system = 1;
  request.messages_follow = true;
  const auto exchange = run_pool_chat(app_, *pool, *settings, std::move(request), settings->strategy, {.key = "demo", .source = "demo"});
  awaited_.push_back({exchange->id(), std::string(kLetters[right_answer(question)])});
}

void DemoQuiz::grade() {
  if (awaited_.size() <= kGradedBehind) return;
  const Awaited awaited = std::move(awaited_.front());
  awaited_.pop_front();
  service::ServedPool* pool = app_.service().find(kPool);
  if (pool == nullptr) return;
  OutcomeObserved outcome{.decision = awaited.decision, .gold = awaited.right};
  auto grades = pool->pool().resolve(outcome);
  if (!grades) return;
  service::Prepared prepared =
      app_.service().prepare(*pool, OutcomeObserved{.decision = awaited.decision, .grades = std::move(*grades), .source = "demo"});
  static_cast<void>(app_.service().commit(std::move(prepared), [](const Result<service::Applied>&) {}));
}

}  // namespace margin::server
