#include "server/demo.h"

#include <algorithm>
#include <array>
#include <chrono>

namespace margin::server {
namespace {

constexpr std::chrono::milliseconds kTick{100};
// One model loses its skill for a while, again and again, so that there is drift to see.
constexpr std::uint64_t kCollapseEvery = 3000;
constexpr std::uint64_t kCollapseFor = 1000;

struct SimulatedModel {
  std::string_view name;
  double skill;     // the chance of a right answer
  double says_low;  // stated confidence is uniform from here to 1
};
constexpr std::array kModels = {
    SimulatedModel{"simulated-steady", 0.82, 0.60}, SimulatedModel{"simulated-boaster", 0.45, 0.90},
    SimulatedModel{"simulated-modest", 0.75, 0.35}, SimulatedModel{"simulated-average", 0.65, 0.55},
    SimulatedModel{"simulated-fading", 0.78, 0.70},
};
constexpr std::array<std::string_view, 4> kAnswers = {"A", "B", "C", "D"};

}  // namespace

Demo::Demo(http::Loop& loop, service::Service& service) : loop_(loop), service_(service) {
  if (auto pool = service_.find_or_make("demo")) pool_ = *pool;
  tick();
}

void Demo::tick() {
  if (pool_ == nullptr) return;
  ++ticks_;
  decide();
  grade();
  timer_ = loop_.after(kTick, [this] { tick(); });
}

void Demo::decide() {
  Question question{.task = "simulated-" + std::to_string(ticks_), .kind = AnswerKind::kChoice};
  const std::size_t right = random_.below(kAnswers.size());
  std::vector<Grade> grades;
  for (const SimulatedModel& model : kModels) {
    const bool collapsed = model.name == "simulated-fading" && ticks_ % kCollapseEvery >= kCollapseEvery - kCollapseFor;
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
  awaited_.push_back({ticks_ + 10 + random_.below(40), prepared.event.id, std::move(grades)});
  prepared.note = "demo";
  // A demonstration that cannot be written is not worth a word.
  static_cast<void>(service_.commit(std::move(prepared), [](const Result<service::Applied>&) {}));
}

void Demo::grade() {
  std::erase_if(awaited_, [this](Awaited& awaited) {
    if (awaited.due > ticks_) return false;
    service::Prepared prepared =
        service_.prepare(*pool_, OutcomeObserved{.decision = awaited.decision, .grades = std::move(awaited.grades), .source = "demo"});
    static_cast<void>(service_.commit(std::move(prepared), [](const Result<service::Applied>&) {}));
    return true;
  });
}

}  // namespace margin::server
