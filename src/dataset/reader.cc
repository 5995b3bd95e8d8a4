#include "dataset/reader.h"

#include "dataset/json_row.h"
#include "dataset/line_source.h"
#include "dataset/text.h"

namespace margin::dataset {
namespace {

Status read_file(const std::string& path, const ReadOptions& options, JsonRowParser& parser, ObservationLog& log) {
  const std::string name = path == "-" ? "standard input" : path;
  const std::string shown = printable(name, 400);
  Result<LineSource> source = LineSource::open(path);
  if (!source) return {source.error().code, shown + ": " + source.error().message};
  log.begin_file(name);

  const auto at_line = [&](const Error& error) {
    return Error{error.code, shown + ":" + std::to_string(source->line_number()) + ": " + error.message};
  };
  for (std::string_view line;;) {
    const Result<bool> more = source->next(line);
    if (!more) return at_line(more.error());
    if (!*more) return {};
    if (line.find_first_not_of(" \t\r") == std::string_view::npos) continue;
    Row row;
    if (Status status = parser.parse(line, row); !status) return at_line(status.error());
    row.confidence /= options.scale;
    if (Status status = log.append(row, source->line_number()); !status) return at_line(status.error());
  }
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
    return Error{ErrorCode::kInvalidArgument, names + ": no rows, expected one JSON object per line"};
  }
  if (Status status = log.check_duplicates(); !status) return status.error();
  return log;
}

}  // namespace margin::dataset
