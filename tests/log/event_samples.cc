#include "event_samples.h"

#include <bit>
#include <cmath>
#include <optional>
#include <string>
#include <utility>
#include <variant>

namespace margin {
namespace {

// Fills a value of any type of margin/event.h. Structs are taken apart by all their fields, so a new one does not compile until it is here.
class Filler {
 public:
  Filler(Random& random, double empty) : random_(random), empty_(empty) {}

  template <class... Fields>
  void fill_all(Fields&... fields) {
    (fill(fields), ...);
  }

  void fill(std::string& text) {
    text.clear();
    if (nothing()) return;
    for (std::uint64_t left = 1 + random_.below(20); left > 0; --left) text.push_back(static_cast<char>(random_.below(256)));
  }
  void fill(bool& flag) { flag = !nothing(); }
  void fill(double& number) {
    number = 0.0;
    if (nothing()) return;
    do {
      number = std::bit_cast<double>(random_.bits());
    } while (!std::isfinite(number) || number == 0.0);
  }
  void fill(int& number) { number = nothing() ? 0 : static_cast<int>(random_.below(1000)) - 500; }
  void fill(std::int64_t& number) { number = nothing() ? 0 : static_cast<std::int64_t>(random_.bits() | 1); }
  void fill(std::uint32_t& number) { number = nothing() ? 0 : static_cast<std::uint32_t>(random_.bits() | 1); }
  void fill(Digest& digest) { digest = {random_.bits(), random_.bits()}; }
  void fill(Uuid& id) { id = {random_.bits(), random_.bits()}; }
  void fill(AnswerKind& kind) { kind = static_cast<AnswerKind>(nothing() ? 0 : 1 + random_.below(4)); }
  void fill(TrustStatus& status) { status = static_cast<TrustStatus>(nothing() ? 0 : 1 + random_.below(3)); }
  template <class T>
  void fill(std::optional<T>& option) {
    option.reset();
    if (!nothing()) fill(option.emplace());
  }
  template <class T>
  void fill(std::vector<T>& list) {
    list.clear();
    if (nothing()) return;
    list.resize(1 + random_.below(4));
    for (T& each : list) fill(each);
  }
  void fill(Parameters& parameters) {
    parameters.clear();
    if (nothing()) return;
    fill(parameters["number"].emplace<double>());
    fill(parameters["word"].emplace<std::string>());
    fill(parameters["list"].emplace<std::vector<double>>());
  }
  void fill(Term& term) {
    auto& [name, value] = term;
    fill_all(name, value);
  }
  void fill(Sureness& sure) {
    auto& [p_correct, low, high, effective_n, status] = sure;
    fill_all(p_correct, low, high, effective_n, status);
  }
  void fill(RecordedResponse& response) {
    auto& [model, channel, confidence, answer, answer_text, abstained, calibrated, audit, factor, band, n, weight, terms] = response;
    fill_all(model, channel, confidence, answer, answer_text, abstained, calibrated, audit, factor, band, n, weight, terms);
  }
  void fill(DecisiveModel& decisive) {
    auto& [model, answer] = decisive;
    fill_all(model, answer);
  }
  void fill(Grade& grade) {
    auto& [model, outcome, channel] = grade;
    fill_all(model, outcome, channel);
  }
  void fill(PoolConfigured& event) {
    auto& [calibrator, calibrator_version, calibrator_parameters, vote, vote_version, vote_parameters, trust, trust_version,
           trust_parameters, remedy, audit_rate, source_share_max, max_error, pending_ms_max, models_max, cells_max, responses_max,
           decisions_max, early_max, remembered_events_max, watched_models_max] = event;
    fill_all(calibrator, calibrator_version, calibrator_parameters, vote, vote_version, vote_parameters, trust, trust_version,
             trust_parameters, remedy, audit_rate, source_share_max, pending_ms_max, models_max, cells_max, responses_max, decisions_max,
             early_max, remembered_events_max, watched_models_max, max_error);
  }
  void fill(ModelJoined& event) {
    auto& [model, predecessor] = event;
    fill_all(model, predecessor);
  }
  void fill(ModelLeft& event) {
    auto& [model] = event;
    fill_all(model);
  }
  void fill(DecisionMade& event) {
    auto& [task, segment, kind, responses, answers, selected, selected_model, share, runner_up_gap, scores, sure, max_error, abstained,
           decisive, audit_rate, probe, vote, propensity] = event;
    fill_all(task, segment, kind, responses, answers, selected, selected_model, share, runner_up_gap, scores, sure, max_error, abstained,
             decisive, audit_rate, probe, vote, propensity);
  }
  void fill(OutcomeObserved& event) {
    auto& [decision, grades, gold, selected, weight, source] = event;
    fill_all(decision, grades, gold, selected, weight, source);
  }
  void fill(OutcomeReverted& event) {
    auto& [feedback, source] = event;
    fill_all(feedback, source);
  }
  void fill(LearningFrozen&) {}
  void fill(LearningResumed&) {}
  void fill(FactorPinned& event) {
    auto& [model, factor] = event;
    fill_all(model, factor);
  }
  void fill(FactorUnpinned& event) {
    auto& [model] = event;
    fill_all(model);
  }
  void fill(StateImported& event) {
    auto& [state, trust] = event;
    fill_all(state, trust);
  }

  // The type of EventBody with this number.
  template <std::size_t index = 0>
  EventBody body(std::size_t wanted) {
    if constexpr (index + 1 < std::variant_size_v<EventBody>) {
      if (index < wanted) return body<index + 1>(wanted);
    }
    std::variant_alternative_t<index, EventBody> made;
    fill(made);
    return made;
  }

  Event event(std::size_t type) {
    Event made{.body = body(type)};
    fill_all(made.id, made.time_ms);
    return made;
  }

 private:
  bool nothing() { return random_.chance(empty_); }

  Random& random_;
  const double empty_;
};

std::vector<Event> one_of_each(double empty) {
  std::vector<Event> events;
  for (std::size_t type = 0; type < std::variant_size_v<EventBody>; ++type) {
    Random random = Random::stream(1, type);  // a field more in one type leaves the others as they are
    events.push_back(Filler(random, empty).event(type));
  }
  return events;
}

double factor_of(const RecordedResponse& response) {
  return response.confidence.value_or(0.0) > 0.0 ? response.calibrated / *response.confidence : 1.0;
}

// As responses of a server's decisions mostly are: each has much in common with the others, and follows from little.
void make_alike(DecisionMade& decision, Random& random) {
  const bool channels = random.chance(0.7);
  const bool confidences = random.chance(0.7);
  const bool factors = random.chance(0.7);
  const bool weights = random.chance(0.7);
  for (RecordedResponse& each : decision.responses) {
    if (channels) each.channel = decision.responses.front().channel;
    if (confidences && each.confidence) each.confidence = static_cast<double>(random.below(10'001)) / 10'000.0;
    if (factors) each.factor = factor_of(each);
    if (weights) each.weight = each.calibrated;
  }
}

}  // namespace

std::vector<Event> full_events() { return one_of_each(0.0); }
std::vector<Event> empty_events() { return one_of_each(1.0); }

Record random_record(Random& random) {
  Filler filler(random, 0.3);
  Record record{.offset = random.below(1'000'000), .event = filler.event(random.below(std::variant_size_v<EventBody>))};
  if (auto* decision = std::get_if<DecisionMade>(&record.event.body); decision != nullptr && random.chance(0.5))
    make_alike(*decision, random);
  if (random.chance(0.5)) filler.fill(record.note);
  if (random.chance(0.5)) {
    auto& [key, body] = record.mark.emplace();
    filler.fill_all(key, body);
  }
  return record;
}

Event typical_decision(std::size_t responses, Random& random) {
  DecisionMade decision{.task = "task-" + std::to_string(random.below(1'000'000)), .selected = 0, .share = 0.6, .runner_up_gap = 0.3};
  for (std::size_t i = 0; i < responses; ++i) {
    decision.responses.push_back({.model = "provider/model-" + std::to_string(i),
                                  .channel = "verbalized",
                                  .confidence = static_cast<double>(1 + random.below(100)) / 100.0,
                                  .answer = static_cast<std::uint32_t>(i % 3),
                                  .answer_text = "The answer is " + std::to_string(i % 3),
                                  .calibrated = random.uniform(),
                                  .band = 2,
                                  .n = 30.0});
    RecordedResponse& made = decision.responses.back();
    made.factor = factor_of(made);
    made.weight = made.calibrated;
  }
  for (const char* answer : {"0", "1", "2"}) decision.answers.push_back(digest_of(answer));
  decision.selected_model = "provider/model-0";
  decision.scores = {3.0, 1.5, 0.5};
  decision.sure = {.p_correct = 0.8, .low = 0.7, .high = 0.9, .effective_n = 100.0, .status = TrustStatus::kCalibrated};
  const auto time_ms = static_cast<std::int64_t>(1'700'000'000'000 + random.below(1'000'000));
  return {.id = Uuid::make(time_ms, random), .time_ms = time_ms, .body = std::move(decision)};
}

}  // namespace margin
