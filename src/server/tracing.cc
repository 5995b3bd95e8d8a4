#include "server/tracing.h"

namespace margin::server {

std::optional<trace::Context> caller_context(const http::Request& request) {
  const auto traceparent = request.header("traceparent");
  if (!traceparent) return std::nullopt;
  return trace::parse_traceparent(*traceparent, request.header("tracestate").value_or(""));
}

std::shared_ptr<trace::ChatTrace> begin_trace(App& app, const std::optional<trace::Context>& caller, Uuid id,
                                              const gateway::ChatRequest& request) {
  trace::ChatFacts facts{.model = request.model, .stream = request.stream, .members = {}};
  if (app.tracer()->enabled()) facts.members = request.members;
  return std::make_shared<trace::ChatTrace>(app.tracer(), caller, id, std::move(facts));
}

void finish_trace(trace::ChatTrace& trace, const FinishedChat& chat) {
  const DecisionMade& decision = *chat.heard.decision;
  trace::Attributes& attributes = trace.attributes();
  attributes.set("margin.decision_id", chat.id.text());
  attributes.set("margin.winner", decision.selected_model);
  attributes.set("margin.p_correct", decision.sure.p_correct);
  attributes.set("margin.status", margin::name_of(decision.sure.status));
  attributes.set("margin.runner_up_gap", decision.runner_up_gap);
  attributes.set("margin.calls", static_cast<std::int64_t>(chat.heard.calls));
  trace.finish(
      {.id = chat_id(chat.id), .model = decision.selected_model, .finish_reason = chat.winner().finish_reason, .usage = chat.heard.usage});
}

void fail_trace(trace::ChatTrace& trace, const http::Response& refusal) {
  trace.finish({}, std::to_string(refusal.status), http::reason_of(refusal.status));
}

void trace_feedback(App& app, const std::optional<trace::Context>& caller, const OutcomeObserved& outcome) {
  if (!app.tracer()->enabled()) return;
  trace::Evaluation evaluation{
      .decision = outcome.decision, .response_id = chat_id(outcome.decision), .source = outcome.source, .grades = {}};
  for (const Grade& grade : outcome.grades) evaluation.grades.emplace_back(grade.model, grade.outcome);
  if (outcome.selected) evaluation.grades.emplace_back("", *outcome.selected);
  if (!evaluation.grades.empty()) trace::add_evaluation(*app.tracer(), caller, evaluation);
}

}  // namespace margin::server
