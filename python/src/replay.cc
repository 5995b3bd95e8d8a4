// margin.replay, predictions and decisions: one evaluation, shown in three ways.
#include <pybind11/stl.h>

#include <cmath>

#include "columns.h"
#include "experiment/evaluation.h"
#include "frame.h"
#include "grid.h"

namespace margin::python {
namespace {

using experiment::Evaluation;
using experiment::MethodEvaluation;
using experiment::Stream;

std::vector<Evaluation> evaluate(Grid& grid, const Log& log, const std::optional<Log>& fit, const Options& options, bool keep_first) {
  std::vector<Stream> streams = value_of(experiment::make_streams(*log.rows, grid.selection));
  std::vector<std::vector<experiment::Entrant>> entrants;
  for (const Stream& stream : streams) entrants.push_back(grid.entrants(stream, fit));
  const experiment::EvaluationOptions wanted{.passes = grid.setting.options,
                                             .resolution = {.tie = value_of(parse_tie_rule(options.text("ties")))},
                                             .max_error = {},
                                             .keep_first = keep_first};
  const std::vector<std::string> by = options.texts("by");
  std::vector<std::vector<experiment::Breakdown>> breakdowns(streams.size());
  for (const std::string& name : by) {
    if (name != "model" && name != "phase") raise({ErrorCode::kInvalidArgument, "by: got " + name + ", expected model or phase"});
    for (std::size_t i = 0; i < streams.size(); ++i) {
      breakdowns[i].push_back(name == "model" ? experiment::by_model(streams[i]) : experiment::by_phase(streams[i], *log.rows));
    }
  }
  std::vector<Evaluation> evaluations;
  grid.run([&] {
    for (std::size_t i = 0; i < streams.size(); ++i) {
      auto one = experiment::evaluate(std::move(streams[i]), std::move(breakdowns[i]), entrants[i], *grid.vote, wanted, &grid.progress);
      if (!one) return;
      evaluations.push_back(std::move(*one));
    }
  });
  return evaluations;
}

void add_scores(FrameColumns& frame, const experiment::ScoreSummary& scores) {
  for (std::size_t metric = 0; metric < experiment::kMetrics; ++metric) {
    const std::string name(experiment::kMetricNames[metric]);
    frame.number(name, scores.mean[metric]);
    frame.number(name + "_sd", scores.sd[metric]);
  }
}

// A row per channel, method and part; "by" and "part" are empty for the whole.
py::dict replay(const Log& log, Methods methods, const std::optional<Log>& fit, const py::dict& given) {
  const Options options(given);
  Grid grid(std::move(methods), options);
  FrameColumns frame;
  for (const Evaluation& evaluation : evaluate(grid, log, fit, options, false)) {
    const auto begin_row = [&](const MethodEvaluation& method, std::string by, std::string part, std::size_t rows) {
      frame.text("channel", evaluation.stream.channel);
      frame.text("by", std::move(by));
      frame.text("part", std::move(part));
      frame.text("method", method.label);
      frame.count("observations", rows);
    };
    for (const MethodEvaluation& method : evaluation.methods) {
      begin_row(method, "", "", evaluation.stream.rows());
      add_scores(frame, method.scores);
    }
    for (std::size_t b = 0; b < evaluation.breakdowns.size(); ++b) {
      const experiment::Breakdown& breakdown = evaluation.breakdowns[b];
      for (std::size_t p = 0; p < breakdown.parts.size(); ++p) {
        for (const MethodEvaluation& method : evaluation.methods) {
          begin_row(method, breakdown.by, breakdown.parts[p].name, breakdown.parts[p].rows.size());
          add_scores(frame, method.parts[b][p]);
        }
      }
    }
  }
  return frame.take();
}

// A row per usable response and method, in the order of the log.
py::dict predictions(const Log& log, Methods methods, const std::optional<Log>& fit, const py::dict& given) {
  const Options options(given);
  Grid grid(std::move(methods), options);
  const std::vector<Evaluation> evaluations = evaluate(grid, log, fit, options, true);
  const dataset::ObservationLog& rows = *log.rows;
  std::vector<std::pair<const Evaluation*, std::uint32_t>> places(rows.rows(), {nullptr, 0});
  for (const Evaluation& evaluation : evaluations) {
    for (std::uint32_t row = 0; row < evaluation.stream.rows(); ++row) places[evaluation.stream.log_row[row]] = {&evaluation, row};
  }
  FrameColumns frame;
  for (std::size_t row = 0; row < rows.rows(); ++row) {
    const Evaluation* const evaluation = places[row].first;
    if (evaluation == nullptr) continue;
    const dataset::ObservationLog::Task& task = rows.tasks()[rows.task(row)];
    for (const MethodEvaluation& method : evaluation->methods) {
      frame.text("task", task.name);
      frame.text("model", rows.models()[rows.model(row)]);
      frame.text("phase", rows.phases()[task.phase]);
      frame.text("channel", evaluation->stream.channel);
      frame.text("method", method.label);
      frame.number("confidence", rows.confidence(row));
      frame.number("calibrated", method.first->calibrated[places[row].second]);
      frame.number("correct", rows.correct(row));
    }
  }
  return frame.take();
}

// The largest known outcome among the supporters of an answer, as pass@1 counts it.
std::optional<double> outcome_of(const Stream& stream, const Stream::Task& task, std::uint32_t answer) {
  double best = dataset::kMissing;
  for (std::size_t row = task.first_row; row < std::size_t{task.first_row} + task.rows; ++row) {
    if (stream.answer[row] == answer) best = std::fmax(best, stream.outcome[row]);
  }
  return std::isnan(best) ? std::nullopt : std::optional(best);
}

// A row per task and method, in the order of the log.
py::dict decisions(const Log& log, Methods methods, const std::optional<Log>& fit, const py::dict& given) {
  const Options options(given);
  Grid grid(std::move(methods), options);
  const dataset::ObservationLog& rows = *log.rows;
  FrameColumns frame;
  for (const Evaluation& evaluation : evaluate(grid, log, fit, options, true)) {
    const Stream& stream = evaluation.stream;
    for (std::size_t number = 0; number < stream.tasks.size(); ++number) {
      const Stream::Task& task = stream.tasks[number];
      for (const MethodEvaluation& method : evaluation.methods) {
        const experiment::Pass::Selection& selection = method.first->selections[number];
        const bool voted = selection.answer != kNoAnswer;
        frame.text("task", rows.tasks()[task.log_task].name);
        frame.text("phase", rows.phases()[task.phase]);
        frame.text("channel", stream.channel);
        frame.text("method", method.label);
        frame.text("selected", voted ? FrameColumns::Text(rows.answers()[rows.answer(stream.log_row[selection.row])]) : std::nullopt);
        frame.number("share", voted ? std::optional(selection.share) : std::nullopt);
        frame.number("p_correct", voted ? method.first_sure[number] : std::nullopt);
        frame.number("correct", voted ? outcome_of(stream, task, selection.answer) : std::nullopt);
      }
    }
  }
  return frame.take();
}

}  // namespace

void bind_replay(py::module_& module) {
  const auto add = [&](const char* name, auto function) {
    module.def(name, function, py::arg("log"), py::arg("methods"), py::arg("fit"), py::arg("options"));
  };
  add("replay", &replay);
  add("predictions", &predictions);
  add("decisions", &decisions);
}

}  // namespace margin::python
