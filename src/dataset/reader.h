// Reading files of observations into an ObservationLog. Used by the command line and the experiments; docs/cli.md has the row schema.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "dataset/observation_log.h"
#include "margin/result.h"

namespace margin::dataset {

enum class InputFormat : std::uint8_t {
  kByName,  // CSV when the name ends in .csv or .csv.gz, else JSON lines
  kJsonLines,
  kCsv,
};

struct ReadOptions {
  double scale = 1.0;  // confidences are divided by it; positive and finite
  InputFormat format = InputFormat::kByName;
};

// JSON lines or CSV, plain or gzip, "-" for the standard input; many files are read as one. Empty lines, unknown keys and unknown columns
// are ignored. The error of a bad row is "FILE:LINE: field: got VALUE, expected ...". kNotFound: a file cannot be opened; kInvalidArgument,
// kCorrupt, kLimit, kConflict: as LineSource, JsonRowParser, CsvRows and ObservationLog say; kInvalidArgument as well when there is no row
// at all.
[[nodiscard]] Result<ObservationLog> read_observations(std::span<const std::string> paths, const ReadOptions& options = {});

}  // namespace margin::dataset
