// Bytes to lines, and lines to the events of a stream, however they are cut into packets. Used by Upstream.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace margin::upstream {

// Lines that end with LF, CRLF or CR. Holds at most what was fed and not taken.
class LineSplitter {
 public:
  void feed(std::string_view bytes);
  // Valid until the next call of feed().
  [[nodiscard]] std::optional<std::string_view> next();
  // After the end: what follows the last line end, once; nothing when that is nothing.
  [[nodiscard]] std::optional<std::string_view> last();

 private:
  std::string buffer_;
  std::size_t position_ = 0;  // of the open line
  std::size_t scanned_ = 0;   // no line end before this
  bool after_return_ = false;
};

// The data of server-sent events; comments, ids, names and retry times are passed over.
class EventSplitter {
 public:
  void feed(std::string_view bytes) { lines_.feed(bytes); }
  // The next event's data, its lines joined by LF. Valid until the next call.
  [[nodiscard]] std::optional<std::string_view> next();
  // After the stream's proper end: an event whose closing blank line is missing.
  [[nodiscard]] std::optional<std::string_view> last();

 private:
  void add(std::string_view line);
  std::optional<std::string_view> take();

  LineSplitter lines_;
  std::string data_;
  std::string event_;
  bool has_data_ = false;
  bool began_ = false;
};

}  // namespace margin::upstream
