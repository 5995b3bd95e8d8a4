#include "named_calibrator.h"

#include <algorithm>

namespace margin::python {
namespace {

// Rows whose copies, as the core takes them, stay in the cache.
constexpr std::size_t kPieceRows = 1024;

Error at_row(std::size_t row, const std::string& message, ErrorCode code = ErrorCode::kInvalidArgument) {
  return {code, "row " + std::to_string(row) + ": " + message};
}

std::string away(std::string_view name) { return "model: " + std::string(name) + " has left; join() brings it back"; }

// Where runs of equal labels end.
std::vector<std::size_t> ends_of_runs(std::string_view field, const py::handle& labels) {
  std::vector<std::size_t> ends;
  std::size_t rows = 0;
  std::int64_t last_number = 0;
  std::string last_text;
  const auto visit = [&](std::size_t row, bool same) {
    if (row > 0 && !same) ends.push_back(row);
  };
  visit_labels(field, labels,
               {.number =
                    [&](std::size_t row, std::int64_t number) {
                      visit(row, number == last_number);
                      last_number = number;
                    },
                .text =
                    [&](std::size_t row, std::string_view text) {
                      visit(row, text == last_text);
                      last_text = text;
                    },
                .begin = [&](std::size_t count) { rows = count; }});
  if (rows > 0) ends.push_back(rows);
  return ends;
}

}  // namespace

// A batch, read: ids where they lie or owned, names that are new, and where they come first.
struct NamedCalibrator::Rows {
  std::vector<ModelId> owned;
  py::object held;
  std::span<const ModelId> models;
  DoubleArray confidences, outcomes;
  std::optional<DoubleArray> weights;
  std::vector<std::size_t> task_ends;  // empty: no tasks

  struct Entry {
    std::size_t row = 0;
    ModelId model = 0;
  };
  std::vector<Entry> entries;  // by row
  std::vector<std::string> new_names;

  [[nodiscard]] std::size_t size() const { return static_cast<std::size_t>(confidences.size()); }
  // Rows as the core takes them.
  void copy(std::size_t begin, std::size_t end, std::vector<Observation>& out) const {
    out.resize(end - begin);
    const double* const confidence = confidences.data() + begin;
    const double* const outcome = outcomes.data() + begin;
    const ModelId* const model = models.data() + begin;
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = {model[i], confidence[i], outcome[i], 1.0};
    for (std::size_t i = 0; weights && i < out.size(); ++i) out[i].weight = weights->data()[begin + i];
  }
};

NamedCalibrator::NamedCalibrator(std::unique_ptr<Calibrator> calibrator, std::vector<std::string> names)
    : calibrator_(std::move(calibrator)) {
  for (std::string& name : names) {
    if (ids_.contains(name)) raise({ErrorCode::kCorrupt, "models: got " + name + " twice, expected each name once"});
    add_name(std::move(name));
  }
  const auto count = static_cast<ModelId>(names_.size());
  if (calibrator_->known(count) || (count > 0 && !calibrator_->known(count - 1))) {
    raise({ErrorCode::kCorrupt, "models: got " + std::to_string(count) + " names, expected one for each model of the calibrator"});
  }
}

std::unique_ptr<NamedCalibrator> NamedCalibrator::copy() const { return std::make_unique<NamedCalibrator>(calibrator_->clone(), names_); }

void NamedCalibrator::add_name(std::string name) {
  if (names_.size() >= kModelsMax) raise({ErrorCode::kLimit, "models: a calibrator holds at most " + std::to_string(kModelsMax)});
  ids_.emplace(name, static_cast<ModelId>(names_.size()));
  names_.push_back(std::move(name));
}

ModelId NamedCalibrator::existing(std::string_view name) const {
  const auto found = ids_.find(name);
  if (found == ids_.end()) raise({ErrorCode::kNotFound, "model: " + std::string(name) + " has never joined"});
  return found->second;
}

ModelId NamedCalibrator::join(std::string_view name, const std::optional<std::string>& predecessor) {
  const std::optional<ModelId> donor = predecessor ? std::optional(existing(*predecessor)) : std::nullopt;
  if (!ids_.contains(name)) add_name(std::string(name));
  const ModelId id = ids_.find(name)->second;
  if (donor) {
    calibrator_->join_from(id, *calibrator_, *donor);
  } else {
    calibrator_->join(id);
  }
  return id;
}

void NamedCalibrator::leave(std::string_view name) { calibrator_->leave(existing(name)); }

bool NamedCalibrator::present(std::string_view name) const {
  const auto found = ids_.find(name);
  return found != ids_.end() && calibrator_->present(found->second);
}

double NamedCalibrator::calibrate(std::string_view model, double confidence) {
  require_probability("confidence", confidence);
  const auto found = ids_.find(model);
  return calibrator_->calibrate(found == ids_.end() ? join(model) : found->second, confidence);
}

void NamedCalibrator::observe(std::string_view model, const Observation& observation) {
  require_probability("confidence", observation.confidence);
  require_probability("outcome", observation.outcome);
  if (!(observation.weight > 0.0 && observation.weight <= 1.0)) {
    raise({ErrorCode::kInvalidArgument, "weight: got " + shown(observation.weight) + ", expected a number in (0, 1]"});
  }
  const auto found = ids_.find(model);
  Observation row = observation;
  row.model = found == ids_.end() ? join(model) : found->second;
  if (!calibrator_->present(row.model)) raise({ErrorCode::kNotFound, away(model)});
  check(calibrator_->observe(row));
}

Explanation NamedCalibrator::explain(std::string_view model, double confidence) const {
  require_probability("confidence", confidence);
  return calibrator_->explain(existing(model), confidence);
}

void NamedCalibrator::read_models(const py::handle& models, Rows& rows) const {
  if (PyUnicode_Check(models.ptr())) {
    const std::string_view name = text_of("models", models);
    const auto found = ids_.find(name);
    if (found == ids_.end() && rows.size() > 0) {
      rows.new_names.emplace_back(name);
      rows.entries.push_back({0, static_cast<ModelId>(names_.size())});
    }
    rows.owned.assign(rows.size(), found == ids_.end() ? static_cast<ModelId>(names_.size()) : found->second);
    rows.models = rows.owned;
    return;
  }
  if (py::isinstance<py::array_t<ModelId, py::array::c_style>>(models) && py::cast<py::array>(models).ndim() == 1) {
    const auto ids = py::cast<py::array_t<ModelId, py::array::c_style>>(models);
    rows.held = ids;
    rows.models = {ids.data(), static_cast<std::size_t>(ids.size())};
    return;
  }
  std::unordered_map<std::string, ModelId, Hash, std::equal_to<>> fresh;
  visit_labels("models", models,
               {.number =
                    [&](std::size_t row, std::int64_t number) {
                      // Checked with the others, once all are read.
                      rows.owned[row] = number < 0 || number >= kModelsMax ? kModelsMax : static_cast<ModelId>(number);
                    },
                .text =
                    [&](std::size_t row, std::string_view name) {
                      if (const auto known = ids_.find(name); known != ids_.end()) {
                        rows.owned[row] = known->second;
                        return;
                      }
                      auto entered = fresh.find(name);
                      if (entered == fresh.end()) {
                        const auto id = static_cast<ModelId>(names_.size() + rows.new_names.size());
                        entered = fresh.emplace(std::string(name), id).first;
                        rows.new_names.emplace_back(name);
                        rows.entries.push_back({row, id});
                      }
                      rows.owned[row] = entered->second;
                    },
                .begin = [&](std::size_t count) { rows.owned.resize(count); }});
  rows.models = rows.owned;
}

NamedCalibrator::Rows NamedCalibrator::read_rows(const BatchColumns& columns) const {
  Rows rows;
  rows.confidences = number_column("confidences", columns.confidences);
  read_models(columns.models, rows);
  require_length("models", rows.models.size(), "confidences", rows.size());
  if (columns.outcomes) {
    rows.outcomes = number_column("outcomes", columns.outcomes);
    require_length("outcomes", view(rows.outcomes).size(), "confidences", rows.size());
  }
  if (columns.weights && !columns.weights.is_none()) {
    rows.weights = number_column("weights", columns.weights);
    require_length("weights", view(*rows.weights).size(), "confidences", rows.size());
  }
  if (columns.tasks && !columns.tasks.is_none()) {
    rows.task_ends = ends_of_runs("tasks", columns.tasks);
    require_length("tasks", rows.task_ends.empty() ? 0 : rows.task_ends.back(), "confidences", rows.size());
  }
  const std::size_t models = names_.size() + rows.new_names.size();
  if (models > kModelsMax) raise({ErrorCode::kLimit, "models: a calibrator holds at most " + std::to_string(kModelsMax)});
  ModelId largest = 0;
  for (const ModelId model : rows.models) largest = std::max(largest, model);
  if (!rows.models.empty() && largest >= models) {
    const auto unknown = std::find_if(rows.models.begin(), rows.models.end(), [&](ModelId model) { return model >= models; });
    raise(at_row(static_cast<std::size_t>(unknown - rows.models.begin()),
                 "models: expected names, or ids that join() gave, below " + std::to_string(models), ErrorCode::kNotFound));
  }
  require_probabilities("confidences", view(rows.confidences));
  if (columns.outcomes) check_rows(rows);
  return rows;
}

void NamedCalibrator::check_rows(const Rows& rows) const {
  require_probabilities("outcomes", view(rows.outcomes));
  for (std::size_t row = 0; rows.weights && row < rows.size(); ++row) {
    const double weight = rows.weights->data()[row];
    if (!(weight > 0.0 && weight <= 1.0)) raise(at_row(row, "weights: got " + shown(weight) + ", expected a number in (0, 1]"));
  }
  bool anybody_away = false;
  for (ModelId model = 0; model < names_.size(); ++model) anybody_away |= !calibrator_->present(model);
  for (std::size_t row = 0; anybody_away && row < rows.size(); ++row) {
    const ModelId model = rows.models[row];
    if (model < names_.size() && !calibrator_->present(model)) raise(at_row(row, away(names_[model]), ErrorCode::kNotFound));
  }
}

void NamedCalibrator::take_names(Rows& rows) {
  for (std::string& name : rows.new_names) add_name(std::move(name));
  rows.new_names.clear();
}

// With tasks a piece is a task.
void NamedCalibrator::for_each_piece(const Rows& rows, const Work& work) {
  std::vector<Observation> piece;
  std::size_t entry = 0;
  std::size_t task = 0;
  const bool tasks = !rows.task_ends.empty();
  for (std::size_t row = 0; row < rows.size();) {
    std::size_t end = tasks ? rows.task_ends[task++] : std::min(row + kPieceRows, rows.size());
    for (; entry < rows.entries.size() && rows.entries[entry].row < (tasks ? end : row + 1); ++entry) {
      calibrator_->join(rows.entries[entry].model);
    }
    if (!tasks && entry < rows.entries.size()) end = std::min(end, rows.entries[entry].row);
    rows.copy(row, end, piece);
    if (!work(piece, row)) return;
    row = end;
  }
}

Status NamedCalibrator::learn(const Rows& rows, std::span<const Observation> piece) {
  if (rows.task_ends.empty()) return calibrator_->observe_batch(piece);
  calibrator_->begin_task();
  Status learned = calibrator_->observe_batch(piece);
  calibrator_->end_task();
  return learned;
}

DoubleArray NamedCalibrator::calibrate_batch(const BatchColumns& columns) {
  Rows rows = read_rows(columns);
  DoubleArray calibrated = new_column(rows.size());
  const std::span<double> out = room(calibrated);
  const std::span<const double> confidences = view(rows.confidences);
  take_names(rows);
  Status status;
  {
    const py::gil_scoped_release others_run;
    for (const Rows::Entry& entry : rows.entries) calibrator_->join(entry.model);
    status = calibrator_->calibrate_batch(rows.models, confidences, out);
  }
  check(status);
  return calibrated;
}

void NamedCalibrator::observe_batch(const BatchColumns& columns) {
  Rows rows = read_rows(columns);
  take_names(rows);
  Status status;
  {
    const py::gil_scoped_release others_run;
    for_each_piece(rows, [&](std::span<const Observation> piece, std::size_t) {
      status = learn(rows, piece);
      return status.ok();
    });
  }
  check(status);
}

DoubleArray NamedCalibrator::prequential_batch(const BatchColumns& columns) {
  Rows rows = read_rows(columns);
  DoubleArray calibrated = new_column(rows.size());
  const std::span<double> out = room(calibrated);
  take_names(rows);
  Status status;
  {
    const py::gil_scoped_release others_run;
    for_each_piece(rows, [&](std::span<const Observation> piece, std::size_t first) {
      const std::span<double> results = out.subspan(first, piece.size());
      if (rows.task_ends.empty()) {
        status = calibrator_->prequential_batch(piece, results);
        return status.ok();
      }
      // All of a task is calibrated with what was known before it.
      for (std::size_t i = 0; i < piece.size(); ++i) results[i] = calibrator_->calibrate(piece[i].model, piece[i].confidence);
      status = learn(rows, piece);
      return status.ok();
    });
  }
  check(status);
  return calibrated;
}

void NamedCalibrator::fit(const BatchColumns& columns) {
  Rows rows = read_rows(columns);
  if (!calibrator_->info().design_time) check(calibrator_->fit({}));
  take_names(rows);
  Status status;
  {
    const py::gil_scoped_release others_run;
    std::vector<Observation> all;
    rows.copy(0, rows.size(), all);
    status = calibrator_->fit(all);
  }
  check(status);
}

}  // namespace margin::python
