#include "experiment/paper.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>

#include "base/check.h"
#include "dataset/paper_cohort.h"
#include "dataset/simulate.h"
#include "dataset/timestamp.h"
#include "experiment/published.h"
#include "margin/metric.h"

namespace margin::experiment {
namespace {

// Everything here is made of fixed names and parameters: failure is a broken invariant.
template <class T>
T must(Result<T> result) {
  MARGIN_CHECK(result.ok(), "the preset `paper` is made of what exists");
  return std::move(*result);
}

Entrant entrant(const std::string& identifier, const Parameters& parameters = {}) {
  return {identifier, must(make_calibrator(identifier, parameters))};
}

// The preset `paper`.
constexpr Boundary kBoundary = Boundary::kRestart;
Entrant preset(const std::string& identifier) {
  return identifier == "margin" ? entrant(identifier, {{"target", "pool_band"}}) : entrant(identifier);
}

std::vector<Entrant> presets(const std::vector<std::string>& identifiers) {
  std::vector<Entrant> entrants;
  for (const std::string& identifier : identifiers) entrants.push_back(preset(identifier));
  return entrants;
}

bool learns_online(const Entrant& one) { return !one.method->info().design_time && one.label != "raw"; }

class Cohort {
 public:
  Cohort() : simulation_(must(dataset::simulate("paper", {.seed = kPaperCohortSeed}))) {}

  [[nodiscard]] const dataset::ObservationLog& log() const { return simulation_.log; }
  [[nodiscard]] Stream stream(std::string_view phase, bool cloud_only) const {
    RowSelection selection{.phases = {std::string(phase)}};
    if (cloud_only) selection.models = cloud();
    return must(make_streams(log(), selection)).front();
  }
  [[nodiscard]] Condition condition(std::string_view name, std::string_view source, std::string_view target, bool cloud_only) const {
    return make_condition(std::string(name), stream(source, cloud_only), stream(target, cloud_only));
  }
  [[nodiscard]] static std::vector<std::string> cloud() {
    return {dataset::paper_cloud_models().begin(), dataset::paper_cloud_models().end()};
  }

 private:
  dataset::Simulation simulation_;
};

// The model's rows of a pass.
struct ModelRows {
  std::vector<double> probabilities, outcomes;
  [[nodiscard]] Predictions predictions() const { return {probabilities, outcomes}; }
};

std::vector<ModelRows> by_model(const Stream& stream, const Pass& pass) {
  std::vector<ModelRows> models(stream.models.size());
  for (std::size_t row = 0; row < stream.rows(); ++row) {
    models[stream.model[row]].probabilities.push_back(pass.calibrated[row]);
    models[stream.model[row]].outcomes.push_back(stream.outcome[row]);
  }
  return models;
}

std::vector<ModelGain> gains(const Condition& condition, const Entrant& raw, const Entrant& margin, const Vote& vote,
                             const ShiftOptions& options, Progress* progress) {
  std::vector<std::vector<ModelGain>> orderings(options.orderings);
  parallel_for(options.orderings, options.threads, progress, [&](std::size_t ordering) {
    const auto stated = by_model(condition.target, target_pass(condition, *raw.method, vote, options, ordering));
    const auto calibrated = by_model(condition.target, target_pass(condition, *margin.method, vote, options, ordering));
    for (std::size_t model = 0; model < stated.size(); ++model) {
      const Predictions before = stated[model].predictions(), after = calibrated[model].predictions();
      const double log_loss_after = log_loss(after).value_or(0.0);
      orderings[ordering].push_back({.model = condition.target.models[model],
                                     .ece = ece(before).value_or(0.0) - ece(after).value_or(0.0),
                                     .brier = brier(before).value_or(0.0) - brier(after).value_or(0.0),
                                     .log_loss = log_loss(before).value_or(0.0) - log_loss_after,
                                     .margin_log_loss = log_loss_after});
    }
  });
  std::vector<ModelGain> mean;
  for (const std::string& model : condition.target.models) mean.push_back({.model = model});
  const auto share = 1.0 / static_cast<double>(options.orderings);
  for (const std::vector<ModelGain>& ordering : orderings) {
    for (std::size_t model = 0; model < ordering.size(); ++model) {
      mean[model].ece += share * ordering[model].ece;
      mean[model].brier += share * ordering[model].brier;
      mean[model].log_loss += share * ordering[model].log_loss;
      mean[model].margin_log_loss += share * ordering[model].margin_log_loss;
    }
  }
  return mean;
}

// Rows of the target per model in each of margin's bands.
std::vector<double> band_counts(const Stream& target, const Calibrator& margin) {
  std::vector<double> counts(static_cast<std::size_t>(std::get<double>(margin.parameters().at("bands"))));
  const auto bands = static_cast<double>(counts.size());
  const auto models = static_cast<double>(target.models.size());
  for (const double confidence : target.confidence) {
    counts[std::min(counts.size() - 1, static_cast<std::size_t>(std::floor(confidence * bands)))] += 1.0 / models;
  }
  return counts;
}

Coverage coverage_of(const Condition& condition) {
  const Entrant aci = entrant("aci_quantile_scale");
  const Stream& target = condition.target;
  std::vector<bool> seen(target.models.size());
  for (std::size_t row = 0; row < target.rows(); ++row) {
    const ModelId model = target.model[row];
    if (!seen[model]) aci.method->join(model), seen[model] = true;
    const Status learned = aci.method->observe({.model = model, .confidence = target.confidence[row], .outcome = target.outcome[row]});
    MARGIN_CHECK(learned.ok(), "a stream holds only what a calibrator accepts");
  }
  Coverage coverage{.condition = condition.name, .lowest = 1.0, .highest = 0.0};
  for (ModelId model = 0; model < seen.size(); ++model) {
    if (!seen[model]) continue;
    for (const Term& term : aci.method->explain(model, 1.0).terms) {
      if (term.name != "coverage so far") continue;
      coverage.lowest = std::min(coverage.lowest, term.value);
      coverage.highest = std::max(coverage.highest, term.value);
    }
  }
  return coverage;
}

// Collects what is to be done and how much of it there is, then does it in that order.
class Agenda {
 public:
  explicit Agenda(Progress& progress) : progress_(progress) {}

  void add(std::size_t pieces, std::function<void()> work) {
    progress_.total += pieces;
    jobs_.push_back(std::move(work));
  }
  // Runs `work`, which gives an optional, and keeps what it gives.
  template <class Work, class Into>
  void keep(std::size_t pieces, Into& into, Work work) {
    add(pieces, [&into, work = std::move(work)] {
      if (auto result = work()) into.push_back(std::move(*result));
    });
  }
  // False when stopped.
  bool run() {
    for (const auto& job : jobs_) {
      job();
      if (progress_.stop) return false;
    }
    return true;
  }

 private:
  Progress& progress_;
  std::vector<std::function<void()>> jobs_;
};

class PaperRun {
 public:
  PaperRun(const PaperOptions& options, Progress& progress)
      : options_(options), progress_(progress), agenda_(progress), vote_(must(make_vote("sum"))) {
    for (const dataset::PaperCondition& one : dataset::paper_conditions()) {
      conditions_.push_back(cohort_.condition(one.name, one.source, one.target, !one.local_models));
    }
    shift_.boundary = kBoundary;
    shift_.orderings = options.orderings;
    shift_.seed = options.seed;
    shift_.resamples = options.resamples;
    shift_.threads = options.threads;
    passes_ = {.orderings = options.orderings, .seed = options.seed, .resamples = options.resamples, .threads = options.threads};
  }

  std::optional<PaperResults> run() {
    plan_shift();
    plan_benchmarks();
    plan_transfer();
    plan_pool(kPaperQa, {}, results_.qa);
    // All of the code stream, in windows of the same share of it as those of question answering.
    plan_pool(kPaperCode, {.observations = 5762, .window = 288}, results_.code);
    plan_ablation();
    plan_feedback();
    if (!agenda_.run()) return std::nullopt;
    return std::move(results_);
  }

 private:
  void plan_shift() {
    std::vector<std::string> methods = published_texts({"shift_ece", "columns"});
    methods.insert(methods.end(), {"aci_quantile_scale", "margin_adaptive"});
    shifted_ = presets(methods);
    told_ = presets({"sliding_window_histogram", "windowed_accuracy_replace", "windowed_accuracy_multiply"});
    told_.push_back(preset("margin"));
    told_.push_back({std::string(kMarginDefaults), must(make_calibrator("margin"))});
    ShiftOptions told = shift_;
    told.boundary = Boundary::kTold;
    for (const Condition& condition : conditions_) {
      agenda_.keep(shift_work(shifted_.size(), shift_), results_.shift,
                   [&] { return run_shift(condition, shifted_, *vote_, shift_, &progress_); });
      agenda_.keep(shift_work(told_.size(), told), results_.told,
                   [&, told] { return run_shift(condition, told_, *vote_, told, &progress_); });
      agenda_.add(0, [&] { results_.coverage.push_back(coverage_of(condition)); });
    }
    agenda_.add(options_.orderings, [&] {
      const Condition& he_bcb = conditions_.front();
      const Entrant margin = preset("margin");
      results_.he_bcb_gain = gains(he_bcb, preset("raw"), margin, *vote_, shift_, &progress_);
      results_.he_bcb_band_counts = band_counts(he_bcb.target, *margin.method);
    });
  }

  void plan_benchmarks() {
    raw_and_margin_ = presets({"raw", "margin"});
    const std::size_t entrants = raw_and_margin_.size();
    const InversionOptions inversion{.passes = passes_};
    const std::vector<ModelSubset> subsets = {{"S1", Cohort::cloud()}};
    for (const std::string_view name : kPaperBenchmarks) {
      const Stream& stream = streams_.emplace(name, cohort_.stream(name, false)).first->second;
      const Stream& cloud = cloud_streams_.emplace(name, cohort_.stream(name, true)).first->second;
      if (name == "HE") results_.he_unusable = stream.excluded_total().total();
      agenda_.keep(selection_work(entrants, passes_), results_.selection, [&, name] {
        return run_selection(std::string(name), stream, raw_and_margin_, *vote_, std::nullopt, passes_, &progress_);
      });
      const auto resolve = [&](const Stream& of, std::vector<ResolutionResult>& into) {
        agenda_.keep(resolution_work(entrants, passes_), into,
                     [&] { return run_resolution(of, GradedStream(of), raw_and_margin_, *vote_, {}, passes_, &progress_); });
      };
      resolve(stream, results_.resolution);
      resolve(cloud, results_.resolution_cloud);
      agenda_.keep(entrants * passes_.passes(), results_.convergence, [&] {
        constexpr std::size_t kCheckpoints[] = {10, 30, 50, 100, 150};
        return run_convergence(stream, raw_and_margin_, *vote_, kCheckpoints, passes_, &progress_);
      });
      agenda_.keep(inversion_work(entrants, subsets.size(), inversion), results_.inversion, [&, inversion, subsets] {
        return must(run_inversion(stream, subsets, raw_and_margin_, *vote_, inversion, &progress_));
      });
    }
    const Stream& lcb = streams_.at("LCB");
    agenda_.add(split_work(entrants, lcb.models.size(), passes_), [&] {
      const auto cut = dataset::parse_timestamp(published_text({"date_split_lcb", "cut"}));
      auto split = run_split(must(split_stream(lcb, cohort_.log(), cut)), raw_and_margin_, *vote_, passes_, &progress_);
      if (split) results_.split = std::move(*split);
    });
  }

  void plan_transfer() {
    ShiftOptions options = shift_;
    options.resamples = 0;  // no interval was published, and ECE per model has none
    const std::vector<Regime> regimes = transfer_regimes();
    for (const std::string& name : published_keys({"transfer_ece_mean_per_model"})) {
      const std::size_t arrow = name.find("->");
      if (arrow == std::string::npos) continue;
      agenda_.keep(regimes.size() * shift_work(raw_and_margin_.size(), options), results_.transfer, [this, name, arrow, options, regimes] {
        const Condition condition = cohort_.condition(name, name.substr(0, arrow), name.substr(arrow + 2), true);
        return run_regimes(condition, raw_and_margin_, *vote_, regimes, options, &progress_);
      });
    }
  }

  void plan_pool(std::string_view phase, const PoolOptions& dropout, PoolRuns& into) {
    constexpr std::uint32_t kOrderingsMax = 50;  // as published
    into.dropout_options = dropout;
    for (PoolOptions* options : {&into.options, &into.dropout_options}) {
      options->orderings = std::min(options_.orderings, kOrderingsMax);
      options->seed = options_.seed;
      options->threads = options_.threads;
    }
    const Stream& stream = pool_streams_.emplace(phase, cohort_.stream(phase, true)).first->second;
    for (const Scenario scenario : {Scenario::kDropout, Scenario::kColdStart, Scenario::kRolling}) {
      const std::size_t arms = scenario == Scenario::kColdStart ? 2 : 1;
      agenda_.keep(arms * into.options.orderings, into.scenarios, [this, &stream, &into, scenario] {
        const Entrant margin = preset("margin");
        const auto arms_of_cold_start = cold_start_arms(margin.method->parameters());
        return must(run_pool(stream, scenario, scenario == Scenario::kColdStart ? std::span(arms_of_cold_start) : std::span(&margin, 1),
                             scenario == Scenario::kDropout ? into.dropout_options : into.options, &progress_));
      });
    }
  }

  void plan_ablation() {
    const std::vector<std::string> ablated = published_texts({"ablation_columns"});
    const auto plan = [&](std::string_view name, bool all_conditions, PaperSweep& into) {
      const Entrant base = preset("margin");
      into.sweep = must(make_sweep(must(sweep_preset(name)), *base.method));
      for (const Condition& condition : conditions_) {
        if (!all_conditions && std::find(ablated.begin(), ablated.end(), condition.name) == ablated.end()) continue;
        agenda_.keep(shift_work(into.sweep.entrants.size(), shift_), into.conditions,
                     [&] { return run_shift(condition, into.sweep.entrants, *vote_, shift_, &progress_); });
      }
    };
    plan("alpha", true, results_.alpha);
    plan("bands", true, results_.bands);
    plan("two_rate", false, results_.two_rate);
    plan("shrinkage", false, results_.shrinkage);
  }

  void plan_feedback() {
    for (const std::string& method : published_texts({"shift_ece", "columns"})) {
      Entrant one = preset(method);
      if (learns_online(one)) online_.push_back(std::move(one));
    }
    regimes_ = feedback_regimes({.lags = {0, kPaperLag}}, kBoundary);
    for (const Condition& condition : conditions_) {
      agenda_.keep(regimes_.size() * shift_work(online_.size(), shift_), results_.feedback,
                   [&] { return run_regimes(condition, online_, *vote_, regimes_, shift_, &progress_); });
    }
  }

  const PaperOptions options_;
  Progress& progress_;
  Agenda agenda_;
  Cohort cohort_;
  std::unique_ptr<Vote> vote_;
  ShiftOptions shift_;
  PassesOptions passes_;
  std::vector<Condition> conditions_;
  std::map<std::string_view, Stream> streams_, cloud_streams_, pool_streams_;
  std::vector<Entrant> shifted_, told_, raw_and_margin_, online_;
  std::vector<Regime> regimes_;
  PaperResults results_;
};

}  // namespace

const EntrantResult& entrant_of(const ConditionResult& condition, std::string_view label) {
  const auto found =
      std::find_if(condition.entrants.begin(), condition.entrants.end(), [&](const auto& one) { return one.label == label; });
  MARGIN_CHECK(found != condition.entrants.end(), "the entrant takes part");
  return *found;
}

const ConditionResult& condition_of(std::span<const ConditionResult> conditions, std::string_view name) {
  const auto found = std::find_if(conditions.begin(), conditions.end(), [&](const auto& one) { return one.name == name; });
  MARGIN_CHECK(found != conditions.end(), "the condition was run");
  return *found;
}

std::optional<PaperResults> run_paper(const PaperOptions& options, Progress& progress) { return PaperRun(options, progress).run(); }

}  // namespace margin::experiment
