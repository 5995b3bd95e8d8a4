#include "experiment/doctor.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/check.h"
#include "experiment/graded.h"

namespace margin::experiment {
namespace {

using Outcomes = std::vector<std::optional<double>>;  // by task

// By task: whether it belongs to the second half.
std::vector<bool> late_half(std::span<const double> moments, bool by_time) {
  std::vector<std::size_t> order(moments.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  if (by_time) std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return moments[a] < moments[b]; });
  std::vector<bool> late(moments.size());
  for (std::size_t i = order.size() / 2; i < order.size(); ++i) late[order[i]] = true;
  return late;
}

// What one method made of the stream.
struct Measurement {
  Measured ece, brier, log_loss;
  std::vector<Outcomes> selected;  // by pass
  Pass first;
};

std::optional<Measurement> measure(const Stream& stream, const GradedStream& graded, const GradedRows& rows, const Calibrator& method,
                                   const Vote& vote, const Resampling& resampling, const PassesOptions& options, Progress* progress) {
  struct Collected {
    explicit Collected(std::size_t passes) : values(passes), rows(passes, TaskRows(0, 1)) {}
    Outcomes values;
    std::vector<TaskRows> rows;
  };
  Collected ece_of(options.passes()), brier_of = ece_of, log_loss_of = ece_of;
  Measurement measurement{.selected = std::vector<Outcomes>(options.passes())};
  const bool finished = for_each_pass(stream, method, vote, options, progress, [&](std::size_t number, Pass& pass) {
    const std::vector<double> probabilities = rows.of(pass.calibrated);
    const Predictions predictions{probabilities, rows.outcomes};
    ece_of.values[number] = ece(predictions);
    ece_of.rows[number] = ece_rows(predictions, rows.index());
    brier_of.values[number] = brier(predictions);
    brier_of.rows[number] = brier_rows(predictions, rows.index());
    log_loss_of.values[number] = log_loss(predictions);
    log_loss_of.rows[number] = log_loss_rows(predictions, rows.index());
    measurement.selected[number] = selected_outcomes(graded, pass);
    if (number == 0) measurement.first = std::move(pass);
  });
  if (!finished) return std::nullopt;
  const auto measured = [&](const Collected& one) { return Measured{spread_of(one.values).mean, resampling.of(one.rows)}; };
  measurement.ece = measured(ece_of);
  measurement.brier = measured(brier_of);
  measurement.log_loss = measured(log_loss_of);
  return measurement;
}

// Mean of confidence minus outcome over the graded rows for which `takes(row, task)`.
template <class Takes>
Gap gap_of(std::span<const double> confidence, const GradedRows& graded, const Resampling& resampling, Takes takes) {
  Gap gap;
  // Of 1 + confidence - outcome, which is never negative, as the terms of a mean have to be.
  TaskRows rows(graded.task_count, 1);
  for (std::size_t i = 0; i < graded.rows.size(); ++i) {
    const std::uint32_t row = graded.rows[i], task = graded.tasks[i];
    if (!takes(row, task)) continue;
    ++gap.rows;
    gap.confidence += confidence[row];
    gap.accuracy += graded.outcomes[i];
    rows.numerator(task, 0) += 1.0 + confidence[row] - graded.outcomes[i];
    rows.denominator(task) += 1.0;
  }
  if (gap.rows == 0) return gap;
  gap.confidence /= static_cast<double>(gap.rows);
  gap.accuracy /= static_cast<double>(gap.rows);
  gap.gap = {gap.confidence - gap.accuracy, resampling.of(std::span(&rows, 1))};
  for (std::optional<double>& value : gap.gap.resampled) {
    if (value) *value -= 1.0;
  }
  return gap;
}

std::optional<Headline> headline_of(const Stream& stream, const GradedRows& graded, const Pass& pass) {
  const std::vector<double> stated = graded.of(stream.confidence);
  const std::vector<ReliabilityBin> bins = reliability_table({stated, graded.outcomes});
  const auto fullest = std::max_element(bins.begin(), bins.end(), [](const auto& a, const auto& b) { return a.count < b.count; });
  if (fullest->count == 0) return std::nullopt;
  Headline headline{.rows = fullest->count, .stated = fullest->mean_probability, .accuracy = fullest->mean_outcome};
  for (std::size_t i = 0; i < stated.size(); ++i) {
    const auto bin = std::min(bins.size() - 1, static_cast<std::size_t>(stated[i] * static_cast<double>(bins.size())));
    if (&bins[bin] == &*fullest) headline.calibrated += pass.calibrated[graded.rows[i]];
  }
  headline.calibrated /= static_cast<double>(headline.rows);
  return headline;
}

class VotingStudy {
 public:
  VotingStudy(const Resampling& resampling, const ContrastRules& rules, const std::vector<Outcomes>& ours)
      : resampling_(resampling), rules_(rules), ours_(ours) {}

  // base(pass) is by task; both are taken over the tasks where both are defined and `takes(task)`.
  template <class Base, class Takes>
  Contrast against(Base base, Takes takes) const {
    std::vector<TaskRows> our_rows, base_rows;
    Outcomes our_values, base_values;
    std::size_t tasks = 0;
    for (std::size_t pass = 0; pass < ours_.size(); ++pass) {
      Outcomes mine = ours_[pass], theirs = base(pass);
      for (std::size_t task = 0; task < mine.size(); ++task) {
        if (mine[task] && theirs[task] && takes(task)) continue;
        mine[task].reset();
        theirs[task].reset();
      }
      const TaskMean mean = mean_over_tasks(mine);
      tasks = std::max(tasks, mean.tasks);
      our_values.push_back(mean.value);
      base_values.push_back(mean_over_tasks(theirs).value);
      our_rows.push_back(mean_rows(mine));
      base_rows.push_back(mean_rows(theirs));
    }
    return contrast_of({spread_of(our_values).mean, resampling_.of(our_rows)}, {spread_of(base_values).mean, resampling_.of(base_rows)},
                       tasks, rules_);
  }

 private:
  const Resampling& resampling_;
  const ContrastRules& rules_;
  const std::vector<Outcomes>& ours_;
};

bool can_vote(const Stream& stream) {
  return std::any_of(stream.tasks.begin(), stream.tasks.end(), [&](const Stream::Task& task) {
    const auto first = stream.answer.begin() + task.first_row;
    return task.rows - std::count(first, first + task.rows, kNoAnswer) >= 2;
  });
}

VotingFindings study_votes(const Stream& stream, const GradedStream& graded, const std::vector<bool>& late, const Measurement& raw,
                           const Measurement& ours, const Resampling& resampling, const ContrastRules& rules) {
  const VotingStudy study(resampling, rules, ours.selected);
  const auto everywhere = [](std::size_t) { return true; };
  const auto fixed = [](const Outcomes& outcomes) { return [&outcomes](std::size_t) -> const Outcomes& { return outcomes; }; };
  VotingFindings found;
  found.over_raw_vote = study.against([&](std::size_t pass) -> const Outcomes& { return raw.selected[pass]; }, everywhere);
  const Outcomes random = by_task(graded, random_outcome);
  found.over_random = study.against(fixed(random), everywhere);
  const Outcomes oracle = by_task(graded, oracle_outcome);
  const Contrast below_oracle = study.against(fixed(oracle), everywhere);
  found.vote = below_oracle.ours;
  found.oracle = below_oracle.base;

  const auto outcomes_of = [&](ModelId model) { return by_task(graded, [&](GradedTask task) { return model_outcome(task, model); }); };
  const std::vector<GradedTask> tasks = graded.tasks();
  if (const auto best = best_single(tasks, stream.models)) {
    found.best_single_model = stream.models[best->model];
    const Outcomes single = outcomes_of(best->model);
    found.over_best_single = study.against(fixed(single), everywhere);
  }
  std::vector<GradedTask> early;
  for (std::size_t task = 0; task < tasks.size(); ++task) {
    if (!late[task]) early.push_back(tasks[task]);
  }
  if (const auto best = best_single(early, stream.models)) {
    found.committed_model = stream.models[best->model];
    const Outcomes single = outcomes_of(best->model);
    found.over_committed = study.against(fixed(single), [&](std::size_t task) -> bool { return late[task]; });
  }
  return found;
}

Change change_of(std::string name, Gap early, Gap late) {
  Change change{.name = std::move(name), .early = std::move(early), .late = std::move(late)};
  if (change.early.rows == 0 || change.late.rows == 0) return change;
  change.difference = difference_of(change.late.gap, change.early.gap);
  change.p_value = paired_difference(change.late.gap.resampled, change.early.gap.resampled, Better::kLower).p_value;
  return change;
}

bool enough(const Change& change) { return std::min(change.early.rows, change.late.rows) >= kOutcomesEnough; }

// Levels by model and phase, and what changed between the halves.
void describe(const Stream& stream, const GradedRows& graded, const Pass& pass, std::span<const std::string> phase_names,
              const std::vector<bool>& late, const Resampling& resampling, Diagnosis& found) {
  const auto level = [&](const std::string& name, auto takes) {
    return Level{.name = name,
                 .stated = gap_of(stream.confidence, graded, resampling, takes),
                 .calibrated = gap_of(pass.calibrated, graded, resampling, takes)};
  };
  const auto change = [&](const std::string& name, auto takes) {
    const auto half = [&](bool second) {
      return gap_of(stream.confidence, graded, resampling,
                    [&](std::uint32_t row, std::uint32_t task) { return takes(row) && late[task] == second; });
    };
    return change_of(name, half(false), half(true));
  };
  found.overall = change("all models", [](std::uint32_t) { return true; });
  if (found.overall.difference && found.overall.difference->interval) {
    const report::Interval& interval = *found.overall.difference->interval;
    found.overall.changed = enough(found.overall) && (interval.low > 0.0 || interval.high < 0.0);
  }
  std::vector<double> p_values;
  for (ModelId model = 0; model < stream.models.size(); ++model) {
    const std::string& name = stream.models[model];
    found.models.push_back(level(name, [&](std::uint32_t row, std::uint32_t) { return stream.model[row] == model; }));
    found.changes.push_back(change(name, [&](std::uint32_t row) { return stream.model[row] == model; }));
    p_values.push_back(found.changes.back().p_value);
  }
  const std::vector<double> adjusted = holm(p_values);
  for (std::size_t model = 0; model < adjusted.size(); ++model) {
    Change& one = found.changes[model];
    one.changed = enough(one) && adjusted[model] <= 0.05;
  }
  if (found.facts.phases < 2) return;
  for (std::uint32_t phase = 0; phase < phase_names.size(); ++phase) {
    Level one = level(phase_names[phase], [&](std::uint32_t, std::uint32_t task) { return stream.tasks[task].phase == phase; });
    if (one.stated.rows > 0) found.phases.push_back(std::move(one));
  }
}

}  // namespace

Answer CalibrationFindings::answer() const {
  if (ece.answer == Answer::kNotThere || ece.answer == Answer::kTooFew) return ece.answer;
  if (brier.answer == Answer::kHurts) return Answer::kHurts;
  // However certain, less than the effect is nothing anybody would notice.
  if (ece.best_gain < effect) return Answer::kNoGain;
  if (ece.answer == Answer::kHelps && brier.answer == Answer::kHelps) return Answer::kHelps;
  return Answer::kUnknown;
}

Answer VotingFindings::answer() const {
  if (over_best_single.answer == Answer::kHelps) return Answer::kHelps;
  const bool judged = over_committed.answer != Answer::kNotThere && over_committed.answer != Answer::kTooFew;
  return judged ? over_committed.answer : over_best_single.answer;
}

Answer Diagnosis::calibration_answer() const { return calibration.empty() ? Answer::kNotThere : calibration.front().answer(); }

std::size_t doctor_work(const Stream& stream, std::size_t entrants, const DoctorOptions& options) {
  constexpr std::size_t kMetrics = 3, kVotes = 10, kGapsOfModel = 4;
  std::uint32_t phases = 0;
  for (const Stream::Task& task : stream.tasks) phases = std::max(phases, task.phase + 1);
  return options.settle_passes +
         pieces_of({.passes = entrants,
                    .statistics = kMetrics * entrants + kVotes + kGapsOfModel * (stream.models.size() + 1) + 2 * std::size_t{phases}},
                   options.passes);
}

std::optional<Diagnosis> run_doctor(const Stream& stream, const LogSides& sides, std::span<const Entrant> entrants, const Vote& vote,
                                    const DoctorOptions& options, Progress* progress) {
  const std::vector<double>& moments = sides.moments;
  MARGIN_CHECK(entrants.size() >= 2, "raw and a method to judge");
  const GradedStream graded(stream);
  const GradedRows rows(stream);
  const Resampling resampling(stream.tasks.size(), options.passes, progress);
  Diagnosis found{.facts = check_log(stream, moments), .effect = options.effect};
  found.by_time = !moments.empty() && std::none_of(moments.begin(), moments.end(), [](double moment) { return std::isnan(moment); });
  const std::vector<bool> late = late_half(moments, found.by_time);

  std::vector<Measurement> measured;
  for (const Entrant& entrant : entrants) {
    auto one = measure(stream, graded, rows, *entrant.method, vote, resampling, options.passes, progress);
    if (!one) return std::nullopt;
    measured.push_back(std::move(*one));
  }
  const Measurement& raw = measured[0];
  const Measurement& ours = measured[1];
  const std::size_t tasks = found.facts.graded_tasks;
  const ContrastRules errors{.better = Better::kLower, .effect = options.effect, .tasks_min = kOutcomesEnough};
  for (std::size_t i = 1; i < measured.size(); ++i) {
    found.calibration.push_back({.method = entrants[i].label,
                                 .effect = options.effect,
                                 .ece = contrast_of(measured[i].ece, raw.ece, tasks, errors),
                                 .brier = contrast_of(measured[i].brier, raw.brier, tasks, errors),
                                 .log_loss = contrast_of(measured[i].log_loss, raw.log_loss, tasks, errors)});
  }
  if (can_vote(stream)) {
    const ContrastRules rates{.better = Better::kHigher, .effect = options.effect, .tasks_min = kOutcomesEnough};
    found.voting = study_votes(stream, graded, late, raw, ours, resampling, rates);
    found.voting->method = entrants[1].label;
  }
  found.headline = headline_of(stream, rows, ours.first);
  const std::vector<double> stated = rows.of(stream.confidence), calibrated = rows.of(ours.first.calibrated);
  found.stated = reliability_table({stated, rows.outcomes});
  found.calibrated = reliability_table({calibrated, rows.outcomes});
  describe(stream, rows, ours.first, sides.phases, late, resampling, found);
  auto settling = measure_settling(stream, *entrants[1].method, vote, options, progress);
  if (!settling || (progress != nullptr && progress->stop)) return std::nullopt;
  found.settling = std::move(*settling);
  return found;
}

}  // namespace margin::experiment
