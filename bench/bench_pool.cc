// A pool's decision over ten responses, with everything it tells, beside the machine's limit.
#include <benchmark/benchmark.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "margin/pool.h"
#include "margin/random.h"
#include "ratio_report.h"

namespace margin {
namespace {

constexpr int kModels = 10;
constexpr std::size_t kTasks = 64;

Question ask(Random& random) {
  Question question;
  for (int model = 0; model < kModels; ++model) {
    const std::string answer(1, random.chance(0.6) ? 'A' : static_cast<char>('B' + random.below(3)));
    question.responses.push_back({.model = "model-" + std::to_string(model), .answer = answer, .confidence = random.uniform()});
  }
  return question;
}

// A pool that has learned from a thousand tasks.
Pool experienced(const char* calibrator, const char* vote) {
  Pool pool;
  Random random(5);
  std::int64_t now = 1'700'000'000'000;
  const auto happen = [&](EventBody body) {
    const Event event{.id = Uuid::make(++now, random), .time_ms = now, .body = std::move(body)};
    if (pool.apply(event).error) std::abort();
    return event.id;
  };
  happen(PoolConfigured{.calibrator = calibrator,
                        .calibrator_version = find_calibrator(calibrator).value()->version,
                        .vote = vote,
                        .vote_version = find_vote(vote).value()->version});
  for (int task = 0; task < 1000; ++task) {
    const Uuid decision = happen(pool.decide(ask(random)).value());
    happen(OutcomeObserved{.decision = decision, .gold = "A"});
  }
  return pool;
}

std::vector<Question> questions() {
  Random random(6);
  std::vector<Question> all;
  for (std::size_t i = 0; i < kTasks; ++i) all.push_back(ask(random));
  return all;
}

void decide(benchmark::State& state, const char* calibrator, const char* vote) {
  const Pool pool = experienced(calibrator, vote);
  const std::vector<Question> asked = questions();
  for (auto _ : state) {
    for (const Question& question : asked) {
      auto decision = pool.decide(question);
      benchmark::DoNotOptimize(decision);
    }
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(kTasks));
}

// Before anything is timed: each decision's scores are the sums of what its responses are calibrated to.
void compare_with_sums(const char* calibrator) {
  const Pool pool = experienced(calibrator, "sum");
  for (const Question& question : questions()) {
    const DecisionMade made = pool.decide(question).value();
    std::vector<double> scores(made.answers.size(), 0.0);
    for (const RecordedResponse& response : made.responses) {
      if (response.calibrated != pool.calibrate(response.model, "verbalized", "", *response.confidence).value()) std::abort();
      scores[response.answer] += response.calibrated;
    }
    for (const double score : scores) {
      if (score > scores[made.selected]) std::abort();
    }
  }
  std::printf("%-20s decisions equal to sums of calibrated confidences\n", calibrator);
}

}  // namespace
}  // namespace margin

int main(int argc, char** argv) {
  for (const char* calibrator : {"margin", "margin_adaptive"}) {
    margin::compare_with_sums(calibrator);
    for (const char* vote : {"sum", "stacked"}) {
      benchmark::RegisterBenchmark((std::string("decide/") + calibrator + "/" + vote).c_str(), margin::decide, calibrator, vote);
    }
  }
  return margin::bench::run(
      argc, argv,
      {{"decide/margin/sum", margin::bench::kChain, 4000.0}, {"decide/margin_adaptive/stacked", margin::bench::kChain, 6500.0}});
}
