// JsonRowParser: one line of JSON to a Row. Used by the reader.
#pragma once

#include <memory>
#include <string_view>

#include "dataset/observation_log.h"
#include "margin/result.h"

namespace margin::dataset {

class JsonRowParser {
 public:
  JsonRowParser();
  ~JsonRowParser();
  JsonRowParser(const JsonRowParser&) = delete;
  JsonRowParser& operator=(const JsonRowParser&) = delete;

  // `line` has kLinePadding readable bytes behind it. The texts of `row` are valid until the next call.
  // Types are checked here, ranges by ObservationLog. kInvalidArgument: not one JSON object, invalid UTF-8, a missing, repeated or
  // wrongly typed field.
  Status parse(std::string_view line, Row& row);

 private:
  struct Implementation;  // keeps simdjson out of every other file
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace margin::dataset
