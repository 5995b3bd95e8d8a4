#include "server/feedback_request.h"

#include "base/text.h"
#include "margin/uuid.h"
#include "server/given_id.h"

namespace margin::server {

namespace {

constexpr std::size_t kObservedAtBytesMax = 64;

void read_outcomes(ObjectReader& in, std::vector<Grade>& grades) {
  const Json* outcomes = in.object("outcomes");
  if (outcomes == nullptr) return;
  for (const Json& member : outcomes->items()) {
    const std::string path = "outcomes." + std::string(member.key());
    if (member.type() != Json::Type::kNumber && member.type() != Json::Type::kFlag) {
      return in.fail(path, "got " + std::string(name_of(member.type())) + ", expected a number in [0, 1]");
    }
    if (!(member.number() >= 0.0 && member.number() <= 1.0)) {
      return in.fail(path, "got " + internal::json_number(member.number()) + ", expected a number in [0, 1]");
    }
    grades.push_back({.model = std::string(member.key()), .outcome = member.number()});
  }
  if (grades.empty()) in.fail("outcomes", "expected at least one model");
}

std::optional<double> read_outcome(ObjectReader& in) {
  const Json* outcome = in.any("outcome");
  if (outcome == nullptr) return std::nullopt;
  const bool number = outcome->type() == Json::Type::kNumber || outcome->type() == Json::Type::kFlag;
  if (!number || !(outcome->number() >= 0.0 && outcome->number() <= 1.0)) {
    in.fail("outcome", "expected a number in [0, 1], or true or false");
    return std::nullopt;
  }
  return outcome->number();
}

void read_decision_id(ObjectReader& in, FeedbackRequest& given) {
  int named = 0;
  for (const std::string_view alias : {"decision_id", "inference_id", "trace_id"}) {
    const auto text = in.text(alias);
    if (!text) continue;
    ++named;
    const auto id = parse_given_id(*text);
    id ? given.outcome.decision = *id : (in.fail(alias, "got " + internal::printable(*text) + ", expected a UUID"), Uuid{});
  }
  if (named != 1) in.fail("decision_id", "expected it, or one of inference_id and trace_id, and only one of them");
}

}  // namespace

std::optional<Fault> read_feedback(const Json& body, const Caller& caller, FeedbackRequest& given) {
  ObjectReader in(body, "");
  read_decision_id(in, given);
  if (const auto pool = in.text("pool")) given.pool = *pool;
  if (const auto gold = in.text("correct_answer")) given.outcome.gold = std::string(*gold);
  given.outcome.selected = read_outcome(in);
  read_outcomes(in, given.outcome.grades);
  const int forms = (given.outcome.gold ? 1 : 0) + (given.outcome.selected ? 1 : 0) + (given.outcome.grades.empty() ? 0 : 1);
  if (forms != 1) in.fail("outcome", "expected exactly one of correct_answer, outcome and outcomes");
  const auto weight = in.number("weight");
  if (weight && !(*weight > 0.0 && *weight <= 1.0)) in.fail("weight", "expected a number in (0, 1]");
  given.outcome.weight = weight.value_or(1.0) * caller.weight;
  given.outcome.source = caller.source;
  given.replace = in.flag("replace").value_or(false);
  if (const Json* at = in.any("observed_at")) {
    if (at->type() != Json::Type::kText && at->type() != Json::Type::kNumber) in.fail("observed_at", "expected a time");
    given.observed_at = at->type() == Json::Type::kText ? std::string(at->text()) : internal::json_number(at->number());
    if (given.observed_at.size() > kObservedAtBytesMax) {
      in.fail("observed_at",
              "got " + std::to_string(given.observed_at.size()) + " bytes, expected at most " + std::to_string(kObservedAtBytesMax));
    }
  }
  return in.finish();
}

}  // namespace margin::server
