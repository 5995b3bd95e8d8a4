#include "log/commit_queue.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/text.h"
#include "log/codec.h"

namespace margin::internal {

using Clock = std::chrono::steady_clock;

namespace {

// So many share a commit well enough; to wait for more would keep the store idle and the first of them waiting.
constexpr std::size_t kGatheredMax = 16;

}  // namespace

CommitQueue::CommitQueue(const QueueLimits& limits, Store store) : limits_(limits), store_(std::move(store)), thread_([this] { work(); }) {}

Status CommitQueue::append(const Entry& entry, EventLog::Acknowledge acknowledge) {
  if (entry.pool.empty() || entry.pool.size() > kPoolNameBytesMax) {
    return {ErrorCode::kInvalidArgument,
            "pool: got a name of " + std::to_string(entry.pool.size()) + " bytes, expected 1 to " + std::to_string(kPoolNameBytesMax)};
  }
  if (entry.note.size() > kNoteBytesMax) {
    return {ErrorCode::kLimit, "note: " + std::to_string(entry.note.size()) + " bytes, at most " + std::to_string(kNoteBytesMax)};
  }
  Waiting item{.pool = entry.pool, .id = entry.event.id, .acknowledge = std::move(acknowledge), .since = Clock::now()};
  encode(entry.event, entry.mark, entry.note, item.bytes);
  if (item.bytes.size() > kRecordBytesMax) {
    return {ErrorCode::kLimit, "event: " + std::to_string(item.bytes.size()) + " bytes, at most " + std::to_string(kRecordBytesMax)};
  }
  {
    const std::lock_guard lock(mutex_);
    if (closing_) return {ErrorCode::kUnavailable, "the event log is closed"};
    // An empty queue takes any record, however small the bound on bytes.
    if (figures_.waiting >= limits_.records_max ||
        (figures_.waiting > 0 && figures_.waiting_bytes + item.bytes.size() > limits_.bytes_max)) {
      return {ErrorCode::kLimit, "the event log does not keep up: " + std::to_string(figures_.waiting) + " events wait to be written"};
    }
    ++taken_;
    ++figures_.waiting;
    figures_.waiting_bytes += item.bytes.size();
    waiting_.push_back(std::move(item));
    // It is awake, or has been woken for an earlier one, or will be by uncork().
    if (busy_ || (corked_ ? store_.commit_at_once || waiting_.size() != kGatheredMax : waiting_.size() != 1)) return {};
  }
  arrived_.notify_one();
  return {};
}

void CommitQueue::cork() {
  const std::lock_guard lock(mutex_);
  corked_ = true;
}

void CommitQueue::uncork() {
  {
    std::unique_lock lock(mutex_);
    corked_ = false;
    if (busy_ || waiting_.empty() || commit_at_once(lock)) return;
  }
  arrived_.notify_one();
}

bool CommitQueue::commit_at_once(std::unique_lock<std::mutex>& lock) {
  if (!store_.commit_at_once || !health_.ok()) return false;
  take_batch();
  lock.unlock();
  const bool done = store_.commit_at_once(batch_);
  if (done) settle_batch({});
  lock.lock();
  if (!done) {
    std::move(waiting_.begin(), waiting_.end(), std::back_inserter(batch_));
    waiting_.swap(batch_);
    batch_.clear();
  }
  batch_since_.reset();
  busy_ = false;
  return waiting_.empty() && jobs_.empty() && !closing_;
}

void CommitQueue::on_commit(std::function<void()> listener) {
  const std::lock_guard lock(mutex_);
  listener_ = std::move(listener);
}

Status CommitQueue::writable() {
  const std::lock_guard lock(mutex_);
  if (health_.ok()) return {};
  return health_.error();
}

LogFigures CommitQueue::figures() const {
  const std::lock_guard lock(mutex_);
  LogFigures figures = figures_;
  if (batch_since_) {
    figures.oldest = Clock::now() - *batch_since_;
  } else if (!waiting_.empty()) {
    figures.oldest = Clock::now() - waiting_.front().since;
  }
  return figures;
}

void CommitQueue::flush() {
  uncork();
  std::unique_lock lock(mutex_);
  finished_.wait(lock, [this, target = taken_] { return acknowledged_ >= target; });
}

void CommitQueue::close() {
  {
    const std::lock_guard lock(mutex_);
    closing_ = true;
  }
  arrived_.notify_one();
  const std::lock_guard lock(joining_);
  if (thread_.joinable()) thread_.join();
}

Status CommitQueue::run(const std::function<Status()>& job) {
  Job mine{.work = &job};
  std::unique_lock lock(mutex_);
  if (closing_) return {ErrorCode::kUnavailable, "the event log is closed"};
  jobs_.push_back(&mine);
  arrived_.notify_one();
  finished_.wait(lock, [&] { return mine.done; });
  return std::move(mine.result);
}

void CommitQueue::take_batch() {
  busy_ = true;
  std::swap(batch_, waiting_);
  batch_since_ = batch_.front().since;
}

void CommitQueue::work() {
  std::unique_lock lock(mutex_);
  const auto something_to_do = [this] { return !busy_ && (!waiting_.empty() || !jobs_.empty() || closing_); };
  while (true) {
    if (health_.ok()) {
      arrived_.wait(lock, something_to_do);
    } else if (!arrived_.wait_for(lock, limits_.probe_interval, something_to_do)) {
      if (busy_) continue;
      busy_ = true;
      lock.unlock();
      Status health = store_.probe();
      lock.lock();
      busy_ = false;
      health_ = std::move(health);
      continue;
    }
    if (!waiting_.empty()) {
      take_batch();
      lock.unlock();
      settle_batch(store_.commit(batch_));
      lock.lock();
      batch_since_.reset();
    } else if (jobs_.empty()) {
      return;  // closing, and nothing is left to do
    }
    // One job between two commits, so that a long row of them does not hold up the appends.
    if (!jobs_.empty()) {
      Job* job = jobs_.front();
      jobs_.erase(jobs_.begin());
      busy_ = true;
      lock.unlock();
      Status result = (*job->work)();
      lock.lock();
      job->result = std::move(result);
      job->done = true;
      finished_.notify_all();
    }
    busy_ = false;
  }
}

void CommitQueue::settle_batch(Status status) {
  std::size_t bytes = 0;
  for (Waiting& item : batch_) {
    bytes += item.bytes.size();
    if (!item.acknowledge) continue;
    item.acknowledge(status.ok() ? Result<std::uint64_t>(item.offset) : Result<std::uint64_t>(status.error()));
  }
  const std::size_t count = batch_.size();
  batch_.clear();
  std::function<void()> listener;
  {
    const std::lock_guard lock(mutex_);
    (status.ok() ? figures_.appended : figures_.failed) += count;
    if (status.ok()) ++figures_.commits;
    figures_.waiting -= count;
    figures_.waiting_bytes -= bytes;
    acknowledged_ += count;
    health_ = std::move(status);
    listener = listener_;
  }
  finished_.notify_all();
  if (listener) listener();
}

}  // namespace margin::internal
