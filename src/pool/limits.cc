#include "pool/limits.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "base/text.h"
#include "margin/remedy.h"

namespace margin::internal {
namespace {

constexpr std::int64_t kPendingMsMax = std::int64_t{100} * 366 * 24 * 3600 * 1000;

Error invalid(std::string_view field, std::string_view expected) {
  return {ErrorCode::kInvalidArgument, std::string(field) + ": expected " + std::string(expected)};
}

bool has_control_character(std::string_view text) {
  return std::any_of(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; });
}

// The text itself is not repeated in the message: it may be anything.
Status check_label(std::string_view field, std::string_view text, std::size_t bytes_min) {
  if (text.size() < bytes_min || text.size() > kNameBytesMax) {
    return {ErrorCode::kInvalidArgument, std::string(field) + ": got " + std::to_string(text.size()) + " bytes, expected " +
                                             std::to_string(bytes_min) + " to " + std::to_string(kNameBytesMax)};
  }
  if (has_control_character(text)) return invalid(field, "no control characters");
  return {};
}

Status check_count(std::string_view field, std::int64_t value, std::int64_t low, std::int64_t high) {
  if (value >= low && value <= high) return {};
  return {ErrorCode::kInvalidArgument, std::string(field) + ": got " + std::to_string(value) + ", expected a whole number in [" +
                                           std::to_string(low) + ", " + std::to_string(high) + "]"};
}

std::string at(std::string_view list, std::size_t index, std::string_view field) {
  return std::string(list) + "[" + std::to_string(index) + "]." + std::string(field);
}

// The first response whose model and channel an earlier one has.
std::optional<std::size_t> first_repeated(const std::vector<RecordedResponse>& responses) {
  constexpr std::size_t kFew = 16;  // are compared each with each
  std::set<std::pair<std::string_view, std::string_view>> seen;
  for (std::size_t i = 0; i < responses.size(); ++i) {
    const RecordedResponse& response = responses[i];
    const auto same = [&](const RecordedResponse& other) { return other.model == response.model && other.channel == response.channel; };
    const bool repeated = responses.size() <= kFew ? std::any_of(responses.data(), responses.data() + i, same)
                                                   : !seen.emplace(response.model, response.channel).second;
    if (repeated) return i;
  }
  return std::nullopt;
}

bool is_stated(const std::optional<double>& confidence) { return !confidence || is_probability(*confidence) || std::isnan(*confidence); }

// What drafts and decisions have in common. `numbers`: those of the responses are looked at.
Status check_responses(const std::vector<RecordedResponse>& responses, std::string_view segment, const PoolConfigured& config, bool seated,
                       bool numbers = true) {
  if (Status status = seated ? Status() : check_label("segment", segment, 0); !status) return status;
  if (responses.empty()) return invalid("responses", "at least one");
  if (responses.size() > config.responses_max) {
    return {ErrorCode::kLimit, "responses: got " + std::to_string(responses.size()) +
                                   ", expected at most responses_max = " + std::to_string(config.responses_max)};
  }
  if (seated && !numbers) return {};
  for (std::size_t i = 0; i < responses.size(); ++i) {
    const RecordedResponse& response = responses[i];
    // The fields' names are put together only for those who will read them.
    if (!seated && !check_model_name({}, response.model)) return check_model_name(at("responses", i, "model"), response.model);
    if (!seated && !check_label({}, response.channel, 1)) return check_label(at("responses", i, "channel"), response.channel, 1);
    if (!is_stated(response.confidence)) {
      return out_of_range(at("responses", i, "confidence"), *response.confidence, "a number in [0, 1], or none");
    }
  }
  if (seated) return {};
  if (const auto repeated = first_repeated(responses)) return invalid(at("responses", *repeated, "model"), "each model once per channel");
  return {};
}

}  // namespace

Error out_of_range(std::string_view field, double value, std::string_view expected) {
  return {ErrorCode::kInvalidArgument, std::string(field) + ": got " + shortest(value) + ", expected " + std::string(expected)};
}

Status check_model_name(std::string_view field, std::string_view name) {
  if (Status status = check_label(field, name, 1); !status) return status;
  if (name.front() == '@') return invalid(field, "a name that does not begin with '@' (reserved)");
  return {};
}

Status check_cell_names(std::string_view channel, std::string_view segment) {
  if (Status status = check_label("channel", channel, 1); !status) return status;
  return check_label("segment", segment, 0);
}

Status check_config(const PoolConfigured& config) {
  if (Status status = check_count("pending_ms_max", config.pending_ms_max, 1, kPendingMsMax); !status) return status;
  if (Result<Remedy> remedy = make_remedy(config.remedy); !remedy) return remedy.error();
  if (!is_probability(config.audit_rate)) return out_of_range("audit_rate", config.audit_rate, "a number in [0, 1]");
  if (!(config.source_share_max > 0.0 && config.source_share_max <= 1.0)) {
    return out_of_range("source_share_max", config.source_share_max, "a number in (0, 1]");
  }
  if (!(config.max_error > 0.0 && config.max_error <= 1.0)) return out_of_range("max_error", config.max_error, "a number in (0, 1]");
  if (Status status = check_count("watched_models_max", config.watched_models_max, 0, 1024); !status) return status;
  if (Status status = check_count("models_max", config.models_max, 1, kModelsMax); !status) return status;
  if (Status status = check_count("cells_max", config.cells_max, 1, 1'000'000); !status) return status;
  if (Status status = check_count("responses_max", config.responses_max, 1, 65'536); !status) return status;
  if (Status status = check_count("decisions_max", config.decisions_max, 1, 1'000'000'000); !status) return status;
  if (Status status = check_count("early_max", config.early_max, 0, 1'000'000'000); !status) return status;
  return check_count("remembered_events_max", config.remembered_events_max, 1, 100'000'000);
}

namespace {

Status check_max_error(std::optional<double> max_error) {
  if (!max_error || (*max_error > 0.0 && *max_error < 1.0)) return {};
  return out_of_range("max_error", *max_error, "a number above 0 and below 1, or none");
}

bool is_count(double x) { return x >= 0.0 && std::isfinite(x); }

// What a decision tells people and nobody learns from.
bool is_propensity(double x) { return x > 0.0 && x <= 1.0; }

Status check_told(const DecisionMade& decision, bool plain) {
  const Sureness& sure = decision.sure;
  if (sure.status > TrustStatus::kCalibrated) return invalid("sure.status", "a known status");
  if (!is_probability(sure.p_correct)) return out_of_range("sure.p_correct", sure.p_correct, "a number in [0, 1]");
  if (!is_probability(sure.low) || !is_probability(sure.high) || sure.low > sure.high) {
    return invalid("sure", "an interval low <= high within [0, 1]");
  }
  if (!is_count(sure.effective_n)) return out_of_range("sure.effective_n", sure.effective_n, "a number >= 0");
  if (!is_probability(decision.runner_up_gap)) return out_of_range("runner_up_gap", decision.runner_up_gap, "a number in [0, 1]");
  if (Status status = check_max_error(decision.max_error); !status) return status;
  if (decision.vote.size() > kNameBytesMax) return invalid("vote", "the name of a vote");
  if (decision.scores.size() > decision.answers.size()) return invalid("scores", "at most one per answer");
  if (decision.decisive.size() > decision.responses.size()) return invalid("decisive", "no more models than responses");
  for (std::size_t i = 0; !plain && i < decision.responses.size(); ++i) {
    const RecordedResponse& response = decision.responses[i];
    if (!is_count(response.factor)) return out_of_range(at("responses", i, "factor"), response.factor, "a number >= 0");
    if (!is_count(response.n)) return out_of_range(at("responses", i, "n"), response.n, "a number >= 0");
    if (!std::isfinite(response.weight)) return out_of_range(at("responses", i, "weight"), response.weight, "a finite number");
  }
  return {};
}

// Nothing is wrong with any response. Numbers are looked at as bits, one comparison each: those of a positive double grow with it, and
// those of negative ones and of NaN come after. False says nothing: a negative zero is none of these and yet right.
bool all_plain(const std::vector<RecordedResponse>& responses, std::size_t answers) {
  constexpr auto kOne = std::bit_cast<std::uint64_t>(1.0);
  constexpr auto kInfinity = std::bit_cast<std::uint64_t>(std::numeric_limits<double>::infinity());
  const auto bits = [](double x) { return std::bit_cast<std::uint64_t>(x); };
  return std::all_of(responses.begin(), responses.end(), [&](const RecordedResponse& response) {
    return bits(response.confidence.value_or(0.0)) <= kOne && (response.answer < answers || response.answer == kNoAnswer) &&
           bits(response.calibrated) <= kOne && bits(response.audit) <= kOne && bits(response.factor) < kInfinity &&
           bits(response.n) < kInfinity && bits(std::fabs(response.weight)) < kInfinity;
  });
}

}  // namespace

Status check_draft(const Draft& draft, const PoolConfigured& config, bool seated) {
  const DecisionMade& asked = draft.decision;
  if (Status status = check_max_error(asked.max_error); !status) return status;
  if (!is_probability(draft.audits.rate)) return out_of_range("audits.rate", draft.audits.rate, "a number in [0, 1]");
  if (!is_propensity(asked.propensity)) return out_of_range("propensity", asked.propensity, "a number in (0, 1]");
  if (!draft.primary.empty() && !draft.vote.empty()) return invalid("primary", "no vote beside it");
  return check_responses(asked.responses, asked.segment, config, seated);
}

Status check_decision(const DecisionMade& decision, const PoolConfigured& config, bool seated) {
  // Then they need not be looked at one by one to tell what is wrong.
  const bool plain = all_plain(decision.responses, decision.answers.size());
  if (Status status = check_responses(decision.responses, decision.segment, config, seated, !plain); !status) return status;
  if (decision.kind > AnswerKind::kText) return invalid("kind", "a known answer kind");
  if (decision.answers.size() > decision.responses.size()) return invalid("answers", "no more answers than responses");
  const auto is_answer = [&](std::uint32_t group) { return group == kNoAnswer || group < decision.answers.size(); };
  for (std::size_t i = 0; !plain && i < decision.responses.size(); ++i) {
    if (!is_answer(decision.responses[i].answer)) return invalid(at("responses", i, "answer"), "one of the decision's answers, or none");
    if (!is_probability(decision.responses[i].calibrated)) {
      return out_of_range(at("responses", i, "calibrated"), decision.responses[i].calibrated, "a number in [0, 1]");
    }
    if (!is_probability(decision.responses[i].audit)) {
      return out_of_range(at("responses", i, "audit"), decision.responses[i].audit, "a number in [0, 1]");
    }
  }
  if (!is_answer(decision.selected)) return invalid("selected", "one of the decision's answers, or none");
  if (!is_probability(decision.share)) return out_of_range("share", decision.share, "a number in [0, 1]");
  if (!is_probability(decision.audit_rate)) return out_of_range("audit_rate", decision.audit_rate, "a number in [0, 1]");
  if (!is_propensity(decision.propensity)) return out_of_range("propensity", decision.propensity, "a number in (0, 1]");
  return check_told(decision, plain);
}

Status check_outcome(const OutcomeObserved& outcome, const PoolConfigured& config) {
  const int forms = (outcome.grades.empty() ? 0 : 1) + (outcome.gold ? 1 : 0) + (outcome.selected ? 1 : 0);
  if (forms != 1) return invalid("outcome", "exactly one of grades, gold and selected");
  if (!is_probability(outcome.weight)) return out_of_range("weight", outcome.weight, "a number in [0, 1]");
  if (Status status = check_label("source", outcome.source, 0); !status) return status;
  if (outcome.selected && !is_probability(*outcome.selected)) return out_of_range("selected", *outcome.selected, "a number in [0, 1]");
  if (outcome.grades.size() > config.responses_max) {
    return {ErrorCode::kLimit, "grades: got " + std::to_string(outcome.grades.size()) +
                                   ", expected at most responses_max = " + std::to_string(config.responses_max)};
  }
  for (std::size_t i = 0; i < outcome.grades.size(); ++i) {
    const Grade& grade = outcome.grades[i];
    if (!check_model_name({}, grade.model)) return check_model_name(at("grades", i, "model"), grade.model);
    if (!check_label({}, grade.channel, 0)) return check_label(at("grades", i, "channel"), grade.channel, 0);
    if (!is_probability(grade.outcome)) return out_of_range(at("grades", i, "outcome"), grade.outcome, "a number in [0, 1]");
  }
  return {};
}

}  // namespace margin::internal
