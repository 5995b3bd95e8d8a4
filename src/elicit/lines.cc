// Fences follow CommonMark, but for their indentation, which models choose freely inside lists.
#include "elicit/lines.h"

#include <algorithm>
#include <array>

namespace margin::elicit {
namespace {

constexpr std::string_view kSpaces = " \t\r\n\v\f";

struct Tag {
  std::string_view open;
  std::string_view close;
};
constexpr std::array kReasoning = {Tag{"<think>", "</think>"}, Tag{"<thinking>", "</thinking>"}, Tag{"<thought>", "</thought>"},
                                   Tag{"<reasoning>", "</reasoning>"}};

struct Fence {
  char sign = 0;
  std::size_t size = 0;
  bool bare = false;  // nothing behind it: it may close
};

std::optional<Fence> fence_of(std::string_view content) {
  const char sign = content.empty() ? '\0' : content[0];
  if (sign != '`' && sign != '~') return std::nullopt;
  const std::size_t size = std::min(content.find_first_not_of(sign), content.size());
  const std::string_view info = content.substr(size);
  if (size < 3 || (sign == '`' && info.find('`') != std::string_view::npos)) return std::nullopt;
  return Fence{.sign = sign, .size = size, .bare = info.empty()};
}

bool is_indented(std::string_view line) {
  std::size_t columns = 0;
  for (const char c : line) {
    if (c == '\t') return true;
    if (c != ' ') break;
    ++columns;
  }
  return columns >= 4;
}

}  // namespace

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(kSpaces);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kSpaces) - first + 1);
}

std::string_view Line::content() const { return trimmed(text); }

LineReader::LineReader(std::string_view reply) : rest_(reply), unopened_(unopened_reasoning(reply)) {}

std::size_t LineReader::unopened_reasoning(std::string_view reply) {
  if (reply.find("</") == std::string_view::npos) return 0;
  std::size_t end = 0;
  LineReader lines(reply, FromStart{});
  while (const std::optional<Line> line = lines.next()) {
    if (line->place != Place::kText && line->place != Place::kIndented) continue;
    const std::string_view content = line->content();
    for (const Tag& tag : kReasoning) {
      if (content.starts_with(tag.close)) end = static_cast<std::size_t>(content.data() - reply.data()) + tag.close.size();
    }
  }
  return end;
}

Line LineReader::take(std::size_t size, Place place) {
  const Line line{.text = rest_.substr(0, size), .place = place};
  rest_.remove_prefix(line.text.size());
  return line;
}

std::optional<Line> LineReader::next() {
  if (rest_.empty()) return std::nullopt;
  if (unopened_ > 0) {
    const std::size_t size = unopened_;
    unopened_ = 0;
    return take(size, Place::kReasoning);
  }
  if (fence_size_ == 0) {
    // Before the end of the line is looked for: a line may hold any number of blocks.
    const std::string_view rest = rest_.substr(std::min(rest_.find_first_not_of(" \t"), rest_.size()));
    for (const Tag& tag : kReasoning) {
      if (!rest.starts_with(tag.open)) continue;
      const std::size_t close = rest_.find(tag.close);
      return take(close == std::string_view::npos ? rest_.size() : close + tag.close.size(), Place::kReasoning);
    }
  }
  const std::size_t size = std::min(rest_.find('\n'), rest_.size() - 1) + 1;
  const std::string_view line = rest_.substr(0, size);
  const std::string_view content = trimmed(line);
  const std::optional<Fence> fence = fence_of(content);
  if (fence_size_ > 0) {
    if (!fence || !fence->bare || fence->sign != fence_ || fence->size < fence_size_) return take(size, Place::kCode);
    fence_size_ = 0;
    return take(size, Place::kFence);
  }
  if (fence) {
    fence_ = fence->sign;
    fence_size_ = fence->size;
    return take(size, Place::kFence);
  }
  if (content.starts_with('>')) return take(size, Place::kQuote);
  return take(size, !content.empty() && is_indented(line) ? Place::kIndented : Place::kText);
}

}  // namespace margin::elicit
