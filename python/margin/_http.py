"""Requests to a server: kept connections, one a thread, tries again where that is safe, and errors as exceptions. Used by the client."""
from __future__ import annotations

import http.client
import json
import random
import ssl
import threading
import time
from dataclasses import dataclass, field
from typing import Any, Dict, List, Mapping, Optional
from urllib.parse import urlsplit

from margin.errors import Conflict, InvalidArgument, LimitExceeded, MarginError, NotAllowed, NotFound, Unavailable

_BYTES_MAX = 64 << 20
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


class Transport:
    def __init__(self, url: str, key: Optional[str], timeout: float, retries: int, context: Optional[ssl.SSLContext]) -> None:
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise InvalidArgument(f"url: got {url!r}, expected something like http://127.0.0.1:8080")
        if retries < 0:
            raise InvalidArgument(f"retries: got {retries}, expected a whole number from 0")
        self._scheme, self._host, self._port, self._base = parts.scheme, parts.hostname, parts.port, parts.path.rstrip("/")
        self._headers: Dict[str, str] = {"Accept": "application/json", **({"Authorization": f"Bearer {key}"} if key else {})}
        self._timeout, self._retries = timeout, retries
        self._context = context if context is not None or parts.scheme == "http" else ssl.create_default_context()
        self._local = threading.local()
        self._all: List[http.client.HTTPConnection] = []
        self._lock = threading.Lock()

    def send(self, call: Call) -> Reply:
        """The answer, asked for again where that is safe and may help. Raises what the server refuses."""
        for attempt in range(self._retries + 1):
            wait = random.uniform(0.5, 1.0) * 0.1 * 2 ** attempt
            try:
                reply = self._exchange(call)
            except (OSError, http.client.HTTPException) as error:
                failure: MarginError = Unavailable(f"{self._scheme}://{self._host}: {error or type(error).__name__}")
                failure.__cause__ = error
            else:
                if reply.status < 400:
                    return reply
                failure = error_of(reply.status, _json_or_none(reply.body))
                if not _may_help(reply):
                    raise failure
                wait = _asked_for(reply.headers, wait)
            if attempt == self._retries or wait > _WAIT_MAX:
                break
            time.sleep(wait)
        raise failure

    def _exchange(self, call: Call) -> Reply:
        held: Optional[http.client.HTTPConnection] = getattr(self._local, "held", None)
        if held is not None:
            try:
                return self._on(held, call)
            except (OSError, http.client.HTTPException):
                pass  # a kept connection may have been closed meanwhile: that is no try
        return self._on(self._connect(), call)

    def _connect(self) -> http.client.HTTPConnection:
        if self._scheme == "https":
            made: http.client.HTTPConnection = http.client.HTTPSConnection(self._host,
                                                                           self._port,
                                                                           timeout=self._timeout,
                                                                           context=self._context)
        else:
            made = http.client.HTTPConnection(self._host, self._port, timeout=self._timeout)
        with self._lock:
            self._all.append(made)
        self._local.held = made
        return made

    def _on(self, connection: http.client.HTTPConnection, call: Call) -> Reply:
        try:
            connection.request(call.method, self._base + call.path, body=call.body, headers={**self._headers, **call.headers})
            answer = connection.getresponse()
            body = answer.read(_BYTES_MAX + 1)
            if len(body) > _BYTES_MAX:
                raise http.client.HTTPException(f"an answer of more than {_BYTES_MAX} bytes")
            reply = Reply(answer.status, {name.lower(): value for name, value in answer.getheaders()}, body)
        except BaseException:
            self._drop(connection)
            raise
        if answer.will_close:
            self._drop(connection)
        return reply

    def _drop(self, connection: http.client.HTTPConnection) -> None:
        connection.close()
        self._local.held = None
        with self._lock:
            if connection in self._all:
                self._all.remove(connection)

    def close(self) -> None:
        with self._lock:
            for connection in self._all:
                connection.close()
            self._all.clear()
        self._local = threading.local()


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
