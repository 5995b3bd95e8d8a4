#include "dataset/csv_rows.h"

#include <simdjson.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>

#include "dataset/text.h"
#include "dataset/timestamp.h"

namespace margin::dataset {
namespace {

Error malformed(std::string_view got, std::string_view expected) {
  return {ErrorCode::kInvalidArgument, "got " + printable(got, 60) + ", expected " + std::string(expected)};
}

bool is_missing(std::string_view cell) { return cell == "NaN" || cell == "nan" || cell == "null"; }

// As JSON writes them, and as Python and spreadsheets do.
std::optional<bool> truth_of(std::string_view cell) {
  if (cell == "true" || cell == "True" || cell == "TRUE") return true;
  if (cell == "false" || cell == "False" || cell == "FALSE") return false;
  return std::nullopt;
}

std::optional<double> number_of(std::string_view cell) {
  double number = 0.0;
  const auto [end, error] = std::from_chars(cell.data(), cell.data() + cell.size(), number);
  if (error != std::errc() || end != cell.data() + cell.size() || !std::isfinite(number)) return std::nullopt;
  return number;
}

template <class Parsed, class Value>
Status take(Field field, std::string_view cell, const Parsed& parsed, Value& value) {
  if (!parsed) return refused(field, cell);
  value = *parsed;
  return {};
}

// `cell` is not empty.
Status read_cell(Field field, std::string_view cell, Row& row) {
  switch (field) {
    case kTask: row.task = cell; return {};
    case kModel: row.model = cell; return {};
    case kAnswer: row.answer = cell; return {};
    case kPhase: row.phase = cell; return {};
    case kChannel: row.channel = cell; return {};
    case kSegment: row.segment = cell; return {};
    case kKind: return take(field, cell, parse_answer_kind(cell), row.kind);
    case kAbstained: return take(field, cell, truth_of(cell), row.abstained);
    case kWeight: return take(field, cell, number_of(cell), row.weight);
    case kConfidence: return is_missing(cell) ? Status() : take(field, cell, number_of(cell), row.confidence);
    case kCorrect:
      if (is_missing(cell)) return {};
      if (const std::optional<bool> truth = truth_of(cell)) {
        row.correct = *truth ? 1.0 : 0.0;
        return {};
      }
      return take(field, cell, number_of(cell), row.correct);
    case kT: {
      if (is_missing(cell)) return {};
      const std::optional<double> seconds = number_of(cell);
      return take(field, cell, seconds ? seconds : parse_timestamp(cell), row.t);
    }
    case kFields: break;
  }
  return {};
}

}  // namespace

Result<bool> CsvRows::next(Row& row) {
  if (columns_.empty()) {
    Result<bool> more = next_record();
    if (!more || !*more) return more;
    if (Status status = read_header(); !status) return status.error();
  }
  Result<bool> more = next_record();
  if (!more || !*more) return more;
  if (cells_.size() != columns_.size()) {
    return malformed(std::to_string(cells_.size()) + (cells_.size() == 1 ? " cell" : " cells"),
                     std::to_string(columns_.size()) + ", as many as the header has");
  }
  for (std::size_t i = 0; i < cells_.size(); ++i) {
    if (!columns_[i] || cells_[i].empty()) continue;
    if (Status status = read_cell(*columns_[i], cells_[i], row); !status) return status.error();
  }
  return true;
}

Status CsvRows::read_header() {
  unsigned seen = 0;
  for (const std::string_view cell : cells_) {
    columns_.push_back(field_of(cell));
    if (!columns_.back()) continue;
    const unsigned mark = 1U << *columns_.back();
    if ((seen & mark) != 0) return refused(*columns_.back(), "two columns of this name", "one");
    seen |= mark;
  }
  for (const Field field : kRequired) {
    if ((seen >> field & 1U) == 0) return absent(field, "a column of this name in the header (columns are separated by commas)");
  }
  return {};
}

Result<bool> CsvRows::next_record() {
  std::string_view line;
  do {
    Result<bool> more = source_.next(line);
    line_number_ = source_.line_number();
    if (!more || !*more) return more;
  } while (line.find_first_not_of(" \t\r") == std::string_view::npos);

  cells_.clear();
  const bool quoted = line.find('"') != std::string_view::npos;
  if (quoted) {
    if (Status status = gather(line); !status) return status.error();
    line = record_;
  }
  if (!simdjson::validate_utf8(line.data(), line.size())) return malformed("bytes that are not UTF-8", "CSV in UTF-8");
  if (quoted) {
    if (Status status = split_quoted(); !status) return status.error();
    return true;
  }
  for (;;) {
    const std::size_t comma = line.find(',');
    cells_.push_back(line.substr(0, comma));
    if (comma == std::string_view::npos) return true;
    line.remove_prefix(comma + 1);
  }
}

// Quotes stand around cells and doubled inside them, so a record ends with the first line that makes their number even.
Status CsvRows::gather(std::string_view first) {
  record_ = first;
  bool open = std::count(first.begin(), first.end(), '"') % 2 != 0;
  while (open) {
    record_ += source_.line_end();
    std::string_view line;
    const Result<bool> more = source_.next(line);
    if (!more) return more.error();
    if (!*more) return {};
    if (record_.size() + line.size() > kLineBytesMax) return {ErrorCode::kLimit, "a quoted cell is longer than " + kLineMaxText};
    open ^= std::count(line.begin(), line.end(), '"') % 2 != 0;
    record_ += line;
  }
  return {};
}

// Cells are unquoted in place: what is written never overtakes what is read.
Status CsvRows::split_quoted() {
  constexpr std::string_view kExpectedQuotes = "quotes only around a whole cell, and doubled inside it";
  char* const text = record_.data();
  const std::string_view all = record_;
  std::size_t read = 0;
  std::size_t written = 0;
  const auto move = [&](std::size_t end) {
    std::memmove(text + written, text + read, end - read);
    written += end - read;
    read = end;
  };
  for (;;) {
    const std::size_t cell = written;
    if (read < all.size() && text[read] == '"') {
      const std::size_t opening = read++;
      for (;;) {
        const std::size_t quote = all.find('"', read);
        if (quote == std::string_view::npos) return malformed(all.substr(opening), "a closing quote");
        move(quote);
        ++read;
        if (read == all.size() || text[read] != '"') break;
        move(read + 1);
      }
      if (read < all.size() && text[read] != ',') return malformed(all.substr(read), kExpectedQuotes);
    } else {
      const std::size_t comma = std::min(all.find(',', read), all.size());
      const std::string_view bare = all.substr(read, comma - read);
      if (bare.find('"') != std::string_view::npos) return malformed(bare.substr(0, bare.find_first_of("\r\n")), kExpectedQuotes);
      move(comma);
    }
    cells_.emplace_back(text + cell, written - cell);
    if (read == all.size()) return {};
    ++read;
  }
}

}  // namespace margin::dataset
