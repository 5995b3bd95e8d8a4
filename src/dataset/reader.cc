#include "dataset/reader.h"

#include <algorithm>

#include "dataset/csv_rows.h"
#include "dataset/json_row.h"
#include "dataset/line_source.h"
#include "dataset/text.h"

namespace margin::dataset {
namespace {

bool is_csv(std::string name, InputFormat format) {
  if (format != InputFormat::kByName) return format == InputFormat::kCsv;
  std::transform(name.begin(), name.end(), name.begin(), [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  return name.ends_with(".csv") || name.ends_with(".csv.gz");
}

// The rows of JSON lines.
class JsonRows {
 public:
  JsonRows(LineSource& source, JsonRowParser& parser) : source_(source), parser_(parser) {}

  Result<bool> next(Row& row) {
    for (std::string_view line;;) {
      Result<bool> more = source_.next(line);
      if (!more || !*more) return more;
      if (line.find_first_not_of(" \t\r") == std::string_view::npos) continue;
      if (Status status = parser_.parse(line, row); !status) return status.error();
      return true;
    }
  }
  [[nodiscard]] std::uint32_t line_number() const { return source_.line_number(); }

 private:
  LineSource& source_;
  JsonRowParser& parser_;
};

template <class Rows>
Status append_rows(Rows rows, const std::string& shown, double scale, ObservationLog& log) {
  for (;;) {
    Row row;
    const Result<bool> more = rows.next(row);
    if (more && !*more) return {};
    Status status = more ? Status() : Status(more.error());
    if (status) {
      row.confidence /= scale;
      status = log.append(row, rows.line_number());
    }
    if (!status) return {status.error().code, shown + ":" + std::to_string(rows.line_number()) + ": " + status.error().message};
  }
}

Status read_file(const std::string& path, const ReadOptions& options, JsonRowParser& parser, ObservationLog& log) {
  const std::string name = path == "-" ? "standard input" : path;
  const std::string shown = printable(name, 400);
  Result<LineSource> source = LineSource::open(path);
  if (!source) return {source.error().code, shown + ": " + source.error().message};
  log.begin_file(name);
  if (is_csv(name, options.format)) return append_rows(CsvRows(*source), shown, options.scale, log);
  return append_rows(JsonRows(*source, parser), shown, options.scale, log);
}

}  // namespace

Result<ObservationLog> read_observations(std::span<const std::string> paths, const ReadOptions& options) {
  ObservationLog log;
  JsonRowParser parser;
  for (const std::string& path : paths) {
    if (Status status = read_file(path, options, parser, log); !status) return status.error();
  }
  if (log.rows() == 0) {
    std::string names;
    for (const std::string& path : paths) names += (names.empty() ? "" : ", ") + printable(path, 400);
    return Error{ErrorCode::kInvalidArgument, names + ": no rows, expected one JSON object per line, or CSV with a header"};
  }
  if (Status status = log.check_duplicates(); !status) return status.error();
  return log;
}

}  // namespace margin::dataset
