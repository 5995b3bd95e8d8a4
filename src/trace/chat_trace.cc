#include "trace/chat_trace.h"

#include <charconv>

#include "json/json.h"

namespace margin::trace {
namespace {

struct Named {
  std::string_view member;
  std::string_view attribute;
};
constexpr Named kNumbers[] = {{"temperature", "gen_ai.request.temperature"},
                              {"top_p", "gen_ai.request.top_p"},
                              {"frequency_penalty", "gen_ai.request.frequency_penalty"},
                              {"presence_penalty", "gen_ai.request.presence_penalty"}};
constexpr Named kWholes[] = {{"max_tokens", "gen_ai.request.max_tokens"},
                             {"max_completion_tokens", "gen_ai.request.max_tokens"},
                             {"seed", "gen_ai.request.seed"},
                             {"n", "gen_ai.request.choice.count"}};

// Of one span; collectors cut at a similar number.
constexpr std::size_t kEventsMax = 128;

template <class T>
std::optional<T> parse(std::string_view text) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() ? std::optional(value) : std::nullopt;
}

void set_stop(Attributes& attributes, std::string_view json) {
  JsonParser parser(4);
  const Result<const Json*> stop = parser.parse(json);
  if (!stop.ok()) return;
  std::vector<std::string> sequences;
  if ((*stop)->type() == Json::Type::kText) sequences.emplace_back((*stop)->text());
  for (const Json& item : (*stop)->items()) {
    if (item.type() == Json::Type::kText) sequences.emplace_back(item.text());
  }
  if (!sequences.empty()) attributes.set("gen_ai.request.stop_sequences", std::move(sequences));
}

void set_request(Attributes& attributes, std::string_view model, const ChatFacts& facts) {
  attributes.set("gen_ai.operation.name", "chat");
  attributes.set("gen_ai.request.model", model);
  if (facts.stream) attributes.set("gen_ai.request.stream", true);
  for (const auto& [name, value] : facts.members) {
    for (const Named& named : kNumbers) {
      if (const auto number = name == named.member ? parse<double>(value) : std::nullopt) attributes.set(named.attribute, *number);
    }
    for (const Named& named : kWholes) {
      if (const auto whole = name == named.member ? parse<std::int64_t>(value) : std::nullopt) attributes.set(named.attribute, *whole);
    }
    if (name == "stop") set_stop(attributes, value);
  }
}

void set_count(Attributes& attributes, std::string_view name, std::uint64_t count) {
  if (count > 0) attributes.set(name, static_cast<std::int64_t>(count));
}

void set_reply(Attributes& attributes, const upstream::ChatReply& reply) {
  if (!reply.id.empty()) attributes.set("gen_ai.response.id", reply.id);
  if (!reply.model.empty()) attributes.set("gen_ai.response.model", reply.model);
  if (!reply.finish_reason.empty()) attributes.set("gen_ai.response.finish_reasons", std::vector<std::string>{reply.finish_reason});
  set_count(attributes, "gen_ai.usage.input_tokens", reply.usage.prompt_tokens);
  set_count(attributes, "gen_ai.usage.output_tokens", reply.usage.completion_tokens);
  set_count(attributes, "gen_ai.usage.cache_read.input_tokens", reply.usage.cached_tokens);
  set_count(attributes, "gen_ai.usage.reasoning.output_tokens", reply.usage.reasoning_tokens);
}

void set_error(Span& span, std::string_view type, std::string_view message) {
  span.attributes.set("error.type", type);
  span.error = message.empty() ? type : message;
}

}  // namespace

ChatTrace::ChatTrace(const std::shared_ptr<Tracer>& tracer, const std::optional<Context>& caller, Uuid decision, ChatFacts facts)
    : tracer_(tracer),
      recording_(tracer->enabled() && (caller ? caller->sampled : tracer->begin(decision).sampled)),
      facts_(std::move(facts)),
      caller_(caller) {
  if (!recording_) return;
  request_.context = caller ? tracer->child_of(*caller) : tracer->begin(decision);
  request_.parent = caller ? caller->span : 0;
  request_.kind = Kind::kServer;
  request_.name = "chat " + facts_.model;
  request_.start_ns = Tracer::now_ns();
  set_request(request_.attributes, facts_.model, facts_);
  request_.attributes.set("gen_ai.provider.name", "margin");
}

ChatTrace::~ChatTrace() {
  for (std::optional<Span>& span : calls_) {
    if (!span) continue;
    span->attributes.set("margin.cancelled", true);
    send(std::move(*span));
  }
  finish({}, "cancelled", "the client went away");
}

void ChatTrace::send(Span span) {
  span.end_ns = Tracer::now_ns();
  if (const std::shared_ptr<Tracer> tracer = tracer_.lock()) tracer->add(std::move(span));
}

std::size_t ChatTrace::call(const upstream::Settings& upstream) {
  std::optional<Span>& span = calls_.emplace_back();
  const std::shared_ptr<Tracer> tracer = recording_ ? tracer_.lock() : nullptr;
  if (!tracer) return calls_.size() - 1;
  span.emplace();
  span->context = tracer->child_of(request_.context);
  span->parent = request_.context.span;
  span->kind = Kind::kClient;
  span->name = "chat " + upstream.model;
  span->start_ns = Tracer::now_ns();
  set_request(span->attributes, upstream.model, facts_);
  span->attributes.set("gen_ai.provider.name", upstream.dialect == upstream::Dialect::kOllama ? "ollama" : "openai");
  span->attributes.set("margin.model", upstream.name);
  if (const auto url = upstream::parse_url(upstream.url)) {
    span->attributes.set("server.address", url->host);
    span->attributes.set("server.port", std::int64_t{url->port});
  }
  return calls_.size() - 1;
}

Headers ChatTrace::headers(std::size_t call) const {
  const std::optional<Span>& span = calls_[call];
  if (!span && !caller_) return {};
  const Context& context = span ? span->context : *caller_;
  Headers headers = {{"traceparent", traceparent(context)}};
  if (!context.state.empty()) headers.emplace_back("tracestate", context.state);
  return headers;
}

void ChatTrace::ended(std::size_t call, const upstream::Outcome& outcome, const upstream::ChatReply* reply) {
  if (!calls_[call]) return;
  Span span = std::move(*calls_[call]);
  calls_[call].reset();
  if (reply != nullptr) set_reply(span.attributes, *reply);
  if (outcome.attempts > 1) span.attributes.set("margin.attempts", std::int64_t{outcome.attempts});
  if (facts_.stream && outcome.first_byte.count() > 0) {
    span.attributes.set("gen_ai.response.time_to_first_chunk", std::chrono::duration<double>(outcome.first_byte).count());
  }
  if (outcome.failure == upstream::Failure::kStatus) {
    set_error(span, std::to_string(outcome.status), outcome.message);
  } else if (outcome.failure) {
    set_error(span, upstream::name_of(*outcome.failure), outcome.message);
  } else if (reply == nullptr) {
    set_error(span, "malformed", {});
  }
  send(std::move(span));
}

void ChatTrace::finish(const upstream::ChatReply& answer, std::string_view error, std::string_view message) {
  if (std::exchange(finished_, true) || !recording_) return;
  set_reply(request_.attributes, answer);
  if (!error.empty()) set_error(request_, error, message);
  send(request_);
}

void add_evaluation(Tracer& tracer, const std::optional<Context>& caller, const Evaluation& evaluation) {
  if (!tracer.enabled()) return;
  Span span;
  span.context = caller ? tracer.child_of(*caller) : tracer.begin(evaluation.decision);
  span.parent = caller ? caller->span : 0;
  span.kind = Kind::kServer;
  span.name = "feedback";
  span.start_ns = span.end_ns = Tracer::now_ns();
  for (const auto& [model, score] : evaluation.grades) {
    Event& event = span.events.emplace_back(Event{"gen_ai.evaluation.result", span.start_ns, {}});
    event.attributes.set("gen_ai.evaluation.name", "margin.feedback");
    event.attributes.set("gen_ai.evaluation.score.value", score);
    event.attributes.set("gen_ai.evaluation.score.label", score >= 0.5 ? "correct" : "incorrect");
    event.attributes.set("gen_ai.response.id", evaluation.response_id);
    if (!model.empty()) event.attributes.set("margin.model", model);
    if (!evaluation.source.empty()) event.attributes.set("margin.feedback.source", evaluation.source);
    if (span.events.size() == kEventsMax) break;
  }
  tracer.add(std::move(span));
}

}  // namespace margin::trace
