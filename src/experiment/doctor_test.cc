// The doctor on logs whose truth is known, and against its definitions recomputed without its parts.
#include "experiment/doctor.h"

#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "dataset/simulate.h"
#include "experiment/doctor_report.h"
#include "experiment/doctor_words.h"
#include "experiment/ordering.h"
#include "experiment/split.h"
#include "experiment/test_stream.h"

namespace margin::experiment {
namespace {

struct Patient {
  Stream stream;
  LogSides sides;
  std::vector<double> truth;  // by row
};

Patient patient(std::string_view cohort, std::uint32_t tasks, std::uint64_t seed = 1) {
  auto simulation = std::move(dataset::simulate(cohort, {.seed = seed, .tasks = tasks})).value();
  Patient one{.stream = std::move(std::move(make_streams(simulation.log)).value().front())};
  one.sides.moments = task_moments(one.stream, simulation.log);
  for (std::uint32_t i = 0; i < simulation.log.phases().size(); ++i) one.sides.phases.push_back(simulation.log.phases()[i]);
  for (const std::uint32_t row : one.stream.log_row) one.truth.push_back(simulation.p[row]);
  return one;
}

// The same with models that state exactly how likely they are right.
Patient calibrated_patient(std::uint32_t tasks, std::uint64_t seed) {
  Patient one = patient("stationary", tasks, seed);
  one.stream.confidence = one.truth;
  return one;
}

Diagnosis examine(const Patient& one, unsigned threads = 2, std::size_t resamples = 500) {
  std::vector<Entrant> entrants;
  for (const char* identifier : {"raw", "margin_adaptive"})
    entrants.push_back({identifier, std::move(make_calibrator(identifier)).value()});
  const auto vote = std::move(make_vote("sum")).value();
  const DoctorOptions options{.passes = {.orderings = 0, .resamples = resamples, .threads = {threads}}, .settle_passes = 10};
  return run_doctor(one.stream, one.sides, entrants, *vote, options).value();
}

TEST(Doctor, SeesThatOverconfidentModelsNeedCalibration) {
  const Diagnosis found = examine(patient("stationary", 400));
  EXPECT_EQ(found.calibration_answer(), Answer::kHelps);
  EXPECT_GT(*found.calibration.front().ece.base.value, 0.15);
  EXPECT_LT(*found.calibration.front().ece.ours.value, 0.04);
  EXPECT_NE(verdict(found).find("Calibration helps"), std::string::npos);
}

TEST(Doctor, NeverSendsCalibratedModelsToCalibration) {
  int refused = 0;
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    const Diagnosis found = examine(calibrated_patient(800, seed));
    const Answer answer = found.calibration_answer();
    EXPECT_NE(answer, Answer::kHelps) << seed;
    EXPECT_EQ(verdict(found).find("Calibration helps"), std::string::npos) << seed;
    refused += answer == Answer::kNoGain || answer == Answer::kHurts ? 1 : 0;
  }
  EXPECT_GE(refused, 10);
}

TEST(Doctor, SaysOfATinyLogThatItIsNotEnough) {
  const Diagnosis found = examine(patient("stationary", 20));
  EXPECT_EQ(found.calibration_answer(), Answer::kTooFew);
  EXPECT_EQ(found.voting_answer(), Answer::kTooFew);
  EXPECT_TRUE(verdict(found).starts_with("Verdict: not enough data yet."));
  EXPECT_FALSE(found.settling.settled_at);
}

TEST(Doctor, OfALogWithoutOutcomesSaysNothing) {
  Patient one = patient("stationary", 40);
  for (double& outcome : one.stream.outcome) outcome = NAN;
  one.stream.ungraded = one.stream.rows();
  const Diagnosis found = examine(one);
  EXPECT_EQ(found.calibration_answer(), Answer::kNotThere);
  EXPECT_FALSE(found.headline);
  EXPECT_TRUE(verdict(found).starts_with("Verdict: cannot be judged."));
}

TEST(Doctor, DoesNotPraiseAVoteOfModelsThatAlwaysAgree) {
  Patient one = patient("stationary", 200);
  for (Stream::Task& task : one.stream.tasks) {
    for (std::size_t row = task.first_row; row < std::size_t{task.first_row} + task.rows; ++row) {
      one.stream.answer[row] = 0;
      one.stream.outcome[row] = one.stream.outcome[task.first_row];
    }
    task.answers = 1;
  }
  const Diagnosis found = examine(one);
  EXPECT_EQ(found.voting_answer(), Answer::kNoGain);
  EXPECT_EQ(found.facts.check(Aspect::kDisagreement).health, Health::kBad);
}

TEST(Doctor, FindsTheModelThatGotWorse) {
  const Diagnosis found = examine(patient("collapse", 600));
  EXPECT_TRUE(found.overall.changed);
  for (const Change& change : found.changes) EXPECT_EQ(change.changed, change.name == "ash") << change.name;
  // The one committed to early is the one that fell: the vote is far better.
  EXPECT_EQ(found.voting->committed_model, "ash");
  EXPECT_GT(found.voting->over_committed.difference->interval->low, 0.3);
}

TEST(Doctor, SeldomSeesAChangeWhereThereIsNone) {
  std::size_t alarms = 0;
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    for (const Change& change : examine(patient("stationary", 300, seed)).changes) alarms += change.changed ? 1 : 0;
  }
  EXPECT_LE(alarms, 2U);  // 5% of ten families
}

TEST(Doctor, NamesWhoJoinedLateWithoutComparingThemToNothing) {
  const Diagnosis found = examine(patient("newcomers", 500));
  const Change& oak = found.changes.back();
  EXPECT_EQ(oak.name, "oak");
  EXPECT_EQ(oak.early.rows, 0U);
  EXPECT_FALSE(oak.difference);
  EXPECT_FALSE(oak.changed);
}

TEST(Doctor, ComparesVotesOverTheTasksThatBothHave) {
  const Patient one{.stream = make_test_stream({.seed = 4, .tasks = 120}), .sides = {std::vector<double>(120, NAN), {""}}, .truth = {}};
  ASSERT_EQ(one.stream.tasks.size(), 120U);
  const Diagnosis found = examine(one);
  const Stream& stream = one.stream;
  // In words: add up the calibrated confidence of each answer, take the largest, and look what it was worth.
  const auto calibrator = std::move(make_calibrator("margin_adaptive")).value();
  const auto vote = std::move(make_vote("sum")).value();
  const Pass pass = replay(stream, file_order(stream), *calibrator, *vote);
  const auto model =
      static_cast<ModelId>(std::find(stream.models.begin(), stream.models.end(), found.voting->committed_model) - stream.models.begin());
  double ours = 0.0, theirs = 0.0, tasks = 0.0;
  for (std::size_t number = 60; number < 120; ++number) {
    const Stream::Task& task = stream.tasks[number];
    double scores[3] = {}, worth[3] = {-1.0, -1.0, -1.0}, single = -1.0;
    std::vector<std::uint32_t> appearance;
    for (std::size_t row = task.first_row; row < std::size_t{task.first_row} + task.rows; ++row) {
      const std::uint32_t answer = stream.answer[row];
      scores[answer] += pass.calibrated[row];
      appearance.push_back(answer);
      if (std::isnan(stream.outcome[row])) continue;
      worth[answer] = std::max(worth[answer], stream.outcome[row]);
      if (stream.model[row] == model) single = stream.outcome[row];
    }
    std::uint32_t selected = appearance.front();
    for (const std::uint32_t answer : appearance) {
      if (scores[answer] > scores[selected]) selected = answer;
    }
    if (worth[selected] < 0.0 || single < 0.0) continue;
    ours += worth[selected];
    theirs += single;
    tasks += 1.0;
  }
  const Contrast& contrast = found.voting->over_committed;
  EXPECT_EQ(static_cast<double>(contrast.tasks), tasks);
  EXPECT_NEAR(*contrast.ours.value, ours / tasks, 1e-12);
  EXPECT_NEAR(*contrast.base.value, theirs / tasks, 1e-12);
}

TEST(Doctor, HeadlineAndGapsAreMeansOfRows) {
  const Patient one = patient("stationary", 100);
  const Diagnosis found = examine(one);
  double stated[10] = {}, right[10] = {};
  std::size_t count[10] = {};
  for (std::size_t row = 0; row < one.stream.rows(); ++row) {
    const auto bin = std::min<std::size_t>(9, static_cast<std::size_t>(one.stream.confidence[row] * 10.0));
    stated[bin] += one.stream.confidence[row];
    right[bin] += one.stream.outcome[row];
    ++count[bin];
  }
  const std::size_t fullest = static_cast<std::size_t>(std::max_element(count, count + 10) - count);
  EXPECT_EQ(found.headline->rows, count[fullest]);
  EXPECT_NEAR(found.headline->stated, stated[fullest] / static_cast<double>(count[fullest]), 1e-12);
  EXPECT_NEAR(found.headline->accuracy, right[fullest] / static_cast<double>(count[fullest]), 1e-12);
  double gap = 0.0, rows = 0.0;
  for (std::size_t row = 0; row < one.stream.rows(); ++row) {
    if (one.stream.model[row] != 2) continue;
    gap += one.stream.confidence[row] - one.stream.outcome[row];
    rows += 1.0;
  }
  EXPECT_NEAR(*found.models[2].stated.gap.value, gap / rows, 1e-12);
  const auto interval = percentile_interval(found.models[2].stated.gap.resampled);
  EXPECT_LT(interval->low, gap / rows);
  EXPECT_GT(interval->high, gap / rows);
}

TEST(Doctor, ResultHasTheSameBitsOnAnyNumberOfThreads) {
  const Patient one = patient("drift", 120);
  const Diagnosis a = examine(one, 1, 1100), b = examine(one, 3, 1100);
  EXPECT_EQ(a.calibration.front().ece.ours.resampled, b.calibration.front().ece.ours.resampled);
  EXPECT_EQ(a.voting->over_committed.ours.resampled, b.voting->over_committed.ours.resampled);
  ASSERT_EQ(a.settling.stages.size(), b.settling.stages.size());
  for (std::size_t i = 0; i < a.settling.stages.size(); ++i) EXPECT_EQ(a.settling.stages[i].ece, b.settling.stages[i].ece);
  EXPECT_EQ(verdict(a), verdict(b));
}

TEST(DoctorReport, NamesStayTextInEveryFormat) {
  Patient one = patient("collapse", 200);
  // `ash` is named in the verdict, in words, tables and pictures.
  one.stream.models[0] = "<script>x</script>\x1b[31m=1+1";
  one.sides.phases = {"<img src=x>", "=cmd()"};
  const report::Report report = doctor_report(std::vector{examine(one)}, {.options = {.orderings = 0, .resamples = 500}, .vote = "sum"});
  const std::string page = report::to_html(report);
  EXPECT_EQ(page.find("<script"), std::string::npos);
  EXPECT_EQ(page.find("<img"), std::string::npos);
  EXPECT_EQ(page.find('\x1b'), std::string::npos);
  EXPECT_NE(page.find("&lt;script&gt;x&lt;/script&gt;\\x1b[31m=1+1"), std::string::npos);
  for (const report::Section& section : report.sections) {
    for (const std::string& paragraph : section.paragraphs) EXPECT_EQ(paragraph.find('\x1b'), std::string::npos);
    for (const report::Table& table : section.tables) {
      EXPECT_EQ(report::to_text(table).find('\x1b'), std::string::npos);
      EXPECT_EQ(report::to_csv(table).find("\n=cmd()"), std::string::npos);
    }
  }
}

// One model that always says 0.9 and is right half of the time. With one band and no shrinkage the mean of what margin says after n
// outcomes is close to 0.9 * 0.5 / (0.9 - 0.4 * 0.96^n).
TEST(Settling, FollowsTheKnownCourseOfMargin) {
  Stream stream;
  stream.models = {"a"};
  stream.excluded.resize(1);
  for (std::uint32_t task = 0; task < 1000; ++task) {
    stream.tasks.push_back({.log_task = task, .first_row = task, .rows = 1, .answers = 0});
    stream.model.push_back(0);
    stream.confidence.push_back(0.9);
    stream.outcome.push_back(task % 2 == 0 ? 1.0 : 0.0);
    stream.weight.push_back(1.0);
    stream.answer.push_back(kNoAnswer);
    stream.log_row.push_back(task);
  }
  auto method = std::move(make_calibrator("margin", {{"bands", 1.0}, {"shrinkage", 0.0}})).value();
  const auto vote = std::move(make_vote("sum")).value();
  const auto found = measure_settling(stream, *method, *vote, {.passes = {.seed = 3}, .settle_passes = 200});
  ASSERT_TRUE(found);
  double expected = 0.0;
  for (int n = 0; n < 10; ++n) expected += (0.45 / (0.9 - 0.4 * std::pow(0.96, n)) - 0.5) / 10.0;
  EXPECT_NEAR(found->stages[0].ece, expected, 0.02);
  EXPECT_EQ(found->stages.back().outcomes, 320U);
  // The bias falls below two points after ln(0.2 / 0.02) / 0.04 = 58 outcomes and more.
  ASSERT_TRUE(found->settled_at);
  EXPECT_GE(*found->settled_at, 40U);
  EXPECT_LE(*found->settled_at, 80U);
}

}  // namespace
}  // namespace margin::experiment
