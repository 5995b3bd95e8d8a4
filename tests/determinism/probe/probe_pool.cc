#include <string>
#include <vector>

#include "margin/pool.h"
#include "trace.h"

namespace margin::determinism {
namespace {

constexpr int kTasks = 600;

// A pool's life with outcomes late, early, twice and taken back, models that leave and return, pins and a freeze.
class PoolLife {
 public:
  PoolLife(const std::string& calibrator, const std::string& vote, Trace& trace, int trust_version = PoolConfigured().trust_version)
      : trace_(trace) {
    apply(PoolConfigured{.calibrator = calibrator, .vote = vote, .trust_version = trust_version, .pending_ms_max = 40'000});
  }

  void live() {
    for (int task = 0; task < kTasks; ++task) {
      if (task == 100) apply(ModelLeft{.model = "m1"});
      if (task == 200) apply(ModelJoined{.model = "m1", .predecessor = ""});
      if (task == 250) apply(ModelJoined{.model = "m6", .predecessor = "m0"});
      if (task == 300) apply(FactorPinned{.model = "m2", .factor = 0.7});
      if (task == 350) apply(FactorUnpinned{.model = "m2"});
      if (task == 400) apply(LearningFrozen{});
      if (task == 420) apply(LearningResumed{});
      if (task == 450) refold();
      decide(task);
      if (task % 50 == 0) trace_.see(pool_.digest());
    }
    for (const FactorRow& row : pool_.factors()) {
      trace_.see(row.model);
      trace_.see(row.explanation.factor);
      trace_.see(row.explanation.calibrated);
    }
    trace_.see(pool_.digest());
  }

 private:
  void decide(int task) {
    Question question{.task = "t" + std::to_string(task), .segment = task % 3 == 0 ? "law" : ""};
    const std::string right(1, static_cast<char>('A' + random_.below(4)));
    std::vector<Grade> grades;
    const int models = task < 250 ? 6 : 7;
    for (int model = 0; model < models; ++model) {
      if (random_.chance(0.2)) continue;
      Response response{.model = "m" + std::to_string(model), .answer = right, .confidence = confidence(random_)};
      if (!random_.chance(0.4 + 0.08 * model)) response.answer = std::string(1, static_cast<char>('A' + random_.below(4)));
      if (random_.chance(0.03)) response.confidence.reset();
      if (random_.chance(0.03)) response.abstained = true;
      if (model % 2 == 1) response.channel = "consistency";
      grades.push_back({response.model, response.answer == right ? 1.0 : 0.0});
      question.responses.push_back(response);
    }
    const auto decision = pool_.decide(question);
    trace_.see(std::uint64_t{decision.ok()});
    if (!decision.ok()) return;
    for (const RecordedResponse& response : decision->responses) trace_.see(response.calibrated);
    trace_.see(decision->share);
    for (const double told : {decision->sure.p_correct, decision->sure.low, decision->sure.high, decision->sure.effective_n})
      trace_.see(told);

    const Uuid id = next_id();
    OutcomeObserved outcome{.decision = id, .weight = random_.chance(0.1) ? 0.25 : 1.0, .source = "s" + std::to_string(task % 2)};
    switch (random_.below(4)) {
      case 0: outcome.gold = right; break;
      case 1: outcome.selected = random_.uniform(); break;
      default: outcome.grades = grades;
    }
    const bool early = random_.chance(0.1);
    if (early) apply(outcome);
    apply(Event{.id = id, .time_ms = time_ms_, .body = *decision});
    if (!early) waiting_.push_back(outcome);
    while (waiting_.size() > 20 || (!waiting_.empty() && random_.chance(0.5))) {
      const std::size_t at = random_.below(waiting_.size());
      apply(waiting_[at]);
      if (random_.chance(0.05)) apply(waiting_[at]);
      waiting_.erase(waiting_.begin() + static_cast<std::ptrdiff_t>(at));
    }
  }

  // Takes back one source's feedback and folds again.
  void refold() {
    apply(OutcomeReverted{.feedback = {}, .source = "s1"});
    pool_ = fold(Pool(), log_);
    trace_.see(pool_.digest());
  }

  Uuid next_id() { return Uuid::make(time_ms_ += 1000, random_); }
  void apply(EventBody body) { apply(Event{.id = next_id(), .time_ms = time_ms_, .body = std::move(body)}); }
  void apply(const Event& event) {
    log_.push_back(event);
    trace_.see(static_cast<std::uint64_t>(pool_.apply(event).status));
  }

  Pool pool_;
  Random random_{9};
  Trace& trace_;
  std::int64_t time_ms_ = 1'000'000;
  std::vector<OutcomeObserved> waiting_;
  std::vector<Event> log_;
};

}  // namespace

void probe_pool() {
  for (const CalibratorInfo* info : calibrator_catalog()) {
    Trace trace;
    PoolLife(info->identifier, "sum", trace).live();
    trace.print("pool " + info->identifier + " sum");
  }
  for (const VoteInfo* info : vote_catalog()) {
    if (info->identifier == "sum") continue;
    Trace trace;
    PoolLife("margin", info->identifier, trace).live();
    trace.print("pool margin " + info->identifier);
  }
  Trace trace;
  PoolLife("margin", "stacked", trace, 2).live();  // a decision's interval as it was
  trace.print("pool margin stacked, trust v2");
}

}  // namespace margin::determinism
