// margin-demo: what calibration does, shown on three simulated models that lie in different ways. run.sh runs it.
#include <algorithm>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <span>
#include <string_view>
#include <vector>

#include "margin/calibrator.h"
#include "margin/math.h"
#include "margin/metric.h"
#include "margin/random.h"
#include "margin/vote.h"

namespace {

using margin::ModelId;

constexpr ModelId kModels = 3;
constexpr std::uint32_t kAnswers = 4;

struct SimulatedModel {
  const char* name;
  const char* lie;
  double stated_low, stated_high;          // confidence is uniform in between
  double accuracy_first, accuracy_second;  // before and after half-time, at the middle of that range
};

constexpr SimulatedModel kCast[kModels] = {
    {"boaster", "always sure, often wrong", 0.80, 1.00, 0.50, 0.50},
    {"doubter", "says less than it knows", 0.40, 0.70, 0.82, 0.82},
    {"faller", "honest, collapses half-way", 0.65, 0.95, 0.80, 0.25},
};

struct Arguments {
  std::uint64_t tasks = 4000;
  std::uint64_t seed = 1;
};

bool parse(int count, char** values, Arguments& arguments) {
  for (int i = 1; i < count; i += 2) {
    const std::string_view name = values[i];
    std::uint64_t* target = name == "--tasks" ? &arguments.tasks : name == "--seed" ? &arguments.seed : nullptr;
    if (target == nullptr || i + 1 == count) return false;
    const std::string_view text = values[i + 1];
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *target);
    if (error != std::errc() || end != text.data() + text.size()) return false;
  }
  return arguments.tasks >= 10 && arguments.tasks <= 10'000'000;
}

// What one model said, what it was worth, and whether it was right, task by task.
struct Record {
  std::vector<double> stated, calibrated, outcomes;
};

struct RightAnswers {
  double by_stated = 0.0, by_calibrated = 0.0, by_anyone = 0.0;
};

// The part of a column that belongs to some tasks.
struct Tasks {
  std::size_t begin, count;
  [[nodiscard]] std::span<const double> of(const std::vector<double>& column) const { return std::span(column).subspan(begin, count); }
};

double mean(std::span<const double> values) {
  double sum = 0.0;
  for (const double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

void print_models(const char* title, const std::vector<Record>& records, Tasks tasks) {
  std::printf("\n%s\n  %-8s %-27s %7s %11s %9s %11s %10s\n", title, "model", "", "stated", "calibrated", "accuracy", "ECE before",
              "ECE after");
  for (ModelId model = 0; model < kModels; ++model) {
    const auto stated = tasks.of(records[model].stated);
    const auto calibrated = tasks.of(records[model].calibrated);
    const auto outcomes = tasks.of(records[model].outcomes);
    std::printf("  %-8s %-27s %6.1f%% %10.1f%% %8.1f%% %10.1f%% %9.1f%%\n", kCast[model].name, kCast[model].lie, 100 * mean(stated),
                100 * mean(calibrated), 100 * mean(outcomes), 100 * margin::ece({stated, outcomes}).value_or(0.0),
                100 * margin::ece({calibrated, outcomes}).value_or(0.0));
  }
}

// Draws what the models say to one task; returns the number of the right answer.
std::uint32_t simulate(const Arguments& arguments, std::uint64_t task, margin::Random& random, std::vector<Record>& records,
                       std::vector<margin::Ballot>& ballots) {
  const auto right = static_cast<std::uint32_t>(random.below(kAnswers));
  for (ModelId model = 0; model < kModels; ++model) {
    const SimulatedModel& cast = kCast[model];
    const double position = random.uniform();
    const double accuracy = 2 * task < arguments.tasks ? cast.accuracy_first : cast.accuracy_second;
    const bool is_right = random.chance(margin::clip01(accuracy + 0.2 * (position - 0.5)));
    const auto wrong = static_cast<std::uint32_t>((right + 1 + random.below(kAnswers - 1)) % kAnswers);
    records[model].stated.push_back(cast.stated_low + (cast.stated_high - cast.stated_low) * position);
    records[model].outcomes.push_back(is_right ? 1.0 : 0.0);
    ballots[model] = {.model = model, .answer = is_right ? right : wrong};
  }
  return right;
}

int run(const Arguments& arguments) {
  const auto made_calibrator = margin::make_calibrator("margin");
  const auto made_vote = margin::make_vote("sum");
  if (!made_calibrator || !made_vote) return 1;
  margin::Calibrator& calibrator = **made_calibrator;
  const margin::Vote& vote = **made_vote;
  for (ModelId model = 0; model < kModels; ++model) calibrator.join(model);

  margin::Random random(arguments.seed);
  std::vector<Record> records(kModels);
  std::vector<margin::Ballot> ballots(kModels);
  margin::Tally tally;
  RightAnswers right_answers;
  for (std::uint64_t task = 0; task < arguments.tasks; ++task) {
    const std::uint32_t right = simulate(arguments, task, random, records, ballots);
    for (ModelId model = 0; model < kModels; ++model) {
      records[model].calibrated.push_back(calibrator.calibrate(model, records[model].stated.back()));
    }
    const auto selects_right = [&](std::vector<double> Record::*confidence) {
      for (ModelId model = 0; model < kModels; ++model) ballots[model].confidence = (records[model].*confidence).back();
      vote.tally(ballots, kAnswers, tally);
      return tally.winner == right ? 1.0 : 0.0;
    };
    right_answers.by_stated += selects_right(&Record::stated);
    right_answers.by_calibrated += selects_right(&Record::calibrated);
    const auto is_right = [&](const margin::Ballot& ballot) { return ballot.answer == right; };
    right_answers.by_anyone += std::any_of(ballots.begin(), ballots.end(), is_right) ? 1.0 : 0.0;

    calibrator.begin_task();
    for (ModelId model = 0; model < kModels; ++model) {
      const Record& record = records[model];
      if (!calibrator.observe({.model = model, .confidence = record.stated.back(), .outcome = record.outcomes.back()})) return 1;
    }
    calibrator.end_task();
  }

  const std::size_t half = arguments.tasks / 2;
  std::printf(
      "MARGIN on simulated models: %llu tasks, seed %llu. No real model was asked; these three are drawn at random, with known faults.\n"
      "Every confidence is calibrated before its outcome is known; then the outcome is learned.\n",
      static_cast<unsigned long long>(arguments.tasks), static_cast<unsigned long long>(arguments.seed));
  print_models("First half", records, {0, half});
  print_models("Second half: the faller has collapsed, and nobody told the calibrator", records, {half, arguments.tasks - half});

  std::printf("\nWhat a stated confidence is worth at the end\n  %-8s %7s %11s %7s %13s\n", "model", "stated", "calibrated", "factor",
              "observations");
  for (ModelId model = 0; model < kModels; ++model) {
    for (const double stated : {0.5, 0.9}) {
      const margin::Explanation why = calibrator.explain(model, stated);
      std::printf("  %-8s %6.0f%% %10.1f%% %7.2f %13.0f\n", kCast[model].name, 100 * stated, 100 * why.calibrated, why.factor,
                  why.observations);
    }
  }

  const double percent = 100 / static_cast<double>(arguments.tasks);
  std::printf("\nThe selected answer is right (vote: the largest sum of confidence)\n");
  std::printf("  by stated confidence      %5.1f%%\n  by calibrated confidence  %5.1f%%\n  some model was right      %5.1f%%\n",
              right_answers.by_stated * percent, right_answers.by_calibrated * percent, right_answers.by_anyone * percent);
  return 0;
}

}  // namespace

int main(int count, char** values) {
  Arguments arguments;
  if (!parse(count, values, arguments)) {
    std::fprintf(stderr, "usage: margin-demo [--tasks 10..10000000] [--seed S]\n");
    return 2;
  }
  return run(arguments);
}
