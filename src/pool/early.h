// EarlyFeedback: feedback that came before its decision, in the order it came, until the decision comes or the feedback expires.
#pragma once

#include <cstdint>
#include <list>
#include <map>
#include <vector>

#include "margin/uuid.h"
#include "pool/verdict.h"

namespace margin::internal {

class EarlyFeedback {
 public:
  struct Entry {
    Uuid id;
    Uuid decision;
    std::int64_t time_ms = 0;
    bool reverted = false;
    Verdict verdict;
  };

  // Outcomes kept: one per grade, one for a gold or selected form. Reverted ones count until they expire or their decision comes.
  [[nodiscard]] std::size_t outcomes() const { return outcomes_; }
  // Those of them that were not taken back.
  [[nodiscard]] std::size_t waiting_outcomes() const { return outcomes_ - reverted_; }
  [[nodiscard]] bool contains(Uuid decision, Uuid feedback) const;
  [[nodiscard]] std::size_t waiting_for(Uuid decision) const { return by_decision_.count(decision); }
  // The decisions it waits for, each once.
  [[nodiscard]] std::vector<Uuid> awaited() const;
  // What waits for a decision, first come first.
  [[nodiscard]] std::vector<const Entry*> waiting(Uuid decision) const;
  void keep(Entry entry);
  // Removes and returns what waits for a decision, first come first.
  [[nodiscard]] std::vector<Entry> take(Uuid decision);
  // How many of them had not been taken back.
  std::size_t forget_before(std::int64_t time_ms);
  // One of its own; false: it had been taken back before.
  bool take_back(Entry& entry);

  [[nodiscard]] auto begin() { return entries_.begin(); }
  [[nodiscard]] auto end() { return entries_.end(); }
  [[nodiscard]] auto begin() const { return entries_.begin(); }
  [[nodiscard]] auto end() const { return entries_.end(); }

  void save(Encoder& out) const;
  void load(Decoder& in);

 private:
  using Entries = std::list<Entry>;
  // It goes, and its outcomes with it.
  void discount(const Entry& entry);

  Entries entries_;                                     // oldest first
  std::multimap<Uuid, Entries::iterator> by_decision_;  // equal keys stay in the order they came
  std::size_t outcomes_ = 0;
  std::size_t reverted_ = 0;  // of the outcomes
};

}  // namespace margin::internal
