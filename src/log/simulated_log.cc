#include "log/simulated_log.h"

#include <iterator>
#include <utility>

#include "log/codec.h"

namespace margin {

Status SimulatedLog::append(const Entry& entry, Acknowledge acknowledge) {
  if (closed_) return {ErrorCode::kUnavailable, "the event log is closed"};
  Waiting item{.id = entry.event.id, .acknowledge = std::move(acknowledge)};
  internal::encode(entry.event, entry.mark, entry.note, item.bytes);
  partitions_[entry.pool].waiting.push_back(std::move(item));
  ++figures_.waiting;
  return {};
}

// Each may be lost by itself: what this log stands for has no commits.
Status SimulatedLog::append_together(std::span<Grouped> group) {
  for (Grouped& one : group) {
    if (Status taken = append(*one.entry, std::move(one.acknowledge)); !taken) return taken;
  }
  return {};
}

bool SimulatedLog::step() {
  if (partitions_.empty()) return false;
  auto chosen = std::next(partitions_.begin(), static_cast<std::ptrdiff_t>(random_.below(partitions_.size())));
  write(chosen->first, chosen->second);
  // Acknowledgements may append, and so add pools; a map keeps its nodes where they are.
  acknowledge(chosen->second);
  if (chosen->second.waiting.empty() && chosen->second.told.empty()) partitions_.erase(chosen);
  return true;
}

void SimulatedLog::write(const std::string& pool, Partition& partition) {
  for (std::uint64_t count = random_.below(partition.waiting.size() + 1); count > 0; --count) {
    Waiting item = std::move(partition.waiting.front());
    partition.waiting.pop_front();
    const Error lost{ErrorCode::kUnavailable, "the log did not answer"};
    Told told{
        .offset = lost, .acknowledge = std::move(item.acknowledge), .steps = random_.chance(faults_.late) ? 1 + random_.below(10) : 0};
    if (!random_.chance(faults_.failed)) {
      const std::uint64_t offset = store_.append(pool, item.id, item.bytes);
      if (random_.chance(faults_.twice)) store_.append(pool, item.id, item.bytes);
      if (!random_.chance(faults_.unknown)) told.offset = offset;
    }
    partition.told.push_back(std::move(told));
  }
}

void SimulatedLog::acknowledge(Partition& partition) {
  bool any = false;
  while (!partition.told.empty()) {
    Told& next = partition.told.front();
    if (next.steps > 0) {
      --next.steps;
      break;
    }
    Told told = std::move(next);
    partition.told.pop_front();
    --figures_.waiting;
    ++(told.offset ? figures_.appended : figures_.failed);
    if (told.acknowledge) told.acknowledge(std::move(told.offset));
    any = true;
  }
  if (!any) return;
  ++figures_.commits;
  if (listener_) listener_();
}

void SimulatedLog::crash() {
  partitions_.clear();
  figures_.waiting = 0;
}

void SimulatedLog::flush() {
  while (step()) {
  }
}

void SimulatedLog::close() {
  flush();
  closed_ = true;
}

}  // namespace margin
