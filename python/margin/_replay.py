"""Logs replayed: scores, predictions and decisions of calibrators as if the log were live. The computation is that of `margin replay`."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any, Dict, Optional, Sequence, Union

from margin import _core
from margin._grid import DEFAULT_METHODS, Methods, OnePassOptions, ReplayOptions, labelled, run_options, texts
from margin._log import AnyLog, read_log
from margin.frame import Frame

if TYPE_CHECKING:
    from typing_extensions import Unpack


def simulate(cohort: str, *, seed: int = 1, tasks: Optional[int] = None) -> Frame:
    """A log whose truth is known: the column ``p`` is the probability that each response is right. `margin simulate` lists the cohorts.

    >>> import margin
    >>> log = margin.simulate("drift", tasks=100)
    >>> sorted(log)
    ['answer', 'channel', 'confidence', 'correct', 'model', 'p', 'phase', 't', 'task']
    """
    return Frame(_core.simulate(cohort, seed, tasks))


def replay(log: AnyLog, methods: Methods = DEFAULT_METHODS, *, by: Union[str, Sequence[str]] = (), fit: Optional[AnyLog] = None,
           ties: str = "half", scale: float = 1.0, **options: Unpack[ReplayOptions]) -> Frame:
    """Every method over the log as if it were live, and how well that went: a row per channel and method, mean and spread (``_sd``) over
    ``orderings`` random orders of the tasks (100; 0 is the order of the log, once).

    >>> import margin
    >>> scores = margin.replay(margin.simulate("drift", tasks=300), ["raw", "margin"], orderings=0)
    >>> scores["method"].tolist()
    ['raw', 'margin']
    >>> bool(scores["ece"][1] < scores["ece"][0])
    True

    ``by="model"`` and ``by="phase"`` add rows for parts, named in the columns ``by`` and ``part``. ``fit`` is a log that design-time
    methods are fitted on. The other options are those of the command line: vote, orderings, seed, lag, feedback, remedy, audit, phases,
    models, channels, kind, malformed, threads. A method may be written in Python: any object with ``predict(model, confidence)`` and
    ``learn(model, confidence, outcome, weight)``.
    """
    wanted = run_options(ReplayOptions, options, by=texts(by), ties=ties)
    return Frame(_core.replay(read_log(log, scale=scale), labelled(methods), _fit(fit, scale), wanted))


def predictions(log: AnyLog, methods: Methods = DEFAULT_METHODS, *, fit: Optional[AnyLog] = None, scale: float = 1.0,
                **options: Unpack[OnePassOptions]) -> Frame:
    """What each method would have said of each usable response before its outcome was known: one pass in the order of the log, a row per
    response and method.

    >>> import margin
    >>> log = {"task": [1, 2], "model": ["a", "a"], "confidence": [0.9, 0.9], "correct": [0, 0]}
    >>> margin.predictions(log, "windowed_accuracy_replace")["calibrated"].tolist()
    [0.9, 0.0]
    """
    return Frame(_core.predictions(read_log(log, scale=scale), labelled(methods), _fit(fit, scale), _one_pass(options)))


def decisions(log: AnyLog, methods: Methods = DEFAULT_METHODS, *, fit: Optional[AnyLog] = None, scale: float = 1.0,
              **options: Unpack[OnePassOptions]) -> Frame:
    """Which answer each method would have selected in each task, how sure it was, and whether it was right: one pass in the order of the
    log, a row per task and method."""
    return Frame(_core.decisions(read_log(log, scale=scale), labelled(methods), _fit(fit, scale), _one_pass(options)))


def _fit(fit: Optional[AnyLog], scale: float) -> Optional[_core.Log]:
    return None if fit is None else read_log(fit, scale=scale)


def _one_pass(options: OnePassOptions) -> Dict[str, Any]:
    return run_options(OnePassOptions, options, orderings=0, by=[], ties="half")
