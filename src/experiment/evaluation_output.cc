#include "experiment/evaluation_output.h"

#include <fmt/format.h>

#include <cmath>

#include "dataset/text.h"

namespace margin::experiment {
namespace {

using dataset::json_number;
using dataset::json_string;
using dataset::ObservationLog;

constexpr Metric kEveryMetric[] = {kEce, kEcePerModel, kBrier, kLogLoss, kPass1, kResolution};

std::string scores_json(const Scores& scores, std::span<const Metric> metrics) {
  std::string out;
  for (const Metric metric : metrics) {
    out += fmt::format("{}\"{}\":{}", out.empty() ? "" : ",", kMetricNames[metric], scores[metric] ? json_number(*scores[metric]) : "null");
  }
  return out;
}

std::string excluded_json(const Stream& stream) {
  std::string out;
  for (const ExclusionReason& reason : kExclusionReasons) {
    std::string models;
    for (std::size_t model = 0; model < stream.models.size(); ++model) {
      const std::size_t count = stream.excluded[model].*reason.count;
      if (count > 0) models += fmt::format("{}{}:{}", models.empty() ? "" : ",", json_string(stream.models[model]), count);
    }
    out += fmt::format("{}\"{}\":{{{}}}", out.empty() ? "" : ",", reason.key, models);
  }
  return out;
}

// {PART:{"observations","accuracy","methods":{ID:{metric}}}} of breakdown number `b`.
std::string breakdown_json(const Evaluation& evaluation, std::size_t b) {
  std::string out;
  const Breakdown& breakdown = evaluation.breakdowns[b];
  for (std::size_t p = 0; p < breakdown.parts.size(); ++p) {
    const Part& part = breakdown.parts[p];
    const std::optional<double> accuracy = accuracy_of(evaluation.stream, part);
    out += fmt::format("{}{}:{{\"observations\":{},\"accuracy\":{},\"methods\":{{", out.empty() ? "" : ",", json_string(part.name),
                       part.rows.size(), accuracy ? json_number(*accuracy) : "null");
    std::string methods;
    for (const MethodEvaluation& method : evaluation.methods) {
      methods += fmt::format("{}{}:{{{}}}", methods.empty() ? "" : ",", json_string(method.label),
                             scores_json(method.parts[b][p].mean, metrics_of(part)));
    }
    out += methods + "}}";
  }
  return out;
}

std::string evaluation_json(const Evaluation& evaluation, const PassesSetting& setting) {
  const Stream& stream = evaluation.stream;
  const PassesOptions& options = setting.options;
  std::string out = fmt::format("\"observations\":{},\"excluded\":{},\"tasks\":{},\"models\":{}", stream.rows(),
                                stream.excluded_total().total(), stream.task_count, stream.models.size());
  const std::string remedy = options.pass.feedback != Feedback::kSelected
                                 ? std::string()
                                 : fmt::format(",\"remedy\":\"{}\",\"audit\":{}",
                                               kRemedyNames[static_cast<std::size_t>(options.pass.remedy)], options.pass.audits.rate);
  out += fmt::format(",\"excluded_by\":{{{}}},\"ungraded\":{},\"orderings\":{},\"lag\":{},\"feedback\":\"{}\"{},\"vote\":{}",
                     excluded_json(stream), stream.ungraded, options.orderings, options.pass.lag,
                     options.pass.feedback == Feedback::kSelected ? "selected" : "full", remedy, json_string(setting.vote));
  out += ",\"methods\":{";
  for (const MethodEvaluation& method : evaluation.methods) {
    out += fmt::format("{}{}:{{{}", &method == evaluation.methods.data() ? "" : ",", json_string(method.label),
                       scores_json(method.scores.mean, kEveryMetric));
    if (options.orderings > 1) out += fmt::format(",\"sd\":{{{}}}", scores_json(method.scores.sd, kEveryMetric));
    if (method.decision) {
      const DecisionScores& decision = *method.decision;
      out += fmt::format(
          ",\"decision\":{{\"ece\":{},\"debiased_ece\":{},\"in_band\":{},\"answered\":{},\"promised_error\":{},\"realised_error\":{}}}",
          json_number(decision.ece), json_number(decision.debiased()), json_number(decision.in_band), json_number(decision.answered),
          json_number(decision.promised), json_number(decision.realised));
    }
    out += "}";
  }
  out += "}";
  for (std::size_t b = 0; b < evaluation.breakdowns.size(); ++b) {
    out += fmt::format("{}\"{}\":{{{}}}", b == 0 ? ",\"by\":{" : ",", evaluation.breakdowns[b].by, breakdown_json(evaluation, b));
  }
  return evaluation.breakdowns.empty() ? out : out + "}";
}

// A stream's row of every row of the log, by evaluation: kNone where the row is not usable there.
std::vector<std::pair<std::uint32_t, std::uint32_t>> rows_by_log_row(std::span<const Evaluation> evaluations, std::size_t log_rows) {
  std::vector<std::pair<std::uint32_t, std::uint32_t>> places(log_rows, {ObservationLog::kNone, 0});
  for (std::uint32_t e = 0; e < evaluations.size(); ++e) {
    const Stream& stream = evaluations[e].stream;
    for (std::uint32_t row = 0; row < stream.rows(); ++row) places[stream.log_row[row]] = {e, row};
  }
  return places;
}

// The outcome of an answer is the largest known one among its supporters, as pass@1 counts it.
double outcome_of(const Stream& stream, const Stream::Task& task, std::uint32_t answer) {
  double best = dataset::kMissing;
  for (std::size_t row = task.first_row; row < std::size_t{task.first_row} + task.rows; ++row) {
    if (stream.answer[row] == answer) best = std::fmax(best, stream.outcome[row]);
  }
  return best;
}

}  // namespace

std::string to_json(std::span<const Evaluation> evaluations, const PassesSetting& setting) {
  if (evaluations.size() == 1) return "{" + evaluation_json(evaluations.front(), setting) + "}\n";
  std::string out;
  for (const Evaluation& evaluation : evaluations) {
    out += fmt::format("{}{}:{{{}}}", out.empty() ? "{\"channels\":{" : ",", json_string(evaluation.stream.channel),
                       evaluation_json(evaluation, setting));
  }
  return out + "}}\n";
}

std::string prediction_lines(const ObservationLog& log, std::span<const Evaluation> evaluations) {
  std::string out;
  const auto places = rows_by_log_row(evaluations, log.rows());
  for (std::size_t log_row = 0; log_row < log.rows(); ++log_row) {
    const auto [number, row] = places[log_row];
    if (number == ObservationLog::kNone) continue;
    const Evaluation& evaluation = evaluations[number];
    for (const MethodEvaluation& method : evaluation.methods) {
      out += fmt::format("{{\"task\":{},\"model\":{},\"method\":{},\"confidence\":{},\"calibrated\":{},\"correct\":{}",
                         json_string(log.tasks()[log.task(log_row)].name), json_string(log.models()[log.model(log_row)]),
                         json_string(method.label), json_number(log.confidence(log_row)), json_number(method.first->calibrated[row]),
                         json_number(log.correct(log_row)));
      if (evaluations.size() > 1) out += ",\"channel\":" + json_string(evaluation.stream.channel);
      out += "}\n";
    }
  }
  return out;
}

std::string decision_lines(const ObservationLog& log, std::span<const Evaluation> evaluations) {
  std::string out;
  for (const Evaluation& evaluation : evaluations) {
    const Stream& stream = evaluation.stream;
    for (std::size_t number = 0; number < stream.tasks.size(); ++number) {
      const Stream::Task& task = stream.tasks[number];
      for (const MethodEvaluation& method : evaluation.methods) {
        const Pass::Selection& selection = method.first->selections[number];
        const bool voted = selection.answer != kNoAnswer;
        const std::string selected = voted ? json_string(log.answers()[log.answer(stream.log_row[selection.row])]) : "null";
        out += fmt::format("{{\"task\":{},\"method\":{},\"selected\":{},\"share\":{},\"p_correct\":{},\"correct\":{}",
                           json_string(log.tasks()[task.log_task].name), json_string(method.label), selected,
                           voted ? json_number(selection.share) : "null", voted ? json_number(*method.first_sure[number]) : "null",
                           voted ? json_number(outcome_of(stream, task, selection.answer)) : "null");
        if (log.phases().size() > 1) out += ",\"phase\":" + json_string(log.phases()[task.phase]);
        if (evaluations.size() > 1) out += ",\"channel\":" + json_string(stream.channel);
        out += "}\n";
      }
    }
  }
  return out;
}

}  // namespace margin::experiment
