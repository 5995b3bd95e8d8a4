#include "server/render_chat.h"

#include <algorithm>

#include "server/render.h"

namespace margin::server {
namespace {

using gateway::Candidate;

void render_usage(JsonWriter& out, const upstream::Usage& usage) {
  out.open('{').key("prompt_tokens").number(usage.prompt_tokens).key("completion_tokens").number(usage.completion_tokens);
  out.key("total_tokens").number(usage.total_tokens);
  if (usage.cached_tokens > 0) out.key("prompt_tokens_details").open('{').key("cached_tokens").number(usage.cached_tokens).close('}');
  if (usage.reasoning_tokens > 0) {
    out.key("completion_tokens_details").open('{').key("reasoning_tokens").number(usage.reasoning_tokens).close('}');
  }
  out.close('}');
}

const RecordedResponse* response_of(const DecisionMade& decision, const std::string& model) {
  const auto found = std::find_if(decision.responses.begin(), decision.responses.end(), [&](const auto& r) { return r.model == model; });
  return found == decision.responses.end() ? nullptr : &*found;
}

void text_or_null(JsonWriter& out, std::string_view key, std::string_view text) {
  out.key(key);
  text.empty() ? out.null() : out.text(text);
}

void render_candidate(JsonWriter& out, const Candidate& candidate, const DecisionMade& decision, bool raw) {
  out.open('{').key("model").text(candidate.model);
  text_or_null(out, "served_as", candidate.served_as);
  text_or_null(out, "answer", candidate.reading.answer);
  out.key("stated");
  candidate.confidence ? out.number(*candidate.confidence) : out.null();
  const RecordedResponse* response = candidate.usable() ? response_of(decision, candidate.model) : nullptr;
  out.key("calibrated");
  response != nullptr&& was_calibrated(*response) ? out.number(response->calibrated) : out.null();
  out.key("weight");
  response != nullptr ? out.number(response->weight) : out.null();
  out.key("channel").text(candidate.channel);
  text_or_null(out, "error", candidate.error);
  text_or_null(out, "message", candidate.message);
  out.key("usage");
  render_usage(out, candidate.usage);
  out.key("cost").number(candidate.cost);
  out.key("took_ms").number(std::chrono::duration<double, std::milli>(candidate.took).count());
  out.key("attempts").number(candidate.attempts);
  if (raw) text_or_null(out, "raw", candidate.reply);
  out.close('}');
}

void render_margin(JsonWriter& out, const FinishedChat& chat) {
  const DecisionMade& decision = *chat.heard.decision;
  out.open('{').key("decision_id").text(chat.id.text()).key("p_correct").number(decision.sure.p_correct);
  out.key("interval").open('[').number(decision.sure.low).number(decision.sure.high).close(']');
  out.key("status").text(margin::name_of(decision.sure.status)).key("winner").text(decision.selected_model);
  out.key("runner_up_gap").number(decision.runner_up_gap);
  if (decision.max_error) out.key("abstained").flag(decision.abstained);
  if (chat.options.candidates || chat.options.raw) {
    out.key("candidates").open('[');
    for (const Candidate& candidate : chat.heard.candidates) {
      if (candidate.progress != gateway::Progress::kIdle) render_candidate(out, candidate, decision, chat.options.raw);
    }
    out.close(']').key("cost").number(chat.heard.cost);
  }
  if (chat.options.explanation) {
    out.key("explanation").open('{');
    render_decision(out, chat.id, decision, [&](std::size_t i) -> std::optional<std::string_view> {
      const auto& answer = chat.heard.question.responses[i].answer;
      return answer ? std::optional<std::string_view>(*answer) : std::nullopt;
    });
    out.close('}');
  }
  out.close('}');
}

std::string_view finish_reason(const FinishedChat& chat) {
  const std::string& reason = chat.winner().finish_reason;
  return reason.empty() ? std::string_view("stop") : std::string_view(reason);
}

void render_head(JsonWriter& out, const FinishedChat& chat, std::string_view object) {
  out.open('{').key("id").text(chat_id(chat.id)).key("object").text(object).key("created").number(chat.created_s);
  out.key("model").text(chat.model).key("system_fingerprint").text("margin-" + std::to_string(chat.state_version));
}

// A chunk whose delta `fill` writes.
template <class Fill>
void add_chunk(std::string& frames, const FinishedChat& chat, bool include_usage, std::string_view reason, const Fill& fill) {
  JsonWriter out;
  render_head(out, chat, "chat.completion.chunk");
  out.key("choices").open('[').open('{').key("index").number(0).key("delta").open('{');
  fill(out);
  out.close('}').key("logprobs").null().key("finish_reason");
  reason.empty() ? out.null() : out.text(reason);
  out.close('}').close(']');
  if (include_usage) out.key("usage").null();
  if (!reason.empty()) {
    out.key("margin");
    render_margin(out, chat);
  }
  out.close('}');
  frames += "data: " + out.take() + "\n\n";
}

}  // namespace

const Candidate& FinishedChat::winner() const {
  const auto& candidates = heard.candidates;
  return *std::find_if(candidates.begin(), candidates.end(),
                       [&](const Candidate& each) { return each.model == heard.decision->selected_model; });
}

std::string chat_id(Uuid decision) { return "chatcmpl-" + decision.text(); }

std::string render_chat(const FinishedChat& chat) {
  JsonWriter out;
  render_head(out, chat, "chat.completion");
  out.key("choices").open('[').open('{').key("index").number(0).key("message").open('{').key("role").text("assistant");
  out.key("content").text(chat.winner().reading.shown).key("refusal").null().close('}');
  out.key("logprobs").null().key("finish_reason").text(finish_reason(chat)).close('}').close(']').key("usage");
  render_usage(out, chat.heard.usage);
  out.key("margin");
  render_margin(out, chat);
  return out.close('}').take();
}

std::string render_chat_stream(const FinishedChat& chat, bool include_usage) {
  std::string frames;
  add_chunk(frames, chat, include_usage, "", [](JsonWriter& out) { out.key("role").text("assistant").key("content").text(""); });
  add_chunk(frames, chat, include_usage, "", [&](JsonWriter& out) { out.key("content").text(chat.winner().reading.shown); });
  add_chunk(frames, chat, include_usage, finish_reason(chat), [](JsonWriter&) {});
  if (include_usage) {
    JsonWriter out;
    render_head(out, chat, "chat.completion.chunk");
    out.key("choices").open('[').close(']').key("usage");
    render_usage(out, chat.heard.usage);
    frames += "data: " + out.close('}').take() + "\n\n";
  }
  return frames + "data: [DONE]\n\n";
}

std::string render_error_frame(std::string_view error_body) { return "data: " + std::string(error_body) + "\n\n"; }

}  // namespace margin::server
