// margin.metrics: the core's metrics on columns. What is undefined is None.
#include <pybind11/stl.h>

#include "columns.h"
#include "frame.h"
#include "margin/bootstrap.h"
#include "margin/metric.h"
#include "margin/selection_metric.h"

namespace margin::python {
namespace {

using Number = std::optional<double>;

constexpr int kBinsMax = 1'000'000;
// Counts of tasks in resamples, a byte each.
constexpr std::size_t kResampleBytesMax = std::size_t{1} << 30;

// Probabilities and outcomes that the core will accept.
struct Columns {
  Columns(const py::handle& p, const py::handle& o)
      : probabilities(number_column("probabilities", p)), outcomes(number_column("outcomes", o)) {
    require_length("outcomes", view(outcomes).size(), "probabilities", view(probabilities).size());
    require_probabilities("probabilities", view(probabilities));
    require_probabilities("outcomes", view(outcomes));
  }
  [[nodiscard]] Predictions rows() const { return {view(probabilities), view(outcomes)}; }

  DoubleArray probabilities, outcomes;
};

int checked_bins(std::int64_t bins) {
  if (bins >= 1 && bins <= kBinsMax) return static_cast<int>(bins);
  raise({ErrorCode::kInvalidArgument, "bins: got " + std::to_string(bins) + ", expected a whole number in [1, 1000000]"});
}

// Computes without the interpreter.
template <class Compute>
auto apart(const Compute& compute) {
  const py::gil_scoped_release others_run;
  return compute();
}

// f(rows, bins)
template <auto f>
auto binned(const py::object& probabilities, const py::object& outcomes, std::int64_t bins) {
  const Columns columns(probabilities, outcomes);
  const int checked = checked_bins(bins);
  return apart([&] { return f(columns.rows(), checked); });
}

// f(rows)
template <auto f>
Number plain(const py::object& probabilities, const py::object& outcomes) {
  const Columns columns(probabilities, outcomes);
  return apart([&] { return f(columns.rows()); });
}

py::dict reliability(const py::object& probabilities, const py::object& outcomes, std::int64_t bins) {
  FrameColumns frame;
  for (const ReliabilityBin& bin : binned<reliability_table>(probabilities, outcomes, bins)) {
    const auto known = [&](double value) { return bin.count > 0 ? Number(value) : std::nullopt; };
    frame.number("low", bin.low);
    frame.number("high", bin.high);
    frame.count("count", bin.count);
    frame.number("probability", known(bin.mean_probability));
    frame.number("outcome", known(bin.mean_outcome));
    frame.number("outcome_low", known(bin.outcome_low));
    frame.number("outcome_high", known(bin.outcome_high));
  }
  return frame.take();
}

Number per_model(const py::object& probabilities, const py::object& outcomes, const py::object& models, std::int64_t bins) {
  const Columns columns(probabilities, outcomes);
  const std::vector<std::uint32_t> codes = label_codes("models", models);
  require_length("models", codes.size(), "probabilities", columns.rows().size());
  const int checked = checked_bins(bins);
  return apart([&] { return ece_per_model(columns.rows(), codes, checked); });
}

std::optional<py::dict> debiased(const py::object& probabilities, const py::object& outcomes, std::int64_t bins) {
  const auto found = binned<debiased_ece>(probabilities, outcomes, bins);
  if (!found) return std::nullopt;
  py::dict out;
  out["squared"] = found->squared;
  out["root_mean_square"] = found->root_mean_square;
  return out;
}

std::optional<py::dict> band(const py::object& probabilities, std::int64_t bins, std::int64_t simulations, std::uint64_t seed) {
  const DoubleArray column = number_column("probabilities", probabilities);
  require_probabilities("probabilities", view(column));
  if (simulations < 1 || simulations > kBinsMax) {
    raise({ErrorCode::kInvalidArgument, "simulations: got " + std::to_string(simulations) + ", expected a whole number in [1, 1000000]"});
  }
  const EceBandOptions options{.bins = checked_bins(bins), .simulations = static_cast<int>(simulations), .seed = seed};
  const auto found = apart([&] { return ece_band(view(column), options); });
  if (!found) return std::nullopt;
  py::dict out;
  out["low"] = found->low;
  out["mean"] = found->mean;
  out["high"] = found->high;
  return out;
}

std::optional<py::dict> parts(const py::object& probabilities, const py::object& outcomes, std::int64_t bins) {
  const auto found = binned<brier_parts>(probabilities, outcomes, bins);
  if (!found) return std::nullopt;
  py::dict out;
  out["brier"] = found->brier;
  out["reliability"] = found->reliability;
  out["resolution"] = found->resolution;
  out["uncertainty"] = found->uncertainty;
  out["within_variance"] = found->within_variance;
  out["within_covariance"] = found->within_covariance;
  return out;
}

Number spread(const py::object& probabilities) {
  const DoubleArray column = number_column("probabilities", probabilities);
  require_probabilities("probabilities", view(column));
  return apart([&] { return sharpness(view(column)); });
}

std::optional<std::pair<py::dict, double>> coverage(const py::object& probabilities, const py::object& outcomes) {
  const Columns columns(probabilities, outcomes);
  const auto found = apart([&] { return risk_coverage(columns.rows()); });
  if (!found) return std::nullopt;
  FrameColumns frame;
  for (const RiskPoint& point : found->curve) {
    frame.number("threshold", point.threshold);
    frame.number("coverage", point.coverage);
    frame.number("risk", point.risk);
  }
  return std::pair(frame.take(), found->area);
}

// The rows of each task together, whatever their order was.
std::vector<std::vector<GradedResponse>> graded_tasks(const py::object& tasks, const DoubleArray& confidences, const DoubleArray& outcomes,
                                                      const py::object& answers, const std::optional<DoubleArray>& stated) {
  std::size_t count = 0;
  const std::vector<std::uint32_t> task = label_codes("tasks", tasks, &count);
  require_length("tasks", task.size(), "confidences", view(confidences).size());
  std::vector<std::uint32_t> answer(task.size(), kNoAnswer);
  if (!answers.is_none()) {
    answer = label_codes("answers", answers);
    require_length("answers", answer.size(), "confidences", task.size());
  }
  std::vector<std::vector<GradedResponse>> grouped(count);
  for (std::size_t row = 0; row < task.size(); ++row) {
    const double confidence = view(confidences)[row];
    const bool missing = confidence != confidence;
    if (!missing) require_probability("row " + std::to_string(row) + ": confidences", confidence);
    grouped[task[row]].push_back({.model = static_cast<ModelId>(grouped[task[row]].size()),
                                  .answer = answer[row],
                                  .stated = missing ? std::nullopt : Number(stated ? view(*stated)[row] : confidence),
                                  .calibrated = missing ? 0.0 : confidence,
                                  .outcome = view(outcomes)[row]});
  }
  return grouped;
}

struct ResolutionChoices {
  std::string contest, ties, missing;
};

py::dict pairwise(const py::object& tasks, const py::object& confidences, const py::object& outcomes, const py::object& answers,
                  const py::object& stated, const ResolutionChoices& choices) {
  const ResolutionRules rules{.contest = value_of(parse_contest_rule(choices.contest)),
                              .tie = value_of(parse_tie_rule(choices.ties)),
                              .missing = value_of(parse_missing_rule(choices.missing))};
  if (rules.contest == ContestRule::kAnswers && answers.is_none()) {
    raise({ErrorCode::kInvalidArgument, "answers: expected a column, since contests are of answers"});
  }
  if (rules.tie == TieRule::kRaw && stated.is_none()) {
    raise({ErrorCode::kInvalidArgument, "stated: expected a column, since ties are decided by what was stated"});
  }
  const DoubleArray confidence = number_column("confidences", confidences);
  const DoubleArray outcome = number_column("outcomes", outcomes);
  require_length("outcomes", view(outcome).size(), "confidences", view(confidence).size());
  require_probabilities("outcomes", view(outcome));
  std::optional<DoubleArray> raw;
  if (!stated.is_none()) {
    raw = number_column("stated", stated);
    require_length("stated", view(*raw).size(), "confidences", view(confidence).size());
    require_probabilities("stated", view(*raw));
  }
  const auto grouped = graded_tasks(tasks, confidence, outcome, answers, raw);
  const std::vector<GradedTask> views(grouped.begin(), grouped.end());
  const Resolution found = apart([&] { return resolution(views, rules); });
  py::dict out;
  out["resolution"] = found.value();
  out["points"] = found.points;
  out["contests"] = found.contests;
  out["ties"] = found.ties;
  out["missing"] = found.missing;
  out["both_right"] = found.both_right;
  out["both_wrong"] = found.both_wrong;
  return out;
}

TaskRows rows_of(const std::string& metric, const Columns& columns, const TaskIndex& index) {
  if (metric == "ece") return ece_rows(columns.rows(), index);
  if (metric == "brier") return brier_rows(columns.rows(), index);
  if (metric == "log_loss") return log_loss_rows(columns.rows(), index);
  raise({ErrorCode::kNotFound, "metric: got " + metric + ", expected ece, brier or log_loss"});
}

py::dict bootstrap(const py::object& a, const py::object& b, const py::object& outcomes, const py::object& tasks, const std::string& metric,
                   std::size_t resamples, std::uint64_t seed) {
  const Columns first(a, outcomes);
  const Columns second(b, outcomes);
  const std::size_t rows = first.rows().size();
  TaskIndex index;
  std::vector<std::uint32_t> codes(rows);
  if (tasks.is_none()) {
    for (std::size_t row = 0; row < rows; ++row) codes[row] = static_cast<std::uint32_t>(row);
    index.task_count = rows;
  } else {
    codes = label_codes("tasks", tasks, &index.task_count);
  }
  require_length("tasks", codes.size(), "a", rows);
  index.tasks = codes;
  if (resamples < 1 || index.task_count < 1 || resamples > kResampleBytesMax / index.task_count) {
    raise({ErrorCode::kLimit, "resamples: got " + std::to_string(resamples) + " of " + std::to_string(index.task_count) +
                                  " tasks, expected at least one of each and a product of at most 2^30"});
  }
  const TaskRows rows_a = rows_of(metric, first, index);
  const TaskRows rows_b = rows_of(metric, second, index);
  const Number value_a = statistic({&rows_a, 1});
  const Number value_b = statistic({&rows_b, 1});
  const Difference difference = apart([&] {
    const TaskResamples drawn({.tasks = index.task_count, .resamples = resamples, .seed = seed});
    return paired_difference(resample(drawn, {&rows_a, 1}), resample(drawn, {&rows_b, 1}), Better::kLower);
  });
  py::dict out;
  out["a"] = value_a;
  out["b"] = value_b;
  out["difference"] = value_a && value_b ? Number(*value_a - *value_b) : std::nullopt;
  out["low"] = difference.interval ? Number(difference.interval->low) : std::nullopt;
  out["high"] = difference.interval ? Number(difference.interval->high) : std::nullopt;
  out["p_value"] = difference.p_value;
  out["verdict"] = difference.verdict == Verdict::kWin ? "win" : difference.verdict == Verdict::kLoss ? "loss" : "tie";
  return out;
}

}  // namespace

void bind_metrics(py::module_& core) {
  py::module_ module = core.def_submodule("metrics", "What margin.metrics is made of.");
  const auto p = py::arg("probabilities");
  const auto o = py::arg("outcomes");
  const auto bins = py::arg("bins") = kMetricBins;
  module.def("ece", &binned<ece>, p, o, bins,
             "Expected calibration error over equal-width bins.\n\n"
             ">>> from margin import metrics\n"
             ">>> metrics.ece([0.9, 0.9, 0.1, 0.1], [1, 0, 0, 0])\n"
             "0.25\n");
  module.def("ece_per_model", &per_model, p, o, py::arg("models"), bins, "The plain mean of the models' own ECEs.");
  module.def("equal_mass_ece", &binned<equal_mass_ece>, p, o, bins,
             "ECE over bins of equal size, cut at the quantiles of the probabilities.");
  module.def("debiased_ece", &debiased, p, o, bins,
             "The calibration error without the part that chance alone adds: squared, and root_mean_square on the scale of ECE.");
  module.def("smooth_ece", &plain<smooth_ece>, p, o,
             "ECE without bins: a reflected Gaussian kernel whose bandwidth equals the error it finds.");
  module.def("ece_band", &band, p, bins, py::arg("simulations") = 1000, py::arg("seed") = 1,
             "What ECE a perfect forecaster with these very probabilities would show: low and high (95%), and the mean.");
  module.def("brier", &plain<brier>, p, o,
             "Mean squared error.\n\n"
             ">>> from margin import metrics\n"
             ">>> metrics.brier([1.0, 0.5], [1, 0])\n"
             "0.125\n");
  module.def("brier_parts", &parts, p, o, bins, "Brier = reliability - resolution + uncertainty + what binning hides.");
  module.def("log_loss", &plain<log_loss>, p, o, "Mean of -(o ln p + (1-o) ln(1-p)), with p clipped to [1e-6, 1-1e-6].");
  module.def("auroc", &plain<auroc>, p, o, "The chance that a right response has the larger probability than a wrong one, ties half.");
  module.def("sharpness", &spread, p, "Variance of the probabilities.");
  module.def("reliability", &reliability, p, o, bins);
  module.def("risk_coverage", &coverage, p, o);
  module.def(
      "pairwise_resolution",
      [](const py::object& tasks, const py::object& confidences, const py::object& outcomes, const py::object& answers,
         const py::object& stated, std::string contest, std::string ties, std::string missing) {
        return pairwise(tasks, confidences, outcomes, answers, stated, {std::move(contest), std::move(ties), std::move(missing)});
      },
      py::arg("tasks"), py::arg("confidences"), o, py::arg("answers") = py::none(), py::arg("stated") = py::none(),
      py::arg("contest") = "passed", py::arg("ties") = "half", py::arg("missing") = "leave",
      "Of two models with different outcomes on a task, how often has the better one the larger confidence? A model has one row per task.\n"
      "A missing confidence is NaN.\n\n"
      ">>> from margin import metrics\n"
      ">>> metrics.pairwise_resolution([\"q1\", \"q1\", \"q2\", \"q2\"], [0.9, 0.6, 0.5, 0.7], [1, 0, 1, 0])[\"resolution\"]\n"
      "0.5\n");
  module.def(
      "paired_bootstrap", &bootstrap, py::arg("a"), py::arg("b"), o, py::arg("tasks") = py::none(), py::arg("metric") = "ece",
      py::arg("resamples") = 10'000, py::arg("seed") = 1,
      "Is `a` better calibrated than `b`, or was it the choice of tasks? Tasks are resampled, rows without tasks each by itself: the\n"
      "difference with its 95% interval, a p-value and the verdict for `a`: win, tie or loss. `metric`: ece, brier or log_loss.");
}

}  // namespace margin::python
