// CommitQueue: the asynchronous half that every EventLog shares. Appends wait here; one thread takes all that wait at that moment and
// commits them together, then acknowledges them in order. MemoryLog and SqliteLog say what a commit is.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
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
  // One batch: commit, acknowledge, tell the listener. Without the lock.
  void commit(std::vector<Waiting>& batch);

  const QueueLimits limits_;
  const Store store_;
  std::function<void()> listener_;

  mutable std::mutex mutex_;
  std::condition_variable arrived_;
  std::condition_variable finished_;
  std::vector<Waiting> waiting_;
  std::vector<Job*> jobs_;
  LogFigures figures_;
  std::chrono::steady_clock::time_point batch_since_{};  // of the oldest append in the batch being committed
  bool committing_ = false;
  bool corked_ = false;             // appends do not wake the thread
  std::uint64_t taken_ = 0;         // appends ever taken
  std::uint64_t acknowledged_ = 0;  // of those, acknowledged
  Status health_{};
  bool closing_ = false;

  std::mutex joining_;  // two may close at once
  std::thread thread_;  // last: it uses all of the above
};

}  // namespace margin::internal
