"""What replays and experiments have in common: methods by any spelling, and the options of a run with their defaults."""
from __future__ import annotations

from typing import Any, Dict, Iterable, List, Mapping, Optional, Protocol, Sequence, Tuple, Union, runtime_checkable

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


def run_options(*,
                vote: str = "sum",
                vote_parameters: Optional[Mapping[str, Any]] = None,
                orderings: int = 100,
                seed: int = 1,
                lag: int = 0,
                feedback: str = "full",
                remedy: str = "none",
                audit: float = 0.0,
                phases: Sequence[str] = (),
                models: Sequence[str] = (),
                channels: Sequence[str] = (),
                kind: str = "exact",
                malformed: str = "keep",
                resamples: int = 10_000,
                threads: int = 0) -> Dict[str, Any]:
    """The options that every run has. Names, meanings and defaults are those of the command line's flags."""
    names = {"phases": phases, "models": models, "channels": channels}
    return {"vote": vote, "vote_parameters": dict(vote_parameters or {}), "orderings": orderings, "seed": seed, "lag": lag,
            "feedback": feedback, "remedy": remedy, "audit": audit, "kind": kind, "malformed": malformed, "resamples": resamples,
            "threads": threads, **{name: [given] if isinstance(given, str) else list(given) for name, given in names.items()}}
