"""The experiments of `margin experiment`, on any log. Each returns a Report: tables as frames, and the whole as HTML.

>>> import margin
>>> from margin import experiments
>>> log = margin.simulate("abrupt", tasks=200)
>>> report = experiments.selection(log, "margin", orderings=2, resamples=50)
>>> report.frame.rows > 0
True
"""
from __future__ import annotations

from typing import TYPE_CHECKING, Dict, List, Mapping, Optional, Sequence, Tuple, Union

from margin._core import Log
from margin._core import votes as _all_votes
from margin._core import experiments as _experiments
from margin._grid import (DEFAULT_METHODS, LateShiftOptions, LogOptions, Methods, PoolOptions, ReplayOptions, ShiftOptions, VotesOptions,
                          WatchOptions, labelled, run_options, texts)
from margin._log import AnyLog, read_log
from margin.errors import InvalidArgument, NotFound
from margin.frame import Frame

if TYPE_CHECKING:
    from typing_extensions import Unpack

__all__ = [
    "Report", "ablation", "convergence", "feedback", "gaming", "inversion", "paper", "pool", "resolution", "selection", "shift", "split",
    "transfer", "votes", "watch",
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


def selection(log: AnyLog, methods: Methods = DEFAULT_METHODS, *, fit: Optional[AnyLog] = None, **options: Unpack[LogOptions]) -> Report:
    """Is the selected answer better: pass@1 against raw, the best single model and an oracle."""
    return Report(_experiments.selection(read_log(log), labelled(methods), _fit(fit), run_options(LogOptions, options)))


def resolution(log: AnyLog, methods: Methods = DEFAULT_METHODS, *, contest: str = "passed", ties: str = "half", missing: str = "leave",
               fit: Optional[AnyLog] = None, **options: Unpack[LogOptions]) -> Report:
    """Of two models with different outcomes, does confidence tell the better?"""
    wanted = run_options(LogOptions, options, contest=contest, ties=ties, missing=missing)
    return Report(_experiments.resolution(read_log(log), labelled(methods), _fit(fit), wanted))


def convergence(log: AnyLog, methods: Methods = DEFAULT_METHODS, *, checkpoints: Sequence[int] = (10, 30, 50, 100, 150),
                fit: Optional[AnyLog] = None, **options: Unpack[ReplayOptions]) -> Report:
    """How soon a method pays: pass@1 over the first tasks."""
    wanted = run_options(ReplayOptions, options, checkpoints=list(checkpoints))
    return Report(_experiments.convergence(read_log(log), labelled(methods), _fit(fit), wanted))


def inversion(log: AnyLog, methods: Methods = DEFAULT_METHODS, *, subsets: Optional[Mapping[str, Sequence[str]]] = None,
              model_orders: int = 20, fit: Optional[AnyLog] = None, **options: Unpack[LogOptions]) -> Report:
    """Are the more confident models the better ones, and how often can confidence not tell?"""
    named = [(name, list(models)) for name, models in (subsets or {}).items()]
    wanted = run_options(LogOptions, options, subsets=named, model_orders=model_orders)
    return Report(_experiments.inversion(read_log(log), labelled(methods), _fit(fit), wanted))


def split(log: AnyLog, methods: Methods = DEFAULT_METHODS, *, at: str = "", fit: Optional[AnyLog] = None,
          **options: Unpack[LogOptions]) -> Report:
    """Early against late: accuracy and calibration before and after a date (the median of ``t`` without one)."""
    return Report(_experiments.split(read_log(log), labelled(methods), _fit(fit), run_options(LogOptions, options, at=at)))


def pool(log: AnyLog, methods: Methods = DEFAULT_METHODS, *, scenarios: Sequence[str] = ("dropout", "cold_start", "rolling"),
         observations: int = 1000, window: int = 50, focus: Optional[str] = None, **options: Unpack[PoolOptions]) -> Report:
    """What happens to calibration when models leave, join late or take turns. ``orderings`` are 50 unless said. A cold start compares
    ``focus`` (the last method unless said) with every other."""
    pairs = labelled(methods)
    wanted = run_options(PoolOptions, options, scenarios=list(scenarios), observations=observations, window=window,
                         focus=_focus(pairs, pairs[-1][0] if focus is None else focus))
    return Report(_experiments.pool(read_log(log), pairs, {**wanted, "orderings": options.get("orderings", 50)}))


def watch(log: AnyLog, *, false_reports: float = 1e-5, **options: Unpack[WatchOptions]) -> Report:
    """Drift, trust then defect, low participation, avoidance of hard tasks and collusion in a log, in its order: who, since when, on what
    evidence. ``false_reports`` is how many are expected per task and kind at most. The second of a channel's ``tables`` has the alarms of
    ``margin_adaptive``'s own clocks.

    >>> import margin
    >>> from margin import experiments
    >>> found = experiments.watch(margin.simulate("collapse", tasks=1000)).frame
    >>> found["kind"].tolist(), found["model"].tolist()
    (['drift', 'trust_then_defect'], ['ash', 'ash'])
    """
    return Report(_experiments.watch(read_log(log), run_options(WatchOptions, options, false_reports=false_reports)))


def gaming(*, runs: int = 200, tasks: int = 2000, seed: int = 1, false_reports: float = 1e-5, threads: int = 0) -> Report:
    """Simulated attackers before the watch: how surely and how soon each is reported, and how often somebody who did nothing.

    >>> from margin import experiments
    >>> experiments.gaming(runs=2, tasks=200).frame.rows > 0
    True
    """
    return Report(_experiments.gaming({"runs": runs, "tasks": tasks, "seed": seed, "false_reports": false_reports, "threads": threads}))


def paper(*, orderings: int = 50, resamples: int = 2000, seed: int = 1, threads: int = 0) -> Report:
    """Every published table beside the same on a simulated cohort, as published: with ``orderings=100, resamples=10_000``. Takes a minute.
    """
    return Report(_experiments.paper({"orderings": orderings, "resamples": resamples, "seed": seed, "threads": threads}))


def _focus(pairs: Sequence[Tuple[str, object]], focus: str) -> str:
    if focus not in dict(pairs):
        raise NotFound(f"focus: {focus} is not among the methods ({', '.join(label for label, _ in pairs)})")
    return focus


# A log, or a log and one of its phases.
Place = Union[AnyLog, Tuple[AnyLog, str]]


def shift(source: Place, target: Optional[Place] = None, methods: Methods = "all", *, focus: str = "margin", boundary: str = "told",
          **options: Unpack[LateShiftOptions]) -> Report:
    """Methods learn on the source and are scored on the target. ``focus`` is compared with every other; ``boundary`` says what happens in
    between: told, carry, reset or restart. A place is a log, or (log, phase); without a target it is every ordered pair of the log's
    phases."""
    pairs = labelled(methods)
    wanted = run_options(LateShiftOptions, options, focus=_focus(pairs, focus), boundary=boundary)
    return Report(_experiments.shift(_places(source, target), pairs, wanted))


def transfer(source: Place, target: Optional[Place] = None, methods: Methods = DEFAULT_METHODS,
             **options: Unpack[ShiftOptions]) -> Report:
    """Factors learned on the source and frozen, against learning from scratch, against raw. Places as those of shift()."""
    pairs = labelled(methods)
    if "raw" not in dict(pairs):
        pairs = labelled("raw") + pairs
    return Report(_experiments.transfer(_places(source, target), sorted(pairs, key=lambda pair: pair[0] != "raw"),
                                        run_options(ShiftOptions, options, boundary="told")))


def feedback(source: Place, target: Optional[Place] = None, methods: Methods = ("margin", "margin_adaptive"), *,
             lags: Sequence[int] = (0, 10, 50, 100, 200), selected: bool = True, remedies: Sequence[str] = (),
             audits: Sequence[float] = (0.0,), boundary: str = "told", **options: Unpack[ShiftOptions]) -> Report:
    """What late and partial outcomes cost each method, and what remedies and audits bring back. Places as those of shift()."""
    if not remedies and list(audits) != [0.0]:
        raise InvalidArgument("audits: expected remedies, which audits are for")
    wanted = run_options(ShiftOptions, options, lags=list(lags), selected=selected, remedies=list(remedies), audits=list(audits),
                         boundary=boundary)
    return Report(_experiments.feedback(_places(source, target), labelled(methods), wanted))


def ablation(source: Place, target: Optional[Place], sweeps: Union[str, Sequence[str]], *, base: Methods = ("margin",),
             metrics: Sequence[str] = ("ece",), boundary: str = "told", **options: Unpack[ShiftOptions]) -> Report:
    """What a method's parameters do. A sweep is "margin.alpha=0.01,0.02,0.04", or a published grid: alpha, bands, shrinkage, two_rate.
    ``base`` holds the methods that sweeps depart from. Places as those of shift()."""
    wanted = run_options(ShiftOptions, options, sweeps=texts(sweeps), metrics=list(metrics), boundary=boundary)
    return Report(_experiments.ablation(_places(source, target), labelled(base), wanted))


def votes(source: Place, target: Optional[Place] = None, methods: Methods = "margin_adaptive", *, votes: Union[str, Sequence[str]] = "all",
          focus: str = "stacked", max_error: float = 0.1, pools: Sequence[Union[int, str]] = ("all",), subsets: int = 20,
          **options: Unpack[VotesOptions]) -> Report:
    """Which way to count selects the better answer, and how sure a decision may be: every vote on the same calibrated confidences, where
    decisions less sure than 1 - ``max_error`` are not answered. ``pools`` are numbers of models, of which at most ``subsets`` random pools
    are run, or "all". Places as those of shift().

    >>> import margin
    >>> from margin import experiments
    >>> log = margin.simulate("abrupt", tasks=200)
    >>> report = experiments.votes(log, votes=["stacked", "sum"], pools=[2, "all"], subsets=2, orderings=1, resamples=0)
    >>> report.frame["selected by"].tolist()[:2]
    ['stacked', 'sum']
    """
    names = [vote["identifier"] for vote in _all_votes()] if votes == "all" else texts(votes)
    for size in pools:
        if size != "all" and not (isinstance(size, int) and size > 0):
            raise InvalidArgument(f"pools: got {size!r}, expected whole numbers from 1, or \"all\"")
    wanted = run_options(VotesOptions, options, votes=names, focus=focus, max_error=max_error,
                         pools=[0 if size == "all" else size for size in pools], subsets=subsets, boundary="told")
    return Report(_experiments.votes(_places(source, target), labelled(methods), wanted))


def _fit(fit: Optional[AnyLog]) -> Optional[Log]:
    return None if fit is None else read_log(fit)


def _places(source: Place, target: Optional[Place]) -> List[Tuple[str, Log, List[str], Log, List[str]]]:
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
    if target is None:
        all_phases = from_log.phases
        if from_phases or len(all_phases) < 2:
            raise InvalidArgument("target: expected one, since the source is not a log of several phases")
        return [(f"{a}->{b}", from_log, [a], from_log, [b]) for a in all_phases for b in all_phases if a != b]
    to_log, to_phases = read(target)
    name = "->".join([*from_phases, *to_phases]) if from_phases and to_phases else "source->target"
    return [(name, from_log, from_phases, to_log, to_phases)]
