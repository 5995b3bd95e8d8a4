// Result<T> and Status: how a function of MARGIN says that it could not do what it was asked.
// Expected failure (bad input, unknown name, corrupt bytes) is returned; a broken invariant stops the program (src/base/check.h).
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace margin {

enum class ErrorCode {
  kInvalidArgument,  // a value is outside what the function accepts; the message names field, value and expectation
  kNotFound,         // a name or id is unknown
  kConflict,         // it contradicts something already recorded
  kLimit,            // it would exceed a configured bound on memory
  kCorrupt,          // bytes that are not what they should be
  kUnsupported,      // known, but not by this binary or not by this method
  kUnavailable,      // right to ask, but not to be had now (a full disk, a store in use); nothing happened, trying again may work
};

struct Error {
  ErrorCode code = ErrorCode::kInvalidArgument;
  std::string message;
};

// Success, or an Error. One pointer wide and free of allocation on success, so it may stand on a hot path.
class [[nodiscard]] Status {
 public:
  Status() = default;
  Status(Error error) : error_(std::make_unique<Error>(std::move(error))) {}  // NOLINT(google-explicit-constructor)
  Status(ErrorCode code, std::string message) : Status(Error{code, std::move(message)}) {}

  [[nodiscard]] bool ok() const { return error_ == nullptr; }
  explicit operator bool() const { return ok(); }
  // Only when !ok().
  [[nodiscard]] const Error& error() const { return *error_; }

 private:
  std::unique_ptr<Error> error_;
};

// A T, or an Error.
template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : value_(std::move(value)) {}       // NOLINT(google-explicit-constructor)
  Result(Error error) : status_(std::move(error)) {}  // NOLINT(google-explicit-constructor)
  Result(ErrorCode code, std::string message) : status_(code, std::move(message)) {}

  [[nodiscard]] bool ok() const { return value_.has_value(); }
  explicit operator bool() const { return ok(); }
  // Only when ok().
  [[nodiscard]] const T& value() const& { return *value_; }
  [[nodiscard]] T& value() & { return *value_; }
  [[nodiscard]] T&& value() && { return *std::move(value_); }
  const T* operator->() const { return &*value_; }
  T* operator->() { return &*value_; }
  const T& operator*() const& { return *value_; }
  T& operator*() & { return *value_; }
  // Only when !ok().
  [[nodiscard]] const Error& error() const { return status_.error(); }

 private:
  std::optional<T> value_;
  Status status_;
};

}  // namespace margin
