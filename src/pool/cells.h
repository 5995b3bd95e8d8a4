// Cells: the calibration state of a pool, one calibrator per (channel, segment), made when a decision first mentions the pair.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "margin/calibrator.h"
#include "pool/evidence.h"

namespace margin::internal {

using CellId = std::uint32_t;

struct Cell {
  std::string channel;
  std::string segment;
  std::unique_ptr<Calibrator> calibrator;
  Evidence evidence;  // of that calibrator
};

// What new cells are made of.
struct CalibratorRecipe {
  std::string identifier;
  int version = 1;
  Parameters parameters;  // resolved

  bool operator==(const CalibratorRecipe&) const = default;
  [[nodiscard]] std::unique_ptr<Calibrator> make() const;
};

class Cells {
 public:
  [[nodiscard]] std::size_t size() const { return cells_.size(); }
  [[nodiscard]] const Cell& operator[](CellId cell) const { return cells_[cell]; }
  [[nodiscard]] Calibrator& calibrator(CellId cell) { return *cells_[cell].calibrator; }
  [[nodiscard]] std::optional<CellId> find(std::string_view channel, std::string_view segment) const;

  CellId mention(std::string_view channel, std::string_view segment, const CalibratorRecipe& recipe);
  // A calibrator restored from a snapshot, as the next cell. False when the pair is already there.
  bool add(Cell cell);
  // Brings a model into a cell that does not know it: from its predecessor's factors there, else from its own in the channel's cell
  // without segment, else as any newcomer.
  void enter(CellId cell, ModelId model, std::optional<ModelId> predecessor);
  // One outcome of a model that is present there, with legal values.
  void observe(CellId cell, const Observation& observation);
  // In every cell that knows it.
  void leave(ModelId model);
  void come_back(ModelId model);
  // Evidence counts for `trust` of what it did. The errors of Calibrator::discount.
  [[nodiscard]] Status discount(CellId cell, double trust);
  // Takes over what another pool's cell has seen of each of its models i, as model ids[i]. The errors of Calibrator::merge.
  [[nodiscard]] Status merge(CellId cell, const Cell& other, std::span<const ModelId> ids);
  // Calibration starts anew; the cells keep their ids.
  void reset(const CalibratorRecipe& recipe);

  // An independent copy of a segment's cells and those they are entered from. Ids differ.
  [[nodiscard]] Cells copy_for(std::string_view segment) const;

 private:
  std::vector<Cell> cells_;
  std::map<std::string, std::map<std::string, CellId, std::less<>>, std::less<>> ids_;  // by channel, then segment
};

}  // namespace margin::internal
