// A live pool under feedback on the selected answer only against the experiments' replay of the same tasks: two paths to the same
// numbers, to the bit.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <string>
#include <vector>

#include "experiment/replay.h"
#include "experiment/test_stream.h"
#include "margin/pool.h"

namespace margin {
namespace {

using experiment::Pass;
using experiment::PassOptions;
using experiment::Stream;

struct Setting {
  const char* calibrator;
  int version;
  const char* vote;
  int vote_version;
  RemedyKind remedy;
  double audit_rate;
};

// Answers numbered in the order they come, as the pool numbers them.
Stream stream_of(std::uint64_t seed) {
  Stream stream = experiment::make_test_stream(
      {.seed = seed, .tasks = 300, .models = {"a", "b", "c", "d", "e"}, .skill = 0.8, .missing = 0.15, .ungraded = 0.0});
  for (Stream::Task& task : stream.tasks) {
    std::vector<std::uint32_t> number(task.answers, kNoAnswer);
    std::uint32_t distinct = 0;
    for (std::uint32_t row = task.first_row; row < task.first_row + task.rows; ++row) {
      std::uint32_t& mine = number[stream.answer[row]];
      if (mine == kNoAnswer) mine = distinct++;
      stream.answer[row] = mine;
    }
    task.answers = distinct;
  }
  return stream;
}

// Runs the stream through a pool; everybody is graded before `boundary`, later the selected answer's supporters and the audited.
class Live {
 public:
  Live(const Stream& stream, const Setting& setup, std::size_t boundary) : stream_(stream), boundary_(boundary) {
    audits_ = {.rate = setup.audit_rate, .seed = 11};
    apply(PoolConfigured{.calibrator = setup.calibrator,
                         .calibrator_version = setup.version,
                         .vote = setup.vote,
                         .vote_version = setup.vote_version,
                         .remedy = std::string(kRemedyNames[static_cast<std::size_t>(setup.remedy)])});
    for (const std::string& model : stream.models) apply(ModelJoined{model});  // the ids are then the stream's
  }

  DecisionMade task(std::uint32_t number) {
    const Stream::Task& task = stream_.tasks[number];
    Question question{.task = std::to_string(number)};
    for (std::uint32_t row = task.first_row; row < task.first_row + task.rows; ++row) {
      question.responses.push_back({.model = stream_.models[stream_.model[row]],
                                    .answer = std::to_string(stream_.answer[row]),
                                    .confidence = stream_.confidence[row]});
    }
    DecisionMade made = std::move(pool_.decide(question)).value();
    // The replay draws by the task's number.
    const auto answers = std::span(stream_.answer).subspan(task.first_row, task.rows);
    const bool complete = number < boundary_;
    if (!complete) {
      made.audit_rate = audits_.rate;
      for (const Audit& audit : audits_of(audits_, number, answers, made.selected)) made.responses[audit.response].audit = audit.propensity;
    }
    const Uuid decision = apply(made);
    OutcomeObserved outcome{.decision = decision};
    for (std::size_t i = 0; i < made.responses.size(); ++i) {
      const bool arrives = complete || made.responses[i].answer == made.selected || made.responses[i].audit > 0.0;
      if (arrives) outcome.grades.push_back({made.responses[i].model, stream_.outcome[task.first_row + i]});
    }
    apply(outcome);
    return made;
  }

 private:
  Uuid apply(EventBody body) {
    const Event event{.id = Uuid::make(++now_, random_), .time_ms = now_, .body = std::move(body)};
    EXPECT_NE(pool_.apply(event).status, ApplyStatus::kRefused);
    return event.id;
  }

  const Stream& stream_;
  const std::size_t boundary_;
  AuditPlan audits_;
  Pool pool_;
  std::int64_t now_ = 1'700'000'000'000;
  Random random_{3};
};

class PoolAgainstReplay : public ::testing::TestWithParam<Setting> {};

TEST_P(PoolAgainstReplay, LivePoolAndReplaySayTheSame) {
  const Setting& setup = GetParam();
  constexpr std::size_t kBoundary = 60;
  const Stream stream = stream_of(17);
  std::vector<std::uint32_t> order(stream.tasks.size());
  std::iota(order.begin(), order.end(), 0U);
  const PassOptions options{.boundary = kBoundary,
                            .feedback = experiment::Feedback::kSelected,
                            .remedy = setup.remedy,
                            .audits = {.rate = setup.audit_rate, .seed = 11}};
  const auto calibrator = std::move(make_calibrator(setup.calibrator, setup.version, {})).value();
  const auto vote = std::move(make_vote(setup.vote, setup.vote_version, {})).value();
  const Pass pass = replay(stream, order, *calibrator, *vote, options);

  Live live(stream, setup, kBoundary);
  for (std::uint32_t number = 0; number < stream.tasks.size(); ++number) {
    const DecisionMade made = live.task(number);
    ASSERT_EQ(made.selected, pass.selections[number].answer) << "task " << number;
    ASSERT_EQ(made.share, pass.selections[number].share) << "task " << number;
    for (std::size_t i = 0; i < made.responses.size(); ++i) {
      ASSERT_EQ(made.responses[i].calibrated, pass.calibrated[stream.tasks[number].first_row + i]) << "task " << number << ", " << i;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Remedies, PoolAgainstReplay,
                         ::testing::Values(Setting{"margin", 1, "sum", 1, RemedyKind::kNone, 0.0},
                                           Setting{"margin", 1, "sum", 1, RemedyKind::kNone, 0.2},
                                           Setting{"margin", 1, "sum", 1, RemedyKind::kWeighted, 0.2},
                                           Setting{"margin", 1, "sum", 1, RemedyKind::kImplied, 0.0},
                                           Setting{"margin", 1, "stacked", 2, RemedyKind::kImplied, 0.2},
                                           Setting{"margin_adaptive", 2, "stacked", 2, RemedyKind::kImplied, 0.0},
                                           Setting{"margin", 1, "stacked", 2, RemedyKind::kEstimated, 0.2},
                                           Setting{"margin_adaptive", 2, "discounted", 1, RemedyKind::kEstimated, 0.2},
                                           Setting{"margin_adaptive", 2, "sum", 1, RemedyKind::kEstimated, 0.0}));

}  // namespace
}  // namespace margin
