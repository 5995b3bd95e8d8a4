// TailedWriter: commits events to the tail (log/tail.h) and carries them into the store's SQLite file afterwards, on a thread of its own.
// So a commit is one write, whatever the file is being used for: snapshots, compaction, checkpoints and other programs do not hold it up.
#pragma once

#include <sched.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <span>
#include <string>
#include <thread>

#include "log/commit_queue.h"
#include "log/high_water.h"
#include "log/sqlite_writer.h"
#include "log/tail.h"
#include "margin/result.h"

namespace margin::internal {

class TailedWriter {
 public:
  struct Options {
    bool sync = true;  // a commit waits for the disk
    std::chrono::milliseconds busy_wait{1'000};
    std::size_t snapshots_kept = 4;
    std::int64_t pages_max = 0;
    int (*put_on_disk)(int file) = fdatasync;
    int (*let_others_in)() = sched_yield;
  };

  TailedWriter() = default;
  TailedWriter(const TailedWriter&) = delete;
  TailedWriter& operator=(const TailedWriter&) = delete;
  ~TailedWriter() { close(); }

  // Opens the store, made if it is not there, and carries over what a process before left in the tail. Every failure names the file.
  // kCorrupt: not a store, or events that were acknowledged are gone; kUnsupported: of a newer margin; kUnavailable, kNotFound.
  [[nodiscard]] Status open(const std::string& path, const Options& options);
  // Carries everything over; the store is then one file.
  void close();

  // What open() found that an operator should hear; empty: nothing.
  [[nodiscard]] const std::string& warning() const { return warning_; }

  // The functions of CommitQueue::Store.
  [[nodiscard]] Status commit(std::span<Waiting> batch);
  [[nodiscard]] bool commit_at_once(std::span<Waiting> batch);
  [[nodiscard]] Status probe();

  // Any thread: carries everything over that was committed before the call, and waits for it.
  [[nodiscard]] Status settle() { return ask({.hurry = true}); }
  // The same for whom nobody waits: letting others have the processor meanwhile.
  [[nodiscard]] Status settle_at_leisure() { return ask({}); }
  // And no byte of it stays in the tail.
  [[nodiscard]] Status settle_and_erase() { return ask({.left = Left::kNothing}); }
  // Any thread: uses the file while nobody else does.
  template <class Work>
  auto use(const Work& work) {
    const std::lock_guard lock(file_mutex_);
    return work(writer_);
  }

  // Any thread. Before each part of something large, so that it does not fill the journal.
  [[nodiscard]] Status wait_for_room() { return writer_.journal_is_long() ? settle_at_leisure() : Status(); }

  // Any thread: how much is not in the file yet, and how long commits have waited for that.
  [[nodiscard]] std::uint64_t bytes_behind() const { return tail_.bytes() + writer_.journal_bytes(); }
  [[nodiscard]] bool tail_is_empty() const { return tail_.bytes() == 0; }
  [[nodiscard]] std::chrono::nanoseconds held_up() const { return std::chrono::nanoseconds(held_up_ns_.load()); }

 private:
  Status open_store(const std::string& path, const Options& options);
  // What the tail holds and the file does not.
  std::vector<TailRecord> following(const TailContent& left);
  // `there`: what is in the store, its tail included.
  Status check_high_water(const std::string& path, const Contents& there);
  Status write(std::span<Waiting> batch);
  // What was written, where commits wait for that.
  Status put_on_disk();
  // All that was written, also by commits that the disk refused: it took them with a later one.
  void acknowledge();
  Status carry_all_over();
  // What a file of the tail still holds afterwards.
  enum class Left { kBytes, kNothing };
  struct Asked {
    Left left = Left::kBytes;
    bool hurry = false;
    Status status{};
    bool done = false;
  };
  // Asks the carrying thread for it, and waits.
  Status ask(Asked mine);

  // The carrying thread; the others below are called by it alone, and where it does not run yet or any more.
  void work();
  // With the lock, let go of meanwhile: for all who ask.
  void serve(std::unique_lock<std::mutex>& lock);
  // Both of the tail's files.
  Status carry_everything_over(Left left);
  // One: the last that was handed over, or the one that is written now.
  Status carry_over(Left left);
  // What a file holds, to the store. kCorrupt: not all that was written to it can be read.
  Status add(const Tail::HandedOver& file);
  // Lets others have the processor, unless somebody waits for what is being done. Does nothing for other threads, which use the file too.
  void breathe();

  Options options_;
  mutable Tail tail_;
  HighWater high_water_;
  Acknowledged acknowledged_;
  std::uint64_t written_ = 0;  // events in the store and its tail
  std::string warning_;
  std::map<std::string, std::uint64_t, std::less<>> ends_;  // of the pools, the tail included; used by who commits
  bool tail_damaged_ = false;                               // the disk did not take it; used by who commits
  std::atomic<bool> failed_ = false;                        // the store did not take what was to be carried over last
  std::atomic<std::int64_t> held_up_ns_ = 0;

  std::mutex file_mutex_;   // held by who uses writer_
  std::vector<char> room_;  // of the carrying thread
  std::mutex mutex_;        // of all below
  std::condition_variable changed_;
  std::vector<Asked*> asked_;  // by who waits
  bool something_ = false;     // was committed since the thread last looked
  bool much_ = false;          // so much that it is carried over at once
  bool closing_ = false;
  std::atomic<bool> hurried_ = false;        // somebody of those who asked cannot wait; read without the lock
  std::chrono::nanoseconds worked_{0};       // processor time of the carrying thread, when it last took breath
  std::atomic<std::thread::id> carrying_{};  // its id
  SqliteWriter writer_;                      // behind all that breathe() needs, which it calls also when it goes
  std::thread thread_;
};

}  // namespace margin::internal
