"""A real `margin serve` for tests: started on a free port with a store of its own, asked over HTTP, stopped or killed."""
import http.client
import http.server
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest

BINARY = os.environ["MARGIN_BINARY"]
SERVER = os.environ.get("MARGIN_SERVER_BINARY", BINARY)  # another one that serves


class Answer:
    def __init__(self, status, headers, body):
        self.status, self.headers, self.body = status, headers, body

    @property
    def json(self):
        return json.loads(self.body)

    @property
    def error(self):
        return self.json["error"]


class Server:
    def __init__(self, folder, *flags, config=None, env=None, wait=True, store="margin.db", listen="127.0.0.1:0"):
        self.folder = pathlib.Path(folder)
        self.store = self.folder / store
        command = [SERVER, "serve", "--listen", listen, "--store", str(self.store), *flags]
        if config is not None:
            self.config = self.folder / "margin.toml"
            self.config.write_text(config)
            command += ["--config", str(self.config)]
        self.log_path = self.folder / "server.log"
        self.log = open(self.log_path, "ab")
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=self.log, cwd=self.folder, env={**os.environ, **(env or {})})
        self.url = None
        self.connection = threading.local()
        if wait:
            line = self.process.stdout.readline().decode()
            if "http" not in line:
                self.process.wait(30)
                raise RuntimeError(f"margin serve did not start: {self.log_path.read_text()[-2000:]}")
            self.url = line.split()[-1]
            self.host, self.port = self.url.split("//")[1].rsplit(":", 1)

    def fresh(self):
        return http.client.HTTPConnection(self.host, int(self.port), timeout=60)

    def ask(self, method, path, body=None, headers=None, key=None, raw=None):
        """One request; the connection of this thread is kept. `raw` is a body that is sent as it is."""
        sent = dict(headers or {})
        if key:
            sent["Authorization"] = "Bearer " + key
        data = raw
        if body is not None:
            data = json.dumps(body).encode()
        if data is not None:
            sent.setdefault("Content-Type", "application/json")
        held = getattr(self.connection, "held", None)
        if held is None:
            held = self.connection.held = self.fresh()
        try:
            held.request(method, path, body=data, headers=sent)
            reply = held.getresponse()
            answer = Answer(reply.status, reply.headers, reply.read())
        except Exception:
            held.close()
            self.connection.held = None
            raise
        if reply.will_close:
            held.close()
            self.connection.held = None
        return answer

    def get(self, path, **kw):
        return self.ask("GET", path, **kw)

    def post(self, path, body=None, **kw):
        return self.ask("POST", path, body, **kw)

    def put(self, path, body=None, **kw):
        return self.ask("PUT", path, body, **kw)

    def delete(self, path, **kw):
        return self.ask("DELETE", path, **kw)

    def decide(self, answers, **fields):
        """`answers`: {model: (answer, confidence)}."""
        responses = [{"model": m, "answer": a, "confidence": c} for m, (a, c) in answers.items()]
        answer = self.post("/v1/decide", {"responses": responses, **fields})
        assert answer.status == 200, answer.body
        return answer.json

    def digests(self):
        return {p["pool"]: p["digest"] for p in self.get("/status?digest=true").json["pools"]}

    def stop(self, how=signal.SIGTERM):
        if getattr(self.connection, "held", None) is not None:
            self.connection.held.close()
            self.connection.held = None
        if self.process.poll() is None:
            self.process.send_signal(how)
        self.process.wait(60)
        self.process.stdout.close()
        self.log.close()
        return self.process.returncode

    def kill(self):
        return self.stop(signal.SIGKILL)

    @property
    def journal(self):
        return self.log_path.read_text(errors="replace")

    def wait_for(self, text, seconds=30):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if text in self.journal:
                return
            time.sleep(0.02)
        raise AssertionError(f"{text!r} did not appear in the log:\n{self.journal[-2000:]}")


class ServerTest(unittest.TestCase):
    """Each test has a folder; servers it starts are stopped behind it."""

    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="margin-test-")
        self.addCleanup(lambda: subprocess.run(["rm", "-rf", self.folder], check=False))

    def serve(self, *flags, **kw):
        server = Server(self.folder, *flags, **kw)
        self.addCleanup(lambda: server.log.closed or server.kill())
        return server

    def teach(self, server, rounds=5):
        """Decisions of two models, of which a is right."""
        for _ in range(rounds):
            made = server.decide({"a": ("x", 0.9), "b": ("y", 0.6)})
            server.post("/v1/feedback", {"decision_id": made["decision_id"], "correct_answer": "x"})

    def one_model(self, content):
        """The address of a model that always says the same, for the chat routes, and the bodies it was sent."""
        asked = []

        class Model(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                asked.append(self.rfile.read(int(self.headers["Content-Length"])))
                reply = {"id": "x", "object": "chat.completion", "created": 1, "model": "m", "usage": {"prompt_tokens": 3, "completion_tokens": 2, "total_tokens": 5},
                         "choices": [{"index": 0, "message": {"role": "assistant", "content": content}, "finish_reason": "stop"}]}
                body = json.dumps(reply).encode()
                self.send_response(200)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_):
                pass

        upstream = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Model)
        threading.Thread(target=upstream.serve_forever, daemon=True).start()
        self.addCleanup(upstream.server_close)
        self.addCleanup(upstream.shutdown)
        return f"http://127.0.0.1:{upstream.server_address[1]}/v1", asked

    def margin(self, *arguments, code=0, **kw):
        done = subprocess.run([BINARY, *arguments], capture_output=True, text=True, cwd=self.folder, timeout=300, **kw)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done.stdout


def main():
    unittest.main(argv=[sys.argv[0], "-v", *sys.argv[1:]])
