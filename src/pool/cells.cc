#include "pool/cells.h"

#include <utility>

#include "base/check.h"
#include "base/same_text.h"

namespace margin::internal {

namespace {

Cell fresh_cell(std::string channel, std::string segment, std::unique_ptr<Calibrator> calibrator) {
  Evidence evidence(*calibrator);
  return {std::move(channel), std::move(segment), std::move(calibrator), std::move(evidence)};
}

}  // namespace

std::unique_ptr<Calibrator> CalibratorRecipe::make() const {
  auto made = make_calibrator(identifier, version, parameters);
  MARGIN_CHECK(made.ok(), "a configuration is accepted only when its calibrator can be made");
  return std::move(made).value();
}

std::optional<CellId> Cells::find(std::string_view channel, std::string_view segment) const {
  // Most pools have one cell.
  if (!cells_.empty() && same_text(cells_[0].channel, channel) && same_text(cells_[0].segment, segment)) return 0;
  const auto segments = ids_.find(channel);
  if (segments == ids_.end()) return std::nullopt;
  const auto found = segments->second.find(segment);
  if (found == segments->second.end()) return std::nullopt;
  return found->second;
}

CellId Cells::mention(std::string_view channel, std::string_view segment, const CalibratorRecipe& recipe) {
  if (const auto known = find(channel, segment)) return *known;
  add(fresh_cell(std::string(channel), std::string(segment), recipe.make()));
  return static_cast<CellId>(cells_.size() - 1);
}

bool Cells::add(Cell cell) {
  if (!ids_[cell.channel].emplace(cell.segment, static_cast<CellId>(cells_.size())).second) return false;
  cells_.push_back(std::move(cell));
  return true;
}

void Cells::enter(CellId cell, ModelId model, std::optional<ModelId> predecessor) {
  Calibrator& calibrator = *cells_[cell].calibrator;
  if (calibrator.known(model)) return;
  if (predecessor && calibrator.known(*predecessor)) return calibrator.join_from(model, calibrator, *predecessor);
  // In the cell without segment this finds the cell itself, which does not know the model: an ordinary newcomer.
  const auto base = find(cells_[cell].channel, "");
  if (base && cells_[*base].calibrator->known(model)) return calibrator.join_from(model, *cells_[*base].calibrator, model);
  calibrator.join(model);
}

void Cells::observe(CellId cell, const Observation& observation) {
  const Status learned = cells_[cell].calibrator->observe(observation);
  MARGIN_CHECK(learned.ok(), "a present member is present in its cells, and the values were checked");
  cells_[cell].evidence.observe(observation);
}

void Cells::leave(ModelId model) {
  for (Cell& cell : cells_) cell.calibrator->leave(model);
}

void Cells::come_back(ModelId model) {
  for (Cell& cell : cells_) {
    if (cell.calibrator->known(model)) cell.calibrator->join(model);
  }
}

Status Cells::discount(CellId cell, double trust) {
  if (Status status = cells_[cell].calibrator->discount(trust); !status) return status;
  cells_[cell].evidence.discount(trust);
  return {};
}

Status Cells::merge(CellId cell, const Cell& other, std::span<const ModelId> ids) {
  if (Status status = cells_[cell].calibrator->merge(*other.calibrator, ids); !status) return status;
  cells_[cell].evidence.merge(other.evidence, ids);
  return {};
}

void Cells::reset(const CalibratorRecipe& recipe) {
  for (Cell& cell : cells_) cell = fresh_cell(cell.channel, cell.segment, recipe.make());
}

Cells Cells::copy_for(std::string_view segment) const {
  Cells copy;
  for (const Cell& cell : cells_) {
    if (cell.segment == segment || cell.segment.empty()) copy.add({cell.channel, cell.segment, cell.calibrator->clone(), cell.evidence});
  }
  return copy;
}

}  // namespace margin::internal
