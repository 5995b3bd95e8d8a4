#include "dataset/simulate.h"

#include <array>
#include <cmath>
#include <string>

#include "base/suggest.h"
#include "dataset/cohort.h"
#include "dataset/text.h"

namespace margin::dataset {
namespace {

constexpr std::uint32_t kTasksDefault = 2000;
constexpr std::uint32_t kTasksMin = 20;
constexpr std::uint32_t kTasksMax = 1'000'000;
constexpr std::uint32_t kPhaseTasksMax = 100'000;

constexpr std::array<CohortInfo, 7> kCatalog = {{
    {"paper", "matched to the published statistics: thirteen phases, up to eighteen models, all eleven shifts", kTasksMin, kPhaseTasksMax},
    {"stationary", "six models, nothing changes: the null case", kTasksMin, kTasksMax},
    {"drift", "accuracies cross slowly: the best model becomes the worst", kTasksMin, kTasksMax},
    {"abrupt", "at half time every model loses a third of its accuracy", kTasksMin, kTasksMax},
    {"sawtooth", "four times all accuracies climb slowly and fall back at once", kTasksMin, kTasksMax},
    {"collapse", "at half time the best model silently becomes the worst", kTasksMin, kTasksMax},
    {"newcomers", "two models at first, another joins after each fifth of the tasks", kTasksMin, kTasksMax},
}};
// The courses of the catalog behind `paper`.
constexpr std::array<Course, 6> kCourses = {Course::kStationary, Course::kDrift,    Course::kAbrupt,
                                            Course::kSawtooth,   Course::kCollapse, Course::kNewcomers};

// Opens the object with its first field.
void append_field(std::string& line, std::string_view key, std::string_view json) {
  line += line.empty() ? '{' : ',';
  line += '"';
  line += key;
  line += "\":";
  line += json;
}

}  // namespace

std::span<const CohortInfo> cohort_catalog() { return kCatalog; }

Result<Simulation> simulate(std::string_view cohort, const SimulateOptions& options) {
  std::size_t index = 0;
  while (index < kCatalog.size() && kCatalog[index].name != cohort) ++index;
  if (index == kCatalog.size()) {
    std::vector<std::string> names;
    for (const CohortInfo& info : kCatalog) names.emplace_back(info.name);
    return Error{ErrorCode::kNotFound, "unknown cohort " + printable(cohort) + internal::suggestion(cohort, names)};
  }
  const CohortInfo& info = kCatalog[index];
  if (options.tasks && (*options.tasks < info.tasks_min || *options.tasks > info.tasks_max)) {
    return Error{ErrorCode::kInvalidArgument, "tasks: got " + std::to_string(*options.tasks) + ", expected " +
                                                  std::to_string(info.tasks_min) + " to " + std::to_string(info.tasks_max)};
  }
  if (index == 0) return simulate_paper(options.seed, options.tasks);
  return simulate_course(kCourses[index - 1], options.seed, options.tasks.value_or(kTasksDefault));
}

void write_json_lines(const Simulation& simulation, const std::function<void(std::string_view)>& write) {
  const ObservationLog& log = simulation.log;
  for (std::size_t row = 0; row < log.rows(); ++row) {
    const ObservationLog::Task& task = log.tasks()[log.task(row)];
    std::string line;
    append_field(line, "task", json_string(task.name));
    append_field(line, "phase", json_string(log.phases()[task.phase]));
    append_field(line, "model", json_string(log.models()[log.model(row)]));
    append_field(line, "channel", json_string(log.channels()[log.channel(row)]));
    append_field(line, "kind", json_string(name_of(*task.kind)));
    if (!std::isnan(log.t(row))) append_field(line, "t", json_number(log.t(row)));
    append_field(line, "confidence", json_number(log.confidence(row)));
    append_field(line, "answer", log.answer(row) == ObservationLog::kNone ? "null" : json_string(log.answers()[log.answer(row)]));
    append_field(line, "correct", json_number(log.correct(row)));
    append_field(line, "p", json_number(simulation.p[row]));
    line += "}\n";
    write(line);
  }
}

}  // namespace margin::dataset
