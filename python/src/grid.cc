#include "grid.h"

#include <pybind11/stl.h>

#include <algorithm>
#include <condition_variable>
#include <thread>

#include "columns.h"
#include "named_calibrator.h"
#include "parameters.h"

namespace margin::python {
namespace {

// How long Ctrl-C may have to wait.
constexpr std::chrono::milliseconds kLook{50};

std::unique_ptr<Calibrator> fresh_copy(const std::string& label, const NamedCalibrator& given) {
  const Lock lock(given.mutex());
  if (!given.names().empty()) {
    raise({ErrorCode::kInvalidArgument, "methods: " + label + " has learned already, expected a calibrator that has seen nothing"});
  }
  return given.core().clone();
}

}  // namespace

template <class T>
T Options::as(const char* name, const char* expected) const {
  try {
    return given_[name].cast<T>();
  } catch (const py::cast_error&) {
    raise_wrong_type(std::string(name) + ": got " + type_name(given_[name]) + ", expected " + expected);
  }
}

bool Options::flag(const char* name) const { return as<bool>(name, "a bool"); }
double Options::number(const char* name) const { return as<double>(name, "a number"); }
std::uint64_t Options::count(const char* name) const { return as<std::uint64_t>(name, "a whole number from 0"); }
std::string Options::text(const char* name) const { return as<std::string>(name, "a str"); }
std::vector<std::string> Options::texts(const char* name) const { return as<std::vector<std::string>>(name, "a list of str"); }
std::vector<std::size_t> Options::counts(const char* name) const {
  return as<std::vector<std::size_t>>(name, "a list of whole numbers from 0");
}
std::vector<double> Options::numbers(const char* name) const { return as<std::vector<double>>(name, "a list of numbers"); }

std::vector<experiment::ModelSubset> Options::subsets(const char* name) const {
  std::vector<experiment::ModelSubset> subsets;
  for (auto& [subset, models] : as<std::vector<std::pair<std::string, std::vector<std::string>>>>(name, "lists of str by name")) {
    subsets.push_back({.name = subset, .models = std::move(models)});
  }
  return subsets;
}

RemedyKind remedy_kind(const std::string& name) { return value_of(make_remedy(name)).kind(); }

experiment::PassOptions pass_options(const Options& options) {
  const std::string feedback = options.text("feedback");
  const double audit = options.number("audit");
  if (feedback != "full" && feedback != "selected") {
    raise({ErrorCode::kInvalidArgument, "feedback: got " + feedback + ", expected full or selected"});
  }
  require_probability("audit", audit);
  const bool selected = feedback == "selected";
  const RemedyKind remedy = remedy_kind(options.text("remedy"));
  if (!selected && (remedy != RemedyKind::kNone || audit > 0.0)) {
    raise({ErrorCode::kInvalidArgument, "remedy and audit: expected feedback \"selected\", since otherwise every outcome arrives"});
  }
  if (remedy == RemedyKind::kWeighted && audit == 0.0) {
    raise({ErrorCode::kInvalidArgument, "remedy weighted: expected an audit, since otherwise there is nothing to weight"});
  }
  return {.lag = options.count("lag"),
          .feedback = selected ? experiment::Feedback::kSelected : experiment::Feedback::kFull,
          .remedy = remedy,
          .audits = {.rate = audit}};
}

experiment::RowSelection row_selection(const Options& options) {
  const std::string malformed = options.text("malformed");
  if (malformed != "keep" && malformed != "exclude") {
    raise({ErrorCode::kInvalidArgument, "malformed: got " + malformed + ", expected keep or exclude"});
  }
  return {.phases = options.texts("phases"),
          .models = options.texts("models"),
          .channels = options.texts("channels"),
          .exclude_without_answer = malformed == "exclude",
          .kind = value_of(parse_answer_kind(options.text("kind")))};
}

experiment::Threads threads_of(const Options& options) { return {count_within(options, "threads", 0, 1024)}; }

std::uint32_t count_within(const Options& options, const char* name, std::uint32_t low, std::uint32_t high) {
  const std::uint64_t count = options.count(name);
  if (low <= count && count <= high) return static_cast<std::uint32_t>(count);
  raise({ErrorCode::kInvalidArgument, std::string(name) + ": got " + std::to_string(count) + ", expected a whole number in [" +
                                          std::to_string(low) + ", " + std::to_string(high) + "]"});
}

Grid::Grid(Methods all, const Options& options) : methods(std::move(all)), selection(row_selection(options)) {
  setting.vote = options.text("vote");
  vote = value_of(make_vote(setting.vote, to_parameters(setting.vote, options.all()["vote_parameters"].cast<py::dict>())));
  constexpr std::uint32_t kMost = 1'000'000;
  setting.options = {.orderings = count_within(options, "orderings", 0, kMost),
                     .seed = options.count("seed"),
                     .pass = pass_options(options),
                     .resamples = count_within(options, "resamples", 0, kMost),
                     .threads = threads_of(options)};
  for (const auto& [label, method] : methods) {
    if (!py::isinstance<NamedCalibrator>(method)) continue;
    if (method.cast<const NamedCalibrator&>().core().info().design_time) setting.unfitted.push_back(label);
  }
}

std::vector<experiment::Entrant> Grid::entrants(const experiment::Stream& stream, const std::optional<Log>& fit) {
  std::vector<Observation> calibration;
  if (fit) {
    setting.unfitted.clear();
    for (const experiment::Stream& source : value_of(experiment::make_streams(*fit->rows, {}))) {
      if (source.channel == stream.channel) calibration = experiment::calibration_rows(source, stream);
    }
    if (calibration.empty()) {
      raise({ErrorCode::kInvalidArgument, "fit: no graded row of a replayed model in channel " + stream.channel});
    }
  }
  std::vector<experiment::Entrant> all;
  for (const auto& [label, method] : methods) {
    if (py::isinstance<NamedCalibrator>(method)) {
      all.push_back({label, fresh_copy(label, method.cast<const NamedCalibrator&>())});
      if (all.back().method->info().design_time && !calibration.empty()) check(all.back().method->fit(calibration));
      continue;
    }
    auto names = std::make_shared<PythonNames>(PythonNames{.label = label, .models = {}});
    for (const std::string& model : stream.models) names->models.push_back(py::str(model));
    // The names are Python's objects: whoever drops them last must hold the interpreter.
    const std::shared_ptr<const PythonNames> kept(names.get(), [names](const PythonNames*) mutable {
      const py::gil_scoped_acquire held;
      names.reset();
    });
    all.push_back({label, make_python_calibrator(method, kept, failure)});
  }
  return all;
}

void Grid::run(const std::function<void()>& work) {
  run_stoppable(progress, work);
  failure.rethrow();
}

void run_stoppable(experiment::Progress& progress, const std::function<void()>& work) {
  std::mutex mutex;
  std::condition_variable ended;
  bool done = false;
  std::thread worker([&] {
    work();
    const std::lock_guard lock(mutex);
    done = true;
    ended.notify_one();
  });
  bool interrupted = false;
  {
    const py::gil_scoped_release others_run;
    for (std::unique_lock lock(mutex); !ended.wait_for(lock, kLook, [&] { return done; });) {
      lock.unlock();
      {
        const py::gil_scoped_acquire held;
        interrupted = interrupted || PyErr_CheckSignals() != 0;
      }
      if (interrupted) progress.stop = true;
      lock.lock();
    }
    worker.join();
  }
  if (interrupted) throw py::error_already_set();
}

experiment::Stream only_stream(const Log& log, const experiment::RowSelection& selection) {
  auto streams = value_of(experiment::make_streams(*log.rows, selection));
  if (streams.size() != 1) {
    raise({ErrorCode::kInvalidArgument, "the log has " + std::to_string(streams.size()) + " channels here: choose one with channels"});
  }
  return std::move(streams.front());
}

}  // namespace margin::python
