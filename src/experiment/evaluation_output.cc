#include "experiment/evaluation_output.h"

#include <fmt/format.h>

#include <cmath>

#include "base/check.h"
#include "dataset/text.h"
#include "experiment/table.h"

namespace margin::experiment {
namespace {

using dataset::json_number;
using dataset::json_string;
using dataset::ObservationLog;
using dataset::printable;

struct Reason {
  std::string_view key;
  std::string_view words;
  std::size_t Excluded::*count;
};
constexpr Reason kReasons[] = {
    {"no_confidence", "no confidence", &Excluded::no_confidence},
    {"no_answer", "no answer", &Excluded::no_answer},
    {"abstained", "abstained", &Excluded::abstained},
};

// 51,360
std::string with_commas(std::size_t count) {
  std::string digits = std::to_string(count);
  for (std::size_t i = digits.size(); i > 3; i -= 3) digits.insert(i - 3, ",");
  return digits;
}

std::string counted(std::size_t count, std::string_view thing) {
  return fmt::format("{} {}{}", with_commas(count), thing, count == 1 ? "" : "s");
}

// "12 excluded: no confidence 10 (model-a 7, model-b 3), abstained 2 (model-a 2)", or nothing.
std::string excluded_line(const Stream& stream) {
  const Excluded total = stream.excluded_total();
  if (total.total() == 0) return "";
  std::string line = fmt::format("{} excluded:", counted(total.total(), "row"));
  std::string_view separator = " ";
  for (const Reason& reason : kReasons) {
    if (total.*reason.count == 0) continue;
    std::string models;
    for (std::size_t model = 0; model < stream.models.size(); ++model) {
      const std::size_t count = stream.excluded[model].*reason.count;
      if (count > 0) models += fmt::format("{}{} {}", models.empty() ? "" : ", ", printable(stream.models[model]), with_commas(count));
    }
    line += fmt::format("{}{} {} ({})", separator, reason.words, with_commas(total.*reason.count), models);
    separator = "; ";
  }
  return line + "\n";
}

std::string cell(const ScoreSummary& scores, Metric metric) {
  if (!scores.mean[metric]) return "-";
  const bool percent = metric != kBrier && metric != kLogLoss;
  const int digits = percent ? 2 : 4;
  const double unit = percent ? 100.0 : 1.0;
  std::string text = fmt::format("{:.{}f}{}", unit * *scores.mean[metric], digits, percent ? "%" : "");
  if (scores.sd[metric]) text += fmt::format(" ±{:.{}f}", unit * *scores.sd[metric], digits);
  return text;
}

std::string scores_json(const Scores& scores) {
  std::string out;
  for (std::size_t metric = 0; metric < kMetrics; ++metric) {
    out += fmt::format("{}\"{}\":{}", metric == 0 ? "" : ",", kMetricNames[metric], scores[metric] ? json_number(*scores[metric]) : "null");
  }
  return out;
}

std::string evaluation_json(const Evaluation& evaluation, const EvaluationSetting& setting) {
  const Stream& stream = evaluation.stream;
  const Excluded excluded = stream.excluded_total();
  std::string out = fmt::format("\"observations\":{},\"excluded\":{},\"tasks\":{},\"models\":{}", stream.rows(), excluded.total(),
                                stream.task_count, stream.models.size());
  out += ",\"excluded_by\":{";
  for (std::size_t i = 0; i < std::size(kReasons); ++i) {
    out += fmt::format("{}\"{}\":{{", i == 0 ? "" : ",", kReasons[i].key);
    bool first = true;
    for (std::size_t model = 0; model < stream.models.size(); ++model) {
      const std::size_t count = stream.excluded[model].*kReasons[i].count;
      if (count == 0) continue;
      out += fmt::format("{}{}:{}", first ? "" : ",", json_string(stream.models[model]), count);
      first = false;
    }
    out += "}";
  }
  out += fmt::format("}},\"ungraded\":{},\"orderings\":{},\"lag\":{},\"vote\":\"{}\",\"methods\":{{", stream.ungraded,
                     setting.options.orderings, setting.options.pass.lag, setting.vote);
  for (const MethodEvaluation& method : evaluation.methods) {
    out +=
        fmt::format("{}\"{}\":{{{}", &method == &evaluation.methods.front() ? "" : ",", method.identifier, scores_json(method.scores.mean));
    if (setting.options.orderings > 1) out += fmt::format(",\"sd\":{{{}}}", scores_json(method.scores.sd));
    out += "}";
  }
  return out + "}";
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

const Pass& pass_of(const MethodEvaluation& method) {
  MARGIN_CHECK(method.pass.has_value(), "lines are written of passes in file order");
  return *method.pass;
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

std::string to_table(std::span<const Evaluation> evaluations, const EvaluationSetting& setting) {
  const EvaluationOptions& options = setting.options;
  std::string out;
  for (const Evaluation& evaluation : evaluations) {
    const Stream& stream = evaluation.stream;
    if (!out.empty()) out += '\n';
    if (evaluations.size() > 1) out += fmt::format("Channel {}\n", printable(stream.channel));
    out += fmt::format("{} of {} on {}; {}; vote {}{}\n", counted(stream.rows(), "observation"), counted(stream.models.size(), "model"),
                       counted(stream.task_count, "task"),
                       options.orderings == 0
                           ? "file order, once"
                           : fmt::format("mean ± sd over {} of seed {}", counted(options.orderings, "ordering"), options.seed),
                       setting.vote, options.pass.lag == 0 ? "" : fmt::format("; outcomes {} late", counted(options.pass.lag, "row")));
    out += excluded_line(stream);
    if (stream.ungraded > 0)
      out += fmt::format("{} without an outcome: predicted, neither learned nor scored\n", counted(stream.ungraded, "row"));

    Table table(
        {{"method"}, {"ECE", true}, {"ECE per model", true}, {"Brier", true}, {"log loss", true}, {"pass@1", true}, {"resolution", true}});
    std::string unfitted;
    for (const MethodEvaluation& method : evaluation.methods) {
      std::vector<std::string> cells = {method.identifier};
      for (std::size_t metric = 0; metric < kMetrics; ++metric) cells.push_back(cell(method.scores, static_cast<Metric>(metric)));
      table.add(std::move(cells));
      if (method.unfitted) unfitted += (unfitted.empty() ? "" : ", ") + method.identifier;
    }
    out += '\n' + table.text();
    if (!unfitted.empty()) out += fmt::format("\nNot fitted, so confidences pass through unchanged (--fit FILE[:PHASE]): {}\n", unfitted);
  }
  return out;
}

std::string to_json(std::span<const Evaluation> evaluations, const EvaluationSetting& setting) {
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
      out += fmt::format("{{\"task\":{},\"model\":{},\"method\":\"{}\",\"confidence\":{},\"calibrated\":{},\"correct\":{}",
                         json_string(log.tasks()[log.task(log_row)].name), json_string(log.models()[log.model(log_row)]), method.identifier,
                         json_number(log.confidence(log_row)), json_number(pass_of(method).calibrated[row]),
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
        const Pass::Selection& selection = pass_of(method).selections[number];
        const bool voted = selection.answer != kNoAnswer;
        const std::string selected = voted ? json_string(log.answers()[log.answer(stream.log_row[selection.row])]) : "null";
        out += fmt::format("{{\"task\":{},\"method\":\"{}\",\"selected\":{},\"share\":{},\"correct\":{}",
                           json_string(log.tasks()[task.log_task].name), method.identifier, selected,
                           voted ? json_number(selection.share) : "null",
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
