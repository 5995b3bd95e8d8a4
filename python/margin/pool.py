"""Pool: decide between models' answers, learn from what became of them, explain both. The core that `margin serve` serves, in the
process."""
from __future__ import annotations

from typing import Any, Dict, Iterable, List, Mapping, Optional

from margin._core import PoolCore
from margin.frame import Frame
from margin.types import AnyResponse, Decision, Receipt, decision_of, mapping_of, receipt_of, response_fields


class Pool:
    """Models, their calibration and the vote between them.

    >>> import margin
    >>> pool = margin.Pool(calibrator="margin", vote="sum")
    >>> decision = pool.decide([("a", "Paris", 0.9), ("b", "Lyon", 0.95), ("c", "Paris", 0.6)])
    >>> decision.answer, decision.model
    ('Paris', 'a')
    >>> pool.feedback(decision.decision_id, correct_answer="Paris").updated
    ['a', 'b', 'c']
    >>> pool.calibrate("b", 0.95) < 0.95
    True

    ``calibrator`` and ``vote`` are names, perhaps with a version as in "stacked@1"; their parameters are dicts. ``remedy`` and
    ``audit_rate`` say what feedback on some responses teaches about the others, ``source_share_max`` caps what one source of feedback may
    teach, ``pending_days`` is how long a decision waits for its outcome, and ``max_error`` the chance of error above which a decision
    abstains that names none of its own (1: none does). Threads may share a pool: calls wait for each other.
    """

    def __init__(self, calibrator: str = "margin", vote: str = "sum", *, calibrator_parameters: Optional[Mapping[str, Any]] = None,
                 vote_parameters: Optional[Mapping[str, Any]] = None, remedy: str = "none", audit_rate: float = 0.0,
                 source_share_max: float = 1.0, pending_days: float = 30.0, max_error: float = 1.0) -> None:
        self._core = PoolCore({
            "calibrator": calibrator, "vote": vote, "calibrator_parameters": mapping_of("calibrator_parameters", calibrator_parameters),
            "vote_parameters": mapping_of("vote_parameters", vote_parameters), "remedy": remedy, "audit_rate": audit_rate,
            "source_share_max": source_share_max, "pending_days": pending_days, "max_error": max_error})

    def decide(self, responses: Iterable[AnyResponse], *, task: Optional[str] = None, segment: Optional[str] = None, kind: str = "exact",
               max_error: Optional[float] = None, vote: Optional[str] = None, audit_rate: Optional[float] = None, probe: bool = False,
               decision_id: Optional[str] = None, time_ms: Optional[int] = None) -> Decision:
        """Calibrates the responses, selects an answer, and remembers the decision until its outcome comes.

        A response is (model, answer, confidence), a dict of these, or a margin.Response. ``kind`` says when two answers are the same:
        exact, code, choice, math or text. With ``max_error`` the decision abstains where the chance of error is larger;
        None: as the pool says.
        """
        options: Dict[str, Any] = {"task": task, "segment": segment, "kind": kind, "max_error": max_error, "vote": vote,
                                   "audit_rate": audit_rate, "probe": probe, "decision_id": decision_id, "time_ms": time_ms}
        return decision_of(self._core.decide([response_fields(response) for response in responses], options))

    def feedback(self, decision_id: str, *, correct_answer: Optional[str] = None, outcome: Optional[float] = None,
                 outcomes: Optional[Mapping[str, float]] = None, weight: float = 1.0, source: str = "",
                 time_ms: Optional[int] = None) -> Receipt:
        """What became of a decision: exactly one of the correct answer, the selected answer's outcome, and outcomes by model.

        Feedback that precedes its decision is kept and joined. A second, different outcome of a response raises margin.Conflict.
        """
        options: Dict[str, Any] = {
            "correct_answer": correct_answer,
            "outcome": outcome,
            "outcomes": mapping_of("outcomes", outcomes) or None,
            "weight": weight,
            "source": source,
            "time_ms": time_ms
        }
        return receipt_of(self._core.feedback(decision_id, options))

    def calibrate(self, model: str, confidence: float, *, channel: str = "verbalized", segment: str = "") -> float:
        """The probability that a response of this model is right."""
        return self._core.calibrate(model, confidence, channel, segment)

    def factors(self) -> Frame:
        """A row per model, channel, segment and band: the factor, what it rests on, and its 90% interval."""
        return Frame(self._core.factors())

    def alarms(self) -> Frame:
        """What the pool's watch reports of drift and gaming. Nothing acts on it."""
        return Frame(self._core.alarms())

    def join(self, model: str, *, predecessor: str = "") -> None:
        """A model joins before its first response, or comes back; ``predecessor`` is the version whose factors it enters with."""
        self._core.join(model, predecessor)

    def leave(self, model: str) -> None:
        """Its state is kept, and it has no part until it joins again."""
        self._core.leave(model)

    def freeze(self) -> None:
        """From now on outcomes are recorded and not learned."""
        self._core.freeze()

    def resume(self) -> None:
        self._core.resume()

    def pin(self, model: str, factor: float) -> None:
        """Calibrated confidence of this model is factor x stated from now on; learning goes on underneath."""
        self._core.pin(model, factor)

    def unpin(self, model: str) -> None:
        self._core.unpin(model)

    @property
    def models(self) -> List[str]:
        """The models that are present, in the order of joining."""
        return self._core.models

    @property
    def frozen(self) -> bool:
        return self._core.frozen

    @property
    def pending(self) -> int:
        """Decisions with a response whose outcome has not come."""
        return self._core.pending

    @property
    def digest(self) -> str:
        """The fingerprint of the state."""
        return self._core.digest

    def snapshot(self) -> bytes:
        """The state as bytes; restore() takes them back, here or in another program that links the core."""
        return self._core.snapshot()

    @classmethod
    def restore(cls, snapshot: bytes) -> "Pool":
        pool = cls.__new__(cls)
        pool._core = PoolCore.restore(snapshot)
        return pool

    def copy(self) -> "Pool":
        return self.restore(self.snapshot())

    __copy__ = copy

    def __deepcopy__(self, memo: Dict[int, Any]) -> "Pool":
        return self.copy()

    def __getstate__(self) -> bytes:
        return self.snapshot()

    def __setstate__(self, state: bytes) -> None:
        self._core = PoolCore.restore(state)

    def __repr__(self) -> str:
        return f"Pool(calibrator={self._core.calibrator!r}, vote={self._core.vote!r}) of {len(self.models)} models"
