#include "log/checkpointer.h"

#include <algorithm>
#include <utility>

#include "log/background_priority.h"

namespace margin::internal {
namespace {

// Pages that are not carried over yet and make it worth while: 8 MiB, or 1 MiB in a journal that is too long.
constexpr int kPagesAtOnce = 2'048;
constexpr int kPagesOfTheRest = 256;
// A journal of 64 MiB is too long. Mostly it does not come to that: it begins anew whenever all of it has been carried over when a commit
// comes; only commits that never pause make it grow.
constexpr int kJournalPagesMax = 16'384;
// No commit for so long: nobody is in a hurry.
constexpr std::chrono::milliseconds kIdle{200};
// About a tenth of a millisecond.
constexpr int kPagesPerBreath = 16;

sqlite3_file* file_of(sqlite3* database) {
  sqlite3_file* file = nullptr;
  sqlite3_file_control(database, "main", SQLITE_FCNTL_FILE_POINTER, &file);
  return file != nullptr && file->pMethods != nullptr ? file : nullptr;
}

// SQLite does this only when all of a journal has been carried over: when commits never pause, in the commit that begins it anew.
void put_on_disk(sqlite3* database) {
  if (sqlite3_file* file = file_of(database)) file->pMethods->xSync(file, SQLITE_SYNC_NORMAL | SQLITE_SYNC_DATAONLY);
}

}  // namespace

struct Checkpointer::PacedFile : sqlite3_io_methods {
  const sqlite3_io_methods* plain = nullptr;
  Checkpointer* owner = nullptr;
  int pages = 0;  // since the last breath

  static int write(sqlite3_file* file, const void* bytes, int count, sqlite3_int64 at) {
    auto& self = const_cast<PacedFile&>(static_cast<const PacedFile&>(*file->pMethods));
    const int result = self.plain->xWrite(file, bytes, count, at);
    if (++self.pages >= kPagesPerBreath) {
      self.pages = 0;
      self.owner->breathe();
    }
    return result;
  }
};

Checkpointer::Checkpointer() = default;
Checkpointer::~Checkpointer() { close(); }

// SQLite carries over all there is in one call; what it calls for each page is where others can be let in.
void Checkpointer::pace_writes() {
  sqlite3_file* file = file_of(database_.handle());
  if (file == nullptr) return;
  paced_ = std::make_unique<PacedFile>();
  static_cast<sqlite3_io_methods&>(*paced_) = *file->pMethods;
  paced_->plain = file->pMethods;
  paced_->owner = this;
  paced_->xWrite = PacedFile::write;
  file->pMethods = paced_.get();
}

void Checkpointer::breathe() {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, kSleepPerWork * (processor_time() - worked_), [this] { return closing_ || pages_ >= kJournalPagesMax; });
  worked_ = processor_time();
}

Status Checkpointer::open(const std::string& path, std::chrono::milliseconds busy_wait, WhenIdle when_idle) {
  busy_wait_ = busy_wait;
  when_idle_ = when_idle;
  Result<Database> database = Database::open(path, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX);
  if (!database) return database.error();
  database_ = std::move(database).value();
  sqlite3_busy_timeout(database_.handle(), static_cast<int>(busy_wait.count()));
  sqlite3_db_config(database_.handle(), SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr);
  pace_writes();
  thread_ = std::thread([this] { work(); });
  return {};
}

void Checkpointer::close() {
  {
    const std::lock_guard lock(mutex_);
    closing_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
  database_ = Database();
}

void Checkpointer::journal_has(int pages) {
  {
    const std::lock_guard lock(mutex_);
    if (pages < pages_) done_ = tried_ = 0;  // the journal began anew
    pages_ = pages;
    const bool was_idle = idle_since_ == commits_++;
    if (working_ || !(was_idle || worth_while())) return;
  }
  changed_.notify_all();
}

bool Checkpointer::worth_while() const { return pages_ - done_ >= (pages_ < kJournalPagesMax ? kPagesAtOnce : kPagesOfTheRest); }

bool Checkpointer::too_long() const { return pages_ >= std::max(kJournalPagesMax, tried_ + kPagesOfTheRest); }

void Checkpointer::wait_until_carried_over() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return closing_ || (!working_ && !worth_while()); });
}

bool Checkpointer::rest_is_due() const { return too_long() && (pages_ >= 2 * kJournalPagesMax || !(working_ || worth_while())); }

bool Checkpointer::wants_the_rest_soon() {
  const std::lock_guard lock(mutex_);
  return rest_is_due();
}

bool Checkpointer::wants_the_rest_done() {
  std::unique_lock lock(mutex_);
  if (!rest_is_due()) return false;
  changed_.wait(lock, [this] { return !working_; });
  tried_ = pages_;
  return true;
}

void Checkpointer::carry_over() {
  // A connection that has read nothing yet does not know of the journal, and would carry nothing over without a word.
  static_cast<void>(database_.integer("PRAGMA schema_version"));
  // Passive: beside readers and the writer, as far as they let it. A failure (a full disk) leaves the journal as it was.
  sqlite3_wal_checkpoint_v2(database_.handle(), "main", SQLITE_CHECKPOINT_PASSIVE, nullptr, nullptr);
  put_on_disk(database_.handle());
}

bool Checkpointer::empty() {
  // A commit that comes meanwhile is made by the log's thread, which may wait. Nobody else is waited for.
  sqlite3_busy_timeout(database_.handle(), 0);
  const int result = sqlite3_wal_checkpoint_v2(database_.handle(), "main", SQLITE_CHECKPOINT_TRUNCATE, nullptr, nullptr);
  sqlite3_busy_timeout(database_.handle(), static_cast<int>(busy_wait_.count()));
  return result == SQLITE_OK;
}

bool Checkpointer::wait_for_work(std::unique_lock<std::mutex>& lock) {
  const auto due = [this] { return closing_ || worth_while(); };
  while (true) {
    changed_.wait(lock, [&] { return due() || idle_since_ != commits_; });
    if (due()) return false;
    const std::uint64_t commits = commits_;
    if (changed_.wait_for(lock, kIdle, due)) return false;
    if (commits != commits_) continue;
    idle_since_ = commits;
    if (when_idle_ == WhenIdle::kEmpty) return true;
  }
}

void Checkpointer::work() {
  step_back();
  std::unique_lock lock(mutex_);
  while (true) {
    const bool idle = wait_for_work(lock);
    if (closing_) return;
    working_ = true;
    const int before = pages_;
    worked_ = processor_time();
    lock.unlock();
    carry_over();
    const bool emptied = idle && empty();
    lock.lock();
    working_ = false;
    if (emptied && idle_since_ == commits_) {
      pages_ = done_ = tried_ = 0;
    } else if (pages_ >= before) {
      // Where a reader or the disk held it up, not again at once but after as many new pages.
      done_ = before;
    }
    changed_.notify_all();
  }
}

}  // namespace margin::internal
