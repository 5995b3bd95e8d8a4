#include "experiment/log_check.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "base/check.h"

namespace margin::experiment {
namespace {

constexpr std::size_t kBands = 3;  // as the margin calibrator cuts the scale

// Below `warn` of all: a warning; none at all: bad.
Health by_share(std::size_t count, std::size_t of, double warn) {
  if (count == 0) return Health::kBad;
  return static_cast<double>(count) < warn * static_cast<double>(of) ? Health::kWarn : Health::kOk;
}

bool voting_alone(Aspect aspect) {
  return aspect == Aspect::kAnswer || aspect == Aspect::kSeveralModels || aspect == Aspect::kDisagreement;
}

struct ModelCounts {
  std::size_t rows = 0, outcomes = 0;
  double low = 1.0, high = 0.0;  // of confidence
  double right = 0.0;            // sum of outcomes
  std::size_t by_band[kBands] = {};
  bool band_seen[kBands] = {};
};

std::vector<ModelCounts> count_models(const Stream& stream) {
  std::vector<ModelCounts> models(stream.models.size());
  for (std::size_t row = 0; row < stream.rows(); ++row) {
    ModelCounts& model = models[stream.model[row]];
    const double confidence = stream.confidence[row];
    const std::size_t band = std::min(kBands - 1, static_cast<std::size_t>(confidence * kBands));
    ++model.rows;
    model.low = std::min(model.low, confidence);
    model.high = std::max(model.high, confidence);
    model.band_seen[band] = true;
    if (std::isnan(stream.outcome[row])) continue;
    ++model.outcomes;
    ++model.by_band[band];
    model.right += stream.outcome[row];
  }
  return models;
}

// Counts the models with rows for which `holds`, and names the others.
template <class Takes, class Holds>
LogCheck over_models(Aspect aspect, const Stream& stream, const std::vector<ModelCounts>& models, Takes takes, Holds holds) {
  LogCheck check{.aspect = aspect};
  for (ModelId id = 0; id < models.size(); ++id) {
    if (!takes(models[id])) continue;
    ++check.of;
    if (holds(models[id])) {
      ++check.count;
    } else {
      check.models.push_back(stream.models[id]);
    }
  }
  check.health = by_share(check.count, check.of, 1.0);
  return check;
}

void check_models(const Stream& stream, std::vector<LogCheck>& checks) {
  const std::vector<ModelCounts> models = count_models(stream);
  const auto any_row = [](const ModelCounts& model) { return model.rows > 0; };
  const auto graded = [](const ModelCounts& model) { return model.outcomes > 0; };
  checks.push_back(over_models(Aspect::kBothOutcomes, stream, models, graded, [](const ModelCounts& model) {
    return model.right > 0.0 && model.right < static_cast<double>(model.outcomes);
  }));
  checks.push_back(over_models(Aspect::kOutcomesPerModel, stream, models, any_row,
                               [](const ModelCounts& model) { return model.outcomes >= kOutcomesEnough; }));
  LogCheck bands{.aspect = Aspect::kOutcomesPerBand};
  for (const ModelCounts& model : models) {
    for (std::size_t band = 0; band < kBands; ++band) {
      bands.of += model.band_seen[band] ? 1 : 0;
      bands.count += model.by_band[band] >= kOutcomesEnough ? 1 : 0;
    }
  }
  // Thin bands borrow from the model: only when most are thin does it matter.
  bands.health = 2 * bands.count < bands.of ? Health::kWarn : Health::kOk;
  checks.push_back(std::move(bands));
  LogCheck varies =
      over_models(Aspect::kVariation, stream, models, any_row, [](const ModelCounts& model) { return model.low < model.high; });
  if (varies.health == Health::kBad) varies.health = Health::kWarn;  // a mean per model can still be learned
  checks.push_back(std::move(varies));
}

void check_tasks(const Stream& stream, std::vector<LogCheck>& checks) {
  LogCheck several{.aspect = Aspect::kSeveralModels, .of = stream.tasks.size()};
  LogCheck differ{.aspect = Aspect::kDisagreement};
  for (const Stream::Task& task : stream.tasks) {
    several.count += task.rows >= 2 ? 1 : 0;
    const auto first = stream.answer.begin() + task.first_row;
    const auto answers = task.rows - std::count(first, first + task.rows, kNoAnswer);
    differ.of += answers >= 2 ? 1 : 0;
    differ.count += task.answers >= 2 ? 1 : 0;
  }
  several.health = by_share(several.count, several.of, 0.5);
  differ.health = by_share(differ.count, differ.of, 0.05);
  checks.push_back(several);
  checks.push_back(differ);
}

void check_time(std::span<const double> moments, std::vector<LogCheck>& checks) {
  LogCheck time{.aspect = Aspect::kTime, .of = moments.size()};
  LogCheck order{.aspect = Aspect::kTimeOrder};
  double latest = -HUGE_VAL;
  for (const double moment : moments) {
    if (std::isnan(moment)) continue;
    ++time.count;
    order.count += moment >= latest ? 1 : 0;
    latest = moment;
  }
  order.of = time.count;
  if (time.count < time.of) time.health = Health::kWarn;
  if (order.count < order.of) order.health = Health::kWarn;
  checks.push_back(time);
  if (time.count > 0) checks.push_back(order);
}

}  // namespace

Health LogFacts::for_calibration() const {
  Health worst = Health::kOk;
  for (const LogCheck& check : checks) {
    if (!voting_alone(check.aspect)) worst = std::max(worst, check.health);
  }
  return worst;
}

Health LogFacts::for_voting() const {
  Health worst = for_calibration();
  for (const LogCheck& check : checks) worst = std::max(worst, check.health);
  return worst;
}

const LogCheck& LogFacts::check(Aspect aspect) const {
  const auto found = std::find_if(checks.begin(), checks.end(), [&](const LogCheck& one) { return one.aspect == aspect; });
  MARGIN_CHECK(found != checks.end(), "every aspect but the order of time is always checked");
  return *found;
}

LogFacts check_log(const Stream& stream, std::span<const double> moments) {
  MARGIN_CHECK(moments.size() == stream.tasks.size(), "one moment per task");
  LogFacts facts{.channel = stream.channel,
                 .rows = stream.rows() + stream.excluded_total().total(),
                 .responses = stream.rows(),
                 .outcomes = stream.rows() - stream.ungraded,
                 .tasks = stream.task_count,
                 .models = stream.models,
                 .excluded = stream.excluded};
  std::set<std::uint32_t> phases;
  for (const Stream::Task& task : stream.tasks) {
    phases.insert(task.phase);
    const auto first = stream.outcome.begin() + task.first_row;
    if (std::any_of(first, first + task.rows, [](double outcome) { return !std::isnan(outcome); })) ++facts.graded_tasks;
  }
  facts.phases = phases.size();

  const auto add = [&](Aspect aspect, std::size_t count, std::size_t of, double warn) {
    facts.checks.push_back({.aspect = aspect, .health = by_share(count, of, warn), .count = count, .of = of, .models = {}});
  };
  add(Aspect::kConfidence, facts.responses, facts.rows, 0.95);
  add(Aspect::kOutcome, facts.outcomes, facts.responses, 0.95);
  check_models(stream, facts.checks);
  const auto above =
      std::count_if(stream.confidence.begin(), stream.confidence.end(), [](double confidence) { return confidence > kConfidenceTiny; });
  add(Aspect::kScale, static_cast<std::size_t>(above), facts.responses, 0.0);
  const auto silent = std::count(stream.answer.begin(), stream.answer.end(), kNoAnswer);
  add(Aspect::kAnswer, facts.responses - static_cast<std::size_t>(silent), facts.responses, 0.95);
  check_tasks(stream, facts.checks);
  check_time(moments, facts.checks);
  return facts;
}

}  // namespace margin::experiment
