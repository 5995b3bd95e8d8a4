// ChatTrace: the spans of one chat request with OpenTelemetry's names for generative AI: one SERVER span for the client's request and one
// CLIENT span per call to an upstream. Used by the gateway, on the loop's thread.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "trace/tracer.h"
#include "upstream/chat.h"
#include "upstream/upstream.h"

namespace margin::trace {

using Headers = std::vector<std::pair<std::string, std::string>>;

struct ChatFacts {
  std::string model;  // as the client named it
  bool stream = false;
  std::vector<std::pair<std::string, std::string>> members;  // of the request, values in JSON; those that describe the sampling are used
};

class ChatTrace {
 public:
  // `caller`: the trace the client is in; without one the decision's id is the trace's, so that either finds the other.
  ChatTrace(const std::shared_ptr<Tracer>& tracer, const std::optional<Context>& caller, Uuid decision, ChatFacts facts);
  // Calls that have not ended are told as cancelled, the request too.
  ~ChatTrace();
  ChatTrace(const ChatTrace&) = delete;
  ChatTrace& operator=(const ChatTrace&) = delete;

  // A call to an upstream begins; its number.
  std::size_t call(const upstream::Settings& upstream);
  // What tells the upstream which span it is called by; what the client sent, when nothing is recorded.
  [[nodiscard]] Headers headers(std::size_t call) const;
  // A call has ended. `reply`: what was read of it; null: nothing could be.
  void ended(std::size_t call, const upstream::Outcome& outcome, const upstream::ChatReply* reply);

  // Of the client's request: margin.* and what its answer says. Before finish().
  [[nodiscard]] Attributes& attributes() { return request_.attributes; }
  [[nodiscard]] const Context& context() const { return request_.context; }
  // The client is answered. `error`: the type of an error, "timeout"; empty: none.
  void finish(const upstream::ChatReply& answer, std::string_view error = {}, std::string_view message = {});

 private:
  void send(Span span);

  std::weak_ptr<Tracer> tracer_;  // a chat may end after the server
  const bool recording_;
  const ChatFacts facts_;
  const std::optional<Context> caller_;
  Span request_;
  std::vector<std::optional<Span>> calls_;  // those under way
  bool finished_ = false;
};

// What became of a decision: an event gen_ai.evaluation.result for each grade, on a span of its own in the caller's trace or the
// decision's.
struct Evaluation {
  Uuid decision;
  std::string response_id;                             // "chatcmpl-..."
  std::string source;                                  // whose feedback it is
  std::vector<std::pair<std::string, double>> grades;  // by model; 1: right. An empty name: of the answer as a whole
};
void add_evaluation(Tracer& tracer, const std::optional<Context>& caller, const Evaluation& evaluation);

}  // namespace margin::trace
