"""Client and AsyncClient: a running `margin serve`, asked from Python. Only the standard library is needed.

    client = margin.Client("http://127.0.0.1:8080", key=os.environ["MARGIN_KEY"])
    decision = client.decide([("a", "Paris", 0.9), ("b", "Lyon", 0.95)])
    client.feedback(decision.decision_id, correct_answer="Paris")
"""
from __future__ import annotations

import asyncio
import functools
import json
import ssl
import uuid
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Callable, Concatenate, Coroutine, Dict, Iterable, List, Mapping, Optional, ParamSpec, TypeVar, Union
from urllib.parse import quote, urlencode

from margin._http import Call, Transport, error_of
from margin.errors import InvalidArgument, MarginError
from margin.frame import Frame
from margin.types import AnyResponse, Decision, Receipt, decision_of, mapping_of, receipt_of, response_fields

P = ParamSpec("P")
T = TypeVar("T")


class Client:
    """Asks a server. Threads may share a client; each has a connection of its own.

    ``retries`` more tries follow where nothing happened or the same request may be sent again: connections that fail, answers 408, 429 and
    5xx, with growing waits or as long as the server asks. Every decision and feedback carries an Idempotency-Key, so that a try that did
    arrive is not counted twice. Errors are those of ``margin``, with the server's status, code and param.
    """

    def __init__(self, url: str = "http://127.0.0.1:8080", key: Optional[str] = None, *, timeout: float = 30.0, retries: int = 2,
                 context: Optional[ssl.SSLContext] = None) -> None:
        self._url = url
        self._transport = Transport(url, key, timeout, retries, context)

    def decide(self, responses: Iterable[AnyResponse], *, pool: Optional[str] = None, task_id: Optional[str] = None,
               segment: Optional[str] = None, kind: Optional[str] = None, vote: Optional[str] = None, max_error: Optional[float] = None,
               audit_rate: Optional[float] = None, probe: Optional[bool] = None, decision_id: Optional[str] = None,
               idempotency_key: Optional[str] = None) -> Decision:
        """Selects an answer. The options are those of Pool.decide; ``pool`` is "default" unless said."""
        body = {"responses": [response_fields(response) for response in responses], "pool": pool, "task_id": task_id, "segment": segment,
                "kind": kind, "vote": vote, "max_error": max_error, "audit_rate": audit_rate, "probe": probe, "decision_id": decision_id}
        return decision_of(self._post("/v1/decide", _given(body), idempotency_key))

    def feedback(self, decision_id: str, *, correct_answer: Optional[str] = None, outcome: Optional[float] = None,
                 outcomes: Optional[Mapping[str, float]] = None, weight: Optional[float] = None, pool: Optional[str] = None,
                 observed_at: Optional[str] = None, replace: Optional[bool] = None, idempotency_key: Optional[str] = None) -> Receipt:
        """What became of a decision: exactly one of the correct answer, the selected answer's outcome, and outcomes by model."""
        body = {"decision_id": decision_id, "correct_answer": correct_answer, "outcome": outcome,
                "outcomes": mapping_of("outcomes", outcomes) or None, "weight": weight, "pool": pool, "observed_at": observed_at,
                "replace": replace}
        return receipt_of(self._post("/v1/feedback", _given(body), idempotency_key))

    def feedback_batch(self,
                       items: Iterable[Mapping[str, Any]],
                       *,
                       idempotency_key: Optional[str] = None) -> List[Union[Receipt, MarginError]]:
        """Many at once, each a dict of feedback()'s arguments: a receipt, or the error it met, for each in its place."""
        lines = [json.dumps(_given(item)) for item in items]
        if not lines:
            return []
        headers = {"Content-Type": "application/x-ndjson", "Idempotency-Key": idempotency_key or str(uuid.uuid4())}
        reply = self._transport.send(Call("POST", "/v1/feedback/batch", ("\n".join(lines) + "\n").encode(), headers))
        results: List[Union[Receipt, MarginError]] = []
        for line in reply.body.decode().splitlines():
            found = json.loads(line)
            results.append(error_of(found.get("status") if isinstance(found.get("status"), int) else 400, found) if "error" in found
                           else receipt_of(found))
        return results

    def decision(self, decision_id: str) -> Dict[str, Any]:
        """A decision as it was made, with the outcomes known by now."""
        return self._get(f"/v1/decisions/{_part(decision_id)}")

    def factors(self, pool: str = "default") -> Frame:
        """A row per model, channel, segment and band."""
        rows = self._get(f"/v1/pools/{_part(pool)}/factors")["factors"]
        columns = ["model", "channel", "segment", "present", "band", "confidence", "calibrated", "factor", "n", "effective_n", "pinned"]
        frame: Dict[str, List[Any]] = {name: [float("nan") if row.get(name) is None else row[name] for row in rows] for name in columns}
        for name, end in (("low", 0), ("high", 1)):
            frame[name] = [row["interval"][end] if "interval" in row else float("nan") for row in rows]
        return Frame(frame)

    def calibration(self, pool: str = "default", *, model: Optional[str] = None, window: Optional[str] = None) -> Dict[str, Any]:
        """How well stated and calibrated confidence held of late, by model and of the decisions themselves. ``window``: latest, hour,
        day."""
        asked = urlencode(_given({"model": model, "window": window}))
        return self._get(f"/v1/pools/{_part(pool)}/calibration" + (f"?{asked}" if asked else ""))

    def pools(self) -> List[Dict[str, Any]]:
        return self._get("/v1/pools")["pools"]

    def ready(self) -> bool:
        """Whether the server takes requests. Does not raise when it does not, or is not there."""
        try:
            return bool(self._get("/ready")["status"])
        except MarginError:
            return False

    def close(self) -> None:
        self._transport.close()

    def __enter__(self) -> "Client":
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._url!r})"

    def _get(self, path: str) -> Any:
        return self._transport.send(Call("GET", path)).json()

    def _post(self, path: str, body: Mapping[str, Any], key: Optional[str]) -> Any:
        try:
            data = json.dumps(body, allow_nan=False).encode()
        except (TypeError, ValueError) as error:
            raise InvalidArgument(f"the request cannot be written as JSON: {error}") from error
        headers = {"Content-Type": "application/json", "Idempotency-Key": key or str(uuid.uuid4())}
        return self._transport.send(Call("POST", path, data, headers)).json()


def _awaited(method: Callable[Concatenate[Client, P], T]) -> Callable[Concatenate["AsyncClient", P], Coroutine[Any, Any, T]]:
    @functools.wraps(method)
    async def call(self: "AsyncClient", /, *args: P.args, **kwargs: P.kwargs) -> T:
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._threads, functools.partial(method, self._client, *args, **kwargs))

    return call


class AsyncClient:
    """Client's methods to be awaited; at most ``connections`` requests are under way at a time, each on a thread of the client's own. A
    cancelled call may still arrive."""

    def __init__(self, url: str = "http://127.0.0.1:8080", key: Optional[str] = None, *, timeout: float = 30.0, retries: int = 2,
                 context: Optional[ssl.SSLContext] = None, connections: int = 16) -> None:
        self._client = Client(url, key, timeout=timeout, retries=retries, context=context)
        self._threads = ThreadPoolExecutor(connections, "margin-client")

    decide = _awaited(Client.decide)
    feedback = _awaited(Client.feedback)
    feedback_batch = _awaited(Client.feedback_batch)
    decision = _awaited(Client.decision)
    factors = _awaited(Client.factors)
    calibration = _awaited(Client.calibration)
    pools = _awaited(Client.pools)
    ready = _awaited(Client.ready)

    async def close(self) -> None:
        await asyncio.get_running_loop().run_in_executor(None, self._threads.shutdown)
        self._client.close()

    async def __aenter__(self) -> "AsyncClient":
        return self

    async def __aexit__(self, *_: Any) -> None:
        await self.close()

    def __repr__(self) -> str:
        return f"AsyncClient({self._client._url!r})"


def _given(fields: Mapping[str, Any]) -> Dict[str, Any]:
    return {name: value for name, value in fields.items() if value is not None}


def _part(name: str) -> str:
    return quote(name, safe="")
