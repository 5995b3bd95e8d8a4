"""kill -9 at random moments under load: no acknowledged outcome is lost, none counts twice, and the state is the fold of the log.

The seed is printed first; MARGIN_FAULT_SEED repeats a run, MARGIN_FAULT_ROUNDS sets how many times the server is killed (10 unless said).
"""
import http.client
import json
import os
import pathlib
import random
import re
import resource
import signal
import subprocess
import threading
import time
import unittest
import uuid

from harness import Server, ServerTest, main

SEED = int(os.environ.get("MARGIN_FAULT_SEED", random.SystemRandom().randrange(2**32)))
ROUNDS = int(os.environ.get("MARGIN_FAULT_ROUNDS", "10"))
print("seed", SEED, "rounds", ROUNDS, flush=True)


class Client(threading.Thread):
    """Decides and grades until the server goes; remembers what was acknowledged, and repeats with the same key what was not."""

    def __init__(self, server, seed, unsure):
        super().__init__()
        self.server, self.random = server, random.Random(seed)
        self.decisions, self.outcomes = {}, {}
        self.unsure = unsure  # requests whose answer never came: (key, body)
        self.wrong = None  # an answer that should not have come, raised by finish()

    def send(self, connection, path, body, key):
        connection.request("POST", path, json.dumps(body), {"Content-Type": "application/json", "Idempotency-Key": key})
        reply = connection.getresponse()
        answer = json.loads(reply.read())
        if reply.status != 200:
            raise AssertionError((reply.status, answer, body))
        return answer

    def grade(self, connection, key, body):
        self.unsure[key] = body
        receipt = self.send(connection, "/v1/feedback", body, key)
        if receipt["status"] not in ("applied", "duplicate"):
            raise AssertionError((receipt, body))
        del self.unsure[key]
        self.outcomes[body["decision_id"]] = body["outcomes"]

    def run(self):
        connection = self.server.fresh()
        try:
            for key, body in list(self.unsure.items()):
                self.grade(connection, key, body)
            while True:
                models = self.random.sample(["a", "b", "c", "d"], self.random.randint(1, 4))
                responses = [{"model": m, "answer": self.random.choice("xy"), "confidence": round(self.random.random(), 3)} for m in models]
                made = self.send(connection, "/v1/decide", {"responses": responses}, str(uuid.UUID(int=self.random.getrandbits(128))))
                self.decisions[made["decision_id"]] = models
                if self.random.random() < 0.8:
                    body = {"decision_id": made["decision_id"], "outcomes": {m: self.random.randint(0, 1) for m in models}}
                    self.grade(connection, str(uuid.UUID(int=self.random.getrandbits(128))), body)
        except (OSError, http.client.HTTPException):
            pass  # the server is gone
        except Exception as wrong:
            self.wrong = wrong

    def finish(self):
        self.join(60)
        if self.is_alive():
            raise AssertionError("a client still waits for an answer")
        if self.wrong is not None:
            raise self.wrong


class Faults(ServerTest):
    def check(self, server, decisions, outcomes):
        for decision, models in decisions.items():
            answer = server.get("/v1/decisions/" + decision)
            self.assertEqual(answer.status, 200, "an acknowledged decision is there")
            self.assertEqual([r["model"] for r in answer.json["responses"]], models)
            known = {o["model"]: o["outcome"] for o in answer.json["outcomes"]}
            if decision in outcomes:
                self.assertEqual(known, outcomes[decision], "an acknowledged outcome is there, as it was said")
                self.assertTrue(all(o["learned"] for o in answer.json["outcomes"]))
                self.assertEqual(len({o["feedback_id"] for o in answer.json["outcomes"]}), 1, "it came once")

    def test_kill_at_random_moments(self):
        dice = random.Random(SEED)
        config = '[store]\ndurability = "{}"\nsnapshot_every = 100\n'
        decisions, outcomes, unsure = {}, {}, [{} for _ in range(4)]
        for round_number in range(ROUNDS):
            server = self.serve(config=config.format(("process", "disk")[round_number % 2]))
            self.check(server, dict(list(decisions.items())[-60:]), outcomes)
            clients = [Client(server, dice.getrandbits(64), unsure[i]) for i in range(4)]
            for client in clients:
                client.start()
            time.sleep(0.05 + dice.random() * 0.5)
            server.kill()
            for client in clients:
                client.finish()
                decisions.update(client.decisions)
                outcomes.update(client.outcomes)
        self.assertGreater(len(outcomes), ROUNDS, "the rounds did something")
        server = self.serve(config=config.format("process"))
        self.check(server, decisions, outcomes)
        digests = server.digests()
        server.kill()
        # The same file folded by another program, from the beginning and from its snapshots.
        report = self.margin("state", "verify", "margin.db", "--json")
        self.assertIn(digests["default"], report)
        print(len(decisions), "decisions and", len(outcomes), "outcomes acknowledged, none lost")

    def test_a_full_disk_refuses_and_recovers(self):
        # A limit on the size of files stands for a full disk; the write fails in the same place.
        server = self.serve(config='[store]\ndurability = "process"\n')
        made = server.decide({"a": ("x", 0.9)})
        size = sum(path.stat().st_size for path in pathlib.Path(self.folder).glob("margin.db*"))
        resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE, (size + 50_000, resource.RLIM_INFINITY))
        refused = 0
        body = {"responses": [{"model": "a", "answer": "x" * 5000, "confidence": 0.5}]}
        acknowledged = []
        for _ in range(400):
            answer = server.post("/v1/decide", body)
            if answer.status == 200:
                acknowledged.append(answer.json["decision_id"])
            else:
                self.assertEqual((answer.status, answer.error["code"]), (503, "store_unavailable"), answer.body)
                refused += 1
                if refused == 3:
                    break
        self.assertEqual(refused, 3, "the disk was full at last")
        self.assertEqual(server.get("/ready").status, 503)
        server.wait_for("the store cannot be written")
        self.assertEqual(server.get("/v1/decisions/" + made["decision_id"]).status, 200, "reads go on")
        resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        end = time.monotonic() + 30
        while server.post("/v1/decide", body).status != 200:
            self.assertLess(time.monotonic(), end, "it works again when there is room")
            time.sleep(0.1)
        self.assertEqual(server.get("/ready").status, 200)
        server.wait_for("the store can be written again")
        said = re.findall(r"the store (cannot be written reason=|can be written again)", server.journal)
        self.assertEqual(said, ["cannot be written reason=", "can be written again"] * (len(said) // 2), "once for each change")
        digests = server.digests()
        server.kill()
        server = self.serve(config='[store]\ndurability = "process"\n')
        self.assertEqual(server.digests(), digests)
        for decision in acknowledged:
            self.assertEqual(server.get("/v1/decisions/" + decision).status, 200)

    def test_connections_cut_in_the_middle_of_a_request(self):
        dice = random.Random(SEED + 1)
        server = self.serve()
        body = b'{"responses":[{"model":"a","answer":"x","confidence":0.5}]}'
        request = (b"POST /v1/decide HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(body) + body)
        sent, answered = 0, 0
        for i in range(200):
            connection = server.fresh()
            connection.connect()
            # Every twentieth is whole: half of those wait for the answer, the others leave without it.
            cut = len(request) if i % 20 == 0 else dice.randint(1, len(request) - 1)
            connection.sock.sendall(request[:cut])
            sent += cut == len(request)
            if i % 40 == 0:
                self.assertIn(b" 200 ", connection.sock.recv(4096))
                answered += 1
            connection.close()
        self.assertEqual(server.get("/health").status, 200)
        end = time.monotonic() + 30
        while server.get("/v1/pools/default").json["decisions"] < answered and time.monotonic() < end:
            time.sleep(0.01)
        decisions = server.get("/v1/pools/default").json["decisions"]
        self.assertGreaterEqual(decisions, answered, "what was answered counts")
        self.assertLessEqual(decisions, sent, "what was cut does not")
        self.assertEqual((sent, answered), (10, 5))

    def test_a_journal_that_cannot_be_read_where_nothing_may_be_written(self):
        server = self.serve()
        server.decide({"a": ("x", 0.9)})
        time.sleep(0.5)  # it is in the journal
        server.kill()
        folder = pathlib.Path(self.folder)
        (folder / "margin.db-shm").unlink()
        for path in folder.glob("margin.db*"):
            path.chmod(0o444)
        folder.chmod(0o555)
        self.addCleanup(folder.chmod, 0o755)
        done = self.as_nobody("state", "verify", "margin.db")
        self.assertEqual(done.returncode, 1)
        self.assertIn("copy the store with all files beside it", done.stderr)

    def as_nobody(self, *command):
        command = [os.environ["MARGIN_BINARY"], *command]
        if os.geteuid() == 0:
            command = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", *command]
        return subprocess.run(command, cwd=self.folder, capture_output=True, text=True, timeout=30)

    def test_a_store_at_rest_is_read_where_nothing_may_be_written_beside_it(self):
        server = self.serve()
        server.decide({"a": ("x", 0.9)})
        server.stop()
        folder = pathlib.Path(self.folder)
        folder.chmod(0o555)
        self.addCleanup(folder.chmod, 0o755)
        (folder / "margin.db").chmod(0o666)
        for command in ("show", "verify"):
            done = self.as_nobody("state", command, "margin.db")
            self.assertEqual(done.returncode, 0, done.stderr)
        (folder / "margin.db.head").chmod(0)
        done = self.as_nobody("state", "verify", "margin.db")
        self.assertEqual(done.returncode, 1, "what cannot be checked is not said to be sound")
        self.assertIn("margin.db.head: cannot be read", done.stdout)

    @unittest.skipUnless(os.geteuid() == 0, "only root can act for another user")
    def test_what_root_does_to_a_store_keeps_its_server_from_nothing(self):
        folder = pathlib.Path(self.folder)
        folder.chmod(0o777)
        for name in ("one", "two"):
            self.assertEqual(self.as_nobody("state", "import", self.an_exported_state(), "margin.db", "--pool", name).returncode, 0)
            for left in ("margin.db.head", "margin.db.lock"):
                (folder / left).unlink()
            self.margin("state", "compact", "margin.db", "--pool", name)

    def an_exported_state(self):
        made = pathlib.Path(self.folder, "a.state")
        if not made.exists():
            self.serve(store="other.db").stop()
            self.margin("state", "export", "other.db", "--out", "a.state")
            made.chmod(0o644)
        return "a.state"

    def test_a_read_only_store_is_refused_by_name(self):
        server = self.serve()
        server.decide({"a": ("x", 0.9)})
        server.stop()
        for path in pathlib.Path(self.folder).glob("margin.db*"):
            path.chmod(0o444)
        command = [os.environ["MARGIN_BINARY"], "serve", "--listen", "127.0.0.1:0", "--store", "margin.db"]
        if os.geteuid() == 0:
            # root may write what is read-only; nobody may not.
            pathlib.Path(self.folder).chmod(0o555)
            command = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", *command]
        done = subprocess.run(command, cwd=self.folder, capture_output=True, text=True, timeout=30)
        self.assertIn(done.returncode, (1, 2))
        self.assertIn("margin.db", done.stderr)


if __name__ == "__main__":
    main()
