// LineSource: the lines of a file or of the standard input, plain or gzip, with bounded memory. Used by the readers.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "margin/result.h"

namespace margin::dataset {

// A longer line is refused: a row is a small thing, and a file without line ends must not fill the memory.
inline constexpr std::size_t kLineBytesMax = std::size_t{16} << 20;
inline const std::string kLineMaxText = std::to_string(kLineBytesMax >> 20) + " MiB";
// Readable bytes after every line, so that a parser may look at whole vectors.
inline constexpr std::size_t kLinePadding = 64;

class LineSource {
 public:
  // "-" is the standard input. kNotFound: it cannot be opened.
  [[nodiscard]] static Result<LineSource> open(const std::string& path);

  // The next line without its end (LF or CRLF) and without a byte order mark; valid until the next call. False at the end of the file.
  // kLimit: a line longer than kLineBytesMax; kCorrupt: a read error, or truncated or damaged gzip.
  [[nodiscard]] Result<bool> next(std::string_view& line);
  // The end that next() left out: "\n" or "\r\n", without the "\n" where the file ends.
  [[nodiscard]] std::string_view line_end() const { return line_end_; }
  // Of the line that next() gave or refused, from 1.
  [[nodiscard]] std::uint32_t line_number() const { return line_number_; }

 private:
  struct Close {
    void operator()(void* file) const;
  };

  explicit LineSource(void* file) : file_(file), buffer_(kChunkBytes + kLinePadding) {}
  // Reads on behind end_. False at the end of the file.
  Result<bool> fill();

  static constexpr std::size_t kChunkBytes = std::size_t{1} << 20;

  std::unique_ptr<void, Close> file_;  // a gzFile
  std::vector<char> buffer_;           // unread bytes are [begin_, end_)
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
  std::uint32_t line_number_ = 0;
  std::string_view line_end_;
};

}  // namespace margin::dataset
