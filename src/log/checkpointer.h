// Checkpointer: carries the journal of a SQLite store into its file, on a thread of its own, so that commits need not wait for it.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "log/sqlite.h"
#include "margin/result.h"

namespace margin::internal {

class Checkpointer {
 public:
  Checkpointer();
  Checkpointer(const Checkpointer&) = delete;
  Checkpointer& operator=(const Checkpointer&) = delete;
  ~Checkpointer();

  // What becomes of a journal when no commit has come for a while. Where nobody waits for the disk it is emptied: its file would be paged
  // out, and the next commits, whose pages do not begin where those of the system do, would wait until it is read again. A journal that is
  // written over is faster to put on the disk than one that grows.
  enum class WhenIdle { kEmpty, kKeep };

  // A connection of its own to an open store.
  [[nodiscard]] Status open(const std::string& path, std::chrono::milliseconds busy_wait, WhenIdle when_idle);
  void close();

  // Says how long the journal is, after a commit; a longer one than is good is carried over soon. Never waits.
  void journal_has(int pages);
  // Waits until most of it is carried over: for whoever writes much that nobody waits for.
  void wait_until_carried_over();
  // Whether the journal is so long that it must begin anew, and so much of it is carried over that the rest takes little time. The
  // writer then does that rest and, since no commit comes in between, its next transaction begins at the front. Waits for a checkpoint
  // that is under way only when the journal is twice as long as it should be.
  [[nodiscard]] bool wants_the_rest_done();
  // The same, said before: whoever must not wait leaves the next commit to who may. Until then the journal only grows.
  [[nodiscard]] bool wants_the_rest_soon();

 private:
  // The methods of the connection's file, with a breath taken between its writes.
  struct PacedFile;

  void work();
  // Holds the lock again when it returns: true when there is none but to empty the journal.
  bool wait_for_work(std::unique_lock<std::mutex>& lock);
  void carry_over();
  // Whether all of it could be carried over and cut off.
  bool empty();
  void pace_writes();
  // After some pages, as log/background_priority.h says; not while commits wait for the journal to get shorter.
  void breathe();
  // With the lock.
  [[nodiscard]] bool worth_while() const;
  [[nodiscard]] bool too_long() const;
  [[nodiscard]] bool rest_is_due() const;

  std::unique_ptr<PacedFile> paced_;  // before the connection, which uses it
  Database database_;
  std::mutex mutex_;
  std::condition_variable changed_;
  int pages_ = 0;  // of the journal
  int done_ = 0;   // of those, carried over
  std::uint64_t commits_ = 0;
  std::uint64_t idle_since_ = 0;  // so many commits
  int tried_ = 0;                 // its length when the rest was done and it yet did not begin anew: somebody reads it
  std::chrono::milliseconds busy_wait_{0};
  WhenIdle when_idle_ = WhenIdle::kKeep;
  bool working_ = false;
  bool closing_ = false;
  std::chrono::nanoseconds worked_{0};  // processor time of the thread, when it last took breath
  std::thread thread_;
};

}  // namespace margin::internal
