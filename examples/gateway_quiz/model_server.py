"""A server of chat models in OpenAI's protocol, for want of real ones: streams, usage, errors and keep-alive included, the standard library only.

`ModelServer({"name": model}).start()` serves in a thread; a model is a function from the request's JSON to the text of its reply. The tests'
upstream (tests/gateway/upstream.py) is this server with faults.
"""
import asyncio
import itertools
import json
import threading
import time

REASONS = {200: "OK", 400: "Bad Request", 404: "Not Found", 429: "Too Many Requests", 500: "Internal Server Error", 503: "Service Unavailable"}


class Exchange:
    """One request and its reply on a kept connection."""

    def __init__(self, method, path, headers, body, reader, writer):
        self.method, self.path, self.headers, self.body = method, path, headers, body
        self.reader, self.writer = reader, writer

    @property
    def json(self):
        return json.loads(self.body)

    def head(self, status, content_type, **more):
        lines = [f"HTTP/1.1 {status} {REASONS.get(status, 'Status')}", f"Content-Type: {content_type}"]
        lines += [f"{name.replace('_', '-')}: {value}" for name, value in more.items()]
        return ("\r\n".join(lines) + "\r\n\r\n").encode()

    async def send(self, status, value, **headers):
        body = value if isinstance(value, bytes) else json.dumps(value).encode()
        self.writer.write(self.head(status, "application/json", Content_Length=len(body), **headers) + body)
        await self.writer.drain()

    async def fail(self, status, message, kind="invalid_request_error", **headers):
        await self.send(status, {"error": {"message": message, "type": kind, "param": None, "code": None}}, **headers)

    async def begin_events(self):
        self.writer.write(self.head(200, "text/event-stream", Transfer_Encoding="chunked"))
        await self.writer.drain()

    async def write_piece(self, data):
        self.writer.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")
        await self.writer.drain()

    async def send_event(self, value):
        text = value if isinstance(value, str) else json.dumps(value)
        await self.write_piece(f"data: {text}\n\n".encode())

    async def end_events(self):
        await self.send_event("[DONE]")
        self.writer.write(b"0\r\n\r\n")
        await self.writer.drain()


def tokens(text):
    return max(1, len(text) // 4)


def usage_of(request, text):
    prompt = sum(tokens(json.dumps(message)) for message in request["messages"])
    return {"prompt_tokens": prompt, "completion_tokens": tokens(text), "total_tokens": prompt + tokens(text)}


class ModelServer:
    def __init__(self, models=None):
        self.models = models or {}
        self.numbers = itertools.count(1)
        self.url = None

    # -- the protocol

    async def chat(self, exchange):
        request = exchange.json
        model = self.models.get(request.get("model"))
        if model is None:
            return await exchange.fail(404, f"The model `{request.get('model')}` does not exist")
        await self.reply(exchange, request, model(request))

    async def reply(self, exchange, request, message):
        """`message`: the text, or a whole message with tool calls."""
        if isinstance(message, str):
            message = {"role": "assistant", "content": message, "refusal": None}
        head = {"id": f"chatcmpl-{next(self.numbers)}", "created": int(time.time()), "model": request["model"]}
        usage = usage_of(request, message.get("content") or "")
        finish = "tool_calls" if message.get("tool_calls") else "stop"
        if request.get("stream"):
            return await self.stream(exchange, request, head, message, finish, usage)
        choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": finish}
        await exchange.send(200, {**head, "object": "chat.completion", "choices": [choice], "usage": usage})

    def deltas(self, message):
        yield {"role": "assistant", "content": ""}
        text = message.get("content") or ""
        for at in range(0, len(text), 7):
            yield {"content": text[at:at + 7]}
        for index, call in enumerate(message.get("tool_calls") or []):
            yield {"tool_calls": [{"index": index, **call}]}

    async def stream(self, exchange, request, head, message, finish, usage):
        with_usage = (request.get("stream_options") or {}).get("include_usage")
        more = {"usage": None} if with_usage else {}
        head = {**head, "object": "chat.completion.chunk"}
        await exchange.begin_events()
        for delta in self.deltas(message):
            await self.send_chunk(exchange, {**head, "choices": [{"index": 0, "delta": delta, "finish_reason": None}], **more})
        await self.send_chunk(exchange, {**head, "choices": [{"index": 0, "delta": {}, "finish_reason": finish}], **more})
        if with_usage:
            await self.send_chunk(exchange, {**head, "choices": [], "usage": usage})
        await exchange.end_events()

    async def send_chunk(self, exchange, chunk):
        await exchange.send_event(chunk)

    async def handle(self, exchange):
        if exchange.method == "POST" and exchange.path.endswith("/chat/completions"):
            await self.chat(exchange)
        elif exchange.method == "GET" and exchange.path.endswith("/models"):
            await exchange.send(200, {"object": "list", "data": [{"id": name, "object": "model", "created": 0, "owned_by": "here"} for name in self.models]})
        else:
            await exchange.fail(404, f"no such path: {exchange.path}")

    # -- connections

    async def connection(self, reader, writer):
        try:
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
                method, path, _ = head[0].split(" ", 2)
                headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in head[1:] if line)}
                body = await reader.readexactly(int(headers.get("content-length", 0)))
                await self.handle(Exchange(method, path, headers, body, reader, writer))
                if headers.get("connection", "").lower() == "close":
                    return
        except (asyncio.IncompleteReadError, ConnectionError, asyncio.CancelledError):
            pass  # the other side is done, or this one
        finally:
            writer.close()

    async def serve(self, port, ready):
        self.loop, self.stopping = asyncio.get_running_loop(), asyncio.Event()
        server = await asyncio.start_server(self.connection, "127.0.0.1", port, limit=1 << 24)
        self.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        ready.set()
        async with server:
            await self.stopping.wait()
        for task in asyncio.all_tasks() - {asyncio.current_task()}:
            task.cancel()

    def start(self, port=0):
        ready = threading.Event()
        self.thread = threading.Thread(target=lambda: asyncio.run(self.serve(port, ready)), daemon=True)
        self.thread.start()
        ready.wait(30)
        return self

    def stop(self):
        self.loop.call_soon_threadsafe(self.stopping.set)
        self.thread.join(30)
