// PoolWatch: the watch over a pool's settled decisions and over the sources of its feedback, and when each of its reports was made.
// docs/pool.md#alarms says what it is shown and when.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/encoding.h"
#include "margin/watch.h"
#include "pool/decisions.h"

namespace margin::internal {

class PoolWatch {
 public:
  // Models with an id of `models_max` or more are not watched; 0: nobody is.
  explicit PoolWatch(std::uint32_t models_max = 0);

  // A decision is shown once: when its outcomes are known, or known never to come. Later calls do nothing.
  void settle(DecisionRecord& decision, std::int64_t time_ms);
  // What a named source said of each response, kNoOutcome where it said nothing. Statements that became the outcome have been recorded.
  // A response is shown when its third source has spoken. True when something was said that did not become an outcome.
  bool state(DecisionRecord& decision, std::string_view source, std::span<const double> outcomes, std::int64_t time_ms);
  // Before a decision is forgotten: shows what has not been shown.
  void close(DecisionRecord& decision, std::int64_t time_ms);
  void leave(ModelId model);

  [[nodiscard]] const std::vector<WatchReport>* reports() const { return watch_ ? &watch_->reports() : nullptr; }
  [[nodiscard]] std::int64_t time_of(std::size_t report) const { return times_[report]; }
  [[nodiscard]] std::uint64_t dropped() const { return watch_ ? watch_->dropped() : 0; }
  [[nodiscard]] std::size_t sources() const { return sources_.size(); }
  [[nodiscard]] const std::string& source(std::uint32_t number) const { return sources_[number]; }

  void save(Encoder& out) const;
  // Into a watch of the same `models_max`.
  void load(Decoder& in);

 private:
  [[nodiscard]] std::optional<std::uint32_t> number_of(std::string_view source);
  [[nodiscard]] std::vector<SourceGrade> statements(const DecisionRecord& decision, std::uint32_t response);
  void show(std::span<const SourceGrade> statements, std::int64_t time_ms);
  void stamp(std::int64_t time_ms);

  std::optional<Watch> watch_;
  std::vector<std::string> sources_;  // by number
  std::map<std::string, std::uint32_t, std::less<>> numbers_;
  std::deque<std::int64_t> times_;  // by report
  std::uint64_t stamped_ = 0;       // reports that have a time, those dropped included
};

}  // namespace margin::internal
