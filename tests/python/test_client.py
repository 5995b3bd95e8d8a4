"""margin.Client and AsyncClient against a real `margin serve`, and against one that fails in every way it can."""
import asyncio
import dataclasses
import http.server
import inspect
import os
import sys
import tempfile
import threading

import cli
import golden
import numpy as np
import pytest

import margin

sys.path.insert(0, os.path.join(os.environ["MARGIN_SOURCE"], "tests", "server"))
from harness import Server  # noqa: E402


@pytest.fixture(scope="module")
def server():
    with tempfile.TemporaryDirectory() as folder:
        started = Server(folder)
        yield started
        started.stop()


@pytest.fixture()
def client(server):
    with margin.Client(server.url) as made:
        yield made


def same_to_twelve_places(remote, local):
    """The server tells figures to twelve decimal places; everything else must be the same."""
    if isinstance(local, float):
        return remote == pytest.approx(local, rel=0, abs=1e-12)
    if isinstance(local, dict):
        return remote.keys() == local.keys() and all(same_to_twelve_places(remote[key], local[key]) for key in local)
    if isinstance(local, (list, tuple)):
        return len(remote) == len(local) and all(map(same_to_twelve_places, remote, local))
    return remote == local


def test_decisions_are_those_of_a_pool_in_the_process(server, client):
    server.put("/v1/pools/twin", {"calibrator": "margin_adaptive", "vote": "stacked"})
    pool = margin.Pool("margin_adaptive", "stacked")
    for rows in golden.tasks("shift")[:150]:
        responses = [(row["model"], row["answer"], row["confidence"]) for row in rows]
        remote = client.decide(responses, pool="twin", task_id=rows[0]["task"])
        local = pool.decide(responses, task=rows[0]["task"], decision_id=remote.decision_id)
        assert same_to_twelve_places(dataclasses.asdict(remote), dataclasses.asdict(local)), (remote, local)
        outcomes = {row["model"]: row["correct"] for row in rows}
        assert client.feedback(remote.decision_id, outcomes=outcomes).updated == pool.feedback(local.decision_id, outcomes=outcomes).updated
    remote, local = client.factors("twin"), pool.factors()
    assert list(remote["model"]) == list(local["model"])
    for name in ("factor", "calibrated", "n", "low", "high", "effective_n"):
        assert np.array_equal(remote[name], local[name], equal_nan=True), name


def test_what_a_server_knows(client):
    decision = client.decide([margin.Response("a", "Paris", 0.9), {"model": "b", "answer": "Lyon", "confidence": 0.8}])
    assert client.ready() and "default" in [pool["pool"] for pool in client.pools()]
    receipt = client.feedback(decision.decision_id, correct_answer="Paris")
    assert receipt.status == "applied" and sorted(receipt.updated) == ["a", "b"]
    record = client.decision(decision.decision_id)
    assert {outcome["model"]: outcome["outcome"] for outcome in record["outcomes"]} == {"a": 1, "b": 0}
    scores = client.calibration()
    assert scores["models"]["b"]["accuracy"] == 0 and set(client.calibration(model="a")["models"]) == {"a"}


def test_the_same_key_is_the_same_request(client):
    first = client.decide([("a", "x", 0.9)], idempotency_key="once")
    assert client.decide([("a", "x", 0.9)], idempotency_key="once").decision_id == first.decision_id
    with pytest.raises(margin.InvalidArgument) as raised:
        client.decide([("a", "y", 0.9)], idempotency_key="once")
    assert (raised.value.status, raised.value.code) == (422, "idempotency_key_reused")
    assert client.feedback(first.decision_id, outcome=1, idempotency_key="f").feedback_id == client.feedback(
        first.decision_id, outcome=1, idempotency_key="f").feedback_id


def test_many_feedbacks_at_once(client):
    ids = [client.decide([("a", "x", 0.9)]).decision_id for _ in range(3)]
    results = client.feedback_batch([{"decision_id": ids[0], "outcome": 1}, {"decision_id": ids[1], "outcome": 7},
                                     {"decision_id": ids[2], "outcomes": {"a": 0}}])
    assert [type(result).__name__ for result in results] == ["Receipt", "InvalidArgument", "Receipt"]
    assert results[0].updated == ["a"] and "outcome" in str(results[1])
    assert client.feedback_batch([]) == []


@pytest.mark.parametrize("call, error, status, param", [
    (lambda c: c.decide([]), margin.InvalidArgument, 400, "responses"),
    (lambda c: c.decide([("a", "x", 2.0)]), margin.InvalidArgument, 400, "responses[0].confidence"),
    (lambda c: c.decide([("a", "x", 0.5)], pool="nowhere"), margin.NotFound, 404, None),
    (lambda c: c.decision("01890a5d-ac96-774b-bcce-b302099a8057"), margin.NotFound, 404, None),
    (lambda c: c.factors("no where"), margin.InvalidArgument, 400, "pool"),
], ids=range(5))
def test_what_the_server_refuses_is_raised_as_ours(client, call, error, status, param):
    with pytest.raises(error) as raised:
        call(client)
    assert raised.value.status == status and str(raised.value)
    if param:
        assert raised.value.param == param


def test_what_cannot_be_sent_is_refused_here(client):
    with pytest.raises(margin.InvalidArgument, match="JSON"):
        client.decide([("a", "x", float("nan"))])
    with pytest.raises(margin.WrongType):
        client.decide([42])
    for url in ("127.0.0.1:8080", "ftp://x", "http://"):
        with pytest.raises(margin.InvalidArgument, match="url"):
            margin.Client(url)


def test_keys_open_what_they_are_for():
    with tempfile.TemporaryDirectory() as folder:
        made = cli.run("keys", "create", "--store", os.path.join(folder, "margin.db"), "--name", "reader", "--scope", "read")
        secret = next(word for word in made.split() if word.startswith("sk-mg-"))
        started = Server(folder)
        try:
            with margin.Client(started.url, key=secret) as reader:
                assert reader.pools()
                with pytest.raises(margin.NotAllowed) as raised:
                    reader.decide([("a", "x", 0.5)])
                assert raised.value.status == 403
                assert secret not in repr(reader) and secret not in str(raised.value)
            with pytest.raises(margin.NotAllowed) as raised:
                margin.Client(started.url).pools()
            assert raised.value.status == 401
        finally:
            started.stop()


def test_a_server_that_was_restarted_is_found_again():
    with tempfile.TemporaryDirectory() as folder:
        started = Server(folder)
        client = margin.Client(started.url)
        decision = client.decide([("a", "x", 0.9)])
        started.kill()
        assert not margin.Client(started.url, retries=0).ready()
        again = Server(folder, listen=f"{started.host}:{started.port}")
        try:
            assert client.feedback(decision.decision_id, outcome=1).status == "applied"
        finally:
            client.close()
            again.stop()


class Flaky(http.server.BaseHTTPRequestHandler):
    """Answers as the list `script` of the server says, then as a real one would."""
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        self.server.seen.append((self.headers["Idempotency-Key"], self.rfile.read(int(self.headers["Content-Length"]))))
        step = self.server.script.pop(0) if self.server.script else (200, {}, b'{"feedback_id":"f","status":"applied","updated":["a"]}')
        if step == "close":
            self.close_connection = True
            self.connection.close()
            return
        status, headers, body = step
        self.send_response(status)
        for name, value in {"Content-Length": str(len(body)), **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


@pytest.fixture()
def flaky():
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Flaky) as made:
        made.script, made.seen = [], []
        threading.Thread(target=made.serve_forever, daemon=True).start()
        yield made
        made.shutdown()


def url_of(flaky):
    return f"http://127.0.0.1:{flaky.server_address[1]}"


BUSY = (503, {"retry-after-ms": "1"}, b'{"error":{"message":"busy","type":"overloaded_error","param":null,"code":"busy"}}')


@pytest.mark.parametrize("script", [[BUSY], [BUSY, BUSY], ["close"], ["close", BUSY],
                                    [(429, {"Retry-After": "0"}, b"{}")], [(500, {}, b"not json")]], ids=range(6))
def test_what_may_help_is_tried_again_under_the_same_key(flaky, script):
    flaky.script[:] = script
    client = margin.Client(url_of(flaky))
    assert client.feedback("d", outcome=1).updated == ["a"]
    assert len(flaky.seen) == len(script) + 1 and len(set(flaky.seen)) == 1, "every try is the same request"
    client.feedback("d", outcome=1)
    assert len(set(flaky.seen)) == 2, "another request has another key"


@pytest.mark.parametrize("script, tries, error", [
    ([BUSY] * 9, 3, margin.Unavailable),
    (["close"] * 9, 3, margin.Unavailable),
    ([(503, {"x-should-retry": "false"}, BUSY[2])], 1, margin.Unavailable),
    ([(400, {}, b"{}")], 1, margin.InvalidArgument),
    ([(409, {}, b"{}")], 1, margin.Conflict),
    ([(503, {"Retry-After": "3600"}, BUSY[2])], 1, margin.Unavailable),
    ([(200, {}, b"<html>")], 1, margin.Unavailable),
    ([(200, {}, b'{"status":"applied"}')], 1, margin.Unavailable),
    ([(200, {}, b"[1]")], 1, margin.Unavailable),
], ids=range(9))
def test_what_cannot_help_is_raised(flaky, script, tries, error):
    flaky.script[:] = script
    with pytest.raises(error):
        margin.Client(url_of(flaky)).feedback("d", outcome=1)
    assert len(flaky.seen) == tries


def test_nobody_there_is_unavailable():
    with pytest.raises(margin.Unavailable, match="127.0.0.1"):
        margin.Client("http://127.0.0.1:1", retries=1).pools()


def test_async_calls_run_side_by_side(server):
    async def run():
        async with margin.AsyncClient(server.url, connections=8) as client:
            assert await client.ready()
            made = await asyncio.gather(*(client.decide([("a", "x", 0.9), ("b", "y", 0.4)]) for _ in range(60)))
            receipts = await asyncio.gather(*(client.feedback(decision.decision_id, outcome=1) for decision in made))
            with pytest.raises(margin.NotFound):
                await client.calibration("nowhere")
            return made, receipts

    made, receipts = asyncio.run(run())
    assert len({decision.decision_id for decision in made}) == 60
    assert {receipt.status for receipt in receipts} == {"applied"}


def test_both_clients_have_the_same_methods():
    public = [name for name, member in vars(margin.Client).items() if not name.startswith("_") and callable(member)]
    for name in public:
        if name != "close":
            assert inspect.signature(getattr(margin.AsyncClient, name)) == inspect.signature(getattr(margin.Client, name)), name
            assert inspect.iscoroutinefunction(getattr(margin.AsyncClient, name))


def test_threads_share_a_client(server):
    client, failures = margin.Client(server.url), []

    def work():
        try:
            for _ in range(20):
                client.feedback(client.decide([("a", "x", 0.9)]).decision_id, outcome=1)
        except Exception as error:  # noqa: BLE001
            failures.append(error)

    threads = [threading.Thread(target=work) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    client.close()
    assert not failures
