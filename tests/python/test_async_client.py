"""Both clients on the wire: kept connections, cancelled calls, timeouts, TLS and every shape that an answer may have. What decisions and
feedback mean is in test_client.py."""
import asyncio
import os
import shutil
import socket
import ssl
import subprocess
import sys
import tempfile
import threading

import pytest

import margin

sys.path.insert(0, os.path.join(os.environ["MARGIN_SOURCE"], "tests", "server"))
from harness import Server  # noqa: E402

BODY = b'{"feedback_id":"f","status":"applied","updated":["a"]}'
RECEIPT = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s" % (len(BODY), BODY)
SILENCE = None


class Wire:
    """A server that answers every request with the next of `answers`, the bytes as they are, or with silence; then closes where told."""

    def __init__(self, *answers, close_after=False, context=None):
        self.answers, self.close_after, self.context = list(answers), close_after, context
        self.requests, self.accepted, self.left = [], 0, threading.Semaphore(0)
        self.asked = threading.Semaphore(0)
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http{'s' if context else ''}://127.0.0.1:{self.listener.getsockname()[1]}"
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self):
        while True:
            try:
                connection, _ = self.listener.accept()
            except OSError:
                return
            self.accepted += 1
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection):
        try:
            with (self.context.wrap_socket(connection, server_side=True) if self.context else connection) as talking:
                stream = talking.makefile("rb")
                while self._answer(talking, stream):
                    pass
        except OSError:
            pass
        self.left.release()

    def _answer(self, talking, stream):
        head = b""
        while not head.endswith(b"\r\n\r\n"):
            line = stream.readline()
            if not line:
                return False
            head += line
        lengths = [int(line.split(b":")[1]) for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:")]
        self.requests.append((head, stream.read(lengths[0] if lengths else 0)))
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        self.asked.release()
        if answer is SILENCE:
            stream.read(1)  # until the client leaves
            return False
        talking.sendall(answer)
        return not self.close_after

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.listener.close()


def with_client(url, use, **options):
    async def run():
        async with margin.AsyncClient(url, **options) as client:
            return await use(client)

    return asyncio.run(run())


def ask_sync(url, **options):
    with margin.Client(url, **options) as client:
        return client.feedback("d", outcome=1)


def ask_async(url, **options):
    return with_client(url, lambda client: client.feedback("d", outcome=1), **options)


BOTH = pytest.mark.parametrize("ask", [ask_sync, ask_async], ids=["sync", "async"])

ANSWERS = {
    "with a length": (RECEIPT, False),
    "in chunks": (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n%s\r\n%x;note=1\r\n%s\r\n0\r\nTrailer: x\r\n\r\n" %
                  (BODY[:5], len(BODY[5:]), BODY[5:]), False),
    "until the end": (b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n" + BODY, True),
    "of an older version": (b"HTTP/1.0 200 OK\r\n\r\n" + BODY, True),
    "after a notice": (b"HTTP/1.1 100 Continue\r\n\r\n" + RECEIPT, False),
    "without a reason": (RECEIPT.replace(b"200 OK", b"200"), False),
}


@BOTH
@pytest.mark.parametrize("shape", ANSWERS)
def test_an_answer_may_have_any_shape_of_http(ask, shape):
    answer, close_after = ANSWERS[shape]
    with Wire(answer, close_after=close_after) as wire:
        assert ask(wire.url).updated == ["a"]
        assert len(wire.requests) == 1


BROKEN = {
    "no HTTP": b"SSH-2.0-OpenSSH\r\n\r\n",
    "a short body": b"HTTP/1.1 200 OK\r\nContent-Length: 999\r\n\r\n{}",
    "a length beyond all bounds": b"HTTP/1.1 200 OK\r\nContent-Length: 99999999999999\r\n\r\n{}",
    "a chunk that is no number": b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n\r\n",
    "a head without end": b"HTTP/1.1 200 OK\r\n" + b"X: y\r\n" * 30000,
    "nothing": b"",
}


@BOTH
@pytest.mark.parametrize("kind", BROKEN)
def test_what_is_no_answer_is_unavailable_after_every_try(ask, kind):
    with Wire(BROKEN[kind], close_after=True) as wire:
        with pytest.raises(margin.Unavailable):
            ask(wire.url, retries=1)
        assert len(wire.requests) == 2


@BOTH
def test_a_server_that_says_nothing_is_given_up(ask):
    with Wire(SILENCE) as wire:
        with pytest.raises(margin.Unavailable, match="timed out"):
            ask(wire.url, timeout=0.2, retries=1)
        assert len(wire.requests) == 2 and len({headers for headers, _ in wire.requests}) == 1, "two tries under one key"
        assert wire.left.acquire(timeout=30) and wire.left.acquire(timeout=30), "both connections were closed"


@BOTH
def test_a_timeout_on_a_kept_connection_is_a_try(ask):
    with Wire(RECEIPT, SILENCE) as wire:
        if ask is ask_sync:
            with margin.Client(wire.url, timeout=0.2, retries=0) as client:
                client.feedback("d", outcome=1)
                with pytest.raises(margin.Unavailable):
                    client.feedback("d", outcome=1)
        else:

            async def use(client):
                await client.feedback("d", outcome=1)
                with pytest.raises(margin.Unavailable):
                    await client.feedback("d", outcome=1)

            with_client(wire.url, use, timeout=0.2, retries=0)
        assert len(wire.requests) == 2 and wire.accepted == 1


def test_connections_are_kept():
    with Wire(RECEIPT) as wire:
        with margin.Client(wire.url) as client:
            threads = [threading.Thread(target=client.feedback, args=("d",), kwargs={"outcome": 1}) for _ in range(20)]
            for thread in threads:  # one after the other: a thread that ends leaves its connection to the next
                thread.start()
                thread.join()
        assert (len(wire.requests), wire.accepted) == (20, 1)

        async def use(client):
            for _ in range(20):
                await client.feedback("d", outcome=1)

        with_client(wire.url, use)
        assert (len(wire.requests), wire.accepted) == (40, 2)


@BOTH
def test_a_kept_connection_that_was_closed_costs_no_try(ask):
    with Wire(RECEIPT, close_after=True) as wire:

        async def use(client):
            for _ in range(5):
                await client.feedback("d", outcome=1)
                await asyncio.to_thread(wire.left.acquire)

        if ask is ask_sync:
            with margin.Client(wire.url, retries=0) as client:
                for _ in range(5):
                    client.feedback("d", outcome=1)
                    wire.left.acquire()
        else:
            with_client(wire.url, use, retries=0)
        assert len(wire.requests) == 5


def test_a_cancelled_call_closes_its_connection():
    with Wire(SILENCE, RECEIPT) as wire:

        async def use(client):
            call = asyncio.ensure_future(client.feedback("d", outcome=1))
            await asyncio.to_thread(wire.asked.acquire)
            call.cancel()
            with pytest.raises(asyncio.CancelledError):
                await call
            assert await asyncio.to_thread(wire.left.acquire, True, 30), "the server sees the client leave"
            with pytest.raises(asyncio.TimeoutError):
                wire.answers.insert(0, SILENCE)
                await asyncio.wait_for(client.feedback("e", outcome=1), 0.1)
            assert (await client.feedback("f", outcome=1)).updated == ["a"]

        with_client(wire.url, use, connections=1)
        assert wire.accepted == 3


def test_no_more_than_the_connections_are_under_way():
    with Wire(SILENCE) as wire:

        async def use(client):
            calls = [asyncio.ensure_future(client.feedback("d", outcome=1)) for _ in range(10)]
            for _ in range(3):
                await asyncio.to_thread(wire.asked.acquire)
            await asyncio.sleep(0.05)
            for call in calls:
                call.cancel()
            await asyncio.gather(*calls, return_exceptions=True)

        with_client(wire.url, use, connections=3)
        assert wire.accepted == len(wire.requests) == 3


def test_a_client_may_go_from_one_event_loop_to_the_next():
    with Wire(RECEIPT) as wire:
        client = margin.AsyncClient(wire.url)
        for _ in range(3):
            assert asyncio.run(client.feedback("d", outcome=1)).updated == ["a"]
        asyncio.run(client.close())


@pytest.fixture(scope="module")
def certificate(tmp_path_factory):
    if not shutil.which("openssl"):
        pytest.skip("there is no openssl")
    folder = tmp_path_factory.mktemp("tls")
    subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=127.0.0.1", "-addext",
                    "subjectAltName=IP:127.0.0.1", "-keyout", folder / "key.pem", "-out", folder / "cert.pem"], check=True,
                   capture_output=True)
    return folder


@BOTH
def test_tls_is_checked(ask, certificate):
    serving = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    serving.load_cert_chain(certificate / "cert.pem", certificate / "key.pem")
    with Wire(RECEIPT, context=serving) as wire:
        with pytest.raises(margin.Unavailable, match="(?i)certificate"):
            ask(wire.url, retries=0)
        assert not wire.requests
        trusting = ssl.create_default_context(cafile=str(certificate / "cert.pem"))
        assert ask(wire.url, context=trusting, retries=0).updated == ["a"]


@BOTH
def test_headers_hold_what_they_should(ask):
    with Wire(RECEIPT) as wire:
        ask(wire.url, key="sk-mg-x")
        head, body = wire.requests[0]
        assert head.startswith(b"POST /v1/feedback HTTP/1.1\r\n") and b"\r\nAuthorization: Bearer sk-mg-x\r\n" in head
        assert b'"decision_id": "d"' in body
        for name, call in {"key": lambda: ask(wire.url, key="a\r\nX: y"), "port": lambda: ask("http://127.0.0.1:x"),
                           "timeout": lambda: ask(wire.url, timeout=0)}.items():
            with pytest.raises(margin.InvalidArgument):
                call()
        with margin.Client(wire.url) as client, pytest.raises(margin.InvalidArgument, match="Idempotency-Key"):
            client.feedback("d", outcome=1, idempotency_key="a\nb")
        with pytest.raises(margin.InvalidArgument, match="Idempotency-Key"):
            with_client(wire.url, lambda client: client.feedback("d", outcome=1, idempotency_key="a\nb"))
        assert len(wire.requests) == 1


@pytest.mark.parametrize("connections", [8, 200])
def test_two_hundred_at_once_get_their_own_answers(connections):
    async def use(client):
        made = await asyncio.gather(*(client.decide([("a", f"answer {i}", 0.9)]) for i in range(200)))
        assert [decision.answer for decision in made] == [f"answer {i}" for i in range(200)]
        # Some are cancelled on the way; the others still get what is theirs.
        calls = [asyncio.ensure_future(client.decide([("a", f"again {i}", 0.9)])) for i in range(200)]
        await asyncio.wait(calls, return_when=asyncio.FIRST_COMPLETED)
        for call in calls[::3]:
            call.cancel()
        for i, result in enumerate(await asyncio.gather(*calls, return_exceptions=True)):
            assert isinstance(result, asyncio.CancelledError) and i % 3 == 0 or result.answer == f"again {i}"
        return made

    with tempfile.TemporaryDirectory() as folder:
        server = Server(folder)
        try:
            made = with_client(server.url, use, connections=connections)
        finally:
            server.stop()
    assert len({decision.decision_id for decision in made}) == 200


def test_a_server_that_was_restarted_is_found_again():
    with tempfile.TemporaryDirectory() as folder:
        first = Server(folder)

        async def use(client):
            made = await asyncio.gather(*(client.decide([("a", "x", 0.9)]) for _ in range(20)))
            await asyncio.to_thread(first.kill)
            assert not await margin.AsyncClient(first.url, retries=0).ready()
            again = await asyncio.to_thread(Server, folder, listen=f"{first.host}:{first.port}")
            try:
                return await asyncio.gather(*(client.feedback(decision.decision_id, outcome=1) for decision in made))
            finally:
                await asyncio.to_thread(again.stop)

        assert {receipt.status for receipt in with_client(first.url, use)} == {"applied"}
