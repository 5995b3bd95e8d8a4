#include "upstream/events.h"

#include <utility>

namespace margin::upstream {

void LineSplitter::feed(std::string_view bytes) {
  if (position_ > 0) {
    buffer_.erase(0, position_);
    scanned_ -= position_;
    position_ = 0;
  }
  buffer_ += bytes;
}

std::optional<std::string_view> LineSplitter::next() {
  if (after_return_ && position_ < buffer_.size()) {
    after_return_ = false;
    if (buffer_[position_] == '\n') scanned_ = ++position_;
  }
  const std::size_t end = buffer_.find_first_of("\r\n", scanned_);
  if (end == std::string::npos) {
    scanned_ = buffer_.size();
    return std::nullopt;
  }
  const std::string_view line = std::string_view(buffer_).substr(position_, end - position_);
  after_return_ = buffer_[end] == '\r';
  position_ = scanned_ = end + 1;
  return line;
}

std::optional<std::string_view> LineSplitter::last() {
  if (position_ == buffer_.size()) return std::nullopt;
  return std::string_view(buffer_).substr(std::exchange(position_, buffer_.size()));
}

std::optional<std::string_view> EventSplitter::next() {
  while (const std::optional<std::string_view> line = lines_.next()) {
    if (!line->empty()) {
      add(*line);
    } else if (has_data_) {
      return take();
    }
  }
  return std::nullopt;
}

std::optional<std::string_view> EventSplitter::last() {
  if (const std::optional<std::string_view> line = lines_.last()) add(*line);
  return has_data_ ? take() : std::nullopt;
}

void EventSplitter::add(std::string_view line) {
  static constexpr std::string_view kMark = "\xEF\xBB\xBF";
  if (!std::exchange(began_, true) && line.starts_with(kMark)) line.remove_prefix(kMark.size());
  const std::size_t colon = line.find(':');
  if (line.substr(0, colon) != "data") return;
  std::string_view value = colon == std::string_view::npos ? std::string_view() : line.substr(colon + 1);
  if (value.starts_with(' ')) value.remove_prefix(1);
  if (std::exchange(has_data_, true)) data_ += '\n';
  data_ += value;
}

std::optional<std::string_view> EventSplitter::take() {
  std::swap(data_, event_);
  data_.clear();
  has_data_ = false;
  return event_;
}

}  // namespace margin::upstream
