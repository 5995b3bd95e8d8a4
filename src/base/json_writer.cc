#include "base/json_writer.h"

#include "base/write_plain.h"

namespace margin::internal {

JsonWriter& JsonWriter::text(std::string_view value) {
  if (!is_short(value) || left() < value.size() + 3) return other_text(value);
  char* const to = separated(value.size() + 2);
  char* const end = write_short_plain(to + 1, value);
  if (end == nullptr) return other_text(value);
  *to = '"';
  *end = '"';
  return written(end + 1, false);
}

JsonWriter& JsonWriter::other_text(std::string_view value) {
  char* const to = separated(value.size() + 2);
  char* const end = write_plain(to + 1, value);
  if (end == nullptr) return raw(json_string(value));
  *to = '"';
  *end = '"';
  return written(end + 1, false);
}

}  // namespace margin::internal
