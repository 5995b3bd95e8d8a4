#include "log/commit_queue.h"

#include <iterator>
#include <utility>

#include "base/text.h"
#include "log/codec.h"

namespace margin::internal {

using Clock = std::chrono::steady_clock;

namespace {

// What is more takes milliseconds to write, and is left to the queue's thread.
constexpr std::size_t kAtOnceMax = 256;
constexpr std::size_t kAtOnceBytesMax = std::size_t{1} << 20;

// So many do not wait to be uncorked where the disk has nothing to do: whoever comes meanwhile is in the next commit.
constexpr std::size_t kWorthTheDisk = 6;

}  // namespace

CommitQueue::CommitQueue(const QueueLimits& limits, Store store) : limits_(limits), store_(std::move(store)), thread_([this] { work(); }) {
  // A thread that begins later would take what is corked by then for what was left to it.
  std::unique_lock lock(mutex_);
  finished_.wait(lock, [this] { return begun_; });
}

Status CommitQueue::encode_item(const Entry& entry, Waiting& item) {
  if (entry.pool.empty() || entry.pool.size() > kPoolNameBytesMax) {
    return {ErrorCode::kInvalidArgument,
            "pool: got a name of " + std::to_string(entry.pool.size()) + " bytes, expected 1 to " + std::to_string(kPoolNameBytesMax)};
  }
  if (entry.note.size() > kNoteBytesMax) {
    return {ErrorCode::kLimit, "note: " + std::to_string(entry.note.size()) + " bytes, at most " + std::to_string(kNoteBytesMax)};
  }
  item.pool = entry.pool;
  item.id = entry.event.id;
  item.time_ms = entry.event.time_ms;
  encode(entry.event, entry.mark, entry.note, item.bytes);
  if (item.bytes.size() > kRecordBytesMax) {
    return {ErrorCode::kLimit, "event: " + std::to_string(item.bytes.size()) + " bytes, at most " + std::to_string(kRecordBytesMax)};
  }
  return {};
}

Status CommitQueue::append(const Entry& entry, EventLog::Acknowledge acknowledge) {
  Waiting item{.acknowledge = std::move(acknowledge)};
  if (Status encoded = encode_item(entry, item); !encoded) return encoded;
  return enqueue({&item, 1});
}

Status CommitQueue::append_together(std::span<EventLog::Grouped> group) {
  Batch items(group.size());
  for (std::size_t i = 0; i < group.size(); ++i) {
    if (Status encoded = encode_item(*group[i].entry, items[i]); !encoded) return encoded;
    items[i].acknowledge = std::move(group[i].acknowledge);
  }
  return items.empty() ? Status() : enqueue(items);
}

Status CommitQueue::enqueue(std::span<Waiting> items) {
  std::size_t bytes = 0;
  for (const Waiting& item : items) bytes += item.bytes.size();
  {
    const std::lock_guard lock(mutex_);
    if (closing_) return {ErrorCode::kUnavailable, "the event log is closed"};
    // An empty queue takes anything, however small its bounds.
    if (figures_.waiting > 0 &&
        (figures_.waiting + items.size() > limits_.records_max || figures_.waiting_bytes + bytes > limits_.bytes_max)) {
      return {ErrorCode::kLimit, "the event log does not keep up: " + std::to_string(figures_.waiting) + " events wait to be written"};
    }
    for (Waiting& item : items) {
      // Only the oldest of those that are committed together is ever asked.
      item.since = waiting_.empty() ? Clock::now() : waiting_.front().since;
      waiting_.push_back(std::move(item));
    }
    taken_ += items.size();
    figures_.waiting += items.size();
    figures_.waiting_bytes += bytes;
    // Somebody else will look here, or the thread has been woken for an earlier one.
    const std::size_t before = waiting_.size() - items.size();
    const bool first = before == 0;
    const bool worth_the_disk = !store_.commit_at_once && before < kWorthTheDisk && waiting_.size() >= kWorthTheDisk;
    if (busy_ || !(corked_ ? worth_the_disk : first)) return {};
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

CommitQueue::Batch CommitQueue::take_waiting() {
  busy_ = true;
  committing_since_ = waiting_.front().since;
  return std::exchange(waiting_, {});
}

bool CommitQueue::commit_at_once(std::unique_lock<std::mutex>& lock) {
  if (!store_.commit_at_once || !health_.ok() || waiting_.size() > kAtOnceMax || figures_.waiting_bytes > kAtOnceBytesMax) return false;
  Batch batch = take_waiting();
  lock.unlock();
  const bool done = store_.commit_at_once(batch);
  if (done) settle(batch, {});
  lock.lock();
  if (!done) waiting_.insert(waiting_.begin(), std::move_iterator(batch.begin()), std::move_iterator(batch.end()));
  committing_since_.reset();
  busy_ = false;
  return !something_to_do();
}

void CommitQueue::on_commit(std::function<void()> listener) {
  std::unique_lock lock(mutex_);
  listener_ = std::move(listener);
  // Whoever replaces one may be about to go.
  finished_.wait(lock, [this] { return telling_ == 0; });
}

Status CommitQueue::writable() {
  const std::lock_guard lock(mutex_);
  if (health_.ok()) return {};
  return health_.error();
}

LogFigures CommitQueue::figures() const {
  const std::lock_guard lock(mutex_);
  LogFigures figures = figures_;
  std::optional<Clock::time_point> since = committing_since_;
  if (!since && !waiting_.empty()) since = waiting_.front().since;
  if (since) figures.oldest = Clock::now() - *since;
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

bool CommitQueue::something_to_do() const { return !busy_ && (!waiting_.empty() || closing_); }

void CommitQueue::work() {
  std::unique_lock lock(mutex_);
  begun_ = true;
  finished_.notify_all();
  while (true) {
    if (health_.ok()) {
      arrived_.wait(lock, [this] { return something_to_do(); });
    } else if (!arrived_.wait_for(lock, limits_.probe_interval, [this] { return something_to_do(); })) {
      if (busy_) continue;
      busy_ = true;
      lock.unlock();
      Status health = store_.probe();
      lock.lock();
      busy_ = false;
      health_ = std::move(health);
      continue;
    }
    if (waiting_.empty()) return;  // closing, and nothing is left to do
    commit_waiting(lock);
  }
}

void CommitQueue::commit_waiting(std::unique_lock<std::mutex>& lock) {
  Batch batch = take_waiting();
  lock.unlock();
  settle(batch, store_.commit(batch));
  lock.lock();
  committing_since_.reset();
  busy_ = false;
}

void CommitQueue::settle(Batch& batch, Status status) {
  std::size_t bytes = 0;
  for (const Waiting& item : batch) {
    bytes += item.bytes.size();
    if (!item.acknowledge) continue;
    item.acknowledge(status.ok() ? Result<std::uint64_t>(item.offset) : Result<std::uint64_t>(status.error()));
  }
  const std::size_t count = batch.size();
  batch.clear();
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
    ++telling_;
  }
  finished_.notify_all();
  if (listener) listener();
  {
    const std::lock_guard lock(mutex_);
    --telling_;
  }
  finished_.notify_all();
}

}  // namespace margin::internal
