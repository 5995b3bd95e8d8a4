"""Whatever holds the rows of a log, made a Log: files, Arrow tables, pandas frames, dicts of columns, lists of dicts."""
from __future__ import annotations

import os
from typing import Any, Dict, Iterable, List, Mapping, Sequence, Union

import numpy as np

from margin._core import Log
from margin.errors import InvalidArgument, WrongType

FIELDS = ("task", "model", "confidence", "correct", "answer", "phase", "channel", "segment", "kind", "abstained", "weight", "t")

# A path, several, or anything with columns.
AnyLog = Union[Log, str, "os.PathLike[str]", Sequence[Any], Mapping[str, Any], Any]


def read_log(data: AnyLog, *, scale: float = 1.0, format: str = "auto") -> Log:
    """The rows of a log, checked once: to replay it many times, read it once.

    ``data`` is a path or several (JSON lines or CSV, plain or gzip), a table of pyarrow, polars, pandas or duckdb, a dict of columns, or a
    list of dicts. The columns are those of ``margin replay``: task, model, confidence, correct, and answer, phase, channel, segment, kind,
    abstained, weight, t where they are known. ``scale=100`` where confidences are percentages; ``format`` is jsonl or csv where a file's
    name does not tell.

    >>> import margin
    >>> margin.read_log({"task": ["q1", "q1"], "model": ["a", "b"], "confidence": [90, 60], "correct": [1, 0]}, scale=100)
    Log of 2 responses of 2 models to 1 tasks
    """
    if isinstance(data, Log):
        return data
    if isinstance(data, (str, os.PathLike)):
        return Log.from_files([os.fspath(data)], scale, format)
    if isinstance(data, (list, tuple)) and data and all(isinstance(item, (str, os.PathLike)) for item in data):
        return Log.from_files([os.fspath(item) for item in data], scale, format)
    if hasattr(data, "collect_schema") and hasattr(data, "collect"):
        data = data.collect()  # a lazy frame of polars
    if hasattr(data, "__arrow_c_stream__"):
        return Log.from_arrow_stream(data.__arrow_c_stream__(), scale)
    if hasattr(data, "__arrow_c_array__"):
        schema, array = data.__arrow_c_array__()
        return Log.from_arrow_array(schema, array, scale)
    return Log.from_columns(_columns(data), scale)


def _columns(data: Any) -> Dict[str, Any]:
    if isinstance(data, Mapping):
        found = {name: data[name] for name in data if name in FIELDS}
    elif hasattr(data, "columns") and hasattr(data, "__getitem__"):
        found = {name: data[name] for name in data.columns if name in FIELDS}
    elif isinstance(data, Iterable) and not isinstance(data, (bytes, np.ndarray)):
        found = _transposed(list(data))
    else:
        raise WrongType(f"log: got {type(data).__name__}, expected a path, a table, a dict of columns or a list of dicts")
    return {name: _column(column) for name, column in found.items()}


def _transposed(rows: List[Any]) -> Dict[str, Any]:
    for number, row in enumerate(rows):
        if not isinstance(row, Mapping):
            raise WrongType(f"row {number}: got {type(row).__name__}, expected a dict")
    names = [name for name in FIELDS if any(name in row for row in rows)]
    if not rows:
        raise InvalidArgument("log: expected at least one row")
    return {name: [row.get(name) for row in rows] for name in names}


def _column(column: Any) -> Any:
    if isinstance(column, (list, tuple)):
        return column
    array = np.asarray(column)
    if array.ndim != 1:
        raise InvalidArgument(f"log: got a column of shape {array.shape}, expected one dimension")
    if array.dtype.kind == "M":  # times become seconds since 1970
        seconds = array.astype("datetime64[us]").astype("int64") / 1e6
        return np.where(np.isnat(array), np.nan, seconds)
    return array
