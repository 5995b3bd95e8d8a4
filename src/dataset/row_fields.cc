#include "dataset/row_fields.h"

#include <string>

#include "dataset/text.h"

namespace margin::dataset {

Error refused(Field field, std::string_view value) { return refused(field, value, kExpected[field]); }

Error refused(Field field, std::string_view value, std::string_view expected) {
  return {ErrorCode::kInvalidArgument,
          std::string(kFieldNames[field]) + ": got " + printable(value) + ", expected " + std::string(expected)};
}

Error absent(Field field, std::string_view expected) {
  return {ErrorCode::kInvalidArgument, std::string(kFieldNames[field]) + ": missing, expected " + std::string(expected)};
}

}  // namespace margin::dataset
