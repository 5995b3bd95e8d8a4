#include "experiment/replay.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <memory>
#include <optional>

#include "base/check.h"

namespace margin::experiment {
namespace {

constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

class Replay {
 public:
  Replay(const Stream& stream, std::span<const std::uint32_t> order, const Calibrator& calibrator, const Vote& vote,
         const PassOptions& options)
      : stream_(stream), order_(order), fresh_(calibrator), options_(options) {
    auto restored = restore_vote(vote.snapshot());
    MARGIN_CHECK(restored.ok(), "a vote restores from its own snapshot");
    vote_ = std::move(restored).value();
    whole_ = calibrator.clone();
    if (options.remedy != RemedyKind::kNone) remedy_.emplace(options.remedy);
    pass_.calibrated.resize(stream.rows());
    pass_.selections.resize(stream.tasks.size());
  }

  Pass run() {
    std::size_t first_row = 0;  // of the task, in replay order
    for (std::size_t position = 0; position < order_.size(); ++position) {
      const std::uint32_t number = order_[position];
      if (first_row > options_.lag) learn_rows_below(first_row - options_.lag);
      if (options_.restart_counts && position == options_.boundary) restart_counts();
      const Stream::Task& task = stream_.tasks[number];
      calibrate(task);
      select(number);
      first_row += task.rows;
    }
    pass_.end = std::move(whole_);
    return std::move(pass_);
  }

 private:
  Calibrator& state_of(std::uint32_t segment) {
    if (segment == 0) return *whole_;
    std::unique_ptr<Calibrator>& state = segments_[segment];
    if (state == nullptr) state = fresh_.clone();
    return *state;
  }

  void restart_counts() {
    whole_->restart_counts();
    for (auto& [segment, state] : segments_) state->restart_counts();
  }

  [[nodiscard]] bool complete_feedback() const { return options_.feedback == Feedback::kFull || learning_ < options_.boundary; }

  // Whether a row supports what was selected in the task now being learned.
  [[nodiscard]] bool supports(std::size_t row) const {
    const std::uint32_t selected = pass_.selections[order_[learning_]].answer;
    return selected != kNoAnswer && stream_.answer[row] == selected;
  }

  // Whether the outcome of a row of the task now being learned will ever be known.
  [[nodiscard]] bool revealed(std::size_t row) const {
    if (std::isnan(stream_.outcome[row])) return false;
    if (complete_feedback()) return true;
    if (options_.feedback == Feedback::kNone) return false;
    return supports(row) || std::any_of(audits_.begin(), audits_.end(), [&](const Audit& audit) {
             return stream_.tasks[order_[learning_]].first_row + audit.response == row;
           });
  }

  // Before the first row of a task is learned.
  void plan_audits(const Stream::Task& task) {
    audits_.clear();
    if (complete_feedback() || options_.feedback == Feedback::kNone || options_.audits.rate == 0.0) return;
    const std::uint32_t number = order_[learning_];
    audits_ =
        audits_of(options_.audits, number, std::span(stream_.answer).subspan(task.first_row, task.rows), pass_.selections[number].answer);
  }

  void calibrate(const Stream::Task& task) {
    Calibrator& state = state_of(task.segment);
    const std::size_t end = std::size_t{task.first_row} + task.rows;
    for (std::size_t row = task.first_row; row < end; ++row) {
      const ModelId model = stream_.model[row];
      if (!state.present(model)) state.join_from(model, *whole_, model);
    }
    for (std::size_t row = task.first_row; row < end; ++row) {
      pass_.calibrated[row] = state.calibrate(stream_.model[row], stream_.confidence[row]);
    }
  }

  void fill_ballots(const Stream::Task& task) {
    ballots_.clear();
    for (std::size_t row = task.first_row; row < std::size_t{task.first_row} + task.rows; ++row) {
      ballots_.push_back({.model = stream_.model[row], .answer = stream_.answer[row], .confidence = pass_.calibrated[row]});
    }
  }

  void select(std::uint32_t number) {
    const Stream::Task& task = stream_.tasks[number];
    if (task.answers == 0) return;
    fill_ballots(task);
    vote_->tally(ballots_, task.answers, tally_);
    if (tally_.winner == kNoAnswer) return;
    pass_.selections[number] = {tally_.winner, task.first_row + static_cast<std::uint32_t>(tally_.ballot), tally_.share};
  }

  // Rows in replay order below `limit` that are not learned yet, each task's in brackets of its own.
  void learn_rows_below(std::size_t limit) {
    while (learned_ < limit) {
      const Stream::Task& task = stream_.tasks[order_[learning_]];
      const std::size_t due = std::min(limit - learned_, task.rows - within_);
      if (within_ == 0) plan_audits(task);
      if (!remedy_) learn(task, within_, within_ + due);
      learned_ += due;
      within_ += due;
      if (within_ < task.rows) continue;
      if (remedy_) learn_with_remedy(task);
      teach_vote(task);
      ++learning_;
      within_ = 0;
    }
  }

  void learn(const Stream::Task& task, std::size_t begin, std::size_t end) {
    Calibrator& state = state_of(task.segment);
    bool bracketed = false;
    for (std::size_t row = task.first_row + begin; row < task.first_row + end; ++row) {
      if (!revealed(row)) continue;
      if (!bracketed) state.begin_task();
      bracketed = true;
      observe(state, {.model = stream_.model[row],
                      .confidence = stream_.confidence[row],
                      .outcome = stream_.outcome[row],
                      .weight = stream_.weight[row]});
    }
    if (bracketed) state.end_task();
  }

  void learn_with_remedy(const Stream::Task& task) {
    responses_.clear();
    const double propensity = complete_feedback() ? 1.0 : options_.audits.rate;
    for (std::size_t row = task.first_row; row < std::size_t{task.first_row} + task.rows; ++row) {
      const bool selected = supports(row);
      responses_.push_back({.model = stream_.model[row],
                            .confidence = stream_.confidence[row],
                            .selected = selected,
                            .outcome = revealed(row) ? stream_.outcome[row] : kUnknown,
                            .weight = stream_.weight[row],
                            .propensity = selected ? 1.0 : propensity});
    }
    remedy_->learn(responses_, lessons_);
    const auto teaches = [](const Lesson& lesson) { return lesson.origin != Lesson::Origin::kNothing; };
    if (std::none_of(lessons_.begin(), lessons_.end(), teaches)) return;
    Calibrator& state = state_of(task.segment);
    state.begin_task();
    for (std::size_t i = 0; i < lessons_.size(); ++i) {
      if (!teaches(lessons_[i])) continue;
      observe(state, {.model = responses_[i].model,
                      .confidence = responses_[i].confidence,
                      .outcome = lessons_[i].outcome,
                      .weight = lessons_[i].weight});
    }
    state.end_task();
  }

  static void observe(Calibrator& state, const Observation& observation) {
    const Status learned = state.observe(observation);
    MARGIN_CHECK(learned.ok(), "a stream holds only what a calibrator accepts");
  }

  // What a vote may take for true of row `i` of the task: an estimate is no outcome, and what is implied is known only beside a right
  // selection, so that a vote taught by it would learn that whoever it follows is right.
  [[nodiscard]] double outcome_for_vote(const Stream::Task& task, std::size_t i) const {
    if (!remedy_) return revealed(task.first_row + i) ? stream_.outcome[task.first_row + i] : kUnknown;
    return lessons_[i].origin == Lesson::Origin::kKnown ? lessons_[i].outcome : kUnknown;
  }

  void teach_vote(const Stream::Task& task) {
    if (!vote_->info().learns || task.answers == 0) return;
    outcomes_.clear();
    for (std::size_t i = 0; i < task.rows; ++i) outcomes_.push_back(outcome_for_vote(task, i));
    if (std::all_of(outcomes_.begin(), outcomes_.end(), [](double o) { return std::isnan(o); })) return;
    fill_ballots(task);
    vote_->learn(ballots_, task.answers, outcomes_);
  }

  const Stream& stream_;
  const std::span<const std::uint32_t> order_;
  const Calibrator& fresh_;
  const PassOptions options_;

  std::unique_ptr<Calibrator> whole_;  // without segment
  std::map<std::uint32_t, std::unique_ptr<Calibrator>> segments_;
  std::unique_ptr<Vote> vote_;
  std::vector<Ballot> ballots_;
  std::vector<double> outcomes_;
  Tally tally_;

  std::optional<Remedy> remedy_;
  std::vector<Audit> audits_;            // of the task now being learned
  std::vector<TaskResponse> responses_;  // likewise, with a remedy
  std::vector<Lesson> lessons_;

  std::size_t learned_ = 0;   // rows in replay order
  std::size_t learning_ = 0;  // position in order_ of the task to learn next
  std::size_t within_ = 0;    // its rows that are learned already
  Pass pass_;
};

}  // namespace

Pass replay(const Stream& stream, std::span<const std::uint32_t> order, const Calibrator& calibrator, const Vote& vote,
            const PassOptions& options) {
  return Replay(stream, order, calibrator, vote, options).run();
}

}  // namespace margin::experiment
