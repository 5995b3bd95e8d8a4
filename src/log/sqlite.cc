#include "log/sqlite.h"

#include <cerrno>
#include <utility>

namespace margin::internal {

Error error_of(sqlite3* handle) {
  const std::string said = handle == nullptr ? "out of memory" : sqlite3_errmsg(handle);
  switch (handle == nullptr ? SQLITE_NOMEM : sqlite3_errcode(handle) & 0xff) {
    case SQLITE_CORRUPT: return {ErrorCode::kCorrupt, "the store is damaged: " + said};
    case SQLITE_NOTADB: return {ErrorCode::kCorrupt, "the file is not a store, or its first bytes are damaged: " + said};
    case SQLITE_FULL: return {ErrorCode::kUnavailable, "the disk is full"};
    case SQLITE_BUSY:
    case SQLITE_LOCKED: return {ErrorCode::kUnavailable, "another program holds the store locked"};
    case SQLITE_READONLY: return {ErrorCode::kUnavailable, "the store is read-only"};
    case SQLITE_IOERR:
      if (const int system = sqlite3_system_errno(handle); system == ENOSPC || system == EDQUOT)
        return {ErrorCode::kUnavailable, "the disk is full"};
      return {ErrorCode::kUnavailable, "the disk does not take or give data: " + said + " (" +
                                           std::to_string(sqlite3_extended_errcode(handle)) + ", system error " +
                                           std::to_string(sqlite3_system_errno(handle)) + ")"};
    default: return {ErrorCode::kUnavailable, "the store failed: " + said};
  }
}

Execution::~Execution() {
  if (statement_ == nullptr) return;
  sqlite3_reset(statement_);
  sqlite3_clear_bindings(statement_);
}

Result<bool> Execution::next() {
  if (statement_ == nullptr) return {ErrorCode::kUnavailable, "the store is closed"};
  switch (sqlite3_step(statement_)) {
    case SQLITE_ROW: return true;
    case SQLITE_DONE: return false;
    default: return error_of(sqlite3_db_handle(statement_));
  }
}

Status Execution::finish() {
  const Result<bool> row = next();
  if (!row) return row.error();
  return {};
}

std::string_view Execution::bytes(int column) const {
  const auto* data = static_cast<const char*>(sqlite3_column_blob(statement_, column));
  return {data, data == nullptr ? 0 : static_cast<std::size_t>(sqlite3_column_bytes(statement_, column))};
}

void Statement::bind(int index, std::string_view value) {
  // A null pointer would bind NULL.
  sqlite3_bind_blob64(statement_.get(), index, value.data() == nullptr ? "" : value.data(), value.size(), SQLITE_STATIC);
}

Result<Database> Database::open(const std::string& path, int flags) {
  Database database;
  sqlite3* handle = nullptr;
  const int code = sqlite3_open_v2(path.c_str(), &handle, flags, nullptr);
  database.handle_.reset(handle);
  if (code != SQLITE_OK) return {ErrorCode::kNotFound, std::string("cannot be opened: ") + sqlite3_errstr(code)};
  sqlite3_extended_result_codes(handle, 1);
  return database;
}

Status Database::execute(const char* sql) {
  if (sqlite3_exec(handle(), sql, nullptr, nullptr, nullptr) == SQLITE_OK) return {};
  return error_of(handle());
}

Status Database::prepare(Statement& statement, const char* sql) {
  sqlite3_stmt* prepared = nullptr;
  if (sqlite3_prepare_v3(handle(), sql, -1, SQLITE_PREPARE_PERSISTENT, &prepared, nullptr) != SQLITE_OK) return error_of(handle());
  statement.statement_.reset(prepared);
  return {};
}

Status Database::execute_prepared(Statement& statement, const char* sql) {
  if (!statement.prepared()) {
    if (Status status = prepare(statement, sql); !status) return status;
  }
  return statement().finish();
}

Result<std::int64_t> Database::integer(const char* sql) {
  Statement statement;
  if (Status status = prepare(statement, sql); !status) return status.error();
  Execution row = statement();
  const Result<bool> found = row.next();
  if (!found) return found.error();
  if (!*found) return {ErrorCode::kCorrupt, "the store is damaged: no answer to " + std::string(sql)};
  return row.integer(0);
}

Transaction::~Transaction() {
  // Fails when SQLite has rolled back by itself already, which is as good.
  if (open_) static_cast<void>(database_.execute("ROLLBACK"));
}

Status Transaction::begin() {
  if (Status status = database_.execute_prepared(database_.begin_, "BEGIN IMMEDIATE"); !status) return status;
  open_ = true;
  return {};
}

Status Transaction::commit() {
  if (Status status = database_.execute_prepared(database_.commit_, "COMMIT"); !status) return status;
  open_ = false;
  return {};
}

}  // namespace margin::internal
