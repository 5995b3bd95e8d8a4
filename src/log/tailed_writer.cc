#include "log/tailed_writer.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "log/background_priority.h"
#include "log/evidence.h"
#include "log/store_format.h"
#include "log/stored_row.h"

namespace margin::internal {

using Clock = std::chrono::steady_clock;

namespace {

// So much in the tail is carried over at once; less when it has waited for so long.
constexpr std::uint64_t kWorthCarrying = std::uint64_t{1} << 20;
constexpr std::chrono::milliseconds kAtLeisure{200};
// While the file that is written now is shorter, whoever else wants the processor has it first.
constexpr std::uint64_t kLastInLine = std::uint64_t{2} << 20;
// No time is lost from here on.
constexpr std::uint64_t kNoBreath = std::uint64_t{16} << 20;
// In between: after so much work a breath is taken.
constexpr std::chrono::microseconds kBreathEvery{100};
// A longer file of the tail is not written to: commits wait.
constexpr std::uint64_t kTailBytesMax = std::uint64_t{64} << 20;
// After a failure.
constexpr std::chrono::milliseconds kTryAgain{200};
// What is read at a time; the room of larger commits is given back.
constexpr std::size_t kRoomForReading = std::size_t{1} << 20;
// Some rows of the store, and a third of a millisecond: each transaction also writes the page that names its rows, and one for every row
// takes a third more of the processor. More where the tail is long.
constexpr std::uint64_t kPieceBytes = kRowBytesMax * 3;
constexpr std::uint64_t kPieceBytesMax = 4 * kPieceBytes;
constexpr std::uint64_t kPieceShare = 16;  // of the tail

}  // namespace

Status TailedWriter::open(const std::string& path, const Options& options) {
  options_ = options;
  const Status status = open_store(path, options);
  if (!status) return {status.error().code, path + ": " + status.error().message};
  const std::lock_guard lock(mutex_);
  thread_ = std::thread([this] { work(); });
  carrying_ = thread_.get_id();
  return {};
}

Status TailedWriter::open_store(const std::string& path, const Options& options) {
  const SqliteWriter::Options writing{
      .busy_wait = options.busy_wait, .snapshots_kept = options.snapshots_kept, .pages_max = options.pages_max, .breathe = [this] {
        breathe();
      }};
  // A store that is gone is not made anew in its place without a word.
  if (access(path.c_str(), F_OK) != 0) {
    if (Status status = check_acknowledged(path, HighWater::read(high_water_path(path)), {}, warning_); !status) return status;
  }
  if (Status status = writer_.open_unchanged(path, writing); !status) return status;
  Result<Contents> contents = writer_.contents();
  if (!contents) return contents.error();
  auto ends = writer_.ends();
  if (!ends) return ends.error();
  ends_ = std::move(*ends);
  const Result<TailContent> left = TailContent::read(path, contents->name);
  if (!left) return left.error();
  const std::vector<TailRecord> more = following(*left);
  contents->records += more.size();
  if (Status status = check_high_water(path, *contents); !status) return status;
  if (!warning_.empty()) {
    const Result<std::string> kept = keep_damaged(path);
    if (!kept) return kept.error();
    warning_ += "; " + *kept;
  }
  // Until here nothing has changed: what is refused can be looked into, and tried again.
  if (Status status = writer_.begin(); !status) return status;
  if (Status status = more.empty() ? Status() : writer_.add(more); !status) return status;
  contents = writer_.contents();
  if (!contents) return contents.error();
  written_ = contents->records;
  acknowledged_ = {.store = contents->name, .records = written_, .on_disk = options_.sync};
  // What it held must be there for good before it is emptied.
  if (Status status = writer_.put_on_disk(); !status) return status;
  // Never too much: what a process before had acknowledged without the disk counts as on it from here on.
  high_water_.write(acknowledged_);
  if (Status status = tail_.open(path, contents->name); !status) return status;
  return put_names_on_disk(path);
}

// Records behind a gap are of another history; whether any is missing is what the number of acknowledged events tells.
std::vector<TailRecord> TailedWriter::following(const TailContent& left) {
  std::vector<TailRecord> following;
  for (const TailRecord& record : left.records()) {
    std::uint64_t& end = ends_.try_emplace(std::string(record.pool), 0).first->second;
    if (record.offset != end) continue;
    ++end;
    following.push_back(record);
  }
  return following;
}

Status TailedWriter::check_high_water(const std::string& path, const Contents& there) {
  Result<HighWater> file = HighWater::open(path);
  if (!file) return file.error();
  high_water_ = std::move(file).value();
  return check_acknowledged(path, high_water_.read(), {.store = there.name, .records = there.records}, warning_);
}

void TailedWriter::close() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    closing_ = true;
    hurried_ = true;
  }
  changed_.notify_all();
  thread_.join();
  // Where this fails the events stay in the tail, for the next start.
  Status carried = carry_everything_over(Left::kBytes);
  // From here on no power failure takes any of it, so that an older copy in its place is found.
  if (carried.ok()) carried = writer_.put_on_disk();
  tail_.close();
  writer_.close();
  if (carried.ok() && !(acknowledged_.on_disk && acknowledged_.records == written_)) {
    acknowledged_.on_disk = true;
    acknowledge();
  }
}

Status TailedWriter::commit(std::span<Waiting> batch) {
  const bool full = tail_.length() >= kTailBytesMax;
  if (full || tail_damaged_ || failed_) {
    const auto began = Clock::now();
    Status status = tail_damaged_ ? carry_all_over() : settle();
    held_up_ns_ += std::chrono::nanoseconds(Clock::now() - began).count();
    // Also where the tail is damaged: it is no fault of the batch, and an operator may put it right.
    if (!status) return {ErrorCode::kUnavailable, status.error().message};
  }
  if (Status status = write(batch); !status) return status;
  if (Status status = put_on_disk(); !status) return status;
  acknowledge();
  return {};
}

bool TailedWriter::commit_at_once(std::span<Waiting> batch) {
  if (options_.sync || tail_.length() >= kTailBytesMax || failed_ || !write(batch)) return false;
  acknowledge();
  return true;
}

Status TailedWriter::write(std::span<Waiting> batch) {
  for (Waiting& item : batch) item.offset = ends_.try_emplace(item.pool, 0).first->second++;
  Status status = tail_.append(batch);
  if (!status) {
    for (const Waiting& item : batch) --ends_.find(item.pool)->second;
    return status;
  }
  written_ += batch.size();
  const bool much = tail_.length() >= kWorthCarrying;
  {
    const std::lock_guard lock(mutex_);
    if (something_ && much_ >= much) return {};
    something_ = true;
    much_ = much;
  }
  changed_.notify_all();
  return {};
}

Status TailedWriter::put_on_disk() {
  if (!options_.sync || tail_.put_on_disk(options_.put_on_disk)) return {};
  tail_damaged_ = true;
  return {ErrorCode::kUnavailable, std::string("the disk does not take the tail: ") + std::strerror(errno)};
}

void TailedWriter::acknowledge() {
  acknowledged_.records = written_;
  high_water_.write(acknowledged_);
}

// A file that could not be put on the disk may be torn there for good although a later attempt succeeds. What is in it is carried into the
// store, and it begins anew.
Status TailedWriter::carry_all_over() {
  if (Status status = settle(); !status) return status;
  Status status = use([](SqliteWriter& writer) { return writer.empty_journal(); });
  if (status.ok()) tail_damaged_ = false;
  return status;
}

Status TailedWriter::probe() {
  if (Status status = settle(); !status) return status;
  if (Status status = use([](SqliteWriter& writer) { return writer.probe(); }); !status) return status;
  if (Status status = tail_.probe(); !status) return status;
  return tail_damaged_ ? carry_all_over() : put_on_disk();
}

Status TailedWriter::ask(Asked mine) {
  std::unique_lock lock(mutex_);
  if (carrying_ == std::thread::id()) return {ErrorCode::kUnavailable, "the event log is closed"};
  asked_.push_back(&mine);
  if (mine.hurry) hurried_ = true;
  changed_.notify_all();
  changed_.wait(lock, [&] { return mine.done; });
  return std::move(mine.status);
}

void TailedWriter::serve(std::unique_lock<std::mutex>& lock) {
  const std::vector<Asked*> served = asked_;
  const bool erase = std::any_of(served.begin(), served.end(), [](const Asked* each) { return each->left == Left::kNothing; });
  lock.unlock();
  const Status status = carry_everything_over(erase ? Left::kNothing : Left::kBytes);
  use([](SqliteWriter& writer) { writer.shorten_journal(); });
  lock.lock();
  for (Asked* each : served) {
    if (!status) each->status = status.error();
    each->done = true;
  }
  // Who asked meanwhile is behind them.
  asked_.erase(asked_.begin(), asked_.begin() + static_cast<std::ptrdiff_t>(served.size()));
  hurried_ = closing_ || std::any_of(asked_.begin(), asked_.end(), [](const Asked* each) { return each->hurry; });
  changed_.notify_all();
}

Status TailedWriter::carry_everything_over(Left left) {
  Status status;
  for (std::size_t i = 0; i < kTailFiles && status.ok(); ++i) status = carry_over(left);
  return status;
}

Status TailedWriter::carry_over(Left left) {
  // What is carried into a file without a name would be gone with the process; in the tail it stays.
  if (Status status = use([](SqliteWriter& writer) { return writer.check_in_place(); }); !status) {
    failed_ = true;
    return status;
  }
  const Tail::HandedOver file = tail_.hand_over();
  Status status = file.empty ? Status() : add(file);
  if (status.ok() && !file.empty && options_.sync) status = use([](SqliteWriter& writer) { return writer.put_on_disk(); });
  failed_ = !status.ok();
  if (status.ok() && !tail_.release(file, left == Left::kNothing)) {
    return {ErrorCode::kUnavailable, std::string("what is erased may still stand in the tail: ") + std::strerror(errno)};
  }
  return status;
}

Status TailedWriter::add(const Tail::HandedOver& file) {
  TailReader reader(file.descriptor, acknowledged_.store,
                    {.room = std::move(room_), .bytes_max = file.length, .breathe = [this] { breathe(); }});
  Status status;
  for (std::span<const TailRecord> records;
       status.ok() && !(records = reader.next(std::clamp(tail_.length() / kPieceShare, kPieceBytes, kPieceBytesMax))).empty();) {
    status = use([&](SqliteWriter& writer) {
      Status added = writer.add(records);
      writer.shorten_journal();
      return added;
    });
    breathe();
  }
  if (status.ok() && reader.end() != file.length) {
    status = {ErrorCode::kCorrupt, "the tail is damaged: it has " + std::to_string(file.length) + " bytes, and can be read up to byte " +
                                       std::to_string(reader.end())};
  }
  room_ = std::move(reader).room();
  if (room_.size() > kRoomForReading) room_ = {};
  return status;
}

// Last in line, this thread works while the processor has nothing else to do, and beside a loop that never sleeps gets next to nothing. So
// when the tail becomes long it takes its share, and the longer the tail, the larger: commits need not wait for it in the end.
void TailedWriter::breathe() {
  if (carrying_ != std::this_thread::get_id()) return;
  const std::uint64_t length = tail_.length();
  if (length < kLastInLine) {
    if (hurried_) return;
    // A system call where nobody waits; else a turn at the end of the queue.
    options_.let_others_in();
    return;
  }
  if (processor_time() - worked_ < kBreathEvery) return;
  const double behind = static_cast<double>(length) / static_cast<double>(kNoBreath);
  std::unique_lock lock(mutex_);
  const std::chrono::duration<double> breath = kSleepPerWork * (processor_time() - worked_) * std::max(0.0, 1.0 - behind);
  changed_.wait_for(lock, breath, [this] { return hurried_.load(); });
  worked_ = processor_time();
}

void TailedWriter::work() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return closing_ || something_ || !asked_.empty(); });
    changed_.wait_for(lock, failed_ ? kTryAgain : kAtLeisure, [this] { return closing_ || !asked_.empty() || (much_ && !failed_); });
    worked_ = processor_time();
    something_ = much_ = false;
    if (!asked_.empty()) {
      serve(lock);
    } else if (closing_) {
      carrying_ = std::thread::id();
      return;
    } else {
      lock.unlock();
      static_cast<void>(carry_over(Left::kBytes));
      lock.lock();
    }
    if (tail_.bytes() > 0) something_ = true;
  }
}

}  // namespace margin::internal
