"""What decisions and feedback return, the same from a Pool in the process and from a server through a Client."""
from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any, Dict, List, Mapping, Optional, Sequence, Tuple, Union

from margin.errors import InvalidArgument, WrongType
from margin.frame import Frame


@dataclass(frozen=True)
class Response:
    """What a model said about a task. Without an answer it is calibrated and does not vote; without a confidence it has no part."""
    model: str
    answer: Optional[str] = None
    confidence: Optional[float] = None
    channel: Optional[str] = None
    abstained: bool = False


# A response may also be given as (model, answer, confidence) or as a dict of these fields.
AnyResponse = Union[Response, Mapping[str, Any], Tuple[str, Optional[str], Optional[float]]]


@dataclass(frozen=True)
class CalibratedResponse:
    """A response as the decision saw it."""
    model: str
    channel: str
    stated: Optional[float]
    calibrated: Optional[float]
    factor: Optional[float] = None
    band: Optional[int] = None
    n: Optional[float] = None  # weighted observations behind this model and band
    weight: Optional[float] = None  # what it added to its answer's score
    weight_of: Mapping[str, float] = field(default_factory=dict)  # what the weight is made of, where the vote says
    abstained: bool = False


@dataclass(frozen=True)
class Vote:
    """An answer, its score, and who gave it."""
    answer: Optional[str]
    score: float
    models: Sequence[str]


@dataclass(frozen=True)
class Decision:
    """The selected answer and why. ``answer`` is None when nothing was selected or the decision abstained."""
    decision_id: str
    answer: Optional[str]
    model: Optional[str]
    p_correct: Optional[float]  # that the selected answer is right
    interval: Optional[Tuple[float, float]]  # of p_correct, 90%
    effective_n: float
    status: str  # cold, drifting, stale or calibrated
    abstained: bool
    share: float
    runner_up_gap: float
    grade_please: Sequence[str]  # models whose response should be graded although it was not selected
    votes: Sequence[Vote]
    responses: Sequence[CalibratedResponse]
    decisive: Sequence[str]  # models without which another answer would have been selected

    def explain(self) -> str:
        """The decision for people: what was selected and how sure that is, how the answers scored, and what each response was worth.
        ``print(decision)`` shows it.

        >>> import margin
        >>> print(margin.Pool().decide([("a", "Paris", 0.9), ("b", "Lyon", 0.95), ("c", "Paris", 0.6)], max_error=0.9))
        Paris (a)
        right with probability 0.58 (0.01 to 0.99), cold, on 0 outcomes
        <BLANKLINE>
        answer  score  models
        Paris     1.5  a, c
        Lyon     0.95  b
        <BLANKLINE>
        model  stated  factor  calibrated  n  weight  made of
        a         0.9       1         0.9  0     0.9
        b        0.95       1        0.95  0    0.95
        c         0.6       1         0.6  0     0.6
        without a or c another answer would have been selected
        """
        def part(fields: str, *rows: Any) -> Dict[str, List[Any]]:
            columns = {name: [getattr(row, name) for row in rows] for name in fields.split()}
            return {name: column if name in ("answer", "model", "channel") else [math.nan if value is None else value for value in column]
                    for name, column in columns.items()}

        def terms(response: CalibratedResponse) -> str:
            return ", ".join(f"{name} {value:.3g}" for name, value in response.weight_of.items())

        why = "abstained, since an error is likelier than allowed" if self.abstained else "nothing selected"
        lines = [why if self.answer is None else f"{self.answer} ({self.model})"]
        if self.p_correct is not None and self.interval is not None:
            low, high = self.interval
            lines.append(f"right with probability {self.p_correct:.2f} ({low:.2f} to {high:.2f}), {self.status}, on {self.effective_n:.0f}"
                         " outcomes")
        votes = Frame({**part("answer score", *self.votes), "models": [", ".join(vote.models) for vote in self.votes]})
        channels = "channel " if len({response.channel for response in self.responses}) > 1 else ""
        responses = Frame({**part(f"model {channels}stated factor calibrated n weight", *self.responses),
                           "made of": [terms(response) for response in self.responses]})
        lines += ["", repr(votes), "", repr(responses)]
        if self.decisive:
            lines.append(f"without {' or '.join(self.decisive)} another answer would have been selected")
        if self.grade_please:
            lines.append(f"please grade as well: {', '.join(self.grade_please)}")
        return "\n".join(lines)

    __str__ = explain


@dataclass(frozen=True)
class Receipt:
    """What became of feedback: status is applied, duplicate, pending_decision, expired or reverted."""
    feedback_id: str
    status: str
    updated: Sequence[str]  # models that learned
    not_learned: Sequence[str] = ()


def response_fields(response: AnyResponse) -> Dict[str, Any]:
    """A response, however it was given, as the fields that the core and the server take."""
    if isinstance(response, Response):
        given: Mapping[str, Any] = vars(response)
    elif isinstance(response, Mapping):
        given = response
    elif isinstance(response, (tuple, list)) and len(response) == 3:
        given = dict(zip(("model", "answer", "confidence"), response))
    else:
        raise WrongType(f"responses: got {type(response).__name__}, expected a Response, a dict or (model, answer, confidence)")
    if "model" not in given:
        raise InvalidArgument("responses: expected the field model")
    return {name: value for name, value in given.items() if value is not None and not (name == "abstained" and value is False)}


def mapping_of(field_name: str, given: Any) -> Dict[str, Any]:
    """A dict of what was given by name, or nothing."""
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        raise WrongType(f"{field_name}: got {type(given).__name__}, expected a dict")
    return dict(given)


def _known(kind: type, fields: Mapping[str, Any]) -> Dict[str, Any]:
    """The fields that this version knows; a newer server may send more."""
    return {name: fields[name] for name in kind.__dataclass_fields__ if name in fields}  # type: ignore[attr-defined]


def decision_of(fields: Mapping[str, Any]) -> Decision:
    known = _known(Decision, fields)
    known["votes"] = [Vote(**_known(Vote, vote)) for vote in fields["votes"]]
    known["responses"] = [CalibratedResponse(**_known(CalibratedResponse, response)) for response in fields["responses"]]
    known["interval"] = None if fields["interval"] is None else tuple(fields["interval"])
    return Decision(**known)


def receipt_of(fields: Mapping[str, Any]) -> Receipt:
    return Receipt(**_known(Receipt, fields))
