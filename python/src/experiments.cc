// The experiments: each computes what `margin experiment NAME` does and hands back its report, whose tables become frames.
#include <pybind11/stl.h>

#include <algorithm>

#include "columns.h"
#include "dataset/timestamp.h"
#include "experiment/ablation_report.h"
#include "experiment/convergence_report.h"
#include "experiment/feedback_report.h"
#include "experiment/graded.h"
#include "experiment/inversion_report.h"
#include "experiment/pool_report.h"
#include "experiment/resolution_report.h"
#include "experiment/selection_report.h"
#include "experiment/shift_pools.h"
#include "experiment/shift_report.h"
#include "experiment/shown.h"
#include "experiment/split_report.h"
#include "experiment/transfer_report.h"
#include "experiment/votes_report.h"
#include "frame.h"
#include "grid.h"

namespace margin::python {
namespace {

using experiment::Condition;
using experiment::Entrant;
using experiment::Stream;
using report::Report;

// Where a condition begins and ends: a name, a log and its phases, twice.
using Places = std::vector<std::tuple<std::string, Log, std::vector<std::string>, Log, std::vector<std::string>>>;

FrameColumns to_frame(const report::Table& table) {
  FrameColumns frame;
  for (const auto& row : table.rows) {
    for (std::size_t i = 0; i < table.columns.size(); ++i) {
      const std::string& name = table.columns[i].name;
      const auto interval_of = [&](const report::Cell& cell) {
        return cell.estimate() != nullptr && cell.estimate()->interval ? cell.estimate()->interval : std::nullopt;
      };
      const bool intervals =
          std::any_of(table.rows.begin(), table.rows.end(), [&](const auto& other) { return interval_of(other[i]).has_value(); });
      if (table.columns[i].kind == report::Kind::kText) {
        const report::Estimate* const number = row[i].estimate();
        frame.text(name, row[i].text() != nullptr ? FrameColumns::Text(*row[i].text())
                         : number != nullptr      ? FrameColumns::Text(shown(number->value))
                                                  : std::nullopt);
        continue;
      }
      frame.number(name, row[i].estimate() != nullptr ? std::optional(row[i].estimate()->value) : std::nullopt);
      if (!intervals) continue;
      const auto interval = interval_of(row[i]);
      frame.number(name + "_low", interval ? std::optional(interval->low) : std::nullopt);
      frame.number(name + "_high", interval ? std::optional(interval->high) : std::nullopt);
    }
  }
  return frame;
}

// [(title, columns, notes)]
py::list tables_of(const Report& self) {
  py::list tables;
  for (const report::Section& section : self.sections) {
    for (const report::Table& table : section.tables) tables.append(py::make_tuple(table.title, to_frame(table).take(), table.notes));
  }
  return tables;
}

// raw is what the others are compared with, asked for or not.
void put_raw_first(std::vector<Entrant>& entrants) {
  const auto raw = std::find_if(entrants.begin(), entrants.end(), [](const Entrant& entrant) { return entrant.label == "raw"; });
  if (raw == entrants.end()) {
    entrants.insert(entrants.begin(), Entrant{"raw", value_of(make_calibrator("raw"))});
  } else {
    std::rotate(entrants.begin(), raw, raw + 1);
  }
}

void require_answers(const Stream& stream) {
  const bool any = std::any_of(stream.tasks.begin(), stream.tasks.end(), [](const Stream::Task& task) { return task.answers > 0; });
  if (!any) {
    raise({ErrorCode::kInvalidArgument,
           "no usable row of channel " + stream.channel + " states an answer, so nothing can be selected: expected the field answer"});
  }
}

// The results of run(0) .. run(count - 1), computed without the interpreter. A run that was stopped has none.
template <class Run>
auto one_by_one(Grid& grid, std::size_t count, const Run& run) {
  std::vector<typename std::decay_t<decltype(run(0))>::value_type> results;
  grid.run([&] {
    for (std::size_t i = 0; i < count; ++i) {
      auto result = run(i);
      if (!result) return;
      results.push_back(std::move(*result));
    }
  });
  if (results.size() < count) raise(kStopped);
  return results;
}

// A result per stream of the log.
template <class Run>
auto each_stream(Grid& grid, const Log& log, const std::optional<Log>& fit, const Run& run) {
  const std::vector<Stream> streams = value_of(experiment::make_streams(*log.rows, grid.selection));
  std::vector<std::vector<Entrant>> entrants;
  for (const Stream& stream : streams) {
    entrants.push_back(grid.entrants(stream, fit));
    put_raw_first(entrants.back());
  }
  return one_by_one(grid, streams.size(), [&](std::size_t i) { return run(streams[i], entrants[i]); });
}

Report selection(const Log& log, Methods methods, const std::optional<Log>& fit, const py::dict& given) {
  Grid grid(std::move(methods), Options(given));
  for (const Stream& stream : value_of(experiment::make_streams(*log.rows, grid.selection))) require_answers(stream);
  const auto results = each_stream(grid, log, fit, [&](const Stream& stream, const std::vector<Entrant>& entrants) {
    return experiment::run_selection(stream.channel, stream, entrants, *grid.vote, std::nullopt, grid.setting.options, &grid.progress);
  });
  return experiment::selection_report(results, grid.setting);
}

Report resolution(const Log& log, Methods methods, const std::optional<Log>& fit, const py::dict& given) {
  const Options options(given);
  Grid grid(std::move(methods), options);
  const ResolutionRules rules{.contest = value_of(parse_contest_rule(options.text("contest"))),
                              .tie = value_of(parse_tie_rule(options.text("ties"))),
                              .missing = value_of(parse_missing_rule(options.text("missing")))};
  const auto results = each_stream(grid, log, fit, [&](const Stream& stream, const std::vector<Entrant>& entrants) {
    auto result = experiment::run_resolution(stream, experiment::GradedStream(stream, *log.rows, grid.selection), entrants, *grid.vote,
                                             rules, grid.setting.options, &grid.progress);
    if (result) result->subset = "all models";
    return result;
  });
  return experiment::resolution_report(results, rules, grid.setting);
}

Report convergence(const Log& log, Methods methods, const std::optional<Log>& fit, const py::dict& given) {
  const Options options(given);
  Grid grid(std::move(methods), options);
  const std::vector<std::size_t> checkpoints = options.counts("checkpoints");
  for (const Stream& stream : value_of(experiment::make_streams(*log.rows, grid.selection))) require_answers(stream);
  const auto results = each_stream(grid, log, fit, [&](const Stream& stream, const std::vector<Entrant>& entrants) {
    return experiment::run_convergence(stream, entrants, *grid.vote, checkpoints, grid.setting.options, &grid.progress);
  });
  return experiment::convergence_report(results, grid.setting);
}

Report inversion(const Log& log, Methods methods, const std::optional<Log>& fit, const py::dict& given) {
  const Options options(given);
  Grid grid(std::move(methods), options);
  const experiment::InversionOptions wanted{.passes = grid.setting.options, .model_orders = options.count("model_orders")};
  if (wanted.model_orders < 1) raise({ErrorCode::kInvalidArgument, "model_orders: expected at least 1"});
  const auto subsets = options.subsets("subsets");
  std::optional<Error> refused;
  const auto results = each_stream(grid, log, fit, [&](const Stream& stream, const std::vector<Entrant>& entrants) {
    auto result = experiment::run_inversion(stream, subsets, entrants, *grid.vote, wanted, &grid.progress);
    if (!result) refused = result.error();
    return result ? std::move(*result) : std::optional(experiment::InversionResult());
  });
  if (refused) raise(*refused);
  return experiment::inversion_report(results, wanted.model_orders, grid.setting);
}

Report split(const Log& log, Methods methods, const std::optional<Log>& fit, const py::dict& given) {
  const Options options(given);
  Grid grid(std::move(methods), options);
  std::optional<double> at;
  if (const std::string date = options.text("at"); !date.empty()) {
    at = dataset::parse_timestamp(date);
    if (!at) raise({ErrorCode::kInvalidArgument, "at: got " + date + ", expected a date such as 2024-05-17 or 2024-05-17T08:30:00Z"});
  }
  for (const Stream& stream : value_of(experiment::make_streams(*log.rows, grid.selection))) {
    const auto parts = experiment::split_stream(stream, *log.rows, at);
    if (!parts) raise(parts.error());
  }
  const auto results = each_stream(grid, log, fit, [&](const Stream& stream, const std::vector<Entrant>& entrants) {
    return experiment::run_split(*experiment::split_stream(stream, *log.rows, at), entrants, *grid.vote, grid.setting.options,
                                 &grid.progress);
  });
  return experiment::split_report(results, grid.setting);
}

std::vector<Condition> conditions_of(const Grid& grid, const Places& places) {
  std::vector<Condition> conditions;
  for (const auto& [name, source, source_phases, target, target_phases] : places) {
    const auto stream = [&](const Log& log, const std::vector<std::string>& phases) {
      experiment::RowSelection selected = grid.selection;
      selected.phases = phases;
      return only_stream(log, selected);
    };
    conditions.push_back(experiment::make_condition(name, stream(source, source_phases), stream(target, target_phases)));
  }
  return conditions;
}

experiment::ShiftOptions shift_options(const Grid& grid, const Options& options) {
  const experiment::PassesOptions& passes = grid.setting.options;
  if (passes.orderings < 1) raise({ErrorCode::kInvalidArgument, "orderings: expected at least 1"});
  return {.boundary = value_of(experiment::parse_boundary(options.text("boundary"))),
          .orderings = passes.orderings,
          .seed = passes.seed,
          .pass = passes.pass,
          .resamples = passes.resamples,
          .threads = passes.threads};
}

// A result per condition.
template <class Run>
auto each_condition(Grid& grid, const Places& places, const Run& run) {
  const std::vector<Condition> conditions = conditions_of(grid, places);
  std::vector<std::vector<Entrant>> entrants;
  for (const Condition& condition : conditions) entrants.push_back(grid.entrants(condition.stream));
  return one_by_one(grid, conditions.size(), [&](std::size_t i) { return run(conditions[i], entrants[i]); });
}

Report shift(const Places& places, Methods methods, const py::dict& given) {
  const Options options(given);
  Grid grid(std::move(methods), options);
  const experiment::ShiftSetting setting{.options = shift_options(grid, options),
                                         .boundary = options.text("boundary"),
                                         .focus = options.text("focus"),
                                         .vote = grid.setting.vote};
  const auto results = each_condition(grid, places, [&](const Condition& condition, const std::vector<Entrant>& entrants) {
    return experiment::run_shift(condition, entrants, *grid.vote, setting.options, &grid.progress);
  });
  return value_of(experiment::shift_report(results, setting));
}

Report transfer(const Places& places, Methods methods, const py::dict& given) {
  const Options options(given);
  Grid grid(std::move(methods), options);
  if (!grid.setting.unfitted.empty()) {
    raise({ErrorCode::kInvalidArgument, "methods: " + grid.setting.unfitted.front() +
                                            " is fitted once and cannot learn from scratch, expected methods that learn online"});
  }
  const experiment::ShiftOptions wanted = shift_options(grid, options);
  const auto results = each_condition(grid, places, [&](const Condition& condition, const std::vector<Entrant>& entrants) {
    return experiment::run_regimes(condition, entrants, *grid.vote, experiment::transfer_regimes(), wanted, &grid.progress);
  });
  return experiment::transfer_report(results, wanted);
}

template <class T>
std::vector<T> sorted_once(std::vector<T> values) {
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
  return values;
}

Report feedback(const Places& places, Methods methods, const py::dict& given) {
  const Options options(given);
  Grid grid(std::move(methods), options);
  std::vector<std::size_t> lags = options.counts("lags");
  lags.push_back(0);
  experiment::FeedbackGrid regimes{.lags = sorted_once(std::move(lags)), .selected = options.flag("selected")};
  regimes.audits = sorted_once(options.numbers("audits"));
  for (const double audit : regimes.audits) require_probability("audits", audit);
  for (const std::string& remedy : options.texts("remedies")) regimes.remedies.push_back(remedy_kind(remedy));
  const experiment::FeedbackSetting setting{
      .options = shift_options(grid, options), .boundary = options.text("boundary"), .grid = regimes, .vote = grid.setting.vote};
  const auto all = experiment::feedback_regimes(regimes, setting.options.boundary);
  const auto results = each_condition(grid, places, [&](const Condition& condition, const std::vector<Entrant>& entrants) {
    return experiment::run_regimes(condition, entrants, *grid.vote, all, setting.options, &grid.progress);
  });
  return experiment::feedback_report(results, setting);
}

// `sweeps`: "margin.alpha=0.01,0.02" or the name of a published grid. The swept methods are those of `methods`, or as made by name.
Report ablation(const Places& places, Methods methods, const py::dict& given) {
  const Options options(given);
  Grid grid(std::move(methods), options);
  experiment::AblationSetting setting{
      .options = shift_options(grid, options), .boundary = options.text("boundary"), .metrics = {}, .vote = grid.setting.vote};
  for (const std::string& name : options.texts("metrics")) setting.metrics.push_back(value_of(experiment::parse_metric(name)));
  const std::vector<Entrant> bases = grid.entrants(Stream());
  std::vector<experiment::Sweep> sweeps;
  for (const std::string& text : options.texts("sweeps")) {
    const bool written = text.find('=') != std::string::npos;
    const experiment::SweepRequest request = value_of(written ? experiment::parse_sweep(text) : experiment::sweep_preset(text));
    const auto base = std::find_if(bases.begin(), bases.end(), [&](const Entrant& entrant) { return entrant.label == request.method; });
    const auto made = base == bases.end() ? value_of(make_calibrator(request.method)) : base->method->clone();
    sweeps.push_back(value_of(experiment::make_sweep(request, *made)));
  }
  if (sweeps.empty()) raise({ErrorCode::kInvalidArgument, "sweeps: expected METHOD.name=value,value,... or the name of a published grid"});
  const auto results = each_condition(grid, places, [&](const Condition& condition, const std::vector<Entrant>&) {
    return experiment::run_ablation(condition, sweeps, *grid.vote, setting.options, &grid.progress);
  });
  return experiment::ablation_report(results, sweeps, setting);
}

std::vector<experiment::VoteEntrant> vote_entrants(const std::vector<std::string>& names, const std::string& focus) {
  if (std::find(names.begin(), names.end(), focus) == names.end()) {
    raise({ErrorCode::kNotFound, "focus: " + focus + " is not among the votes"});
  }
  std::vector<experiment::VoteEntrant> votes;
  for (const std::string& name : names) votes.push_back({name, value_of(make_vote(name))});
  return votes;
}

// `pools`: sizes, of which 0 is all models.
Report votes(const Places& places, Methods methods, const py::dict& given) {
  const Options options(given);
  Grid grid(std::move(methods), options);
  const experiment::PassesOptions& passes = grid.setting.options;
  const experiment::VotesOptions wanted{.orderings = shift_options(grid, options).orderings,
                                        .seed = passes.seed,
                                        .resamples = passes.resamples,
                                        .threads = passes.threads,
                                        .max_error = options.number("max_error"),
                                        .pass = passes.pass};
  require_probability("max_error", wanted.max_error);
  const std::string focus = options.text("focus");
  const auto entrants = vote_entrants(options.texts("votes"), focus);
  const std::size_t subsets = options.count("subsets");
  if (subsets < 1) raise({ErrorCode::kInvalidArgument, "subsets: expected at least 1"});
  const std::vector<Condition> conditions = conditions_of(grid, places);
  std::vector<std::vector<Entrant>> calibrators;
  for (const Condition& condition : conditions) calibrators.push_back(grid.entrants(condition.stream));

  std::vector<experiment::VotesGroup> groups;
  bool stopped = false;
  const auto run_group = [&](std::size_t size, std::size_t method) {
    experiment::VotesGroup group(experiment::pool_name(size) + ", " + grid.methods[method].first, focus);
    for (std::size_t i = 0; i < conditions.size(); ++i) {
      for (const std::vector<ModelId>& pool : experiment::pools_of(conditions[i], size, subsets, wanted.seed)) {
        const auto result = experiment::run_votes(experiment::with_models(conditions[i], pool), *calibrators[i][method].method, entrants,
                                                  wanted, &grid.progress);
        stopped = !result;
        if (stopped) return;
        group.add(*result);
      }
    }
    if (group.conditions() > 0) groups.push_back(std::move(group));
  };
  const std::vector<std::size_t> sizes = options.counts("pools");
  grid.run([&] {
    for (const std::size_t size : sizes) {
      for (std::size_t method = 0; method < grid.methods.size() && !stopped; ++method) run_group(size, method);
    }
  });
  if (stopped) raise(kStopped);
  if (groups.empty()) raise({ErrorCode::kInvalidArgument, "pools: no condition has as many models"});
  return experiment::votes_report(groups, wanted, focus);
}

Report pool(const Log& log, Methods methods, const py::dict& given) {
  const Options options(given);
  Grid grid(std::move(methods), options);
  if (!grid.setting.unfitted.empty()) {
    raise({ErrorCode::kInvalidArgument,
           "methods: " + grid.setting.unfitted.front() + " needs rows to be fitted on, expected methods that learn online"});
  }
  experiment::PoolOptions wanted{.orderings = grid.setting.options.orderings,
                                 .seed = grid.setting.options.seed,
                                 .observations = options.count("observations"),
                                 .window = options.count("window"),
                                 .threads = grid.setting.options.threads};
  if (wanted.window < 1 || 2 * wanted.window > wanted.observations) {
    raise({ErrorCode::kInvalidArgument, "window: expected at least 1 and at most half of observations"});
  }
  const Stream stream = only_stream(log, grid.selection);
  const std::vector<Entrant> entrants = grid.entrants(stream);
  const auto margin =
      std::find_if(entrants.begin(), entrants.end(), [](const Entrant& one) { return one.method->info().identifier == "margin"; });
  std::vector<Entrant> cold =
      experiment::cold_start_arms((margin != entrants.end() ? margin->method->clone() : value_of(make_calibrator("margin")))->parameters());
  for (const Entrant& entrant : entrants) cold.push_back({entrant.label, entrant.method->clone()});
  std::vector<experiment::PoolResult> results;
  std::optional<Error> refused;
  std::vector<experiment::Scenario> scenarios;
  for (const std::string& name : options.texts("scenarios")) scenarios.push_back(value_of(experiment::parse_scenario(name)));
  grid.run([&] {
    for (const experiment::Scenario scenario : scenarios) {
      auto result =
          experiment::run_pool(stream, scenario, scenario == experiment::Scenario::kColdStart ? cold : entrants, wanted, &grid.progress);
      if (!result) refused = result.error();
      if (!result || !*result) return;
      results.push_back(std::move(**result));
    }
  });
  if (refused) raise(*refused);
  if (results.size() < scenarios.size()) raise(kStopped);
  return experiment::pool_report(results, wanted, options.text("focus"));
}

}  // namespace

void bind_experiments(py::module_& core) {
  py::module_ module = core.def_submodule("experiments", "What margin.experiments is made of.");
  py::class_<Report>(module, "Report")
      .def_property_readonly("title", [](const Report& self) { return self.title; })
      .def_property_readonly("summary", [](const Report& self) { return self.summary; })
      .def_property_readonly("tables", &tables_of)
      .def("html", [](const Report& self) { return report::to_html(self); })
      .def(
          "write", [](const Report& self, const std::string& directory) { return value_of(report::write_report(self, directory)); },
          py::arg("directory"));
  const auto of_log = [&](const char* name, auto function) {
    module.def(name, function, py::arg("log"), py::arg("methods"), py::arg("fit"), py::arg("options"));
  };
  of_log("selection", &selection);
  of_log("resolution", &resolution);
  of_log("convergence", &convergence);
  of_log("inversion", &inversion);
  of_log("split", &split);
  const auto of_places = [&](const char* name, auto function) {
    module.def(name, function, py::arg("places"), py::arg("methods"), py::arg("options"));
  };
  of_places("shift", &shift);
  of_places("transfer", &transfer);
  of_places("feedback", &feedback);
  of_places("ablation", &ablation);
  of_places("votes", &votes);
  module.def("pool", &pool, py::arg("log"), py::arg("methods"), py::arg("options"));
  bind_fixed_experiments(module);
}

}  // namespace margin::python
