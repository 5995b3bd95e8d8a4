// DecisionIndex: the latest decisions of a pool as a list that can be searched, and those whose outcome would teach most. Bounded memory
// and time: a ring of rows, whose oldest makes room.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "base/id_order.h"
#include "margin/event.h"
#include "margin/pool.h"

namespace margin::service {

struct DecisionRow {
  Uuid id;
  std::int64_t time_ms = 0;
  std::string task;    // shortened, as the answer is
  std::string answer;  // what the log keeps of it; empty: nothing selected, or not kept
  std::string model;   // that the decision names; empty: nothing selected
  double p_correct = 0.0;
  TrustStatus status = TrustStatus::kCold;
  bool abstained = false;
  std::uint32_t responses = 0;
  std::uint32_t graded = 0;       // responses with an outcome
  std::uint32_t wanted = 0;       // responses that are wanted graded (audits)
  std::optional<double> outcome;  // of the selected answer
  double teaches = 0.0;           // what its outcomes would teach, see teaches()
};

struct DecisionFilter {
  std::string text;   // part of the task's name, the answer or the id, in any case
  std::string model;  // that the decision names
  std::optional<TrustStatus> status;
  std::optional<bool> answered;  // false: the decision abstained, or had nothing to select
  std::optional<bool> graded;    // whether the selected answer has an outcome
  std::optional<Uuid> before;    // only those made before this one
};

// How much the outcomes of a decision would move what is known: for every response, and for the decision itself, the variance of what is
// not known yet, p (1 - p), by how many observations there already are. High where the pool is unsure and has seen little.
[[nodiscard]] double teaches(const DecisionMade& decision);

class DecisionIndex {
 public:
  static constexpr std::size_t kRows = 4096;
  static constexpr std::size_t kTextBytesMax = 160;

  void add(Uuid id, std::int64_t time_ms, const DecisionMade& decision);
  // What is known of its outcomes now.
  void grade(const DecisionView& view);
  void forget_texts(Uuid id);

  [[nodiscard]] std::size_t size() const { return rows_.size(); }
  // The newest first, at most `count`.
  [[nodiscard]] std::vector<const DecisionRow*> search(const DecisionFilter& filter, std::size_t count) const;
  // Those without an outcome that `open` says may still get one, what teaches most first.
  [[nodiscard]] std::vector<const DecisionRow*> queue(std::size_t count, const std::function<bool(const DecisionRow&)>& open) const;
  void for_each(const std::function<void(const DecisionRow&)>& visit) const;

 private:
  [[nodiscard]] std::optional<std::size_t> place_of(Uuid id) const;

  std::vector<DecisionRow> rows_;  // a ring once full
  std::size_t next_ = 0;           // where the oldest is, once full
  internal::IdOrder numbers_;      // of the rows; each stands at its number, modulo the ring's length
};

}  // namespace margin::service
