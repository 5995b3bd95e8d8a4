#include "pool/early.h"

#include <algorithm>
#include <utility>

#include "pool/id_encoding.h"

namespace margin::internal {

bool EarlyFeedback::contains(Uuid decision, Uuid feedback) const {
  const auto [first, last] = by_decision_.equal_range(decision);
  return std::any_of(first, last, [&](const auto& waiting) { return waiting.second->id == feedback; });
}

std::vector<const EarlyFeedback::Entry*> EarlyFeedback::waiting(Uuid decision) const {
  std::vector<const Entry*> found;
  const auto [first, last] = by_decision_.equal_range(decision);
  for (auto entry = first; entry != last; ++entry) found.push_back(&*entry->second);
  return found;
}

std::vector<Uuid> EarlyFeedback::awaited() const {
  std::vector<Uuid> decisions;
  for (auto entry = by_decision_.begin(); entry != by_decision_.end(); entry = by_decision_.upper_bound(entry->first)) {
    decisions.push_back(entry->first);
  }
  return decisions;
}

void EarlyFeedback::keep(Entry entry) {
  outcomes_ += entry.verdict.outcomes();
  if (entry.reverted) reverted_ += entry.verdict.outcomes();
  entries_.push_back(std::move(entry));
  by_decision_.emplace(entries_.back().decision, std::prev(entries_.end()));
}

std::vector<EarlyFeedback::Entry> EarlyFeedback::take(Uuid decision) {
  std::vector<Entry> taken;
  const auto [first, last] = by_decision_.equal_range(decision);
  for (auto waiting = first; waiting != last; ++waiting) {
    discount(*waiting->second);
    taken.push_back(std::move(*waiting->second));
    entries_.erase(waiting->second);
  }
  by_decision_.erase(first, last);
  return taken;
}

std::size_t EarlyFeedback::forget_before(std::int64_t time_ms) {
  std::size_t lapsed = 0;
  while (!entries_.empty() && entries_.front().time_ms < time_ms) {
    discount(entries_.front());
    if (!entries_.front().reverted) ++lapsed;
    // The oldest entry of all is the oldest of its decision.
    by_decision_.erase(by_decision_.lower_bound(entries_.front().decision));
    entries_.pop_front();
  }
  return lapsed;
}

bool EarlyFeedback::take_back(Entry& entry) {
  if (std::exchange(entry.reverted, true)) return false;
  reverted_ += entry.verdict.outcomes();
  return true;
}

void EarlyFeedback::discount(const Entry& entry) {
  outcomes_ -= entry.verdict.outcomes();
  if (entry.reverted) reverted_ -= entry.verdict.outcomes();
}

void EarlyFeedback::save(Encoder& out) const {
  out.integer(static_cast<std::uint64_t>(entries_.size()));
  for (const Entry& entry : entries_) {
    encode(entry.id, out);
    encode(entry.decision, out);
    out.integer(entry.time_ms);
    out.flag(entry.reverted);
    internal::save(entry.verdict, out);
  }
}

void EarlyFeedback::load(Decoder& in) {
  const std::size_t count = in.length(16 + 16 + 8 + 1 + 8 + 1 + 1 + 8 + 8);
  for (std::size_t i = 0; i < count && in.ok(); ++i) {
    Entry entry;
    entry.id = decode_uuid(in);
    entry.decision = decode_uuid(in);
    entry.time_ms = in.integer<std::int64_t>();
    entry.reverted = in.flag();
    entry.verdict = load_verdict(in);
    if (contains(entry.decision, entry.id)) in.fail();
    if (in.ok()) keep(std::move(entry));
  }
}

}  // namespace margin::internal
