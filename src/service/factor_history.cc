#include "service/factor_history.h"

#include <utility>

namespace margin::service {
namespace {

// Names hold no control characters, so the separator is unambiguous.
std::string key_of(const std::string& model, const std::string& channel, const std::string& segment) {
  return model + '\x01' + channel + '\x01' + segment;
}

}  // namespace

// New series begin with the next point; a calibrator of another kind starts its series anew.
void FactorHistory::look(const Pool& pool) {
  stale_ = false;
  for (const FactorRow& row : pool.factors()) {
    if (row.explanation.band != 0) continue;
    const std::string key = key_of(row.model, row.channel, row.segment);
    const auto bands = static_cast<std::size_t>(row.explanation.bands);
    if (const auto found = places_.find(key); found != places_.end()) {
      FactorSeries& known = series_[found->second];
      if (known.bands == row.explanation.bands) continue;
      values_ -= static_cast<std::size_t>(known.bands);
      known = {row.model, row.channel, row.segment, row.explanation.bands, times_.size(), {}};
      values_ += bands;
      continue;
    }
    if (values_ + bands > kValuesMax) continue;
    values_ += bands;
    places_[key] = series_.size();
    series_.push_back({row.model, row.channel, row.segment, row.explanation.bands, times_.size(), {}});
  }
}

bool FactorHistory::learned(const Pool& pool, std::int64_t time_ms) {
  if (!times_.empty() && time_ms < times_.back() + step_ms_) return false;
  if (stale_) look(pool);
  if (times_.size() == kPoints) thin_out();
  times_.push_back(time_ms);
  for (FactorSeries& series : series_) {
    for (int band = 0; band < series.bands; ++band) {
      const double stated = (band + 0.5) / series.bands;
      const auto calibrated = pool.calibrate(series.model, series.channel, series.segment, stated);
      series.values.push_back(static_cast<float>(calibrated ? *calibrated / stated : 1.0));
    }
  }
  return true;
}

void FactorHistory::thin_out() {
  step_ms_ *= 2;
  std::vector<std::int64_t> times;
  for (std::size_t point = 1; point < times_.size(); point += 2) times.push_back(times_[point]);
  for (FactorSeries& series : series_) {
    std::vector<float> values;
    for (std::size_t point = 1; point < times_.size(); point += 2) {
      if (point < series.born) continue;
      for (int band = 0; band < series.bands; ++band) values.push_back(series.value(point, band));
    }
    series.values = std::move(values);
    series.born = series.born / 2;  // points 1, 3, 5, ... become 0, 1, 2, ...
  }
  times_ = std::move(times);
}

void FactorHistory::mark(HistoryMark mark) {
  marks_.push_back(std::move(mark));
  if (marks_.size() > kMarks) marks_.pop_front();
}

const FactorSeries* FactorHistory::find(const FactorRow& row) const {
  const auto found = places_.find(key_of(row.model, row.channel, row.segment));
  return found == places_.end() ? nullptr : &series_[found->second];
}

std::optional<double> FactorHistory::trend(const FactorRow& row, const FactorSeries* series) const {
  if (series == nullptr || series->bands != row.explanation.bands || times_.size() < 4) return std::nullopt;
  const std::size_t before = times_.size() - 1 - times_.size() / 4;
  if (before < series->born) return std::nullopt;
  return row.explanation.factor - static_cast<double>(series->value(before, row.explanation.band));
}

}  // namespace margin::service
