// SimulatedLog: an EventLog in memory that misbehaves by a seed as a distant log may: late acknowledgements, in any order between pools,
// failures, records written twice, records written although the writer was told they failed. For simulations of the server.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "log/event_log.h"
#include "log/memory_log.h"
#include "margin/random.h"

namespace margin {

// How likely each is, per append.
struct LogFaults {
  double failed = 0.0;   // not written, and said so
  double unknown = 0.0;  // written, and acknowledged with an error all the same
  double twice = 0.0;    // written twice in a row; acknowledged with the first offset
  double late = 0.0;     // acknowledged some steps later; what comes after it in its pool waits for it
};

// No thread: nothing happens but in step(). One thread at a time.
class SimulatedLog final : public LogInMemory {
 public:
  SimulatedLog(std::uint64_t seed, const LogFaults& faults) : LogInMemory(4), random_(seed), faults_(faults) {}

  // One thing happens: some waiting appends of a pool are written, and acknowledgements of one pool come. False: nothing was waiting.
  bool step();
  // The writer dies: what waits is never written, what was written is never acknowledged.
  void crash();

  [[nodiscard]] Status append(const Entry& entry, Acknowledge acknowledge) override;
  [[nodiscard]] Status append_together(std::span<Grouped> group) override;
  void on_commit(std::function<void()> listener) override { listener_ = std::move(listener); }
  [[nodiscard]] Status writable() override { return {}; }
  [[nodiscard]] LogFigures figures() const override { return figures_; }
  // Steps until nothing waits.
  void flush() override;
  void close() override;

 private:
  struct Waiting {
    Uuid id;
    std::string bytes;
    Acknowledge acknowledge;
  };
  struct Told {
    Result<std::uint64_t> offset;
    Acknowledge acknowledge;
    std::uint64_t steps;  // until it comes
  };
  struct Partition {
    std::deque<Waiting> waiting;
    std::deque<Told> told;
  };

  void write(const std::string& pool, Partition& partition);
  void acknowledge(Partition& partition);

  Random random_;
  const LogFaults faults_;
  std::map<std::string, Partition> partitions_;
  std::function<void()> listener_;
  LogFigures figures_;
  bool closed_ = false;
};

}  // namespace margin
