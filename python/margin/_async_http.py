"""Requests to a server from an event loop: HTTP/1.1 over asyncio's streams, kept connections, and a cancelled call closes its own. Used by
AsyncClient; what is asked and what answers mean is in _http.py."""
from __future__ import annotations

import asyncio
import contextlib
import http.client
import io
from typing import Dict, List, Optional, Tuple, Union

from margin._http import BYTES_MAX, Attempts, Call, Endpoint, Reply

_HEAD_MAX = 1 << 16
_LINE_MAX = 1 << 10
_TOO_LONG = f"an answer of more than {BYTES_MAX} bytes"


class _Connection:
    """One request at a time; after an error or a cancelled request it is of no use."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader, self._writer = reader, writer

    async def exchange(self, request: bytes) -> Tuple[Reply, bool]:
        """The answer, and whether another request may follow."""
        self._writer.write(request)
        await self._writer.drain()
        status, lasting, headers = await self._head()
        while 100 <= status < 200:
            status, lasting, headers = await self._head()
        length = headers.get("content-length")
        if status in (204, 304):
            body = b""
        elif "chunked" in headers.get("transfer-encoding", "").lower():
            body = await self._chunks()
        elif length is not None:
            body = await self._reader.readexactly(_bounded(length, 10))
        else:
            body, lasting = await self._rest(), False
        said = headers.get("connection", "").lower()
        return Reply(status, headers, body), lasting and "close" not in said

    async def _head(self) -> Tuple[int, bool, Dict[str, str]]:
        block = await self._reader.readuntil(b"\r\n\r\n")
        first, _, rest = block.partition(b"\r\n")
        words = first.split(None, 2)
        if len(words) < 2 or words[0] not in (b"HTTP/1.1", b"HTTP/1.0") or not (words[1].isdigit() and len(words[1]) == 3):
            raise http.client.BadStatusLine(repr(first[:100]))
        headers = {name.lower(): value for name, value in http.client.parse_headers(io.BytesIO(rest)).items()}
        return int(words[1]), words[0] == b"HTTP/1.1", headers

    async def _chunks(self) -> bytes:
        body = bytearray()
        while True:
            size = _bounded((await self._line()).split(b";")[0].decode("ascii", "replace"), 16, len(body))
            if size == 0:
                while await self._line():
                    pass  # trailers
                return bytes(body)
            body += await self._reader.readexactly(size)
            if await self._line():
                raise http.client.HTTPException("a chunk that is longer than it says")

    async def _rest(self) -> bytes:
        body = bytearray()
        while part := await self._reader.read(_HEAD_MAX):
            body += part
            if len(body) > BYTES_MAX:
                raise http.client.HTTPException(_TOO_LONG)
        return bytes(body)

    async def _line(self) -> bytes:
        line = await self._reader.readuntil(b"\r\n")
        if len(line) > _LINE_MAX:
            raise http.client.LineTooLong("chunk size")
        return line[:-2]

    def close(self) -> None:
        with contextlib.suppress(RuntimeError):  # the loop that it belonged to may be closed
            self._writer.transport.abort()

    async def closed(self) -> None:
        with contextlib.suppress(OSError):
            await self._writer.wait_closed()


def _bounded(text: str, base: int, before: int = 0) -> int:
    """A length that does not make the body longer than it may be."""
    try:
        length = int(text.strip(), base)
    except ValueError:
        raise http.client.HTTPException(f"a length of {text[:40]!r}") from None
    if not 0 <= length <= BYTES_MAX - before:
        raise http.client.HTTPException(_TOO_LONG)
    return length


class AsyncTransport:
    """At most ``connections`` requests are under way at a time. May be used by one event loop after another."""

    def __init__(self, endpoint: Endpoint, connections: int) -> None:
        self._endpoint, self._connections = endpoint, connections
        self._loop: Optional[asyncio.AbstractEventLoop] = None
        self._idle: List[_Connection] = []

    async def send(self, call: Call) -> Reply:
        """The answer, asked for again where that is safe and may help. Raises what the server refuses."""
        attempts = Attempts(self._endpoint)
        request = self._written(call)
        while True:
            outcome: Union[Reply, Exception]
            try:
                outcome = await self._exchange(request)
                if outcome.status < 400:
                    return outcome
            except asyncio.TimeoutError:
                outcome = TimeoutError("timed out")
            except (OSError, EOFError, asyncio.LimitOverrunError, http.client.HTTPException) as error:
                outcome = error
            await asyncio.sleep(attempts.wait_after(outcome))

    def _written(self, call: Call) -> bytes:
        to, body = self._endpoint, call.body or b""
        host = f"[{to.host}]" if ":" in to.host else to.host
        headers = {"Host": f"{host}:{to.port}", **to.headers(call), **({"Content-Length": str(len(body))} if call.body is not None else {})}
        lines = [f"{call.method} {to.path(call)} HTTP/1.1", *(f"{name}: {value}" for name, value in headers.items()), "", ""]
        return "\r\n".join(lines).encode("ascii") + body

    async def _exchange(self, request: bytes) -> Reply:
        self._enter_loop()
        async with self._free:
            if self._idle:
                try:
                    return await self._on(self._idle.pop(), request)
                except (ConnectionError, EOFError):
                    pass  # a kept connection may have been closed meanwhile: that is no try
            return await self._on(None, request)

    async def _on(self, connection: Optional[_Connection], request: bytes) -> Reply:
        made = connection

        async def exchanged() -> Tuple[Reply, bool]:
            nonlocal made
            if made is None:
                made = await self._connect()
            return await made.exchange(request)

        try:
            reply, lasting = await asyncio.wait_for(exchanged(), self._endpoint.timeout)
        except BaseException:  # a cancelled call as well: what may still come on this connection is nobody's
            if made is not None:
                made.close()
            raise
        if made is not None and lasting:
            self._idle.append(made)
        elif made is not None:
            made.close()
        return reply

    async def _connect(self) -> _Connection:
        to = self._endpoint
        return _Connection(*await asyncio.open_connection(to.host, to.port, ssl=to.context, limit=_HEAD_MAX))

    def _enter_loop(self) -> None:
        loop = asyncio.get_running_loop()
        if self._loop is not loop:
            for connection in self._idle:
                connection.close()
            self._loop, self._idle, self._free = loop, [], asyncio.Semaphore(self._connections)

    async def close(self) -> None:
        self._enter_loop()
        idle, self._idle = self._idle, []
        for connection in idle:
            connection.close()
        for connection in idle:
            await connection.closed()
