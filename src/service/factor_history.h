// FactorHistory: how the factors of a pool moved, from its first sample to now, in a bounded number of points: when they are full, every
// second one is dropped and the time between samples doubles. Beside them, what happened: joins, leaves, alarms. Begins anew with each
// start of the server; what was before can be had from the log.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "margin/pool.h"

namespace margin::service {

struct FactorSeries {
  std::string model;
  std::string channel;
  std::string segment;
  int bands = 1;
  std::size_t born = 0;       // the first point that it is part of
  std::vector<float> values;  // `bands` per point, from `born` on

  [[nodiscard]] float value(std::size_t point, int band) const {
    return values[(point - born) * static_cast<std::size_t>(bands) + static_cast<std::size_t>(band)];
  }
};

struct HistoryMark {
  std::int64_t time_ms = 0;
  std::string kind;   // "joined", "left", "reverted", or the kind of an alarm
  std::string model;  // empty: the whole pool
};

class FactorHistory {
 public:
  static constexpr std::size_t kPoints = 120;
  static constexpr std::size_t kValuesMax = 2048;  // (series, band) pairs; what comes beyond has no history
  static constexpr std::size_t kMarks = 200;
  static constexpr std::int64_t kStepMs = 1000;

  // The pool has learned something: takes a sample when one is due. Whether it did.
  bool learned(const Pool& pool, std::int64_t time_ms);
  // Somebody may be new: the next sample looks who there is.
  void somebody_new() { stale_ = true; }
  void mark(HistoryMark mark);

  [[nodiscard]] const std::vector<std::int64_t>& times() const { return times_; }
  [[nodiscard]] const std::vector<FactorSeries>& series() const { return series_; }
  [[nodiscard]] const std::deque<HistoryMark>& marks() const { return marks_; }
  // By how much the factor of a row has moved over the latest quarter of the points; nullopt while there are too few.
  [[nodiscard]] std::optional<double> trend(const FactorRow& row) const { return trend(row, find(row)); }
  // The series that a row belongs to, whatever its band; nullptr: it has none.
  [[nodiscard]] const FactorSeries* find(const FactorRow& row) const;
  [[nodiscard]] std::optional<double> trend(const FactorRow& row, const FactorSeries* series) const;

 private:
  void look(const Pool& pool);
  void thin_out();

  std::vector<std::int64_t> times_;
  std::vector<FactorSeries> series_;
  std::map<std::string, std::size_t, std::less<>> places_;  // of series, by key_of
  std::deque<HistoryMark> marks_;
  std::int64_t step_ms_ = kStepMs;
  std::size_t values_ = 0;  // per point
  bool stale_ = true;
};

}  // namespace margin::service
