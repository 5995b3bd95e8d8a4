// PacedFile: lets whoever waits on the same processor in while SQLite writes its file or its journal. A transaction, and carrying the
// journal over, is one call of SQLite's; its writes are where others can be let in.
#pragma once

#include <sqlite3.h>

#include <functional>

namespace margin::internal {

class PacedFile {
 public:
  PacedFile() = default;
  PacedFile(const PacedFile&) = delete;
  PacedFile& operator=(const PacedFile&) = delete;

  enum class Which { kFile, kJournal };
  // Of an open connection, which must go before this. `breathe` is called after some writes, tens of microseconds of work.
  // The file is handed to the disk as it is written.
  void pace(sqlite3* database, Which which, std::function<void()> breathe);

 private:
  struct Methods : sqlite3_io_methods {
    PacedFile* owner = nullptr;
  };
  static int write(sqlite3_file* file, const void* bytes, int count, sqlite3_int64 at);

  Methods methods_{};
  const sqlite3_io_methods* plain_ = nullptr;
  std::function<void()> breathe_;
  bool syncs_ = false;
  int written_ = 0;   // bytes since the last breath
  int unsynced_ = 0;  // since they were last put on the disk
};

}  // namespace margin::internal
