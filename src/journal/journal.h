// Journal: what the server tells its operator, one line each, on a descriptor (the error output). For people, or JSON for a collector.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <mutex>
#include <string>
#include <string_view>
#include <variant>

namespace margin::journal {

enum class Format { kPretty, kJson };
enum class Level { kDebug, kInfo, kWarning, kError };

// A detail of a line: {"pool", name}, {"milliseconds", 12.5}. The name is the program's own; a text may be anything.
struct Field {
  std::string_view name;
  std::variant<std::string_view, double, std::int64_t> value;
};

// Thread-safe. A line is at most kLineBytesMax long (details that do not fit are left out, and the line says so), hostile text is escaped
// and secrets are masked. A reader that does not keep up costs lines, never more than kPatienceMs: the next line says how many.
class Journal {
 public:
  static constexpr std::size_t kLineBytesMax = 4000;  // below PIPE_BUF, so that lines of several writers do not mix
  static constexpr int kPatienceMs = 50;

  struct Options {
    Format format = Format::kPretty;
    Level level = Level::kInfo;
  };
  // `now_ms` tells milliseconds since 1970. Lines for people are coloured where `descriptor` is a terminal.
  Journal(int descriptor, Options options, std::function<std::int64_t()> now_ms);

  void write(Level level, std::string_view message, std::initializer_list<Field> details = {});
  void debug(std::string_view message, std::initializer_list<Field> details = {}) { write(Level::kDebug, message, details); }
  void info(std::string_view message, std::initializer_list<Field> details = {}) { write(Level::kInfo, message, details); }
  void warning(std::string_view message, std::initializer_list<Field> details = {}) { write(Level::kWarning, message, details); }
  void error(std::string_view message, std::initializer_list<Field> details = {}) { write(Level::kError, message, details); }

  // Whether a line of that level would be written: for details that are costly to gather.
  [[nodiscard]] bool takes(Level level) const { return level >= level_.load(std::memory_order_relaxed); }
  // For a reload.
  void set(Options options);
  // Lines lost so far.
  [[nodiscard]] std::uint64_t dropped() const { return dropped_.load(std::memory_order_relaxed); }

 private:
  [[nodiscard]] bool put(std::string_view line);

  const int descriptor_;
  const bool colour_;
  const std::function<std::int64_t()> now_ms_;
  std::atomic<Format> format_;
  std::atomic<Level> level_;
  std::atomic<std::uint64_t> dropped_ = 0;
  std::mutex mutex_;  // guards what follows and the descriptor
  std::uint64_t unreported_ = 0;
};

}  // namespace margin::journal
