"""The upstream of the gateway's tests: a server of chat models that records what it saw and misbehaves on demand, by the model's name.

    model             what it does
    NAME              replies with what `says[NAME]` holds (a text, a message, or a function of the request), else "Answer: B" with a confidence
    NAME!slow=0.5     the same after half a second           NAME!drip=0.2     0.2 s between the chunks of a stream
    NAME!reset        begins its reply and resets the connection (mid-body, or in the middle of a frame)
    NAME!half_frame   streams half a frame, then closes      NAME!close        closes without a word
    NAME!429=2        429 with Retry-After: 0, twice, then as NAME; without a number: always
    NAME!503=1        likewise                               NAME!401          always 401
    NAME!wrong_json   a body that is not JSON                NAME!wrong_shape  JSON that is no chat reply
    NAME!wrong_model  says that it is another model          NAME!huge=N       a reply of N bytes
    NAME!never        reads the request and never answers    NAME!error_frame  streams a word, then an error
    NAME!null_usage   "choices": null on the usage chunk     NAME!tools        calls the first tool that it is offered

Several faults may follow each other (NAME!slow=1!503=1). GET /control/seen reports the requests, byte for byte, and what became of them;
POST /control/reset forgets them. `Upstream().start()` runs it in a thread; as a program it prints its address and serves until killed.
"""
import asyncio
import json
import pathlib
import socket
import struct
import sys
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "examples/gateway_quiz"))
from model_server import ModelServer  # noqa: E402


def faults_of(name):
    plain, *faults = name.split("!")
    return plain, {fault.partition("=")[0]: fault.partition("=")[2] for fault in faults}


class Seen:
    """One request: what came, and what became of it (pending, answered, cancelled, failed)."""

    def __init__(self, exchange, connection):
        self.path, self.headers, self.body, self.connection = exchange.path, exchange.headers, exchange.body, connection
        self.became, self.at, self.ended = "pending", time.monotonic(), None

    @property
    def json(self):
        return json.loads(self.body)

    @property
    def model(self):
        return self.json.get("model")

    def report(self):
        return {"path": self.path, "headers": self.headers, "body": self.body.decode("utf-8", "replace"), "connection": self.connection,
                "became": self.became}


class Upstream(ModelServer):
    def __init__(self, says=None):
        super().__init__()
        self.says = says or {}
        self.lock = threading.Lock()
        self.seen, self.failed_so_far = [], {}
        self.connections = self.open_connections = self.connections_max = 0

    # -- what it saw

    def requests(self, model=None):
        with self.lock:
            return [seen for seen in self.seen if model is None or seen.model == model]

    def forget(self):
        with self.lock:
            self.seen, self.failed_so_far = [], {}

    def wait_for(self, holds, seconds=20):
        """Until `holds(requests)`; the last requests either way."""
        end = time.monotonic() + seconds
        while not holds(self.requests()) and time.monotonic() < end:
            time.sleep(0.005)
        return self.requests()

    # -- what it does

    async def handle(self, exchange):
        if exchange.path == "/control/seen":
            report = {"requests": [seen.report() for seen in self.requests()], "connections": self.connections, "open_connections": self.open_connections}
            return await exchange.send(200, report)
        if exchange.path == "/control/reset":
            self.forget()
            return await exchange.send(200, {})
        if not exchange.path.endswith("/chat/completions"):
            return await super().handle(exchange)
        seen = Seen(exchange, id(exchange.writer))
        with self.lock:
            self.seen.append(seen)
        gone = asyncio.ensure_future(self.until_gone(exchange))
        work = asyncio.ensure_future(self.misbehave(exchange))
        try:
            await asyncio.wait({gone, work}, return_when=asyncio.FIRST_COMPLETED)
            if not work.done():
                seen.became = "cancelled"
                raise ConnectionResetError
            try:
                work.result()
                seen.became = "answered"
            except ConnectionError:
                seen.became = "failed"
                raise
        finally:
            seen.ended = time.monotonic()
            gone.cancel()
            work.cancel()

    async def until_gone(self, exchange):
        # Looks without reading: what the other side sends next belongs to the next request.
        while not exchange.reader.at_eof() and exchange.reader.exception() is None:
            await asyncio.sleep(0.002)

    def message(self, plain, request):
        said = self.says.get(plain, "Answer: B\n\nConfidence: 80")
        return said(request) if callable(said) else said

    def still_failing(self, name, fault, times):
        if times == "":
            return True
        done = self.failed_so_far.get((name, fault), 0)
        self.failed_so_far[(name, fault)] = done + 1
        return done < int(times)

    async def misbehave(self, exchange):
        request = exchange.json
        name = str(request.get("model"))
        plain, faults = faults_of(name)
        if "slow" in faults:
            await asyncio.sleep(float(faults["slow"]))
        if "never" in faults:
            await asyncio.sleep(3600)
        for status in (401, 429, 503):
            if str(status) in faults and self.still_failing(name, status, faults[str(status)]):
                more = {"Retry_After": 0} if status == 429 and faults["429"] else {"Retry_After": 1} if status == 429 else {}
                return await exchange.fail(status, f"{status} on purpose", "rate_limit_error" if status == 429 else "api_error", **more)
        if "close" in faults:
            raise ConnectionAbortedError
        if "reset" in faults:
            return await self.reset(exchange, request)
        if "half_frame" in faults:
            await exchange.begin_events()
            await exchange.write_piece(b'data: {"id":"x","object":"chat.completion.chunk","choices":[{"ind')
            raise ConnectionAbortedError
        if "error_frame" in faults:
            await exchange.begin_events()
            await exchange.send_event({"id": "x", "object": "chat.completion.chunk", "model": name, "choices": [{"index": 0, "delta": {"content": "so"}}]})
            await exchange.send_event({"error": {"message": "broke on purpose", "type": "api_error", "param": None, "code": None}})
            raise ConnectionAbortedError
        if "wrong_json" in faults:
            return await exchange.send(200, b'{"id": "x", "choices": [{"message": ')
        if "wrong_shape" in faults:
            return await exchange.send(200, {"answer": 42})
        message = self.message(plain, request)
        if "tools" in faults and request.get("tools"):
            function = request["tools"][0]["function"]["name"]
            message = {"role": "assistant", "content": None, "tool_calls": [{"id": "call_1", "type": "function", "function": {"name": function, "arguments": "{}"}}]}
        if "huge" in faults:
            message = "x" * int(faults["huge"])
        request = {**request, "model": "somebody-else" if "wrong_model" in faults else name}
        exchange.drip = float(faults.get("drip", 0))
        exchange.null_usage = "null_usage" in faults
        await self.reply(exchange, request, message)

    async def send_chunk(self, exchange, chunk):
        if exchange.drip:
            await asyncio.sleep(exchange.drip)
        if exchange.null_usage and not chunk["choices"]:
            chunk = {**chunk, "choices": None}
        await exchange.send_event(chunk)

    async def reset(self, exchange, request):
        if request.get("stream"):
            await exchange.begin_events()
            await exchange.write_piece(b'data: {"id":"x","object":"chat.completion.chunk","choices":[{"index":0,"delta":{"content":"A"}}]}\n\ndata: {"id')
        else:
            exchange.writer.write(exchange.head(200, "application/json", Content_Length=5000) + b'{"id":"x","choices":[')
        await exchange.writer.drain()
        await asyncio.sleep(0.02)  # so that it arrives before the reset, which discards what does not
        exchange.writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        exchange.writer.transport.abort()
        raise ConnectionResetError

    async def connection(self, reader, writer):
        self.connections += 1
        self.open_connections += 1
        self.connections_max = max(self.connections_max, self.open_connections)
        try:
            await super().connection(reader, writer)
        finally:
            self.open_connections -= 1


if __name__ == "__main__":
    upstream = Upstream().start(int(sys.argv[1]) if len(sys.argv) > 1 else 0)
    print(upstream.url, flush=True)
    upstream.thread.join()
