"""The experiments of `margin experiment`, on any log. Each returns a Report: tables as frames, and the whole as HTML.

>>> import margin
>>> from margin import experiments
>>> log = margin.simulate("abrupt", tasks=200)
>>> report = experiments.selection(log, "margin", orderings=2, resamples=50)
>>> report.frame.rows > 0
True
"""
from __future__ import annotations

from typing import Any, Dict, List, Mapping, Optional, Sequence, Tuple, Union

from margin._core import Log
from margin._core import experiments as _experiments
from margin._grid import DEFAULT_METHODS, Methods, labelled, run_options
from margin._log import AnyLog, read_log
from margin.errors import InvalidArgument, NotFound
from margin.frame import Frame

__all__ = [
    "Report", "ablation", "convergence", "feedback", "inversion", "pool", "resolution", "selection", "shift", "split", "transfer",
]


class Report:
    """What an experiment found. ``tables`` are (title, Frame) in the order of the report, ``frame`` is the first."""

    def __init__(self, core: _experiments.Report) -> None:
        self._core = core
        found = core.tables
        self.title: str = core.title
        self.summary: List[str] = core.summary
        self.tables: List[Tuple[str, Frame]] = [(title, Frame(columns)) for title, columns, _ in found]
        self.notes: List[List[str]] = [notes for _, _, notes in found]

    @property
    def frame(self) -> Frame:
        return self.tables[0][1]

    def html(self) -> str:
        """The report with its pictures as one page that needs nothing else."""
        return self._core.html()

    def write(self, directory: str) -> str:
        """Writes DIRECTORY/report.html and returns its path."""
        return self._core.write(directory)

    def __repr__(self) -> str:
        return "\n\n".join([self.title, *(f"{title}\n{frame!r}" for title, frame in self.tables)])


def selection(log: AnyLog, methods: Methods = DEFAULT_METHODS, *, fit: Optional[AnyLog] = None, **options: Any) -> Report:
    """Is the selected answer better: pass@1 against raw, the best single model and an oracle."""
    return Report(_experiments.selection(read_log(log), labelled(methods), _fit(fit), run_options(**options)))


def resolution(log: AnyLog, methods: Methods = DEFAULT_METHODS, *, contest: str = "passed", ties: str = "half", missing: str = "leave",
               fit: Optional[AnyLog] = None, **options: Any) -> Report:
    """Of two models with different outcomes, does confidence tell the better?"""
    extra = {"contest": contest, "ties": ties, "missing": missing}
    return Report(_experiments.resolution(read_log(log), labelled(methods), _fit(fit), {**run_options(**options), **extra}))


def convergence(log: AnyLog, methods: Methods = DEFAULT_METHODS, *, checkpoints: Sequence[int] = (10, 30, 50, 100, 150),
                fit: Optional[AnyLog] = None, **options: Any) -> Report:
    """How soon a method pays: pass@1 over the first tasks."""
    return Report(_experiments.convergence(read_log(log), labelled(methods), _fit(fit),
                                           {**run_options(**options), "checkpoints": list(checkpoints)}))


def inversion(log: AnyLog, methods: Methods = DEFAULT_METHODS, *, subsets: Optional[Mapping[str, Sequence[str]]] = None,
              model_orders: int = 20, fit: Optional[AnyLog] = None, **options: Any) -> Report:
    """Are the more confident models the better ones, and how often can confidence not tell?"""
    extra = {"subsets": [(name, list(models)) for name, models in (subsets or {}).items()], "model_orders": model_orders}
    return Report(_experiments.inversion(read_log(log), labelled(methods), _fit(fit), {**run_options(**options), **extra}))


def split(log: AnyLog, methods: Methods = DEFAULT_METHODS, *, at: str = "", fit: Optional[AnyLog] = None, **options: Any) -> Report:
    """Early against late: accuracy and calibration before and after a date (the median of ``t`` without one)."""
    return Report(_experiments.split(read_log(log), labelled(methods), _fit(fit), {**run_options(**options), "at": at}))


def pool(log: AnyLog, methods: Methods = DEFAULT_METHODS, *, scenarios: Sequence[str] = ("dropout", "cold_start", "rolling"),
         observations: int = 1000, window: int = 50, orderings: int = 50, **options: Any) -> Report:
    """What happens to calibration when models leave, join late or take turns."""
    extra = {"scenarios": list(scenarios), "observations": observations, "window": window}
    return Report(_experiments.pool(read_log(log), labelled(methods), {**run_options(orderings=orderings, **options), **extra}))


# A log, or a log and one of its phases.
Place = Union[AnyLog, Tuple[AnyLog, str]]


def shift(source: Place,
          target: Place,
          methods: Methods = "all",
          *,
          focus: str = "margin",
          boundary: str = "told",
          **options: Any) -> Report:
    """Methods learn on the source and are scored on the target. ``focus`` is compared with every other; ``boundary`` says what happens in
    between: told, carry, reset or restart. A place is a log, or (log, phase)."""
    pairs = labelled(methods)
    if focus not in dict(pairs):
        raise NotFound(f"focus: {focus} is not among the methods ({', '.join(label for label, _ in pairs)})")
    return Report(_experiments.shift(_places(source, target), pairs, {**run_options(**options), "focus": focus, "boundary": boundary}))


def transfer(source: Place, target: Place, methods: Methods = DEFAULT_METHODS, **options: Any) -> Report:
    """Factors learned on the source and frozen, against learning from scratch, against raw."""
    pairs = labelled(methods)
    if "raw" not in dict(pairs):
        pairs = labelled("raw") + pairs
    return Report(_experiments.transfer(_places(source, target), sorted(pairs, key=lambda pair: pair[0] != "raw"),
                                        {**run_options(**options), "boundary": "told"}))


def feedback(source: Place, target: Place, methods: Methods = ("margin", "margin_adaptive"), *, lags: Sequence[int] = (0, 10, 50, 100, 200),
             selected: bool = True, remedies: Sequence[str] = (), audits: Sequence[float] = (0.0,), boundary: str = "told",
             **options: Any) -> Report:
    """What late and partial outcomes cost each method, and what remedies and audits bring back."""
    if not remedies and list(audits) != [0.0]:
        raise InvalidArgument("audits: expected remedies, which audits are for")
    extra = {"lags": list(lags), "selected": selected, "remedies": list(remedies), "audits": list(audits), "boundary": boundary}
    return Report(_experiments.feedback(_places(source, target), labelled(methods), {**run_options(**options), **extra}))


def ablation(source: Place, target: Place, sweeps: Union[str, Sequence[str]], *, base: Methods = ("margin",),
             metrics: Sequence[str] = ("ece",), boundary: str = "told", **options: Any) -> Report:
    """What a method's parameters do. A sweep is "margin.alpha=0.01,0.02,0.04", or a published grid: alpha, bands, shrinkage, two_rate.
    ``base`` holds the methods that sweeps depart from."""
    extra = {"sweeps": [sweeps] if isinstance(sweeps, str) else list(sweeps), "metrics": list(metrics), "boundary": boundary}
    return Report(_experiments.ablation(_places(source, target), labelled(base), {**run_options(**options), **extra}))


def _fit(fit: Optional[AnyLog]) -> Optional[Log]:
    return None if fit is None else read_log(fit)


def _places(source: Place, target: Place) -> List[Tuple[str, Log, List[str], Log, List[str]]]:
    logs: Dict[int, Log] = {}

    def read(place: Place) -> Tuple[Log, List[str]]:
        data: AnyLog = place
        phases: List[str] = []
        if isinstance(place, tuple) and len(place) == 2 and isinstance(place[1], str):
            data, phases = place[0], [place[1]]
        if id(data) not in logs:
            logs[id(data)] = read_log(data)
        return logs[id(data)], phases

    from_log, from_phases = read(source)
    to_log, to_phases = read(target)
    name = "->".join([*from_phases, *to_phases]) if from_phases and to_phases else "source->target"
    return [(name, from_log, from_phases, to_log, to_phases)]
