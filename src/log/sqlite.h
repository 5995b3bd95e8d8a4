// The little of SQLite that the log needs, with its errors as Status: a connection, prepared statements, transactions.
#pragma once

#include <sqlite3.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>

#include "margin/result.h"

namespace margin::internal {

// One execution of a prepared statement, over when this is destroyed. What was bound must live as long.
class Execution {
 public:
  explicit Execution(sqlite3_stmt* statement) : statement_(statement) {}
  Execution(Execution&& other) noexcept : statement_(other.statement_) { other.statement_ = nullptr; }
  Execution& operator=(Execution&&) = delete;
  ~Execution();

  // The next row: false when there is none. Errors of status_of.
  Result<bool> next();
  // For statements without rows.
  Status finish();

  [[nodiscard]] std::int64_t integer(int column) const { return sqlite3_column_int64(statement_, column); }
  [[nodiscard]] std::uint64_t bits(int column) const { return static_cast<std::uint64_t>(integer(column)); }
  // Valid until the next row.
  [[nodiscard]] std::string_view bytes(int column) const;
  [[nodiscard]] bool null(int column) const { return sqlite3_column_type(statement_, column) == SQLITE_NULL; }

 private:
  sqlite3_stmt* statement_;
};

class Statement {
 public:
  Statement() = default;
  [[nodiscard]] bool prepared() const { return statement_ != nullptr; }

  // Starts it with these values for ?1, ?2, ...: integers, or bytes as std::string_view.
  template <class... Values>
  [[nodiscard]] Execution operator()(const Values&... values) {
    int index = 0;
    (bind(++index, values), ...);
    return Execution(statement_.get());
  }

 private:
  friend class Database;
  struct Finalize {
    void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
  };
  void bind(int index, std::string_view value);
  template <class Integer, std::enable_if_t<std::is_integral_v<Integer>, int> = 0>
  void bind(int index, Integer value) {
    sqlite3_bind_int64(statement_.get(), index, static_cast<std::int64_t>(value));
  }
  std::unique_ptr<sqlite3_stmt, Finalize> statement_;
};

// A connection; one thread at a time.
class Database {
 public:
  Database() = default;
  // kNotFound: cannot be opened. Whoever opens it names it.
  [[nodiscard]] static Result<Database> open(const std::string& path, int flags);

  [[nodiscard]] Status execute(const char* sql);
  // Prepares `sql` into `statement`.
  [[nodiscard]] Status prepare(Statement& statement, const char* sql);
  // The one integer that a statement gives.
  [[nodiscard]] Result<std::int64_t> integer(const char* sql);
  [[nodiscard]] sqlite3* handle() const { return handle_.get(); }

 private:
  friend class Transaction;
  // A statement that is run again and again: prepared when it is first needed.
  [[nodiscard]] Status execute_prepared(Statement& statement, const char* sql);

  struct Close {
    void operator()(sqlite3* handle) const { sqlite3_close_v2(handle); }
  };
  std::unique_ptr<sqlite3, Close> handle_;
  Statement begin_;
  Statement commit_;
};

// Undoes what was not committed.
class Transaction {
 public:
  explicit Transaction(Database& database) : database_(database) {}
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;
  ~Transaction();

  // Takes the right to write at once, so that no statement in between can find it taken.
  [[nodiscard]] Status begin();
  [[nodiscard]] Status commit();

 private:
  Database& database_;
  bool open_ = false;
};

// What SQLite's last error means to an operator. kCorrupt: the file is damaged or no database; kUnavailable: full, locked, read-only or
// failing disk.
[[nodiscard]] Error error_of(sqlite3* handle);

}  // namespace margin::internal
