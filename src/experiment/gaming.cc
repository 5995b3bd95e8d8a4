#include "experiment/gaming.h"

#include <algorithm>

#include "base/check.h"
#include "dataset/simulate.h"
#include "margin/random.h"

namespace margin::experiment {
namespace {

using Tasks = std::vector<std::vector<WatchedResponse>>;

// Models of the simulated courses, the best first; ash is the only one that collapses.
constexpr std::uint32_t kAsh = 0, kFir = 4, kOak = 5;
constexpr std::uint32_t kNobody = WatchReport::kNobody;

constexpr std::array<GamingScenario, 11> kScenarios = {{
    {"stationary", "nothing changes", "stationary", std::nullopt},
    {"drift", "ranks change slowly", "drift", std::nullopt},
    {"abrupt", "all fall by a third at once", "abrupt", std::nullopt},
    {"sawtooth", "all fall and recover, four times", "sawtooth", std::nullopt},
    {"newcomers", "models join one after the other", "newcomers", std::nullopt},
    {"defector", "the best model falls to 30%", "collapse", WatchKind::kTrustThenDefect, kAsh},
    {"absentee", "answers 4 tasks of 10", "stationary", WatchKind::kLowParticipation, kAsh},
    {"picker", "skips 6 of 10 tasks that most others fail", "stationary", WatchKind::kAvoidsHardTasks, kAsh},
    {"latecomer", "fails every other task whose outcome comes late", "stationary", WatchKind::kLagExploitation, kAsh},
    {"copyist", "one model answers as another does, 8 times of 10", "stationary", WatchKind::kCollusion, kFir, kOak},
    {"liar", "one of three sources turns 3 outcomes of 10 around", "stationary", WatchKind::kSourceDisagrees, 2},
}};

constexpr double kSkipsAny = 0.6;
constexpr double kSkipsHard = 0.6;
constexpr double kFailsLate = 0.5;
constexpr double kCopies = 0.8;
constexpr double kLies = 0.3;
constexpr double kSlips = 0.03;  // of an honest source
constexpr std::uint32_t kSources = 3;

double others_mean(const std::vector<WatchedResponse>& task, ModelId model) {
  double sum = 0.0;
  double count = 0.0;
  for (const WatchedResponse& response : task) {
    if (response.model == model) continue;
    sum += response.outcome;
    count += 1.0;
  }
  return count > 0.0 ? sum / count : 1.0;
}

// Outcomes come after a while, those of hard tasks later: what an honest pool looks like to the test for lag.
void delay_outcomes(Tasks& tasks, Random& random) {
  for (auto& task : tasks) {
    const double wrong = 1.0 - others_mean(task, kNobody);
    for (WatchedResponse& response : task) response.delay = 10.0 * random.uniform() + 5.0 * wrong;
  }
}

void misbehave(std::vector<WatchedResponse>& task, WatchKind kind, Random& random) {
  const auto of = [&](ModelId model) {
    return std::find_if(task.begin(), task.end(), [&](const WatchedResponse& response) { return response.model == model; });
  };
  const auto ash = of(kAsh);
  switch (kind) {
    case WatchKind::kLowParticipation:
      if (random.chance(kSkipsAny) && ash != task.end()) task.erase(ash);
      break;
    case WatchKind::kAvoidsHardTasks:
      if (random.chance(kSkipsHard) && ash != task.end() && others_mean(task, kAsh) < 0.5) task.erase(ash);
      break;
    case WatchKind::kLagExploitation:
      if (random.chance(kFailsLate) && ash != task.end() && ash->delay > 7.0) ash->outcome = 0.0;
      break;
    case WatchKind::kCollusion: {
      const auto fir = of(kFir);
      const auto oak = of(kOak);
      if (random.chance(kCopies) && fir != task.end() && oak != task.end()) {
        oak->answer = fir->answer;
        oak->outcome = fir->outcome;
      }
      break;
    }
    case WatchKind::kDrift:
    case WatchKind::kTrustThenDefect:  // the cohort's own doing
    case WatchKind::kSourceDisagrees:  // the sources' doing
      break;
  }
}

// What the sources say of the task's first response.
void grade(Watch& watch, const std::vector<WatchedResponse>& task, bool lying, Random& random) {
  if (task.empty()) return;
  std::array<SourceGrade, kSources> grades;
  for (std::uint32_t source = 0; source < kSources; ++source) {
    const bool turned = random.chance(lying && source + 1 == kSources ? kLies : kSlips);
    grades[source] = {source, turned ? 1.0 - task.front().outcome : task.front().outcome};
  }
  const Status graded = watch.grade(grades);
  MARGIN_CHECK(graded.ok(), "the sources are within the limits");
}

Stream simulated_stream(const GamingScenario& scenario, const GamingOptions& options, std::uint64_t seed) {
  const auto simulation = dataset::simulate(scenario.cohort, {.seed = seed, .tasks = options.tasks});
  MARGIN_CHECK(simulation.ok(), "the cohorts take this number of tasks");
  auto streams = make_streams(simulation->log);
  MARGIN_CHECK(streams.ok(), "a cohort has rows");
  return std::move(streams->front());
}

// Whether the cohort is all there is to it: nobody misbehaves beyond.
bool is_course(const GamingScenario& scenario) { return !scenario.kind || scenario.kind == WatchKind::kTrustThenDefect; }

bool about(const WatchReport& report, const GamingScenario& scenario) {
  return report.kind == scenario.kind && report.subject == scenario.subject && report.other == scenario.other;
}

}  // namespace

std::vector<std::vector<WatchedResponse>> watched_tasks(const Stream& stream) {
  Tasks tasks;
  tasks.reserve(stream.tasks.size());
  for (const Stream::Task& task : stream.tasks) {
    auto& responses = tasks.emplace_back();
    for (std::uint32_t row = task.first_row; row < task.first_row + task.rows; ++row) {
      responses.push_back({.model = stream.model[row], .answer = stream.answer[row], .outcome = stream.outcome[row]});
    }
  }
  return tasks;
}

Result<WatchedStream> watch_stream(const Stream& stream, const WatchOptions& options) {
  Watch watch(options);
  for (const auto& task : watched_tasks(stream)) {
    if (const Status status = watch.observe(task); !status) return status.error();
  }
  return WatchedStream{stream.channel, stream.models, watch.tasks(), watch.reports(), watch.dropped(), clock_alarms_in(stream)};
}

std::span<const GamingScenario> gaming_scenarios() { return kScenarios; }

std::vector<WatchReport> watch_scenario(const GamingScenario& scenario, const GamingOptions& options, std::uint64_t seed) {
  Tasks tasks = watched_tasks(simulated_stream(scenario, options, seed));
  Random random = Random::stream(seed, 1);
  delay_outcomes(tasks, random);
  Watch watch(options.watch);
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    const bool foul = scenario.kind && i >= tasks.size() / 2;
    if (foul) misbehave(tasks[i], *scenario.kind, random);
    const Status observed = watch.observe(tasks[i]);
    MARGIN_CHECK(observed.ok(), "a stream holds only what the watch accepts");
    grade(watch, tasks[i], foul && scenario.kind == WatchKind::kSourceDisagrees, random);
  }
  return watch.reports();
}

std::optional<std::vector<GamingResult>> run_gaming(const GamingOptions& options, Progress* progress) {
  std::vector<std::vector<WatchReport>> reports(kScenarios.size() * options.runs);
  std::vector<std::vector<ClockAlarmAt>> clocks(reports.size());
  const auto run = [&](std::size_t piece) {
    const GamingScenario& scenario = kScenarios[piece / options.runs];
    const std::uint64_t seed = options.seed + piece % options.runs;
    reports[piece] = watch_scenario(scenario, options, seed);
    if (is_course(scenario)) clocks[piece] = clock_alarms_in(simulated_stream(scenario, options, seed));
  };
  if (!parallel_for(reports.size(), options.threads, progress, run)) return std::nullopt;

  const std::uint64_t start = options.tasks / 2 + 1;
  std::vector<GamingResult> results;
  for (std::size_t i = 0; i < kScenarios.size(); ++i) {
    GamingResult result{.scenario = kScenarios[i], .runs = options.runs};
    for (std::uint32_t n = 0; n < options.runs; ++n) {
      std::array<bool, kWatchKinds> innocent{};
      bool found = false;
      for (const WatchReport& report : reports[i * options.runs + n]) {
        if (about(report, result.scenario) && report.at >= start) {
          if (!found) result.delays.push_back(report.at - start + 1);
          found = true;
        } else {
          innocent[static_cast<std::size_t>(report.kind)] = true;
        }
      }
      result.found += found ? 1U : 0U;
      for (std::size_t kind = 0; kind < kWatchKinds; ++kind) result.reported[kind] += innocent[kind] ? 1U : 0U;
    }
    std::sort(result.delays.begin(), result.delays.end());
    if (is_course(result.scenario)) {
      result.clocks = tally_clocks(std::span(clocks).subspan(i * options.runs, options.runs), options.tasks, result.scenario.subject);
    }
    results.push_back(std::move(result));
  }
  return results;
}

}  // namespace margin::experiment
