#include "arrow.h"

#include <cstring>
#include <string>

namespace margin::python {
namespace {

// Releases a structure of the interface unless somebody already has.
template <class T>
struct Released {
  T* held;
  ~Released() {
    if (held->release != nullptr) held->release(held);
  }
};

template <class T>
T value_at(const void* buffer, std::int64_t index) {
  T value;
  std::memcpy(&value, static_cast<const T*>(buffer) + index, sizeof value);
  return value;
}

bool bit_at(const void* buffer, std::int64_t index) {
  return (static_cast<const std::uint8_t*>(buffer)[index / 8] >> (index % 8) & 1) != 0;
}

// Seconds of one unit of a time, by the format's letter.
std::optional<double> unit_of(std::string_view format) {
  if (format.starts_with("tdD")) return 86400.0;
  if (format.starts_with("tdm")) return 1e-3;
  if (!format.starts_with("ts") || format.size() < 3) return std::nullopt;
  switch (format[2]) {
    case 's': return 1.0;
    case 'm': return 1e-3;
    case 'u': return 1e-6;
    case 'n': return 1e-9;
    default: return std::nullopt;
  }
}

// Text of up to twelve bytes stands in the view itself, longer text in one of the buffers behind.
std::string_view viewed(const ArrowArray& array, std::int64_t index) {
  const char* const view = static_cast<const char*>(array.buffers[1]) + 16 * index;
  const auto size = value_at<std::int32_t>(view, 0);
  if (size <= 12) return {view + 4, static_cast<std::size_t>(size)};
  const auto buffer = value_at<std::int32_t>(view, 2);
  const auto offset = value_at<std::int32_t>(view, 3);
  return {static_cast<const char*>(array.buffers[2 + buffer]) + offset, static_cast<std::size_t>(size)};
}

template <class Offset>
std::string_view between(const ArrowArray& array, std::int64_t index) {
  const auto begin = value_at<Offset>(array.buffers[1], index);
  const auto end = value_at<Offset>(array.buffers[1], index + 1);
  return {static_cast<const char*>(array.buffers[2]) + begin, static_cast<std::size_t>(end - begin)};
}

class ArrowCells : public Cells {
 public:
  // `offset` is where the rows begin, before the array's own offset.
  ArrowCells(const ArrowSchema& schema, const ArrowArray& array, std::int64_t offset)
      : format_(schema.format), array_(array), offset_(offset + array.offset) {
    if (schema.dictionary != nullptr) dictionary_ = std::make_unique<ArrowCells>(*schema.dictionary, *array.dictionary, 0);
  }

  [[nodiscard]] Cell at(std::size_t row) override {
    const std::int64_t index = offset_ + static_cast<std::int64_t>(row);
    if (format_ == "n") return {};
    if (array_.null_count != 0 && array_.n_buffers > 0 && array_.buffers[0] != nullptr && !bit_at(array_.buffers[0], index)) return {};
    const Cell cell = value(index);
    if (dictionary_ == nullptr || cell.kind != Cell::Kind::kNumber) return cell;
    return dictionary_->at(static_cast<std::size_t>(cell.number));
  }

 private:
  [[nodiscard]] Cell value(std::int64_t index) const {
    if (format_ == "u") return {Cell::Kind::kText, 0.0, between<std::int32_t>(array_, index)};
    if (format_ == "U") return {Cell::Kind::kText, 0.0, between<std::int64_t>(array_, index)};
    if (format_ == "vu") return {Cell::Kind::kText, 0.0, viewed(array_, index)};
    if (format_ == "b") return {Cell::Kind::kFlag, bit_at(array_.buffers[1], index) ? 1.0 : 0.0};
    if (const std::optional<double> unit = unit_of(format_)) {
      const bool narrow = format_ == "tdD";
      const double ticks =
          narrow ? value_at<std::int32_t>(array_.buffers[1], index) : static_cast<double>(value_at<std::int64_t>(array_.buffers[1], index));
      return {Cell::Kind::kNumber, ticks * *unit};
    }
    if (format_.size() != 1) return {Cell::Kind::kOther, 0.0, format_};
    const double number = number_at(array_.buffers[1], index);
    return number != number ? Cell() : Cell{known_ ? Cell::Kind::kNumber : Cell::Kind::kOther, number, format_};
  }

  [[nodiscard]] double number_at(const void* values, std::int64_t index) const {
    known_ = true;
    switch (format_[0]) {
      case 'c': return value_at<std::int8_t>(values, index);
      case 'C': return value_at<std::uint8_t>(values, index);
      case 's': return value_at<std::int16_t>(values, index);
      case 'S': return value_at<std::uint16_t>(values, index);
      case 'i': return value_at<std::int32_t>(values, index);
      case 'I': return value_at<std::uint32_t>(values, index);
      case 'l': return static_cast<double>(value_at<std::int64_t>(values, index));
      case 'L': return static_cast<double>(value_at<std::uint64_t>(values, index));
      case 'f': return value_at<float>(values, index);
      case 'g': return value_at<double>(values, index);
      default: known_ = false; return 0.0;
    }
  }

  const std::string format_;
  const ArrowArray& array_;
  const std::int64_t offset_;
  std::unique_ptr<ArrowCells> dictionary_;
  mutable bool known_ = true;  // the format of the last number
};

Table table_of(const ArrowSchema& schema, const ArrowArray& batch) {
  if (std::string_view(schema.format) != "+s") {
    raise({ErrorCode::kInvalidArgument, std::string("Arrow: got format ") + schema.format + ", expected a table (+s)"});
  }
  Table table{.rows = static_cast<std::size_t>(batch.length), .columns = {}};
  for (std::int64_t i = 0; i < schema.n_children; ++i) {
    const auto field = dataset::field_of(schema.children[i]->name == nullptr ? "" : schema.children[i]->name);
    if (field) table.columns.push_back({*field, std::make_unique<ArrowCells>(*schema.children[i], *batch.children[i], batch.offset)});
  }
  check(check_columns(table));
  return table;
}

template <class T>
T* inside(const py::capsule& capsule, const char* name) {
  auto* const held = static_cast<T*>(PyCapsule_GetPointer(capsule.ptr(), name));
  if (held == nullptr) throw py::error_already_set();
  if (held->release == nullptr) raise({ErrorCode::kInvalidArgument, std::string("Arrow: the ") + name + " was used up before"});
  return held;
}

}  // namespace

void append_arrow_array(const py::capsule& schema, const py::capsule& array, double scale, dataset::ObservationLog& log) {
  const Released<ArrowSchema> columns{inside<ArrowSchema>(schema, "arrow_schema")};
  const Released<ArrowArray> batch{inside<ArrowArray>(array, "arrow_array")};
  Table table = table_of(*columns.held, *batch.held);
  check(append_table(table, scale, log.rows(), log));
}

void append_arrow_stream(const py::capsule& capsule, double scale, dataset::ObservationLog& log) {
  const Released<ArrowArrayStream> stream{inside<ArrowArrayStream>(capsule, "arrow_array_stream")};
  const auto require = [&](int code) {
    if (code == 0) return;
    const char* const words = stream.held->get_last_error(stream.held);
    raise({ErrorCode::kInvalidArgument, std::string("Arrow: ") + (words != nullptr ? words : std::strerror(code))});
  };
  ArrowSchema schema{};
  require(stream.held->get_schema(stream.held, &schema));
  const Released<ArrowSchema> columns{&schema};
  for (;;) {
    ArrowArray array{};
    require(stream.held->get_next(stream.held, &array));
    if (array.release == nullptr) return;
    const Released<ArrowArray> batch{&array};
    Table table = table_of(schema, array);
    check(append_table(table, scale, log.rows(), log));
  }
}

}  // namespace margin::python
