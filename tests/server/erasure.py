"""Texts of a decision erased while the server runs: by whom, out of what, and what a kill in the middle leaves."""
import json
import pathlib
import random
import sqlite3
import threading
import time
import uuid

from harness import ServerTest, main

SECRET = "the-patient-has-flu"
ASKED = {"a": ("x", 0.9), "b": ("y", 0.6)}


class Erasure(ServerTest):
    def stored(self, text=SECRET):
        """Whether any file of the store has it."""
        return any(text.encode() in path.read_bytes() for path in pathlib.Path(self.folder).glob("margin.db*"))

    def decide_in_secret(self, server, **fields):
        made = server.decide({"a": (SECRET, 0.9), "b": (SECRET + "-not", 0.5)}, task_id=SECRET + "-task", **fields)
        return made["decision_id"]

    def beside(self, server, work):
        """Runs `work` on a thread with a connection of its own."""
        def run():
            try:
                work()
            except OSError:
                pass  # killed
            if server.connection.held:
                server.connection.held.close()

        thread = threading.Thread(target=run)
        thread.start()
        return thread

    def key(self, *scopes, **more):
        flags = [part for name, value in more.items() for part in ("--" + name, value)]
        made = self.margin("keys", "create", "--store", "margin.db", "--name", "-".join(scopes), "--scope", ",".join(scopes), "--json", *flags)
        return json.loads(made)["key"]

    def test_texts_leave_the_running_server_and_its_files(self):
        server = self.serve()
        made = self.decide_in_secret(server)
        again = {"Idempotency-Key": "k"}
        body = {"responses": [{"model": "a", "answer": SECRET, "confidence": 0.9}]}
        repeated = server.post("/v1/decide", body, headers=again).json["decision_id"]
        server.post("/v1/feedback", {"decision_id": made, "correct_answer": SECRET})
        server.decide(ASKED)
        digests = server.digests()
        self.assertTrue(self.stored())
        for decision, path in ((made, made), (repeated, "chatcmpl-" + repeated)):
            erased = server.delete(f"/v1/decisions/{path}/texts")
            self.assertEqual((erased.status, erased.json), (200, {"decision_id": decision, "erased": 1, "still_needed": []}))
        self.assertFalse(self.stored())
        self.assertEqual(server.digests(), digests)
        for path in ("/v1/decisions/" + made, "/v1/decisions", "/v1/decisions?q=flu", "/v1/pools/default/queue"):
            self.assertNotIn(SECRET.encode(), server.get(path).body, path)
        self.assertEqual(server.get("/v1/decisions?q=flu").json["decisions"], [])
        self.assertEqual({o["model"]: o["outcome"] for o in server.get("/v1/decisions/" + made).json["outcomes"]}, {"a": 1, "b": 0})
        self.assertEqual(server.post("/v1/decide", body, headers=again).json["decision_id"], repeated)
        self.assertFalse(self.stored(), "what a client says again is not kept again")
        self.assertEqual(server.delete(f"/v1/decisions/{made}/texts").json["erased"], 0, "a second time")
        self.assertRegex(server.journal, f"texts erased decision={made} by=local events=1\n")
        self.assertNotIn(SECRET, server.journal)
        server.post("/v1/feedback", {"decision_id": server.decide(ASKED)["decision_id"], "correct_answer": "x"})
        digests = server.digests()
        self.margin("state", "verify", "margin.db")
        server.kill()
        self.assertEqual(self.serve().digests(), digests)
        self.assertFalse(self.stored())

    def test_what_is_written_meanwhile_stands_beside_the_store(self):
        temporary = pathlib.Path(self.folder, "temporary")
        temporary.mkdir()
        server = self.serve(config="[limits]\nanswer_bytes = 1000000\n", env={"SQLITE_TMPDIR": str(temporary)})
        made = self.decide_in_secret(server)
        for _ in range(30):  # more than SQLite keeps in memory
            server.decide({"a": ("x" * 900_000, 0.5)})
        before = temporary.stat().st_mtime_ns
        self.assertEqual(server.delete(f"/v1/decisions/{made}/texts").status, 200)
        self.assertEqual(temporary.stat().st_mtime_ns, before)

    def test_who_may(self):
        admin, reader = self.key("admin", "decide"), self.key("read", "decide", "feedback")
        tenant, other = self.key("admin", "decide", tenant="one"), self.key("admin", tenant="two")
        server = self.serve()
        body = {"responses": [{"model": "a", "answer": SECRET, "confidence": 0.9}]}
        made = server.post("/v1/decide", body, key=tenant).json["decision_id"]
        path = f"/v1/decisions/{made}/texts"
        self.assertEqual(server.delete(path).status, 401)
        self.assertEqual(server.delete(path, key=reader).error["code"], "missing_scope")
        self.assertEqual(server.delete(path, key=other).status, 404, "to another tenant it does not exist")
        self.assertTrue(self.stored())
        self.assertEqual(server.delete(path, key=tenant).json["erased"], 1)
        self.assertFalse(self.stored())
        made = server.post("/v1/decide", body, key=admin).json["decision_id"]
        self.assertEqual(server.delete(f"/v1/decisions/{made}/texts", key=tenant).status, 404)
        self.assertEqual(server.delete("/v1/decisions/00000000-0000-0000-0000-000000000000/texts", key=admin).status, 404)
        self.assertEqual(server.delete("/v1/decisions/flu/texts", key=admin).error["param"], "decision_id")
        self.assertEqual(server.get(f"/v1/decisions/{made}/texts", key=admin).status, 405)

    def test_from_a_shell(self):
        server = self.serve()
        made = self.decide_in_secret(server)
        said = self.margin("state", "erase", "--decision", made, "--server", server.url)
        self.assertEqual(said, f"decision {made}: texts of 1 event erased\n")
        self.assertFalse(self.stored())
        self.margin("state", "erase", "--decision", "00000000-0000-0000-0000-000000000000", "--server", server.url, code=2)
        self.margin("state", "erase", "margin.db", "--decision", made, "--server", server.url, code=2)  # which of the two?

    def test_an_answered_chat_is_not_kept_for_retries_any_more(self):
        url, asked = self.one_model(SECRET + "\nConfidence: 80")
        server = self.serve(config=f'[upstreams.m]\nurl = "{url}"\n[pools.default]\nmodels = ["m"]\n')
        chat = {"model": "margin/default", "messages": [{"role": "user", "content": "What ails him?"}]}
        ask = lambda: server.post("/v1/chat/completions", chat, headers={"Idempotency-Key": "k"})
        first = ask()
        self.assertIn(SECRET.encode(), first.body)
        self.assertEqual(ask().body, first.body, "a retry")
        self.assertEqual(server.delete(f"/v1/decisions/{first.json['id']}/texts").json["erased"], 1)
        self.assertNotIn(SECRET.encode(), ask().body)
        self.assertEqual(len(asked), 1, "nor is the model asked again")
        self.assertFalse(self.stored())

    def test_a_right_answer_that_came_first_is_named(self):
        server = self.serve()
        made = str(uuid.uuid4())
        early = server.post("/v1/feedback", {"decision_id": made, "correct_answer": SECRET}).json
        self.assertEqual(early["status"], "pending_decision")
        self.decide_in_secret(server, decision_id=made)
        self.assertEqual(server.delete(f"/v1/decisions/{made}/texts").json, {"decision_id": made, "erased": 1, "still_needed": [early["feedback_id"]]})
        said = self.margin("state", "erase", "--decision", made, "--server", server.url)
        self.assertIn(early["feedback_id"], said)

    def test_one_who_reads_the_store_is_waited_for_and_then_named(self):
        server = self.serve()
        made = self.decide_in_secret(server)
        reader = sqlite3.connect(pathlib.Path(self.folder) / "margin.db")
        self.addCleanup(reader.close)
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM events").fetchall()
        held = server.delete(f"/v1/decisions/{made}/texts")
        self.assertEqual((held.status, held.error["code"], held.headers["Retry-After"]), (503, "store_unavailable", "1"))
        self.assertEqual(server.get("/ready").status, 200, "the store works all the same")
        server.decide(ASKED)
        reader.rollback()
        self.assertEqual(server.delete(f"/v1/decisions/{made}/texts").status, 200)
        self.assertFalse(self.stored())

    def test_many_at_once_under_load(self):
        server = self.serve(config="[store]\nsnapshot_every = 100\n")
        made = [self.decide_in_secret(server) for _ in range(20)]
        over, statuses, erased = threading.Event(), [], []

        def load():
            while not over.is_set():
                decided = server.post("/v1/decide", {"responses": [{"model": "a", "answer": "x", "confidence": 0.5}]})
                statuses.append(decided.status)
                told = {"decision_id": decided.json["decision_id"], "outcome": 1}
                statuses.append(server.post("/v1/feedback", told).status)
                if len(statuses) % 10 == 0:
                    server.post("/v1/feedback", {**told, "outcome": 0, "replace": True})

        threads = [self.beside(server, load) for _ in range(3)]
        erasers = [self.beside(server, lambda d=d: erased.append(server.delete(f"/v1/decisions/{d}/texts").status)) for d in made]
        for thread in erasers:
            thread.join(60)
        self.assertFalse(self.stored())
        over.set()
        for thread in threads:
            thread.join(60)
        self.assertEqual(set(statuses), {200})
        self.assertEqual(erased, [200] * len(made))
        digests = server.digests()
        server.kill()
        self.margin("state", "verify", "margin.db")
        self.assertEqual(self.serve().digests(), digests)

    def test_a_kill_in_the_middle_leaves_before_or_after(self):
        seed = random.randrange(2**32)
        print("seed", seed)
        moments = random.Random(seed)
        server = self.serve()
        for _ in range(300):
            server.post("/v1/feedback", {"decision_id": server.decide(ASKED)["decision_id"], "correct_answer": "x"})
        for round_ in range(6):
            made = self.decide_in_secret(server)
            digests = server.digests()
            eraser = self.beside(server, lambda server=server, made=made: server.delete(f"/v1/decisions/{made}/texts"))
            time.sleep(moments.uniform(0, 0.05))
            server.kill()
            eraser.join(60)
            self.margin("state", "verify", "margin.db")
            server = self.serve()
            self.assertEqual(server.digests(), digests, f"round {round_}")
            answer, task = (server.get("/v1/decisions/" + made).json[part] for part in ("answer", "task_id"))
            self.assertIn((answer, task), ((SECRET, SECRET + "-task"), (None, "")))
            self.assertEqual(server.delete(f"/v1/decisions/{made}/texts").status, 200)
            self.assertFalse(self.stored(), "asked again, whatever the kill left behind is gone")


if __name__ == "__main__":
    main()
