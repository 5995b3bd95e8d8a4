// The golden streams of tests/golden/data and the numbers expected from them, read for the golden tests.
// A file that is missing or malformed ends the test program with its name: there is nothing to test without it.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "margin/calibrator.h"

namespace margin::golden {

struct Row {
  std::string phase;
  std::string task;
  std::string model;
  std::string answer;
  ModelId id = 0;                    // of the model: dense, by first appearance in the file
  std::optional<double> confidence;  // none: the row is unusable
  std::optional<double> outcome;     // none: predicted, never learned or scored

  [[nodiscard]] bool usable() const { return confidence.has_value(); }
};

struct Stream {
  std::vector<Row> rows;                        // in file order
  std::vector<std::vector<std::size_t>> tasks;  // rows of one (phase, task), tasks in the order of their first row
  std::vector<std::string> models;              // by id
};

// NAME.jsonl.
[[nodiscard]] Stream read_stream(const std::string& name);

// One line of NAME.expected.jsonl.
struct Expected {
  std::string method;
  Parameters parameters;
  std::size_t lag = 0;  // in rows; not a parameter of the method
  std::vector<double> calibrated;
  double ece = 0.0;
  double brier = 0.0;
  double log_loss = 0.0;
};

[[nodiscard]] std::vector<Expected> read_expected(const std::string& name);

// The lines of NAME.selection.jsonl are of two kinds. What a vote over a method's confidences selected:
struct Selection {
  std::string method;
  std::string vote;
  double pass1 = 0.0;
  std::vector<std::string> selected;  // an answer per task
  std::vector<double> probability;    // of the selected answer, by task; empty for votes that state none
};
// ... and the pairwise resolution of a method's confidences under each tie rule.
struct ExpectedResolution {
  std::string method;
  double half = 0.0;
  double strict = 0.0;
  double raw = 0.0;
};

[[nodiscard]] std::vector<Selection> read_selections(const std::string& name);
[[nodiscard]] std::vector<ExpectedResolution> read_resolutions(const std::string& name);

// The text of data/FILE.
[[nodiscard]] std::string read_data(const std::string& file);

}  // namespace margin::golden
