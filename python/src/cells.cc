#include "cells.h"

#include <array>
#include <charconv>
#include <cmath>

#include "dataset/timestamp.h"

namespace margin::python {
namespace {

using dataset::Field;
using dataset::Row;

// Beyond this a double does not hold every whole number.
constexpr double kWholeMax = 9007199254740992.0;

std::string shown(const Cell& cell) {
  if (cell.kind == Cell::Kind::kFlag) return cell.number != 0.0 ? "true" : "false";
  if (cell.kind != Cell::Kind::kNumber) return std::string(cell.text);
  std::array<char, 32> buffer{};
  return {buffer.data(), std::to_chars(buffer.data(), buffer.data() + buffer.size(), cell.number).ptr};
}

// Names may be numbers, as identifiers in tables often are.
Status read_name(Field field, const Cell& cell, std::string& scratch, std::string_view& name) {
  if (cell.kind == Cell::Kind::kText) {
    scratch = cell.text;
  } else if (cell.kind == Cell::Kind::kNumber && cell.number == std::floor(cell.number) && std::abs(cell.number) < kWholeMax) {
    scratch = std::to_string(static_cast<long long>(cell.number));
  } else {
    return dataset::refused(field, shown(cell));
  }
  name = scratch;
  return {};
}

Status read_number(Field field, const Cell& cell, double& number) {
  const bool fits = cell.kind == Cell::Kind::kNumber || (cell.kind == Cell::Kind::kFlag && field == dataset::kCorrect);
  if (!fits) return dataset::refused(field, shown(cell));
  number = cell.number;
  return {};
}

Status read_moment(const Cell& cell, double& seconds) {
  if (cell.kind == Cell::Kind::kText) {
    const std::optional<double> parsed = dataset::parse_timestamp(cell.text);
    if (!parsed) return dataset::refused(dataset::kT, cell.text);
    seconds = *parsed;
    return {};
  }
  return read_number(dataset::kT, cell, seconds);
}

Status read_answer(const Cell& cell, std::string& scratch, Row& row) {
  std::string_view answer;
  if (Status status = read_name(dataset::kAnswer, cell, scratch, answer); !status) return status;
  row.answer = answer;
  return {};
}

Status read_kind(const Cell& cell, Row& row) {
  const Result<AnswerKind> kind =
      cell.kind == Cell::Kind::kText ? parse_answer_kind(cell.text) : dataset::refused(dataset::kKind, shown(cell));
  if (!kind) return dataset::refused(dataset::kKind, shown(cell));
  row.kind = *kind;
  return {};
}

Status read_flag(const Cell& cell, Row& row) {
  if (cell.kind != Cell::Kind::kFlag) return dataset::refused(dataset::kAbstained, shown(cell));
  row.abstained = cell.number != 0.0;
  return {};
}

Status read_cell(Field field, const Cell& cell, std::string& scratch, Row& row) {
  switch (field) {
    case dataset::kTask: return read_name(field, cell, scratch, row.task);
    case dataset::kModel: return read_name(field, cell, scratch, row.model);
    case dataset::kPhase: return read_name(field, cell, scratch, row.phase);
    case dataset::kChannel: return read_name(field, cell, scratch, row.channel);
    case dataset::kSegment: return read_name(field, cell, scratch, row.segment);
    case dataset::kAnswer: return read_answer(cell, scratch, row);
    case dataset::kConfidence: return read_number(field, cell, row.confidence);
    case dataset::kCorrect: return read_number(field, cell, row.correct);
    case dataset::kWeight: return read_number(field, cell, row.weight);
    case dataset::kT: return read_moment(cell, row.t);
    case dataset::kKind: return read_kind(cell, row);
    case dataset::kAbstained: return read_flag(cell, row);
    case dataset::kFields: break;
  }
  return {};
}

}  // namespace

Status check_columns(const Table& table) {
  for (const Field field : dataset::kRequired) {
    bool found = false;
    for (const Table::Column& column : table.columns) found |= column.field == field;
    if (!found) return dataset::absent(field, "a column of this name");
  }
  return {};
}

Status append_table(Table& table, double scale, std::size_t first, dataset::ObservationLog& log) {
  std::array<std::string, dataset::kFields> scratch;
  for (std::size_t number = 0; number < table.rows; ++number) {
    Row row;
    Status status;
    for (std::size_t i = 0; i < table.columns.size() && status.ok(); ++i) {
      const Cell cell = table.columns[i].cells->at(number);
      const Field field = table.columns[i].field;
      if (cell.kind != Cell::Kind::kMissing) status = read_cell(field, cell, scratch[field], row);
    }
    row.confidence /= scale;
    if (status.ok()) status = log.append(row, static_cast<std::uint32_t>(first + number));
    if (!status) return {status.error().code, "row " + std::to_string(first + number) + ": " + status.error().message};
  }
  return {};
}

}  // namespace margin::python
