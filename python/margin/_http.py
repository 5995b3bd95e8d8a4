"""Requests to a server: what is sent, what an answer means, when another try may help, and kept connections that threads share. Used by the
client; _async_http.py has the connections of an event loop."""
from __future__ import annotations

import http.client
import json
import os
import random
import ssl
import threading
import time
from dataclasses import dataclass, field
from typing import Any, Dict, List, Mapping, Optional, Union
from urllib.parse import urlsplit

from margin.errors import Conflict, InvalidArgument, LimitExceeded, MarginError, NotAllowed, NotFound, Unavailable

BYTES_MAX = 64 << 20
_ERRORS = {400: InvalidArgument, 401: NotAllowed, 403: NotAllowed, 404: NotFound, 409: Conflict, 413: LimitExceeded, 422: InvalidArgument,
           429: LimitExceeded}
# Nothing happened, or it may be asked again under the same Idempotency-Key.
_TRY_AGAIN = {408, 429, 500, 502, 503, 504}
_WAIT_MAX = 60.0


@dataclass(frozen=True)
class Call:
    method: str
    path: str
    body: Optional[bytes] = None
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Reply:
    status: int
    headers: Mapping[str, str]  # names in lower case
    body: bytes

    def json(self) -> Any:
        try:
            return json.loads(self.body)
        except ValueError:
            raise Unavailable(f"the server answered {self.status} with something that is not JSON: {self.body[:200]!r}") from None


def error_of(status: int, body: Any) -> MarginError:
    """The exception that an error of the server's becomes."""
    found = body.get("error") if isinstance(body, dict) else None
    said: Mapping[str, Any] = found if isinstance(found, dict) else {}
    error = _ERRORS.get(status, Unavailable if status >= 500 else MarginError)(said.get("message") or f"the server answered {status}")
    error.status, error.code, error.param = status, said.get("code"), said.get("param")
    return error


class Endpoint:
    """Where requests go, what they carry, and how often they are tried."""

    def __init__(self, url: str, key: Optional[str], timeout: float, retries: int, context: Optional[ssl.SSLContext]) -> None:
        try:
            parts = urlsplit(url)
            self.port = parts.port or (443 if parts.scheme == "https" else 80)
        except ValueError:
            parts = urlsplit("")
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise InvalidArgument(f"url: got {url!r}, expected something like http://127.0.0.1:8080")
        if retries < 0:
            raise InvalidArgument(f"retries: got {retries}, expected a whole number from 0")
        if not timeout > 0:
            raise InvalidArgument(f"timeout: got {timeout}, expected seconds above 0")
        self.host, self.retries, self.timeout = parts.hostname, retries, timeout
        self.context = None if parts.scheme == "http" else context or ssl.create_default_context()
        self.name = f"{parts.scheme}://{parts.hostname}"
        self._base = parts.path.rstrip("/")
        self._headers = {"Accept": "application/json", **({"Authorization": f"Bearer {key}"} if key else {})}
        _check_headers(self._headers)

    def path(self, call: Call) -> str:
        return self._base + call.path

    def headers(self, call: Call) -> Dict[str, str]:
        _check_headers(call.headers)
        return {**self._headers, **call.headers}


def _check_headers(headers: Mapping[str, str]) -> None:
    for name, value in headers.items():
        if not (value.isascii() and value.isprintable()):
            raise InvalidArgument(f"{name}: expected letters, digits and signs of ASCII")


class Attempts:
    """What follows a try: the wait before the next one, or the error that remains."""

    def __init__(self, endpoint: Endpoint) -> None:
        self._endpoint, self._made = endpoint, 0

    def wait_after(self, outcome: Union[Reply, Exception]) -> float:
        """Seconds. Raises when another try would not help, or there were enough."""
        wait = random.uniform(0.5, 1.0) * 0.1 * 2**self._made
        self._made += 1
        if isinstance(outcome, Reply):
            failure = error_of(outcome.status, _json_or_none(outcome.body))
            wait = _asked_for(outcome.headers, wait)
            last = not _may_help(outcome)
        else:
            failure = Unavailable(f"{self._endpoint.name}: {str(outcome) or type(outcome).__name__}")
            failure.__cause__ = outcome
            last = False
        if last or self._made > self._endpoint.retries or wait > _WAIT_MAX:
            raise failure
        return wait


class Transport:
    """For threads: a connection belongs to whoever uses it and is then kept for the next."""

    def __init__(self, endpoint: Endpoint) -> None:
        self._endpoint = endpoint
        self._lock = threading.Lock()
        self._idle: List[http.client.HTTPConnection] = []
        self._process = os.getpid()

    def send(self, call: Call) -> Reply:
        """The answer, asked for again where that is safe and may help. Raises what the server refuses."""
        attempts = Attempts(self._endpoint)
        headers = self._endpoint.headers(call)
        while True:
            outcome: Union[Reply, Exception]
            try:
                outcome = self._exchange(call, headers)
                if outcome.status < 400:
                    return outcome
            except (OSError, http.client.HTTPException) as error:
                outcome = error
            time.sleep(attempts.wait_after(outcome))

    def _exchange(self, call: Call, headers: Mapping[str, str]) -> Reply:
        held = self._take()
        if held is not None:
            try:
                return self._on(held, call, headers)
            except (ConnectionError, http.client.HTTPException):
                pass  # a kept connection may have been closed meanwhile: that is no try
        return self._on(self._connect(), call, headers)

    def _take(self) -> Optional[http.client.HTTPConnection]:
        with self._lock:
            if self._process != os.getpid():  # after a fork the connections are the parent's
                self._idle, self._process = [], os.getpid()
            return self._idle.pop() if self._idle else None

    def _connect(self) -> http.client.HTTPConnection:
        to = self._endpoint
        if to.context is None:
            return http.client.HTTPConnection(to.host, to.port, timeout=to.timeout)
        return http.client.HTTPSConnection(to.host, to.port, timeout=to.timeout, context=to.context)

    def _on(self, connection: http.client.HTTPConnection, call: Call, headers: Mapping[str, str]) -> Reply:
        try:
            connection.request(call.method, self._endpoint.path(call), body=call.body, headers=dict(headers))
            answer = connection.getresponse()
            body = answer.read(BYTES_MAX + 1)
            if len(body) > BYTES_MAX:
                raise http.client.HTTPException(f"an answer of more than {BYTES_MAX} bytes")
            if answer.length:  # what read() with a bound does not mind
                raise http.client.IncompleteRead(body, answer.length)
            reply = Reply(answer.status, {name.lower(): value for name, value in answer.getheaders()}, body)
        except BaseException:
            connection.close()
            raise
        if answer.will_close:
            connection.close()
        else:
            with self._lock:
                self._idle.append(connection)
        return reply

    def close(self) -> None:
        with self._lock:
            idle, self._idle = self._idle, []
        for connection in idle:
            connection.close()


def _may_help(reply: Reply) -> bool:
    said = reply.headers.get("x-should-retry")
    return said == "true" if said in ("true", "false") else reply.status in _TRY_AGAIN


def _json_or_none(body: bytes) -> Any:
    try:
        return json.loads(body)
    except ValueError:
        return None


def _asked_for(headers: Mapping[str, str], otherwise: float) -> float:
    """How long the server asks to wait."""
    for name, unit in (("retry-after-ms", 1e-3), ("retry-after", 1.0)):
        try:
            return max(0.0, float(headers[name]) * unit)
        except (KeyError, ValueError):
            continue
    return otherwise
