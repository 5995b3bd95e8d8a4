// Tables of the Arrow C data interface, read where they lie. Used for what offers __arrow_c_stream__ or __arrow_c_array__: pyarrow,
// polars, pandas, duckdb. The structures are those of the interface's specification.
#pragma once

#include <cstdint>

#include "bind.h"
#include "cells.h"

extern "C" {
struct ArrowSchema {
  const char* format;
  const char* name;
  const char* metadata;
  std::int64_t flags;
  std::int64_t n_children;
  ArrowSchema** children;
  ArrowSchema* dictionary;
  void (*release)(ArrowSchema*);
  void* private_data;
};
struct ArrowArray {
  std::int64_t length;
  std::int64_t null_count;
  std::int64_t offset;
  std::int64_t n_buffers;
  std::int64_t n_children;
  const void** buffers;
  ArrowArray** children;
  ArrowArray* dictionary;
  void (*release)(ArrowArray*);
  void* private_data;
};
struct ArrowArrayStream {
  int (*get_schema)(ArrowArrayStream*, ArrowSchema* out);
  int (*get_next)(ArrowArrayStream*, ArrowArray* out);
  const char* (*get_last_error)(ArrowArrayStream*);
  void (*release)(ArrowArrayStream*);
  void* private_data;
};
}

namespace margin::python {

// Appends the rows of a capsule named arrow_array_stream, or of a pair of capsules named arrow_schema and arrow_array. What is in them is
// used up.
void append_arrow_stream(const py::capsule& stream, double scale, dataset::ObservationLog& log);
void append_arrow_array(const py::capsule& schema, const py::capsule& array, double scale, dataset::ObservationLog& log);

}  // namespace margin::python
