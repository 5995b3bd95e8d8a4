"""`margin decide` and `margin feedback` against a server that is scripted here: what they send, what they make of every kind of answer.

server_commands.py MARGIN
"""

import json
import os
import socket
import ssl
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

margin = str(Path(sys.argv[1]).resolve())
failures = []


def expect(truth, what):
    if not truth:
        failures.append(what)


class Scripted:
    """Takes one connection, keeps what came and gives `reply`; `hold` keeps the connection open and silent."""

    def __init__(self, reply, tls=None, hold=False):
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.reply, self.tls, self.hold, self.got = reply, tls, hold, b""
        self.released = threading.Event()
        self.thread = threading.Thread(target=self.serve, daemon=True)
        self.thread.start()

    def serve(self):
        connection, _ = self.listener.accept()
        try:
            if self.tls:
                connection = self.tls.wrap_socket(connection, server_side=True)
            while b"\r\n\r\n" not in self.got or len(self.body()) < int(self.headers()["content-length"]):
                self.got += connection.recv(65536)
            connection.sendall(self.reply)
            if self.hold:
                self.released.wait(30)
            if self.tls:
                connection.unwrap()
        except OSError:
            pass  # a client that does not trust us hangs up
        finally:
            connection.close()

    def headers(self):
        lines = self.got.split(b"\r\n\r\n")[0].decode().split("\r\n")[1:]
        return {name.lower(): value for name, value in (line.split(": ", 1) for line in lines)}

    def body(self):
        return self.got.partition(b"\r\n\r\n")[2]

    def request_line(self):
        return self.got.split(b"\r\n")[0].decode()


def response(body, status="200 OK", headers=""):
    payload = body.encode()
    return f"HTTP/1.1 {status}\r\nContent-Length: {len(payload)}\r\n{headers}\r\n".encode() + payload


def run(server, *arguments, code=0, stdin=None, scheme="http", host="127.0.0.1", **variables):
    environment = {name: value for name, value in os.environ.items() if name != "MARGIN_KEY"}
    done = subprocess.run([margin, arguments[0], "--server", f"{scheme}://{host}:{server.port}", *arguments[1:]], capture_output=True, check=False,
                          text=True, timeout=60, input=stdin, env={**environment, **variables})
    server.released.set()
    server.listener.close()
    expect(done.returncode == code, f"{arguments}: exit {done.returncode}, expected {code}: {done.stderr}")
    return done


DECISION = json.dumps({"decision_id": "0190b5a2-7c3e-7d11-8a4f-2b6c9d0e1f23", "answer": "Paris", "model": "gpt-x", "p_correct": 0.914,
                       "interval": [0.84, 0.95], "status": "calibrated", "abstained": False, "grade_please": ["llama", "b\u001b[2J"]})
RECEIPT = json.dumps({"feedback_id": "0190b5a2-7c3e-7d11-8a4f-2b6c9d0e1f24", "status": "applied", "updated": ["gpt-x", "llama"]})

# What is sent, and what a person reads.
server = Scripted(response(DECISION))
done = run(server, "decide", "--pool", "law", "--task", "q17", "--max-error", "0.1", 'gpt-x=Paris:0.9', 'llama=a "b": c:1')
expect(server.request_line() == "POST /v1/decide HTTP/1.1", server.request_line())
expect(json.loads(server.body()) == {"pool": "law", "task_id": "q17", "max_error": 0.1, "responses": [
    {"model": "gpt-x", "answer": "Paris", "confidence": 0.9}, {"model": "llama", "answer": 'a "b": c', "confidence": 1}]}, f"sent {server.body()}")
expect("authorization" not in server.headers() and server.headers()["content-type"] == "application/json", f"headers {server.headers()}")
expect(done.stdout == "Paris\n  right with probability 0.91, 0.84 to 0.95 (calibrated), as gpt-x says\n"
       "  decision 0190b5a2-7c3e-7d11-8a4f-2b6c9d0e1f23\n  please grade: llama, b\\x1b[2J\n", f"said {done.stdout!r}")

# JSON as it came; a body as it is typed; chunks.
server = Scripted(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5;x=1\r\n{\"a\":\r\n3\r\n 1}\r\n0\r\n\r\n")
done = run(server, "decide", "--body", "-", "--json", stdin='{"responses":[]}')
expect(server.body() == b'{"responses":[]}' and done.stdout == '{"a": 1}\n', f"{server.body()} {done.stdout}")

# Feedback in its three forms.
for arguments, sent in (
    (["--correct-answer", "Paris", "--weight", "0.5", "--replace"], {"correct_answer": "Paris", "weight": 0.5, "replace": True}),
    (["--outcome", "1"], {"outcome": 1}),
    (["--outcomes", "gpt-x=1,a=b=0.25"], {"outcomes": {"gpt-x": 1, "a=b": 0.25}}),
):
    server = Scripted(response(RECEIPT))
    done = run(server, "feedback", "0190", *arguments, "--idempotency-key", "k 1")
    expect(json.loads(server.body()) == {"decision_id": "0190", **sent}, f"sent {server.body()}")
    expect(server.headers()["idempotency-key"] == "k 1", f"headers {server.headers()}")
    expect(done.stdout == "applied, learned: gpt-x, llama\n  feedback 0190b5a2-7c3e-7d11-8a4f-2b6c9d0e1f24\n", f"said {done.stdout!r}")

with tempfile.TemporaryDirectory() as folder:
    # The key: from the variable, from a file, the file winning.
    key_file = Path(folder) / "key"
    key_file.write_text("sk-mg-file\n")
    server = Scripted(response(RECEIPT))
    run(server, "feedback", "0190", "--outcome", "0", MARGIN_KEY="sk-mg-variable")
    expect(server.headers()["authorization"] == "Bearer sk-mg-variable", "the variable's key was not sent")
    server = Scripted(response(RECEIPT))
    run(server, "feedback", "0190", "--outcome", "0", "--key-file", str(key_file), MARGIN_KEY="sk-mg-variable")
    expect(server.headers()["authorization"] == "Bearer sk-mg-file", "the file's key was not sent")
    key_file.write_text("a\r\nX-Evil: 1")
    server = Scripted(response(RECEIPT))
    done = run(server, "feedback", "0190", "--outcome", "0", "--key-file", str(key_file), code=2)
    expect("a line end within a header" in done.stderr, done.stderr)

    # TLS: trusted by its certificate, refused without it and under another name.
    certificate, private = Path(folder) / "cert.pem", Path(folder) / "key.pem"
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2", "-subj", "/CN=margin",
                    "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", private, "-out", certificate], check=True, capture_output=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, private)
    server = Scripted(response(RECEIPT), tls=context)
    done = run(server, "feedback", "0190", "--outcome", "0", "--certificates", str(certificate), scheme="https")
    expect(done.stdout.startswith("applied"), done.stdout)
    server = Scripted(response(RECEIPT), tls=context)
    done = run(server, "feedback", "0190", "--outcome", "0", scheme="https", code=1)
    expect("no trusted connection" in done.stderr, done.stderr)
    server = Scripted(response(RECEIPT), tls=context)
    done = run(server, "feedback", "0190", "--outcome", "0", "--certificates", str(certificate), scheme="https", host="localhost", code=1)
    expect("no trusted connection" in done.stderr, done.stderr)
    server = Scripted(b"")
    done = run(server, "feedback", "0190", "--outcome", "0", "--certificates", str(Path(folder) / "no"), scheme="https", code=2)
    expect("no certificates can be read" in done.stderr, done.stderr)

# Refusals: the server's words, and whose fault it is.
ERROR = json.dumps({"error": {"message": "responses: expected a list\u001b", "type": "invalid_request_error", "param": "responses", "code": None}})
for status, code in (("400 Bad Request", 2), ("404 Not Found", 2), ("409 Conflict", 2), ("401 Unauthorized", 1), ("403 Forbidden", 1),
                     ("429 Too Many Requests", 1), ("500 Internal Server Error", 1), ("302 Found", 1)):
    done = run(Scripted(response(ERROR, status)), "decide", "a=b:1", code=code)
    expect(done.stderr == f"margin: the server says {status[:3]}: responses: expected a list\\x1b\n" and not done.stdout, f"{status}: {done.stderr}")

# Answers that are none.
for reply, words in ((b"", "closed the connection without a word"), (b"SSH-2.0-x\r\n", "it begins with SSH-2.0-x"),
                     (b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n{}", "ends before its body does"),
                     (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\n{}", "ends within a chunk"),
                     (b"HTTP/1.1 200 OK\r\nContent-Le", "ends within its headers"), (response("[]"), "is not understood"),
                     (response('{"status":'), "is not understood")):
    done = run(Scripted(reply), "decide", "a=b:1", code=1)
    expect(words in done.stderr, f"{reply}: {done.stderr}")
done = run(Scripted(b"", hold=True), "decide", "a=b:1", "--timeout", "1", code=1)
expect("no answer in time" in done.stderr, done.stderr)

# Nobody there.
probe = socket.create_server(("127.0.0.1", 0))
free = probe.getsockname()[1]
probe.close()
done = subprocess.run([margin, "decide", "--server", f"http://127.0.0.1:{free}", "a=b:1"], capture_output=True, check=False, text=True, timeout=60)
expect(done.returncode == 1 and done.stderr == f"margin: http://127.0.0.1:{free} does not answer: Connection refused (is the server running? "
       "`margin serve` starts one)\n", done.stderr)

# What is wrong before anybody is asked.
for arguments, words in (
    (["decide", "a=b"], "expected MODEL=ANSWER:CONFIDENCE"), (["decide", "a=b:1.5"], "expected MODEL=ANSWER:CONFIDENCE"), (["decide"], "expected either responses"),
    (["decide", "a=b:1", "--body", "-"], "expected either responses"), (["decide", "a=b:1", "--server", "ftp://x"], "expected http://HOST:PORT"),
    (["decide", "a=b:1", "--server", "http://x/v1"], "expected http://HOST:PORT"), (["feedback", "0190"], "expected exactly one of"),
    (["feedback", "0190", "--outcome", "1", "--correct-answer", "x"], "expected exactly one of"), (["feedback", "0190", "--outcomes", "a=2"], "expected MODEL=OUTCOME"),
    (["decide", "a=b:1", "--key-file", "no/such"], "no/such: cannot be read"),
):
    done = subprocess.run([margin, *arguments], capture_output=True, check=False, text=True, timeout=60, input="")
    expect(done.returncode == 2 and words in done.stderr, f"{arguments}: {done.returncode} {done.stderr}")

print("\n".join(failures) or "everything was said and understood")
sys.exit(1 if failures else 0)
