"""What a server can be asked, and what its answers become. Client and AsyncClient are made of this and add only the sending."""
from __future__ import annotations

import json
import uuid
from dataclasses import dataclass
from typing import Any, Callable, Dict, Generic, Iterable, List, Mapping, Optional, TypeVar, Union
from urllib.parse import quote, urlencode

from margin._http import Call, Reply, error_of
from margin.errors import InvalidArgument, MarginError, Unavailable
from margin.frame import Frame
from margin.types import AnyResponse, Decision, Receipt, decision_of, mapping_of, receipt_of, response_fields

T = TypeVar("T")


@dataclass(frozen=True)
class Asked(Generic[T]):
    call: Optional[Call]  # None: nothing need be asked, and an empty reply is read
    read: Callable[[Reply], T]

    def result(self, reply: Reply) -> T:
        try:
            return self.read(reply)
        except (KeyError, TypeError, AttributeError, json.JSONDecodeError) as error:
            raise Unavailable(f"the server answered {reply.status} with something that is no answer: {reply.body[:200]!r}") from error


def decide(responses: Iterable[AnyResponse], *, pool: Optional[str] = None, task_id: Optional[str] = None, segment: Optional[str] = None,
           kind: Optional[str] = None, vote: Optional[str] = None, max_error: Optional[float] = None, audit_rate: Optional[float] = None,
           probe: Optional[bool] = None, decision_id: Optional[str] = None, idempotency_key: Optional[str] = None) -> Asked[Decision]:
    """Selects an answer. The options are those of Pool.decide; ``pool`` is "default" unless said."""
    body = {"responses": [response_fields(response) for response in responses], "pool": pool, "task_id": task_id, "segment": segment,
            "kind": kind, "vote": vote, "max_error": max_error, "audit_rate": audit_rate, "probe": probe, "decision_id": decision_id}
    return Asked(_post("/v1/decide", body, idempotency_key), lambda reply: decision_of(reply.json()))


def feedback(decision_id: str, *, correct_answer: Optional[str] = None, outcome: Optional[float] = None,
             outcomes: Optional[Mapping[str, float]] = None, weight: Optional[float] = None, pool: Optional[str] = None,
             observed_at: Optional[str] = None, replace: Optional[bool] = None, idempotency_key: Optional[str] = None) -> Asked[Receipt]:
    """What became of a decision: exactly one of the correct answer, the selected answer's outcome, and outcomes by model."""
    body = {"decision_id": decision_id, "correct_answer": correct_answer, "outcome": outcome,
            "outcomes": mapping_of("outcomes", outcomes) or None, "weight": weight, "pool": pool, "observed_at": observed_at,
            "replace": replace}
    return Asked(_post("/v1/feedback", body, idempotency_key), lambda reply: receipt_of(reply.json()))


def feedback_batch(items: Iterable[Mapping[str, Any]], *,
                   idempotency_key: Optional[str] = None) -> Asked[List[Union[Receipt, MarginError]]]:
    """Many at once, each a dict of feedback()'s arguments: a receipt, or the error it met, for each in its place."""
    body = b"".join(_as_json(item) + b"\n" for item in items)
    call = Call("POST", "/v1/feedback/batch", body, _headers("application/x-ndjson", idempotency_key))
    return Asked(call if body else None, _receipts)


def decision(decision_id: str) -> Asked[Dict[str, Any]]:
    """A decision as it was made, with the outcomes known by now."""
    return Asked(Call("GET", f"/v1/decisions/{_part(decision_id)}"), lambda reply: reply.json())


def factors(pool: str = "default") -> Asked[Frame]:
    """A row per model, channel, segment and band."""
    return Asked(Call("GET", f"/v1/pools/{_part(pool)}/factors"), _factors)


def calibration(pool: str = "default", *, model: Optional[str] = None, window: Optional[str] = None) -> Asked[Dict[str, Any]]:
    """How well stated and calibrated confidence held of late, by model and of the decisions themselves. ``window``: latest, hour, day."""
    asked = urlencode(_given({"model": model, "window": window}))
    return Asked(Call("GET", f"/v1/pools/{_part(pool)}/calibration" + (f"?{asked}" if asked else "")), lambda reply: reply.json())


def pools() -> Asked[List[Dict[str, Any]]]:
    """The server's pools, with what each is made of."""
    return Asked(Call("GET", "/v1/pools"), lambda reply: reply.json()["pools"])


def ready() -> Asked[bool]:
    """Whether the server takes requests. Does not raise when it does not, or is not there."""
    return Asked(Call("GET", "/ready"), lambda reply: bool(reply.json()["status"]))


def _receipts(reply: Reply) -> List[Union[Receipt, MarginError]]:
    results: List[Union[Receipt, MarginError]] = []
    for line in reply.body.splitlines():
        found = json.loads(line)
        results.append(error_of(found.get("status") if isinstance(found.get("status"), int) else 400, found) if "error" in found
                       else receipt_of(found))
    return results


def _factors(reply: Reply) -> Frame:
    rows = reply.json()["factors"]
    columns = ["model", "channel", "segment", "present", "band", "confidence", "calibrated", "factor", "n", "effective_n", "pinned"]
    frame: Dict[str, List[Any]] = {name: [float("nan") if row.get(name) is None else row[name] for row in rows] for name in columns}
    for name, end in (("low", 0), ("high", 1)):
        frame[name] = [row["interval"][end] if "interval" in row else float("nan") for row in rows]
    return Frame(frame)


def _post(path: str, body: Mapping[str, Any], key: Optional[str]) -> Call:
    return Call("POST", path, _as_json(body), _headers("application/json", key))


def _headers(kind: str, key: Optional[str]) -> Dict[str, str]:
    return {"Content-Type": kind, "Idempotency-Key": key or str(uuid.uuid4())}


def _as_json(fields: Mapping[str, Any]) -> bytes:
    try:
        return json.dumps(_given(fields), allow_nan=False).encode()
    except (TypeError, ValueError) as error:
        raise InvalidArgument(f"the request cannot be written as JSON: {error}") from error


def _given(fields: Mapping[str, Any]) -> Dict[str, Any]:
    return {name: value for name, value in fields.items() if value is not None}


def _part(name: str) -> str:
    return quote(name, safe="")
