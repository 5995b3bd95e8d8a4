// CommitQueue: the asynchronous half that every EventLog shares. Appends wait here; all that wait at one moment are committed together,
// and acknowledged in order. A commit that only writes is made in passing by whoever uncorks; what takes longer is made by a thread of the
// queue: those that wait for the disk, large ones, and those that cannot be made at once. Whoever comes meanwhile is in the next one.
// MemoryLog and SqliteLog say what a commit is.
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
  std::int64_t time_ms = 0;
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
    // The same where nothing must be waited for, such as another program. False: nothing was done. Empty: each commit waits for the disk.
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
  Status append_together(std::span<EventLog::Grouped> group);
  void cork();
  void uncork();
  void on_commit(std::function<void()> listener);
  Status writable();
  // All but stored_bytes.
  LogFigures figures() const;
  void flush();
  void close();

 private:
  using Batch = std::vector<Waiting>;

  // What waits for its commit, or why it cannot.
  static Status encode_item(const Entry& entry, Waiting& item);
  Status enqueue(std::span<Waiting> items);
  void work();
  // These hold the lock, and let go of it while they use the store.
  // Returns whether nothing is left for the queue's thread.
  bool commit_at_once(std::unique_lock<std::mutex>& lock);
  void commit_waiting(std::unique_lock<std::mutex>& lock);
  // Begins the use of the store for all that wait.
  Batch take_waiting();
  [[nodiscard]] bool something_to_do() const;
  // Without the lock: acknowledges and lets go of them, tells the listener.
  void settle(Batch& batch, Status status);

  const QueueLimits limits_;
  const Store store_;
  std::function<void()> listener_;
  std::size_t telling_ = 0;  // calls of a listener under way

  mutable std::mutex mutex_;
  std::condition_variable arrived_;
  std::condition_variable finished_;
  Batch waiting_;  // to be committed
  LogFigures figures_;
  bool busy_ = false;    // somebody uses the store, and looks at the above again before leaving it
  bool corked_ = false;  // appends do not wake the thread
  std::optional<std::chrono::steady_clock::time_point> committing_since_;  // the oldest append of those that are being committed
  std::uint64_t taken_ = 0;                                                // appends ever taken
  std::uint64_t acknowledged_ = 0;                                         // of those, acknowledged
  Status health_{};
  bool closing_ = false;
  bool begun_ = false;  // the thread looks at the above

  std::mutex joining_;  // two may close at once
  std::thread thread_;  // last: it uses all of the above
};

}  // namespace margin::internal
