"""Frame: what margin returns where there are rows. A dict of numpy columns, so pandas, polars and pyarrow take it as it is."""
from __future__ import annotations

import html
from typing import Any, Dict, Iterable, Iterator, Mapping

import numpy as np

_ROWS_SHOWN = 20


class Frame(Dict[str, np.ndarray]):
    """Columns of one length by name.

    >>> frame = Frame({"method": np.array(["raw", "margin"], dtype=object), "ece": np.array([0.2, 0.05])})
    >>> frame
    method   ece
    raw      0.2
    margin  0.05
    >>> frame.rows, float(frame["ece"].min())
    (2, 0.05)

    ``pandas.DataFrame(frame)``, ``polars.DataFrame(dict(frame))`` and ``pyarrow.table(dict(frame))`` make theirs of it.
    """

    def __init__(self, columns: Mapping[str, Any] = {}) -> None:
        super().__init__({name: np.asarray(column) for name, column in columns.items()})

    @property
    def rows(self) -> int:
        return len(next(iter(self.values()))) if self else 0

    def records(self) -> Iterator[Dict[str, Any]]:
        """The rows, each as a dict of plain Python values."""
        columns = {name: column.tolist() for name, column in self.items()}
        for values in zip(*columns.values()):
            yield dict(zip(columns, values))

    def where(self, **values: Any) -> "Frame":
        """The rows in which every named column has the given value.

        >>> Frame({"method": ["raw", "margin"], "ece": [0.2, 0.05]}).where(method="margin")["ece"].tolist()
        [0.05]
        """
        kept = np.ones(self.rows, dtype=bool)
        for name, value in values.items():
            kept &= self[name] == value
        return Frame({name: column[kept] for name, column in self.items()})

    def to_pandas(self) -> Any:
        import pandas
        return pandas.DataFrame(dict(self))

    def __repr__(self) -> str:
        return "\n".join(self._lines())

    def _repr_html_(self) -> str:
        """What a notebook shows."""
        def row(cell: str, texts: Iterable[str]) -> str:
            return "<tr>" + "".join(f"<{cell}>{html.escape(text)}</{cell}>" for text in texts) + "</tr>"

        shown = [[_text(value) for value in column[:_ROWS_SHOWN].tolist()] for column in self.values()]
        more = f"<p>{self.rows} rows</p>" if self.rows > _ROWS_SHOWN else ""
        return f"<table>{row('th', map(_text, self))}{''.join(row('td', cells) for cells in zip(*shown))}</table>{more}"

    def _lines(self) -> Iterator[str]:
        shown = {name: [_text(value) for value in column[:_ROWS_SHOWN].tolist()] for name, column in self.items()}
        widths = {name: max([len(name), *map(len, cells)]) for name, cells in shown.items()}
        left = {name for name, column in self.items() if column.dtype.kind in "OU"}

        def line(cells: Mapping[str, str]) -> str:
            return "  ".join(text.ljust(widths[name]) if name in left else text.rjust(widths[name])
                             for name, text in cells.items()).rstrip()

        yield line({name: name for name in self})
        for row in range(min(self.rows, _ROWS_SHOWN)):
            yield line({name: cells[row] for name, cells in shown.items()})
        if self.rows > _ROWS_SHOWN:
            yield f"... {self.rows} rows"


def _text(value: Any) -> str:
    if value is None:
        return "-"
    if isinstance(value, float):
        return "-" if value != value else f"{value:.6g}"
    # Names are anybody's text: control characters must not reach a terminal.
    return "".join(c if c.isprintable() else "\ufffd" for c in str(value))
