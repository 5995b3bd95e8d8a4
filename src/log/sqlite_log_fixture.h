// A SQLite store in a folder of its own, opened, filled, crashed and looked into. For the tests of the store, a file for each part of it.
#pragma once

#include <gtest/gtest.h>
#include <sqlite3.h>

#include <array>
#include <filesystem>
#include <memory>
#include <string>

#include "log/log_fixture.h"
#include "log/sqlite_log.h"

namespace margin {

class SqliteLogFixture : public testing::Test {
 protected:
  void open(const SqliteLogOptions& options = {}) {
    log_.reset();
    Result<std::unique_ptr<SqliteLog>> log = SqliteLog::open(path(), options);
    ASSERT_TRUE(log.ok()) << log.error().message;
    log_ = std::move(log).value();
  }
  Error refusal() {
    log_.reset();
    const Result<std::unique_ptr<SqliteLog>> log = SqliteLog::open(path());
    return log ? Error{ErrorCode::kConflict, "it opened"} : log.error();
  }
  // In few rows of the file.
  void append(std::uint64_t first, std::uint64_t last) {
    commit(first, last);
    ASSERT_TRUE(log_->settle().ok());
  }
  // The same, wherever they are after that.
  void commit(std::uint64_t first, std::uint64_t last) {
    log_->cork();
    for (std::uint64_t n = first; n < last; ++n) {
      const Status taken = log_->append({.pool = "p", .event = numbered_event(n)}, [n](const Result<std::uint64_t>& offset) {
        ASSERT_TRUE(offset.ok()) << offset.error().message;
        ASSERT_EQ(*offset, n);
      });
      ASSERT_TRUE(taken.ok()) << taken.error().message;
    }
    log_->flush();
  }
  // Each event has a row of its own.
  void append_singly(std::uint64_t first, std::uint64_t last) {
    for (std::uint64_t n = first; n < last; ++n) append(n, n + 1);
  }
  // As a person with the sqlite3 program would.
  void sql(const std::string& statement) {
    sqlite3* handle = nullptr;
    ASSERT_EQ(sqlite3_open(path().c_str(), &handle), SQLITE_OK);
    char* error = nullptr;
    EXPECT_EQ(sqlite3_exec(handle, statement.c_str(), nullptr, nullptr, &error), SQLITE_OK) << error;
    sqlite3_close(handle);
  }
  // The one value that a query gives.
  std::string value_of(const std::string& query) {
    sqlite3* handle = nullptr;
    EXPECT_EQ(sqlite3_open(path().c_str(), &handle), SQLITE_OK);
    std::string value;
    const auto take = [](void* to, int, char** values, char**) {
      *static_cast<std::string*>(to) = values[0] == nullptr ? "null" : values[0];
      return 0;
    };
    EXPECT_EQ(sqlite3_exec(handle, query.c_str(), take, &value, nullptr), SQLITE_OK) << query;
    sqlite3_close(handle);
    return value;
  }
  // The store as kill -9 would leave it: with its journal and its tail.
  void crash() {
    using std::filesystem::copy_options;
    for (const char* suffix : kFiles)
      std::filesystem::copy_file(path() + suffix, folder_.file("crashed") + suffix, copy_options::overwrite_existing);
    log_.reset();
    for (const char* suffix : kFiles)
      std::filesystem::copy_file(folder_.file("crashed") + suffix, path() + suffix, copy_options::overwrite_existing);
  }
  std::string path() const { return folder_.file("store.db"); }
  static constexpr std::array kFiles = {"", "-wal", ".head", ".tail0", ".tail1"};

  TemporaryFolder folder_;
  std::unique_ptr<SqliteLog> log_;
};

}  // namespace margin
