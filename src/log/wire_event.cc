// Event bodies to and from their messages.
#include "log/wire_event.h"

#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "log/left_out.h"

namespace margin::internal {
namespace {

// Every struct is taken apart by a structured binding of all its fields, in both directions, so that a field which is added to
// margin/event.h and forgotten here does not compile.

void to_wire(const Digest& from, wire::Hash& to) {
  const auto& [high, low] = from;
  to.set_high(high);
  to.set_low(low);
}

void from_wire(const wire::Hash& from, Digest& to) {
  auto& [high, low] = to;
  high = from.high();
  low = from.low();
}

// Groups of answers are stored one higher, so that "no answer" takes no space.
static_assert(kNoAnswer + 1 == 0);

using WireParameters = google::protobuf::RepeatedPtrField<wire::Parameter>;

void to_wire(const Parameters& from, WireParameters& to) {
  for (const auto& [name, value] : from) {
    wire::Parameter& parameter = *to.Add();
    parameter.set_name(name);
    if (const auto* number = std::get_if<double>(&value)) parameter.set_number(*number);
    if (const auto* word = std::get_if<std::string>(&value)) parameter.set_word(*word);
    if (const auto* list = std::get_if<std::vector<double>>(&value)) {
      parameter.mutable_numbers()->mutable_values()->Assign(list->begin(), list->end());
    }
  }
}

// False: a parameter without a value.
bool from_wire(const WireParameters& from, Parameters& to) {
  for (const wire::Parameter& parameter : from) {
    switch (parameter.value_case()) {
      case wire::Parameter::kNumber: to[parameter.name()] = parameter.number(); break;
      case wire::Parameter::kWord: to[parameter.name()] = parameter.word(); break;
      case wire::Parameter::kNumbers:
        to[parameter.name()] = std::vector<double>(parameter.numbers().values().begin(), parameter.numbers().values().end());
        break;
      case wire::Parameter::VALUE_NOT_SET: return false;
    }
  }
  return true;
}

// What records mean that were written before these fields: they are not written, so that such a record is written again as it was.
const std::string kRemedyOfOld = "none";
constexpr std::uint32_t kWatchedOfOld = 64;
constexpr double kShareOfOld = 1.0;
constexpr double kMaxErrorOfOld = 1.0;

void to_wire(const PoolConfigured& from, wire::PoolConfigured& to) {
  const auto& [calibrator, calibrator_version, calibrator_parameters, vote, vote_version, vote_parameters, trust, trust_version,
               trust_parameters, remedy, audit_rate, source_share_max, max_error, pending_ms_max, models_max, cells_max, responses_max,
               decisions_max, early_max, remembered_events_max, watched_models_max] = from;
  to.set_calibrator(calibrator);
  to.set_calibrator_version(calibrator_version);
  to_wire(calibrator_parameters, *to.mutable_calibrator_parameters());
  to.set_vote(vote);
  to.set_vote_version(vote_version);
  to_wire(vote_parameters, *to.mutable_vote_parameters());
  to.set_trust(trust);
  to.set_trust_version(trust_version);
  to_wire(trust_parameters, *to.mutable_trust_parameters());
  to.set_pending_ms_max(pending_ms_max);
  to.set_models_max(models_max);
  to.set_cells_max(cells_max);
  to.set_responses_max(responses_max);
  to.set_decisions_max(decisions_max);
  to.set_early_max(early_max);
  to.set_remembered_events_max(remembered_events_max);
  if (remedy != kRemedyOfOld) to.set_remedy(remedy);
  to.set_audit_rate(audit_rate);
  if (source_share_max != kShareOfOld) to.set_source_share_max(source_share_max);
  if (max_error != kMaxErrorOfOld) to.set_max_error(max_error);
  if (watched_models_max != kWatchedOfOld) to.set_watched_models_max(watched_models_max);
}

bool from_wire(const wire::PoolConfigured& from, PoolConfigured& to) {
  auto& [calibrator, calibrator_version, calibrator_parameters, vote, vote_version, vote_parameters, trust, trust_version, trust_parameters,
         remedy, audit_rate, source_share_max, max_error, pending_ms_max, models_max, cells_max, responses_max, decisions_max, early_max,
         remembered_events_max, watched_models_max] = to;
  calibrator = from.calibrator();
  calibrator_version = from.calibrator_version();
  vote = from.vote();
  vote_version = from.vote_version();
  trust = from.trust();
  trust_version = from.trust_version();
  pending_ms_max = from.pending_ms_max();
  models_max = from.models_max();
  cells_max = from.cells_max();
  responses_max = from.responses_max();
  decisions_max = from.decisions_max();
  early_max = from.early_max();
  remembered_events_max = from.remembered_events_max();
  remedy = from.has_remedy() ? from.remedy() : kRemedyOfOld;
  audit_rate = from.audit_rate();
  source_share_max = from.has_source_share_max() ? from.source_share_max() : kShareOfOld;
  max_error = from.has_max_error() ? from.max_error() : kMaxErrorOfOld;
  watched_models_max = from.has_watched_models_max() ? from.watched_models_max() : kWatchedOfOld;
  return from_wire(from.calibrator_parameters(), calibrator_parameters) && from_wire(from.vote_parameters(), vote_parameters) &&
         from_wire(from.trust_parameters(), trust_parameters);
}

void to_wire(const ModelJoined& from, wire::ModelJoined& to) {
  const auto& [model, predecessor] = from;
  to.set_model(model);
  to.set_predecessor(predecessor);
}

bool from_wire(const wire::ModelJoined& from, ModelJoined& to) {
  auto& [model, predecessor] = to;
  model = from.model();
  predecessor = from.predecessor();
  return true;
}

void to_wire(const ModelLeft& from, wire::ModelLeft& to) {
  const auto& [model] = from;
  to.set_model(model);
}

bool from_wire(const wire::ModelLeft& from, ModelLeft& to) {
  auto& [model] = to;
  model = from.model();
  return true;
}

void from_wire(const wire::RecordedResponse& from, RecordedResponse& to) {
  auto& [model, channel, confidence, answer, answer_text, abstained, calibrated, audit, factor, band, n, weight, terms] = to;
  model = from.model();
  channel = from.channel();
  if (from.has_confidence()) confidence = from.confidence();
  answer = from.answer() - 1;
  answer_text = from.answer_text();
  abstained = from.abstained();
  calibrated = from.calibrated();
  audit = from.audit();
  factor = from.factor();
  band = from.band();
  n = from.n();
  weight = from.weight();
  for (const wire::Term& term : from.terms()) terms.push_back({term.name(), term.value()});
}

bool from_wire(const wire::Sureness& from, Sureness& to) {
  auto& [p_correct, low, high, effective_n, status] = to;
  p_correct = from.p_correct();
  low = from.low();
  high = from.high();
  effective_n = from.effective_n();
  status = static_cast<TrustStatus>(from.status());
  return from.status() <= static_cast<std::uint32_t>(TrustStatus::kCalibrated);
}

bool from_wire(const wire::DecisionMade& from, DecisionMade& to) {
  auto& [task, segment, kind, responses, answers, selected, selected_model, share, runner_up_gap, scores, sure, max_error, abstained,
         decisive, audit_rate, probe, vote, propensity] = to;
  task = from.task();
  segment = from.segment();
  kind = static_cast<AnswerKind>(from.kind());
  responses.resize(static_cast<std::size_t>(from.responses_size()));
  for (int i = 0; i < from.responses_size(); ++i) from_wire(from.responses(i), responses[static_cast<std::size_t>(i)]);
  answers.resize(static_cast<std::size_t>(from.answers_size()));
  for (int i = 0; i < from.answers_size(); ++i) from_wire(from.answers(i), answers[static_cast<std::size_t>(i)]);
  selected = from.selected() - 1;
  selected_model = from.selected_model();
  share = from.share();
  runner_up_gap = from.runner_up_gap();
  scores.assign(from.scores().begin(), from.scores().end());
  if (from.has_max_error()) max_error = from.max_error();
  abstained = from.abstained();
  audit_rate = from.audit_rate();
  probe = from.probe();
  vote = from.vote();
  propensity = from.has_propensity() ? from.propensity() : 1.0;
  for (const wire::DecisiveModel& each : from.decisive()) decisive.push_back({each.model(), each.answer() - 1});
  const auto& confidences = from.confidences();
  if (!LeftOut::put_back(from.left_out(), {confidences.data(), static_cast<std::size_t>(confidences.size())}, to)) return false;
  return from_wire(from.sure(), sure) && from.kind() <= static_cast<std::uint32_t>(AnswerKind::kText);
}

void to_wire(const Grade& from, wire::Grade& to) {
  const auto& [model, outcome, channel] = from;
  to.set_model(model);
  to.set_outcome(outcome);
  to.set_channel(channel);
}

void from_wire(const wire::Grade& from, Grade& to) {
  auto& [model, outcome, channel] = to;
  model = from.model();
  outcome = from.outcome();
  channel = from.channel();
}

void to_wire(const OutcomeObserved& from, wire::OutcomeObserved& to) {
  const auto& [decision, grades, gold, selected, weight, source] = from;
  to.set_decision_high(decision.high);
  to.set_decision_low(decision.low);
  for (const Grade& grade : grades) to_wire(grade, *to.add_grades());
  if (gold) to.set_gold(*gold);
  if (selected) to.set_selected(*selected);
  to.set_weight(weight);
  to.set_source(source);
}

bool from_wire(const wire::OutcomeObserved& from, OutcomeObserved& to) {
  auto& [decision, grades, gold, selected, weight, source] = to;
  decision = {from.decision_high(), from.decision_low()};
  grades.resize(static_cast<std::size_t>(from.grades_size()));
  for (int i = 0; i < from.grades_size(); ++i) from_wire(from.grades(i), grades[static_cast<std::size_t>(i)]);
  if (from.has_gold()) gold = from.gold();
  if (from.has_selected()) selected = from.selected();
  weight = from.weight();
  source = from.source();
  return true;
}

void to_wire(const OutcomeReverted& from, wire::OutcomeReverted& to) {
  const auto& [feedback, source] = from;
  if (feedback) to_wire(Digest{feedback->high, feedback->low}, *to.mutable_feedback());
  to.set_source(source);
}

bool from_wire(const wire::OutcomeReverted& from, OutcomeReverted& to) {
  auto& [feedback, source] = to;
  if (from.has_feedback()) feedback = Uuid{from.feedback().high(), from.feedback().low()};
  source = from.source();
  return true;
}

static_assert(std::is_empty_v<LearningFrozen> && std::is_empty_v<LearningResumed>);

void to_wire(const FactorPinned& from, wire::FactorPinned& to) {
  const auto& [model, factor] = from;
  to.set_model(model);
  to.set_factor(factor);
}

bool from_wire(const wire::FactorPinned& from, FactorPinned& to) {
  auto& [model, factor] = to;
  model = from.model();
  factor = from.factor();
  return true;
}

void to_wire(const StateImported& from, wire::StateImported& to) {
  const auto& [state, trust] = from;
  to.set_state(state);
  to.set_trust(trust);
}

bool from_wire(const wire::StateImported& from, StateImported& to) {
  auto& [state, trust] = to;
  state = from.state();
  trust = from.trust();
  return true;
}

void to_wire(const FactorUnpinned& from, wire::FactorUnpinned& to) {
  const auto& [model] = from;
  to.set_model(model);
}

bool from_wire(const wire::FactorUnpinned& from, FactorUnpinned& to) {
  auto& [model] = to;
  model = from.model();
  return true;
}

}  // namespace

void to_wire(const RequestMark& from, wire::Mark& to) {
  const auto& [key, body] = from;
  to_wire(key, *to.mutable_key());
  to_wire(body, *to.mutable_body());
}

void from_wire(const wire::Mark& from, RequestMark& to) {
  auto& [key, body] = to;
  from_wire(from.key(), key);
  from_wire(from.body(), body);
}

void to_wire(const EventBody& from, wire::Envelope& to) {
  struct Writer {
    wire::Envelope& to;
    void operator()(const PoolConfigured& body) const { to_wire(body, *to.mutable_pool_configured()); }
    void operator()(const ModelJoined& body) const { to_wire(body, *to.mutable_model_joined()); }
    void operator()(const ModelLeft& body) const { to_wire(body, *to.mutable_model_left()); }
    void operator()(const DecisionMade&) const {}
    void operator()(const OutcomeObserved& body) const { to_wire(body, *to.mutable_outcome_observed()); }
    void operator()(const OutcomeReverted& body) const { to_wire(body, *to.mutable_outcome_reverted()); }
    void operator()(const LearningFrozen&) const { to.mutable_learning_frozen(); }
    void operator()(const LearningResumed&) const { to.mutable_learning_resumed(); }
    void operator()(const FactorPinned& body) const { to_wire(body, *to.mutable_factor_pinned()); }
    void operator()(const FactorUnpinned& body) const { to_wire(body, *to.mutable_factor_unpinned()); }
    void operator()(const StateImported& body) const { to_wire(body, *to.mutable_state_imported()); }
  };
  std::visit(Writer{to}, from);
}

bool from_wire(const wire::Envelope& from, EventBody& to) {
  switch (from.body_case()) {
    case wire::Envelope::kPoolConfigured: return from_wire(from.pool_configured(), to.emplace<PoolConfigured>());
    case wire::Envelope::kModelJoined: return from_wire(from.model_joined(), to.emplace<ModelJoined>());
    case wire::Envelope::kModelLeft: return from_wire(from.model_left(), to.emplace<ModelLeft>());
    case wire::Envelope::kDecisionMade: return from_wire(from.decision_made(), to.emplace<DecisionMade>());
    case wire::Envelope::kOutcomeObserved: return from_wire(from.outcome_observed(), to.emplace<OutcomeObserved>());
    case wire::Envelope::kOutcomeReverted: return from_wire(from.outcome_reverted(), to.emplace<OutcomeReverted>());
    case wire::Envelope::kLearningFrozen: to.emplace<LearningFrozen>(); return true;
    case wire::Envelope::kLearningResumed: to.emplace<LearningResumed>(); return true;
    case wire::Envelope::kFactorPinned: return from_wire(from.factor_pinned(), to.emplace<FactorPinned>());
    case wire::Envelope::kFactorUnpinned: return from_wire(from.factor_unpinned(), to.emplace<FactorUnpinned>());
    case wire::Envelope::kStateImported: return from_wire(from.state_imported(), to.emplace<StateImported>());
    case wire::Envelope::BODY_NOT_SET: break;
  }
  return false;
}

}  // namespace margin::internal
