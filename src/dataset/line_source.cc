#include "dataset/line_source.h"

#include <unistd.h>
#include <zlib.h>

#include <cerrno>
#include <cstring>

namespace margin::dataset {
namespace {

gzFile gz(void* file) { return static_cast<gzFile>(file); }

}  // namespace

void LineSource::Close::operator()(void* file) const { gzclose_r(gz(file)); }

Result<LineSource> LineSource::open(const std::string& path) {
  errno = 0;
  // zlib passes on what is not gzip, so one way of reading serves both.
  gzFile file = path == "-" ? gzdopen(dup(STDIN_FILENO), "rb") : gzopen(path.c_str(), "rb");
  if (file == nullptr) return Error{ErrorCode::kNotFound, std::string("cannot be opened: ") + std::strerror(errno != 0 ? errno : ENOMEM)};
  gzbuffer(file, 1U << 18);
  return LineSource(file);
}

Result<bool> LineSource::fill() {
  const std::size_t unread = end_ - begin_;
  std::memmove(buffer_.data(), buffer_.data() + begin_, unread);
  begin_ = 0;
  end_ = unread;
  if (buffer_.size() - kLinePadding - end_ < kChunkBytes / 2) buffer_.resize(buffer_.size() * 2);
  const int got = gzread(gz(file_.get()), buffer_.data() + end_, static_cast<unsigned>(buffer_.size() - kLinePadding - end_));
  if (got <= 0) {
    int code = Z_OK;
    const char* message = gzerror(gz(file_.get()), &code);
    if (code == Z_ERRNO) return Error{ErrorCode::kCorrupt, std::string("cannot be read: ") + std::strerror(errno)};
    if (code == Z_BUF_ERROR) return Error{ErrorCode::kCorrupt, "the gzip data end too early"};
    if (code != Z_OK && code != Z_STREAM_END) return Error{ErrorCode::kCorrupt, std::string("damaged gzip data: ") + message};
    return false;
  }
  end_ += static_cast<std::size_t>(got);
  return true;
}

Result<bool> LineSource::next(std::string_view& line) {
  ++line_number_;
  std::size_t searched = 0;
  const char* newline = nullptr;
  for (;;) {
    const char* from = buffer_.data() + begin_ + searched;
    newline = static_cast<const char*>(std::memchr(from, '\n', end_ - begin_ - searched));
    if (newline != nullptr) break;
    searched = end_ - begin_;
    if (searched > kLineBytesMax) break;
    Result<bool> more = fill();
    if (!more) return more;
    if (!*more) {
      if (begin_ == end_) return false;
      break;
    }
  }
  const char* start = buffer_.data() + begin_;
  const char* stop = newline != nullptr ? newline : buffer_.data() + end_;
  line = {start, static_cast<std::size_t>(stop - start)};
  if (line.size() > kLineBytesMax) {
    return Error{ErrorCode::kLimit, "the line is longer than " + kLineMaxText};
  }
  begin_ = static_cast<std::size_t>(stop - buffer_.data()) + (newline != nullptr ? 1 : 0);
  line_end_ = newline != nullptr ? "\n" : "";
  if (line.ends_with('\r')) {
    line.remove_suffix(1);
    line_end_ = newline != nullptr ? "\r\n" : "\r";
  }
  if (line_number_ == 1 && line.starts_with("\xef\xbb\xbf")) line.remove_prefix(3);
  return true;
}

}  // namespace margin::dataset
