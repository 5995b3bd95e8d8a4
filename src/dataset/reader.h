// Reading files of observations into an ObservationLog. Used by the command line and the experiments; docs/cli.md has the row schema.
#pragma once

#include <span>
#include <string>

#include "dataset/observation_log.h"
#include "margin/result.h"

namespace margin::dataset {

struct ReadOptions {
  double scale = 1.0;  // confidences are divided by it; positive and finite
};

// JSON lines, plain or gzip, "-" for the standard input; many files are read as one. Empty lines and unknown keys are ignored.
// The error of a bad row is "FILE:LINE: field: got VALUE, expected ...". kNotFound: a file cannot be opened; kInvalidArgument, kCorrupt,
// kLimit, kConflict: as LineSource and ObservationLog say; kInvalidArgument as well for malformed JSON, a missing field, a wrong type or
// invalid UTF-8, and when there is no row at all.
[[nodiscard]] Result<ObservationLog> read_observations(std::span<const std::string> paths, const ReadOptions& options = {});

}  // namespace margin::dataset
