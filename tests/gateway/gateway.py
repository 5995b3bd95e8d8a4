"""A real `margin serve` in front of the misbehaving upstream, for the gateway's tests."""
import concurrent.futures
import json
import pathlib
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "server"))
from harness import Answer, Server, ServerTest, main  # noqa: E402,F401
from upstream import Upstream  # noqa: E402

QUESTION = [{"role": "user", "content": "Which letter? A) one B) two"}]


def says(letter, confidence):
    return f"Answer: {letter}\n\nConfidence: {confidence}"


class Frame:
    """One event of a stream: a comment, or data."""

    def __init__(self, text, at):
        self.at, self.comment, self.data = at, None, None
        if text.startswith(":"):
            self.comment = text[1:].strip()
        elif text.startswith("data: "):
            self.data = text[len("data: "):]
        else:
            raise AssertionError(f"neither comment nor data: {text!r}")

    @property
    def json(self):
        return json.loads(self.data)


class Stream:
    """A streamed reply, read frame by frame as it comes."""

    def __init__(self, reply, connection):
        self.status, self.headers, self.reply, self.connection = reply.status, reply.headers, reply, connection

    def frames(self):
        lines = []
        while True:
            line = self.reply.readline()
            if not line:
                assert not lines, f"the stream ends within a frame: {lines}"
                return
            if line != b"\n":
                lines.append(line.decode())
                continue
            yield Frame("".join(lines).rstrip("\n"), time.monotonic())
            lines = []

    def close(self):
        self.connection.close()


class GatewayTest(ServerTest):
    def setUp(self):
        super().setUp()
        self.upstream = Upstream().start()
        self.addCleanup(self.upstream.stop)

    def gateway(self, *models, pool=None, upstreams=None, more="", flags=(), **kw):
        """A server with the pool `quiz` of the named models of the upstream; "a!slow=1" is in the pool as "a". `pool` and `upstreams` add
        settings: of the pool, and of an upstream by its name ("*": of each)."""
        names = [model.partition("!")[0] for model in models]
        upstreams = upstreams or {}
        lines = ['[store]', 'durability = "process"', more]
        for name, model in zip(names, models):
            settings = {"url": self.upstream.url + "/v1", "model": model, **upstreams.get("*", {}), **upstreams.get(name, {})}
            lines += [f"[upstreams.{name}]", *(f"{key} = {json.dumps(value)}" for key, value in settings.items())]
        # `margin` takes confidences as stated before it has learned, so that tests can do the sums.
        settings = {"models": names, "task": "choice", "calibrator": "margin", **(pool or {})}
        lines += ["[pools.quiz]", *(f"{key} = {json.dumps(value)}" for key, value in settings.items())]
        return self.start(tempfile.mkdtemp(dir=self.folder), *flags, config="\n".join(lines) + "\n", **kw)

    def start(self, *arguments, **kw):
        server = Server(*arguments, **kw)
        self.addCleanup(lambda: server.log.closed or server.kill())
        return server

    def again(self, server):
        """Another server on the folder of one that is gone."""
        return self.start(server.folder, config=server.config.read_text())

    def chat(self, server, model="margin/quiz", messages=None, key=None, headers=None, **fields):
        body = {"model": model, "messages": QUESTION if messages is None else messages, **fields}
        return server.post("/v1/chat/completions", body, key=key, headers=headers)

    def stream(self, server, model="margin/quiz", messages=None, headers=None, **fields):
        connection = server.fresh()
        self.addCleanup(connection.close)
        body = {"model": model, "messages": QUESTION if messages is None else messages, "stream": True, **fields}
        connection.request("POST", "/v1/chat/completions", json.dumps(body), {"Content-Type": "application/json", **(headers or {})})
        return Stream(connection.getresponse(), connection)

    def answered(self, answer):
        self.assertEqual(answer.status, 200, answer.body)
        return answer.json

    def eventually(self, value, holds, seconds=20):
        """`value()` as soon as it holds."""
        end = time.monotonic() + seconds
        while not holds(got := value()):
            self.assertLess(time.monotonic(), end, f"it never came to hold: {got}")
            time.sleep(0.01)
        return got

    def at_once(self, call, times):
        with concurrent.futures.ThreadPoolExecutor(times) as threads:
            return [future.result() for future in [threads.submit(call) for _ in range(times)]]

    def folder_path(self):
        return pathlib.Path(self.folder)
