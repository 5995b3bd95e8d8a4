#include "server/demo.h"

#include <algorithm>
#include <array>
#include <chrono>

namespace margin::server {
namespace {

constexpr std::chrono::milliseconds kTick{100};
// At the start several decisions a tick, so that there is something to look at within seconds.
constexpr std::uint64_t kHurriedDecisions = 800;
constexpr int kHurry = 20;
// What happens again and again, by the number of the decision in the round: one model loses its skill for a while, so that there is drift
// to see; another comes and goes.
constexpr std::uint64_t kRound = 3000;
constexpr std::uint64_t kCollapse = 500, kRecovery = 640;
constexpr std::uint64_t kJoins = 300, kLeaves = 2400;
// Outcomes that never come by themselves, for people to give; and questions that allow little error, so that some decisions abstain.
constexpr std::uint64_t kUngradedEvery = 6;
constexpr std::uint64_t kCarefulEvery = 4;
constexpr double kCarefulError = 0.1;

struct SimulatedModel {
  std::string_view name;
  double skill;     // the chance of a right answer
  double says_low;  // stated confidence is uniform from here to 1
};
constexpr std::array kModels = {
    SimulatedModel{"simulated-steady", 0.82, 0.60}, SimulatedModel{"simulated-boaster", 0.45, 0.90},
    SimulatedModel{"simulated-modest", 0.75, 0.35}, SimulatedModel{"simulated-average", 0.65, 0.55},
    SimulatedModel{"simulated-fading", 0.78, 0.70}, SimulatedModel{"simulated-newcomer", 0.70, 0.50},
};
constexpr std::array<std::string_view, 4> kAnswers = {"A", "B", "C", "D"};

}  // namespace

Demo::Demo(http::Loop& loop, service::Service& service) : loop_(loop), service_(service) {
  if (auto pool = service_.find_or_make("demo")) pool_ = *pool;
  tick();
}

void Demo::tick() {
  if (pool_ == nullptr) return;
  const int decisions = decisions_ < kHurriedDecisions ? kHurry : 1;
  for (int i = 0; i < decisions; ++i) {
    ++decisions_;
    come_and_go();
    decide();
    grade();
  }
  timer_ = loop_.after(kTick, [this] { tick(); });
}

void Demo::commit(EventBody body) {
  service::Prepared prepared = service_.prepare(*pool_, std::move(body));
  prepared.note = "demo";
  // A demonstration that cannot be written is not worth a word.
  static_cast<void>(service_.commit(std::move(prepared), [](const Result<service::Applied>&) {}));
}

void Demo::come_and_go() {
  const std::string newcomer(kModels.back().name);
  if (decisions_ % kRound == kJoins) commit(ModelJoined{.model = newcomer, .predecessor = ""});
  if (decisions_ % kRound == kLeaves) commit(ModelLeft{.model = newcomer});
}

void Demo::decide() {
  Question question{.task = "simulated-" + std::to_string(decisions_), .kind = AnswerKind::kChoice};
  const std::size_t right = random_.below(kAnswers.size());
  std::vector<Grade> grades;
  if (decisions_ % kCarefulEvery == 0) question.max_error = kCarefulError;
  const std::uint64_t phase = decisions_ % kRound;
  for (const SimulatedModel& model : kModels) {
    if (&model == &kModels.back() && (phase < kJoins || phase >= kLeaves)) continue;
    const bool collapsed = model.name == "simulated-fading" && phase >= kCollapse && phase < kRecovery;
    const double confidence = model.says_low + (1.0 - model.says_low) * random_.uniform();
    // More confident answers are somewhat more often right, as real ones are.
    const double lean = 0.3 * (confidence - 0.5 * (1.0 + model.says_low));
    const bool knows = random_.chance(std::clamp((collapsed ? 0.25 : model.skill) + lean, 0.0, 1.0));
    const std::size_t wrong = (right + 1 + random_.below(kAnswers.size() - 1)) % kAnswers.size();
    question.responses.push_back(
        {.model = std::string(model.name), .answer = std::string(kAnswers[knows ? right : wrong]), .confidence = confidence});
    grades.push_back({.model = std::string(model.name), .outcome = knows ? 1.0 : 0.0});
  }
  auto decision = pool_->pool().decide(question);
  if (!decision) return;
  for (std::size_t i = 0; i < decision->responses.size(); ++i) decision->responses[i].answer_text = *question.responses[i].answer;
  service::Prepared prepared = service_.prepare(*pool_, std::move(*decision));
  if (decisions_ % kUngradedEvery != 0) awaited_.push_back({decisions_ + 10 + random_.below(40), prepared.event.id, std::move(grades)});
  prepared.note = "demo";
  static_cast<void>(service_.commit(std::move(prepared), [](const Result<service::Applied>&) {}));
}

void Demo::grade() {
  std::erase_if(awaited_, [this](Awaited& awaited) {
    if (awaited.due > decisions_) return false;
    commit(OutcomeObserved{.decision = awaited.decision, .grades = std::move(awaited.grades), .source = "demo"});
    return true;
  });
}

}  // namespace margin::server
