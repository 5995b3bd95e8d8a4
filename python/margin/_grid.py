"""What replays and experiments have in common: methods by any spelling, and the options of a run with their defaults."""
from __future__ import annotations

from typing import Any, Dict, Iterable, List, Mapping, Optional, Protocol, Sequence, Tuple, TypedDict, Union, runtime_checkable

from margin._core import Calibrator, methods as _catalog
from margin.errors import InvalidArgument, WrongType


@runtime_checkable
class PythonCalibrator(Protocol):
    """A calibrator written in Python. It is copied (copy.deepcopy) for every pass, so it starts fresh each time."""

    def predict(self, model: str, confidence: float) -> float:
        """The probability that the response is right, in [0, 1]."""

    def learn(self, model: str, confidence: float, outcome: float, weight: float) -> None:
        """An outcome became known."""


# A name as in "margin_adaptive" or "margin_adaptive@1", a Calibrator that has seen nothing, or a calibrator written in Python.
Method = Union[str, Calibrator, PythonCalibrator]
# One, several, or several by label; "all" is every method there is.
Methods = Union[Method, Sequence[Method], Mapping[str, Method]]

DEFAULT_METHODS: Tuple[str, ...] = ("raw", "margin", "margin_adaptive")


def labelled(methods: Methods) -> List[Tuple[str, Any]]:
    """Methods by label, each once."""
    if isinstance(methods, str) and methods == "all":
        methods = [method["identifier"] for method in _catalog()]
    if isinstance(methods, Mapping):
        pairs = [(label, _made(method)) for label, method in methods.items()]
    elif isinstance(methods, (str, Calibrator)) or not isinstance(methods, Iterable):
        pairs = [(_label(methods), _made(methods))]
    else:
        pairs = [(_label(method), _made(method)) for method in methods]
    labels = [label for label, _ in pairs]
    if not pairs:
        raise InvalidArgument("methods: expected at least one")
    for label in labels:
        if labels.count(label) > 1:
            raise InvalidArgument(f"methods: got {label} twice, expected each label once (give labels as the keys of a dict)")
    return pairs


def _label(method: Any) -> str:
    if isinstance(method, str):
        return method
    return method.method if isinstance(method, Calibrator) else method.__name__ if isinstance(method, type) else type(method).__name__


def _made(method: Any) -> Any:
    if isinstance(method, str):
        return Calibrator(method)
    if isinstance(method, Calibrator):
        return method
    made = method() if isinstance(method, type) else method
    if not isinstance(made, PythonCalibrator):
        raise WrongType(f"methods: got {type(made).__name__}, expected a name, a Calibrator, or an object with predict and learn")
    return made


class RowOptions(TypedDict, total=False):
    """Which rows of a log count. Names, meanings and defaults of all options are those of the command line's flags."""
    models: Union[str, Sequence[str]]
    channels: Union[str, Sequence[str]]
    kind: str
    malformed: str


class PhaseOptions(TypedDict, total=False):
    phases: Union[str, Sequence[str]]


class VoteOptions(TypedDict, total=False):
    vote: str
    vote_parameters: Optional[Mapping[str, Any]]


class PassOptions(TypedDict, total=False):
    """How many passes there are, in which order of the tasks."""
    orderings: int
    seed: int
    threads: int


class OutcomeOptions(TypedDict, total=False):
    """Which outcomes arrive, and when."""
    lag: int
    feedback: str
    remedy: str
    audit: float


class ResampleOptions(TypedDict, total=False):
    resamples: int


class ReplayOptions(RowOptions, PhaseOptions, VoteOptions, PassOptions, OutcomeOptions, total=False):
    """Of replays, and of experiments on one log that have no intervals."""


class OnePassOptions(RowOptions, PhaseOptions, VoteOptions, OutcomeOptions, total=False):
    seed: int


class LogOptions(ReplayOptions, ResampleOptions, total=False):
    """Of experiments on one log."""


class PoolOptions(RowOptions, PhaseOptions, PassOptions, total=False):
    """Of the experiment on pools, which does not vote and learns everything at once."""


class ShiftOptions(RowOptions, VoteOptions, PassOptions, ResampleOptions, total=False):
    """Of experiments between two places, whose rows are those of the places."""


class LateShiftOptions(ShiftOptions, OutcomeOptions, total=False):
    """The same where outcomes may come late or in part."""


class VotesOptions(RowOptions, PassOptions, OutcomeOptions, ResampleOptions, total=False):
    """Of the experiment on votes, which runs all of them."""


class WatchOptions(RowOptions, PhaseOptions, total=False):
    """Of the watch, which has no methods."""


_DEFAULTS: Dict[str, Any] = {"vote": "sum", "vote_parameters": None, "orderings": 100, "seed": 1, "lag": 0, "feedback": "full",
                             "remedy": "none", "audit": 0.0, "phases": (), "models": (), "channels": (), "kind": "exact",
                             "malformed": "keep", "resamples": 10_000, "threads": 0}


def run_options(kind: type, given: Mapping[str, Any], **more: Any) -> Dict[str, Any]:
    """All options of a run: those given, which must be of the kind, the defaults of the others, and more."""
    for name in given:
        if name not in kind.__annotations__:
            raise TypeError(f"got an unexpected keyword argument {name!r}, expected one of {', '.join(sorted(kind.__annotations__))}")
    options = {**_DEFAULTS, **given}
    options["vote_parameters"] = dict(options["vote_parameters"] or {})
    for name in ("phases", "models", "channels"):
        options[name] = texts(options[name])
    return {**options, **more}


def texts(given: Union[str, Iterable[str]]) -> List[str]:
    """One text, or several."""
    return [given] if isinstance(given, str) else list(given)
