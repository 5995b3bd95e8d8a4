// HighWater: how many events a store has acknowledged, in a small file beside it. SQLite drops the end of a damaged journal without a
// word, and an old copy of a store looks like any other; this file remembers that there was more.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "log/descriptor.h"
#include "margin/digest.h"
#include "margin/result.h"

namespace margin::internal {

struct Acknowledged {
  Digest store;               // its name
  std::uint64_t records = 0;  // in all pools, ever
  bool on_disk = true;        // acknowledged after they were on the disk; else a power failure may have taken the last ones
};

// What was acknowledged, against the records that are there. kCorrupt: some are gone, or another store stood here; names the file
// PATH.head to remove if that is meant. Durability "process" allows some to be gone: then ok, with `warning` set.
[[nodiscard]] Status check_acknowledged(const std::string& path, const std::optional<Acknowledged>& before, const Acknowledged& now,
                                        std::string& warning);

// Written after each commit, without waiting for the disk: after a power failure it may say too little, never too much. The file is mapped,
// as SQLite maps its index of the journal: a call for each commit would cost as much as the commit.
class HighWater {
 public:
  // Two places take turns, so that one is whole whenever the process is killed. What stands behind them is not read; the lease writes there
  // who has the store (log/lease.h).
  static constexpr std::size_t kPlaceBytes = 16 + 8 + 1 + 16;
  static constexpr std::size_t kBytes = 2 * kPlaceBytes;

  HighWater() = default;
  // Opens that of a store, made if it is not there, as readable as the store: who made it for another user must not keep that one's server
  // from it. kUnavailable: it cannot be.
  [[nodiscard]] static Result<HighWater> open(const std::string& store);

  // Nothing when it was never written or is torn.
  [[nodiscard]] std::optional<Acknowledged> read() const;
  // The same of a file that may not be there, without making it.
  [[nodiscard]] static std::optional<Acknowledged> read(const std::string& path);
  // A failure is not reported: the file then says too little, and the next write mends it. Until the file is opened anew no write may say
  // less than the one before.
  void write(const Acknowledged& acknowledged);

 private:
  struct Unmap {
    void operator()(char* bytes) const;
  };

  explicit HighWater(int descriptor) : file_(descriptor) {}
  void map();
  void put(std::size_t place, std::string_view bytes);

  Descriptor file_;
  std::unique_ptr<char, Unmap> mapped_;  // none: the file cannot be mapped, and is written by calls
  std::optional<bool> on_disk_;          // as both places say
  std::size_t next_ = 0;                 // place
};

}  // namespace margin::internal
