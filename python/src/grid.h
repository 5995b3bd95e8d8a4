// Grid: what a replay or an experiment is asked to run, from Python's options to the experiment layer's, and a run that Ctrl-C and an
// exception in a calibrator stop.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "experiment/passes_report.h"
#include "experiment/shift.h"
#include "log.h"
#include "margin/vote.h"
#include "python_calibrator.h"

namespace margin::python {

// Options by name; those that a function does not know are refused before they come here, by Python.
class Options {
 public:
  explicit Options(py::dict given) : given_(std::move(given)) {}

  // WrongType: not of that type.
  [[nodiscard]] bool flag(const char* name) const;
  [[nodiscard]] double number(const char* name) const;
  [[nodiscard]] std::uint64_t count(const char* name) const;
  [[nodiscard]] std::string text(const char* name) const;
  [[nodiscard]] std::vector<std::string> texts(const char* name) const;
  [[nodiscard]] std::vector<std::size_t> counts(const char* name) const;
  [[nodiscard]] std::vector<double> numbers(const char* name) const;
  [[nodiscard]] std::vector<experiment::ModelSubset> subsets(const char* name) const;
  [[nodiscard]] const py::dict& all() const { return given_; }

 private:
  template <class T>
  [[nodiscard]] T as(const char* name, const char* expected) const;

  py::dict given_;
};

// Runs without the interpreter, looking for Ctrl-C now and then, which stops the work through `progress` and is raised.
void run_stoppable(experiment::Progress& progress, const std::function<void()>& work);

// Raised when something but Ctrl-C or a calibrator stopped a run.
inline const Error kStopped{ErrorCode::kUnavailable, "stopped"};

// Labels and methods: margin.Calibrator objects that have seen nothing, or objects with predict and learn.
using Methods = std::vector<std::pair<std::string, py::object>>;

struct Grid {
  Grid(Methods all, const Options& options);

  // Fresh, and fitted on `fit` where they are fitted at all and it is there.
  [[nodiscard]] std::vector<experiment::Entrant> entrants(const experiment::Stream& stream, const std::optional<Log>& fit = {});
  // As run_stoppable; also raises what a calibrator written in Python raised.
  void run(const std::function<void()>& work);

  Methods methods;
  experiment::RowSelection selection;
  std::unique_ptr<Vote> vote;
  experiment::PassesSetting setting;
  experiment::Progress progress;
  Failure failure{progress};
};

// kSelected and what goes with it. InvalidArgument as the command line says it.
[[nodiscard]] experiment::PassOptions pass_options(const Options& options);
// The rows that the options choose.
[[nodiscard]] experiment::RowSelection row_selection(const Options& options);
// At most 1024.
[[nodiscard]] experiment::Threads threads_of(const Options& options);
// InvalidArgument: not in [low, high].
[[nodiscard]] std::uint32_t count_within(const Options& options, const char* name, std::uint32_t low, std::uint32_t high);
[[nodiscard]] RemedyKind remedy_kind(const std::string& name);

// One stream: where the log has several channels the selection must choose one.
[[nodiscard]] experiment::Stream only_stream(const Log& log, const experiment::RowSelection& selection);

}  // namespace margin::python
