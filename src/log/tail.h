// Tail: what was committed last and is not in the store's SQLite file yet. Two files beside the store take turns: a commit is one write to
// the end of one, while the events of the other are carried into the store (log/tailed_writer.h), after which it begins anew.
//
// A file is its head and frames, one for each commit; docs/event_log.md#the-tail has their bytes. A frame's checksum goes on from that of
// the frame before and the first from the head, so that what an earlier turn left behind is never taken for a frame of this one.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <limits>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "log/commit_queue.h"
#include "log/descriptor.h"
#include "margin/digest.h"
#include "margin/result.h"
#include "margin/uuid.h"

namespace margin::internal {

inline constexpr std::size_t kTailFiles = 2;
// One of the two: STORE.tail0 and STORE.tail1.
[[nodiscard]] std::string tail_path(const std::string& store, std::size_t file);

// An event on its way into the store.
struct TailRecord {
  std::string_view pool;
  Uuid id;
  std::int64_t time_ms = 0;
  std::uint64_t offset = 0;
  std::string_view bytes;
};

// Reads one file from its head to the first frame that is not whole: the last of a process that was killed while it wrote, or damage.
// Which of them tells the number of acknowledged events (log/high_water.h).
class TailReader {
 public:
  struct Options {
    std::vector<char> room{};                                             // to read into, of a reader before
    std::uint64_t bytes_max = std::numeric_limits<std::uint64_t>::max();  // what stands behind them is not read
    std::function<void()> breathe = [] {};                                // called after some tens of microseconds of reading
  };
  // A file that is not there, is empty or belongs to another store has no records. The descriptor must stay open.
  TailReader(int file, const Digest& store, Options options);
  TailReader(int file, const Digest& store) : TailReader(file, store, Options()) {}

  // Each turn of writing has the next number; 0: nothing is in it.
  [[nodiscard]] std::uint64_t turn() const { return turn_; }
  // The records of the next frames, those of at least `bytes_min` together unless there are no more; empty at the end. Valid until the
  // next call.
  [[nodiscard]] std::span<const TailRecord> next(std::size_t bytes_min);
  // Of the file; 0: not a tail.
  [[nodiscard]] std::uint32_t format() const { return format_; }
  // Where the frames end that were read.
  [[nodiscard]] std::uint64_t end() const { return read_ - at_hand_ + taken_; }
  // Whether the system refused to read the file, which is no end of it. errno says why.
  [[nodiscard]] bool failed() const { return failed_; }
  // What the records of the last call point to.
  [[nodiscard]] std::vector<char> room() && { return std::move(room_); }

 private:
  // Until so many bytes behind those that were taken are at hand. False: the file ends before.
  bool fill(std::size_t bytes);
  [[nodiscard]] std::string_view at_hand(std::size_t from) const { return {room_.data() + from, at_hand_ - from}; }
  // The next frame, which is then at hand. False: there is none, or it is not whole.
  bool take_frame();
  // The records of a frame that is whole.
  void take_apart(std::string_view frame);

  int file_;
  std::uint64_t file_bytes_ = 0;
  std::uint32_t format_ = 0;
  std::uint64_t turn_ = 0;
  std::uint64_t chain_ = 0;
  std::uint64_t read_ = 0;  // of the file
  bool failed_ = false;
  std::vector<char> room_;
  std::function<void()> breathe_;
  std::size_t at_hand_ = 0;  // bytes in it
  std::size_t taken_ = 0;    // of those
  std::vector<TailRecord> records_;
};

// All that the files of a store hold, in the order of the commits, for whoever reads beside the process that writes, or after it.
// Records that are in the store already may be among them: they are read first, and then the store.
class TailContent {
 public:
  TailContent() = default;
  // kUnavailable: a file is there and cannot be read; kUnsupported: it was written by a newer margin.
  [[nodiscard]] static Result<TailContent> read(const std::string& store_path, const Digest& store);

  [[nodiscard]] const std::vector<TailRecord>& records() const { return records_; }

 private:
  std::vector<std::vector<char>> bytes_;  // what records point to
  std::vector<TailRecord> records_;
};

// The writing side. append() is called by one thread at a time, as are the others that say so; beside each other they may be.
class Tail {
 public:
  // Makes both files new and empty: what was in them must be in the store. kUnavailable: they cannot be made.
  [[nodiscard]] Status open(const std::string& store_path, const Digest& store);
  // Removes them: all must be in the store.
  void close();

  // One write. kUnavailable: the disk is full or fails, and nothing of the batch is in it.
  [[nodiscard]] Status append(std::span<const Waiting> batch);
  // Whether append() would find room for a commit of some size. kUnavailable: as there. Called by who may append.
  [[nodiscard]] Status probe();
  // Puts what was appended on the disk. Any thread.
  [[nodiscard]] bool put_on_disk(int (*sync)(int file));

  // In the file that is written now. Any thread.
  [[nodiscard]] std::uint64_t length();
  // In both. Any thread.
  [[nodiscard]] std::uint64_t bytes();

  // What is to be carried over: the file of before if it was not released, else the one that is written now, in whose place the other is
  // from then on. One thread at a time, as release().
  struct HandedOver {
    std::size_t file = 0;
    int descriptor = -1;
    std::uint64_t length = 0;
    bool empty = true;
  };
  [[nodiscard]] HandedOver hand_over();
  // Its events are in the store. `erase`: no byte of them stays in it; false: that cannot be done.
  bool release(const HandedOver& file, bool erase);

 private:
  struct File {
    std::string path;
    Descriptor descriptor;
    std::uint64_t turn = 0;
    std::uint64_t length = 0;  // 0: empty, without a head
    std::uint64_t chain = 0;
    std::string last_page;  // the bytes behind the last whole page
    bool unsynced = false;
  };

  Digest store_{};
  std::mutex mutex_;  // of all below, while a file is written too
  std::array<File, kTailFiles> files_;
  std::size_t written_ = 0;  // which of them
  std::uint64_t turns_ = 0;
  std::string room_;  // in which a write is put together
};

}  // namespace margin::internal
