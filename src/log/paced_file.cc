#include "log/paced_file.h"

#include <utility>

namespace margin::internal {
namespace {

// Some tens of microseconds of work. After every page others would be let in so often that changing between threads costs more than it
// brings.
constexpr int kBytesPerBreath = 48 << 10;
// The system puts pages on the disk without letting others in: some hundred at a time, and not all of a journal at its end.
constexpr int kBytesPerSync = 512 << 10;

}  // namespace

void PacedFile::pace(sqlite3* database, Which which, std::function<void()> breathe) {
  sqlite3_file* file = nullptr;
  sqlite3_file_control(database, "main", which == Which::kFile ? SQLITE_FCNTL_FILE_POINTER : SQLITE_FCNTL_JOURNAL_POINTER, &file);
  if (file == nullptr || file->pMethods == nullptr) return;
  syncs_ = which == Which::kFile;
  breathe_ = std::move(breathe);
  plain_ = file->pMethods;
  static_cast<sqlite3_io_methods&>(methods_) = *plain_;
  methods_.owner = this;
  methods_.xWrite = write;
  file->pMethods = &methods_;
}

int PacedFile::write(sqlite3_file* file, const void* bytes, int count, sqlite3_int64 at) {
  PacedFile& self = *static_cast<const Methods*>(file->pMethods)->owner;
  int result = self.plain_->xWrite(file, bytes, count, at);
  if (self.syncs_) self.unsynced_ += count;
  if (result == SQLITE_OK && self.unsynced_ >= kBytesPerSync) {
    self.unsynced_ = 0;
    result = self.plain_->xSync(file, SQLITE_SYNC_NORMAL | SQLITE_SYNC_DATAONLY);
  }
  self.written_ += count;
  if (self.written_ >= kBytesPerBreath) {
    self.written_ = 0;
    self.breathe_();
  }
  return result;
}

}  // namespace margin::internal
