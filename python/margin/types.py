"""What decisions and feedback return, the same from a Pool in the process and from a server through a Client."""
from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Dict, Mapping, Optional, Sequence, Tuple, Union

from margin.errors import InvalidArgument, WrongType


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
