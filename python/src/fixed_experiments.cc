// The experiments that take no methods: what the watch says of a log and of simulated attackers, and the published tables.
#include "experiment/gaming_report.h"
#include "experiment/paper_report.h"
#include "grid.h"

namespace margin::python {
namespace {

using report::Report;

WatchOptions watch_options(const Options& options) {
  WatchOptions wanted;
  wanted.false_reports_per_task = options.number("false_reports");
  if (!(wanted.false_reports_per_task >= 1e-12 && wanted.false_reports_per_task <= 0.1)) {
    raise({ErrorCode::kInvalidArgument, "false_reports: expected a rate per task and kind in [1e-12, 0.1]"});
  }
  return wanted;
}

Report watch(const Log& log, const py::dict& given) {
  const Options options(given);
  WatchOptions wanted = watch_options(options);
  wanted.models_max = 1024;
  const auto streams = value_of(experiment::make_streams(*log.rows, row_selection(options)));
  std::vector<experiment::WatchedStream> watched;
  Status refused;
  {
    const py::gil_scoped_release others_run;
    for (std::size_t i = 0; i < streams.size() && refused.ok(); ++i) {
      Result<experiment::WatchedStream> seen = experiment::watch_stream(streams[i], wanted);
      if (seen) {
        watched.push_back(std::move(*seen));
      } else {
        refused = seen.error();
      }
    }
  }
  check(refused);
  return experiment::watch_report(watched, wanted);
}

Report gaming(const py::dict& given) {
  const Options options(given);
  const experiment::GamingOptions wanted{.runs = count_within(options, "runs", 1, 100'000),
                                         .tasks = count_within(options, "tasks", 100, 100'000),
                                         .seed = options.count("seed"),
                                         .watch = watch_options(options),
                                         .threads = threads_of(options)};
  std::optional<std::vector<experiment::GamingResult>> results;
  experiment::Progress progress;
  run_stoppable(progress, [&] { results = experiment::run_gaming(wanted, &progress); });
  if (!results) raise(kStopped);
  return experiment::gaming_report(*results, wanted);
}

Report paper(const py::dict& given) {
  const Options options(given);
  const experiment::PaperOptions wanted{.orderings = count_within(options, "orderings", 1, 1'000'000),
                                        .resamples = count_within(options, "resamples", 0, 1'000'000),
                                        .seed = options.count("seed"),
                                        .threads = threads_of(options)};
  std::optional<experiment::PaperResults> results;
  experiment::Progress progress;
  run_stoppable(progress, [&] { results = experiment::run_paper(wanted, progress); });
  if (!results) raise(kStopped);
  return experiment::paper_report(*results, wanted);
}

}  // namespace

void bind_fixed_experiments(py::module_& experiments) {
  experiments.def("watch", &watch, py::arg("log"), py::arg("options"));
  experiments.def("gaming", &gaming, py::arg("options"));
  experiments.def("paper", &paper, py::arg("options"));
}

}  // namespace margin::python
