"""Client and AsyncClient: a running `margin serve`, asked from Python. Only the standard library is needed.

    client = margin.Client("http://127.0.0.1:8080", key=os.environ["MARGIN_KEY"])
    decision = client.decide([("a", "Paris", 0.9), ("b", "Lyon", 0.95)])
    client.feedback(decision.decision_id, correct_answer="Paris")
"""
from __future__ import annotations

import functools
import inspect
import ssl
from typing import Any, Callable, Concatenate, Coroutine, Optional, ParamSpec, TypeVar

from margin import _requests
from margin._async_http import AsyncTransport
from margin._http import Endpoint, Reply, Transport
from margin._requests import Asked
from margin.errors import InvalidArgument, MarginError

P = ParamSpec("P")
T = TypeVar("T")
_EMPTY = Reply(200, {}, b"")


def _signed(method: Any, request: Callable[..., Any]) -> Any:
    """The method with the name, the words and the arguments of the request that it sends."""
    functools.update_wrapper(method, request)
    signature = inspect.signature(request)
    me = inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD)
    method.__signature__ = signature.replace(parameters=[me, *signature.parameters.values()], return_annotation=inspect.Signature.empty)
    return method


def _sent(request: Callable[P, Asked[T]]) -> Callable[Concatenate["Client", P], T]:
    def method(self: "Client", /, *args: P.args, **kwargs: P.kwargs) -> T:
        asked = request(*args, **kwargs)
        return asked.result(self._transport.send(asked.call) if asked.call else _EMPTY)

    return _signed(method, request)


def _awaited(request: Callable[P, Asked[T]]) -> Callable[Concatenate["AsyncClient", P], Coroutine[Any, Any, T]]:
    async def method(self: "AsyncClient", /, *args: P.args, **kwargs: P.kwargs) -> T:
        asked = request(*args, **kwargs)
        return asked.result(await self._transport.send(asked.call) if asked.call else _EMPTY)

    return _signed(method, request)


class Client:
    """Asks a server. Threads may share a client; connections are kept, one for each call that is under way.

    ``retries`` more tries follow where nothing happened or the same request may be sent again: connections that fail, answers 408, 429 and
    5xx, with growing waits or as long as the server asks. Every decision and feedback carries an Idempotency-Key, so that a try that did
    arrive is not counted twice. ``timeout`` is how many seconds the server may say nothing. Errors are those of ``margin``, with the
    server's status, code and param.
    """

    def __init__(self, url: str = "http://127.0.0.1:8080", key: Optional[str] = None, *, timeout: float = 30.0, retries: int = 2,
                 context: Optional[ssl.SSLContext] = None) -> None:
        self._url = url
        self._transport = Transport(Endpoint(url, key, timeout, retries, context))

    decide = _sent(_requests.decide)
    feedback = _sent(_requests.feedback)
    feedback_batch = _sent(_requests.feedback_batch)
    decision = _sent(_requests.decision)
    factors = _sent(_requests.factors)
    calibration = _sent(_requests.calibration)
    pools = _sent(_requests.pools)
    _ready = _sent(_requests.ready)

    def ready(self) -> bool:
        """Whether the server takes requests. Does not raise when it does not, or is not there."""
        try:
            return self._ready()
        except MarginError:
            return False

    def close(self) -> None:
        """Closes the kept connections."""
        self._transport.close()

    def __enter__(self) -> "Client":
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Client({self._url!r})"


class AsyncClient:
    """Client's methods to be awaited; at most ``connections`` requests are under way at a time, the others wait.

    ``timeout`` is how many seconds one try may take as a whole. A call that is cancelled closes its connection; whether it had arrived by
    then nobody knows, so ask again under the same ``idempotency_key``.
    """

    def __init__(self, url: str = "http://127.0.0.1:8080", key: Optional[str] = None, *, timeout: float = 30.0, retries: int = 2,
                 context: Optional[ssl.SSLContext] = None, connections: int = 16) -> None:
        if connections < 1:
            raise InvalidArgument(f"connections: got {connections}, expected a whole number from 1")
        self._url = url
        self._transport = AsyncTransport(Endpoint(url, key, timeout, retries, context), connections)

    decide = _awaited(_requests.decide)
    feedback = _awaited(_requests.feedback)
    feedback_batch = _awaited(_requests.feedback_batch)
    decision = _awaited(_requests.decision)
    factors = _awaited(_requests.factors)
    calibration = _awaited(_requests.calibration)
    pools = _awaited(_requests.pools)
    _ready = _awaited(_requests.ready)

    async def ready(self) -> bool:
        """Whether the server takes requests. Does not raise when it does not, or is not there."""
        try:
            return await self._ready()
        except MarginError:
            return False

    async def close(self) -> None:
        """Closes the kept connections."""
        await self._transport.close()

    async def __aenter__(self) -> "AsyncClient":
        return self

    async def __aexit__(self, *_: Any) -> None:
        await self.close()

    def __repr__(self) -> str:
        return f"AsyncClient({self._url!r})"
