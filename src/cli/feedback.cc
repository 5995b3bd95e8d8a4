// `margin feedback`: tells a running server what became of a decision.
#include <fmt/format.h>

#include <charconv>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "base/text.h"
#include "cli/server_commands.h"
#include "cli/server_flags.h"
#include "client/words.h"

namespace margin::cli {
namespace {

constexpr const char* kFeedbackFooter =
    "Examples:\n"
    "  margin feedback DECISION --correct-answer Paris    grades every response\n"
    "  margin feedback DECISION --outcome 1               the selected answer was right\n"
    "  margin feedback DECISION --outcomes gpt-x=1,llama=0";

struct FeedbackCommandFlags {
  ServerFlags server;
  std::string decision;
  std::string pool;
  std::optional<std::string> correct_answer;
  std::optional<double> outcome;
  std::string outcomes;
  std::optional<double> weight;
  bool replace = false;
  std::string idempotency_key;
};

// "gpt-x=1,llama=0" to {"gpt-x":1,"llama":0}.
Result<std::string> outcomes_json(std::string_view typed) {
  std::string members;
  for (std::string_view rest = typed;;) {
    const std::size_t comma = std::min(rest.find(','), rest.size());
    const std::string_view one = rest.substr(0, comma);
    const std::size_t equals = one.rfind('=');
    double outcome = 0.0;
    bool legal = equals != std::string_view::npos && equals > 0;
    if (legal) {
      const auto [end, error] = std::from_chars(one.data() + equals + 1, one.data() + one.size(), outcome);
      legal = error == std::errc() && end == one.data() + one.size() && outcome >= 0.0 && outcome <= 1.0;
    }
    if (!legal) {
      return Error{ErrorCode::kInvalidArgument, "--outcomes: got " + internal::printable(one) +
                                                    ", expected MODEL=OUTCOME with an outcome in [0, 1], as in gpt-x=1,llama=0"};
    }
    members +=
        fmt::format("{}{}:{}", members.empty() ? "" : ",", internal::json_string(one.substr(0, equals)), internal::json_number(outcome));
    if (comma == rest.size()) return "{" + members + "}";
    rest.remove_prefix(comma + 1);
  }
}

Result<std::string> body_of(const FeedbackCommandFlags& flags) {
  std::string body = "{\"decision_id\":" + internal::json_string(flags.decision);
  if (!flags.pool.empty()) body += ",\"pool\":" + internal::json_string(flags.pool);
  if (flags.correct_answer) body += ",\"correct_answer\":" + internal::json_string(*flags.correct_answer);
  if (flags.outcome) body += ",\"outcome\":" + internal::json_number(*flags.outcome);
  if (!flags.outcomes.empty()) {
    const Result<std::string> outcomes = outcomes_json(flags.outcomes);
    if (!outcomes) return outcomes.error();
    body += ",\"outcomes\":" + *outcomes;
  }
  if (flags.weight) body += ",\"weight\":" + internal::json_number(*flags.weight);
  if (flags.replace) body += ",\"replace\":true";
  return body + "}";
}

int run(const FeedbackCommandFlags& flags) {
  const int forms = (flags.correct_answer ? 1 : 0) + (flags.outcome ? 1 : 0) + (flags.outcomes.empty() ? 0 : 1);
  if (forms != 1) return complain("feedback: expected exactly one of --correct-answer, --outcome and --outcomes");
  // Not left to the server: "nan" is a number to CLI11, and null in JSON, which means that nothing was said.
  if (flags.outcome && !(*flags.outcome >= 0.0 && *flags.outcome <= 1.0)) return complain("--outcome: expected a number in [0, 1]");
  if (flags.weight && !(*flags.weight > 0.0 && *flags.weight <= 1.0)) return complain("--weight: expected a number in (0, 1]");
  const Result<std::string> body = body_of(flags);
  if (!body) return complain(body.error().message);
  client::HttpRequest request{.path = "/v1/feedback", .body = *body};
  if (!flags.idempotency_key.empty()) request.headers.emplace_back("Idempotency-Key", flags.idempotency_key);
  return flags.server.ask(std::move(request), client::receipt_words);
}

}  // namespace

Command add_feedback(CLI::App& root) {
  CLI::App* app = root.add_subcommand("feedback", "Tell a running server what became of a decision");
  const auto flags = std::make_shared<FeedbackCommandFlags>();
  app->footer(kFeedbackFooter);
  app->add_option("DECISION", flags->decision, "The decision's id")->type_name("")->required();
  app->add_option("--correct-answer", flags->correct_answer, "The right answer; grades every response")->type_name("TEXT");
  app->add_option("--outcome", flags->outcome, "Of the selected answer, in [0, 1]: 1 right, 0 wrong")->type_name("X");
  app->add_option("--outcomes", flags->outcomes, "By model: gpt-x=1,llama=0")->type_name("a=X,b=Y");
  app->add_option("--pool", flags->pool, "Where feedback waits whose decision is not known yet")->type_name("NAME");
  app->add_option("--weight", flags->weight, "How much it teaches, in (0, 1]")->type_name("W");
  app->add_flag("--replace", flags->replace, "Take back what was said before, if it was something else");
  app->add_option("--idempotency-key", flags->idempotency_key, "Sent again with the same key it counts once")->type_name("KEY");
  flags->server.add_to(*app);
  return {app, [flags] { return run(*flags); }};
}

}  // namespace margin::cli
