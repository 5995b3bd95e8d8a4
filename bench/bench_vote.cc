// A decision over ten models and learning from it, beside the machine's limit.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "golden_data.h"
#include "margin/answer.h"
#include "margin/random.h"
#include "margin/vote.h"
#include "ratio_report.h"

namespace margin {
namespace {

constexpr std::uint32_t kModels = 10;
constexpr std::uint32_t kAnswers = 4;
constexpr std::size_t kTasks = 64;

struct Task {
  std::vector<Ballot> ballots;
  std::vector<double> outcomes;
};

const std::vector<Task>& tasks() {
  static const std::vector<Task> kAll = [] {
    Random random(11);
    std::vector<Task> all(kTasks);
    for (Task& task : all) {
      for (std::uint32_t model = 0; model < kModels; ++model) {
        const bool right = random.chance(0.6);
        task.ballots.push_back({.model = model,
                                .answer = right ? 0 : 1 + static_cast<std::uint32_t>(random.below(kAnswers - 1)),
                                .confidence = random.uniform()});
        task.outcomes.push_back(right ? 1.0 : 0.0);
      }
    }
    return all;
  }();
  return kAll;
}

void decide_and_learn(benchmark::State& state, const char* identifier) {
  auto vote = std::move(make_vote(identifier)).value();
  Tally tally;
  const auto pass = [&] {
    for (const Task& task : tasks()) {
      vote->tally(task.ballots, kAnswers, tally);
      benchmark::DoNotOptimize(tally.winner);
      vote->learn(task.ballots, kAnswers, task.outcomes);
    }
  };
  pass();  // so that all models and the tally are known
  const unsigned long before = bench::allocations();
  for (auto _ : state) pass();
  if (bench::allocations() != before) state.SkipWithError("allocated");
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(kTasks));
}

// Before anything is timed: every decision of the golden stream, with stated confidences. Golden lines are of every vote's first version.
void compare_with_golden(const char* identifier) {
  const golden::Stream shift = golden::read_stream("shift");
  for (const golden::Selection& expected : golden::read_selections("shift")) {
    if (expected.method != "raw" || expected.vote != identifier) continue;
    auto vote = std::move(make_vote(identifier, 1, {})).value();
    Tally tally;
    for (std::size_t t = 0; t < shift.tasks.size(); ++t) {
      std::vector<std::optional<std::string_view>> answers;
      Task task;
      for (const std::size_t r : shift.tasks[t]) answers.emplace_back(shift.rows[r].answer);
      const AnswerGroups groups = group_answers(AnswerKind::kExact, answers);
      for (std::size_t i = 0; i < answers.size(); ++i) {
        const golden::Row& row = shift.rows[shift.tasks[t][i]];
        task.ballots.push_back({.model = row.id, .answer = groups.group[i], .confidence = *row.confidence});
        task.outcomes.push_back(*row.outcome);
      }
      const auto count = static_cast<std::uint32_t>(groups.canonical.size());
      vote->tally(task.ballots, count, tally);
      if (groups.canonical[tally.winner] != expected.selected[t]) {
        std::fprintf(stderr, "%s: task %zu: selected %s, golden %s\n", identifier, t, groups.canonical[tally.winner].c_str(),
                     expected.selected[t].c_str());
        std::exit(1);
      }
      vote->learn(task.ballots, count, task.outcomes);
    }
    std::printf("%-20s result %s (equal to the golden stream)\n", identifier, vote->digest().hex().c_str());
    return;
  }
  std::fprintf(stderr, "%s: no golden line\n", identifier);
  std::exit(1);
}

}  // namespace
}  // namespace margin

int main(int argc, char** argv) {
  for (const auto* info : margin::vote_catalog()) {
    margin::compare_with_golden(info->identifier.c_str());
    benchmark::RegisterBenchmark((info->identifier + "/decide_and_learn").c_str(), margin::decide_and_learn, info->identifier.c_str());
  }
  return margin::bench::run(argc, argv, {{"stacked/decide_and_learn", margin::bench::kChain, 350.0}});
}
