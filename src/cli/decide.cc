// `margin decide`: asks a running server which of several answers to trust.
#include <fmt/format.h>

#include <charconv>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/text.h"
#include "cli/server_commands.h"
#include "cli/server_flags.h"
#include "client/words.h"

namespace margin::cli {
namespace {

constexpr const char* kDecideFooter =
    "Examples:\n"
    "  margin decide gpt-x=Paris:0.9 llama=Lyon:0.95 --task q17\n"
    "  margin decide --body request.json --json\n"
    "Then tell it what was right: margin feedback DECISION --correct-answer Paris";

struct DecideFlags {
  ServerFlags server;
  std::string pool;
  std::string task;
  std::string segment;
  std::string kind;
  std::optional<double> max_error;
  std::string body;
  std::vector<std::string> responses;
};

// "gpt-x=Paris:0.9" to {"model","answer","confidence"}. An answer may have colons: the last one counts.
Result<std::string> response_json(std::string_view typed) {
  const std::size_t equals = typed.find('=');
  const std::size_t colon = typed.rfind(':');
  double confidence = 0.0;
  bool legal = equals != std::string_view::npos && equals > 0 && colon != std::string_view::npos && colon > equals;
  if (legal) {
    const auto [end, error] = std::from_chars(typed.data() + colon + 1, typed.data() + typed.size(), confidence);
    legal = error == std::errc() && end == typed.data() + typed.size() && confidence >= 0.0 && confidence <= 1.0;
  }
  if (!legal) {
    return Error{ErrorCode::kInvalidArgument, "got " + internal::printable(typed) +
                                                  ", expected MODEL=ANSWER:CONFIDENCE with a confidence in [0, 1], as in gpt-x=Paris:0.9"};
  }
  return fmt::format("{{\"model\":{},\"answer\":{},\"confidence\":{}}}", internal::json_string(typed.substr(0, equals)),
                     internal::json_string(typed.substr(equals + 1, colon - equals - 1)), internal::json_number(confidence));
}

Result<std::string> body_of(const DecideFlags& flags) {
  std::string members;
  const auto add = [&](std::string_view name, const std::string& text) {
    if (!text.empty()) members += fmt::format("\"{}\":{},", name, internal::json_string(text));
  };
  add("pool", flags.pool);
  add("task_id", flags.task);
  add("segment", flags.segment);
  add("kind", flags.kind);
  if (flags.max_error) members += fmt::format("\"max_error\":{},", internal::json_number(*flags.max_error));
  std::string responses;
  for (const std::string& typed : flags.responses) {
    const Result<std::string> response = response_json(typed);
    if (!response) return response.error();
    responses += (responses.empty() ? "" : ",") + *response;
  }
  return "{" + members + "\"responses\":[" + responses + "]}";
}

int run(const DecideFlags& flags) {
  if (flags.body.empty() == flags.responses.empty())
    return complain("decide: expected either responses, MODEL=ANSWER:CONFIDENCE, or --body FILE");
  const bool more = !flags.pool.empty() || !flags.task.empty() || !flags.segment.empty() || !flags.kind.empty() || flags.max_error;
  if (!flags.body.empty() && more)
    return complain("decide: --body is the whole request, expected no --pool, --task, --segment, --kind or --max-error beside it");
  // "nan" is a number to CLI11, and null in JSON, which means that nothing was said.
  if (flags.max_error && !(*flags.max_error > 0.0 && *flags.max_error < 1.0))
    return complain("--max-error: expected a number above 0 and below 1");
  const Result<std::string> body = flags.body.empty() ? body_of(flags) : read_body(flags.body);
  if (!body) return complain(body.error().message);
  return flags.server.ask({.path = "/v1/decide", .body = *body}, client::decision_words);
}

}  // namespace

Command add_decide(CLI::App& root) {
  CLI::App* app = root.add_subcommand("decide", "Ask a running server which of several answers to trust");
  const auto flags = std::make_shared<DecideFlags>();
  app->footer(kDecideFooter);
  app->add_option("RESPONSES", flags->responses, "What the models said: MODEL=ANSWER:CONFIDENCE")->type_name("");
  app->add_option("--pool", flags->pool, "The pool; `default` without it")->type_name("NAME");
  app->add_option("--task", flags->task, "The task's own id")->type_name("ID");
  app->add_option("--segment", flags->segment, "Family of the task")->type_name("NAME");
  app->add_option("--kind", flags->kind, "When two answers are equal: exact, code, choice, math or text")->type_name("NAME");
  app->add_option("--max-error", flags->max_error, "Abstain when the chance of error is larger")->type_name("P");
  app->add_option("--body", flags->body, "The whole request as JSON, instead of all of these; - is the standard input")->type_name("FILE");
  flags->server.add_to(*app);
  return {app, [flags] { return run(*flags); }};
}

}  // namespace margin::cli
