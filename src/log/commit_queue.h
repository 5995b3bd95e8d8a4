// CommitQueue: the asynchronous half that every EventLog shares. Appends wait here; one thread takes all that wait at that moment and
// commits them together, then acknowledges them in order. Where a commit waits for nothing, whoever uncorks does it in passing: a second
// thread would cost more than the commit. MemoryLog and SqliteLog say what a commit is.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "log/event_log.h"
#include "margin/result.h"
#include "margin/uuid.h"

namespace margin::internal {

// An encoded entry that waits for its commit.
struct Waiting {
  std::string pool;
  Uuid id;
  std::string bytes;
  EventLog::Acknowledge acknowledge;
  std::chrono::steady_clock::time_point since{};
  std::uint64_t offset = 0;  // set by the commit
};

class CommitQueue {
 public:
  struct Store {
    // Commits all or nothing, and sets each offset.
    std::function<Status(std::span<Waiting>)> commit;
    // The same where nothing must be waited for, neither the disk nor another program. False: nothing was done. Empty: there is always
    // something to wait for.
    std::function<bool(std::span<Waiting>)> commit_at_once;
    // Whether a commit would succeed now.
    std::function<Status()> probe;
  };

  CommitQueue(const QueueLimits& limits, Store store);
  CommitQueue(const CommitQueue&) = delete;
  CommitQueue& operator=(const CommitQueue&) = delete;
  ~CommitQueue() { close(); }

  // The functions of EventLog of the same names.
  Status append(const Entry& entry, EventLog::Acknowledge acknowledge);
  void cork();
  void uncork();
  void on_commit(std::function<void()> listener);
  Status writable();
  // All but stored_bytes.
  LogFigures figures() const;
  void flush();
  void close();

  // Runs a job on the queue's thread between two commits and waits for it. kUnavailable: closed.
  Status run(const std::function<Status()>& job);

 private:
  struct Job {
    const std::function<Status()>* work = nullptr;
    Status result{};
    bool done = false;
  };

  void work();
  // With the lock, which the first lets go while it works. True: nothing is left to do.
  bool commit_at_once(std::unique_lock<std::mutex>& lock);
  void take_batch();
  // Without the lock: acknowledges, tells the listener.
  void settle_batch(Status status);

  const QueueLimits limits_;
  const Store store_;
  std::function<void()> listener_;

  mutable std::mutex mutex_;
  std::condition_variable arrived_;
  std::condition_variable finished_;
  std::vector<Waiting> waiting_;
  std::vector<Job*> jobs_;
  LogFigures figures_;
  bool busy_ = false;                                                 // somebody uses the store, and looks here again before leaving it
  std::vector<Waiting> batch_;                                        // being committed, by who made it busy
  std::optional<std::chrono::steady_clock::time_point> batch_since_;  // of the oldest append in it
  bool corked_ = false;                                               // appends do not wake the thread
  std::uint64_t taken_ = 0;                                           // appends ever taken
  std::uint64_t acknowledged_ = 0;                                    // of those, acknowledged
  Status health_{};
  bool closing_ = false;

  std::mutex joining_;  // two may close at once
  std::thread thread_;  // last: it uses all of the above
};

}  // namespace margin::internal
