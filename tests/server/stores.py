"""What happens to stores: two servers on one, damaged files, backups, copies and what is put in their place, erasure."""
import os
import pathlib
import re
import sqlite3
import subprocess
import time

from harness import BINARY, Server, ServerTest, main

ASKED = {"a": ("x", 0.9), "b": ("y", 0.6)}


class Stores(ServerTest):
    def test_two_servers_on_one_store(self):
        server = self.serve()
        second = Server(self.folder, wait=False)
        self.assertEqual(second.process.wait(30), 1)
        self.assertIn(str(server.process.pid), second.journal)
        second.process.stdout.close()
        (pathlib.Path(self.folder) / "margin.db.lock").unlink()
        third = Server(self.folder, wait=False)
        self.assertEqual(third.process.wait(30), 1)
        self.assertIn(f"process {server.process.pid} ", third.journal)
        third.process.stdout.close()
        server.decide(ASKED)
        server.kill()
        self.assertEqual(self.serve().get("/ready").status, 200)

    def test_a_flipped_byte_is_named_and_nothing_is_dropped(self):
        server = self.serve()
        self.teach(server, 20)
        server.kill()
        self.margin("state", "verify", "margin.db")
        self.serve().kill()  # what the first left in the tail is in the file now
        self.margin("state", "verify", "margin.db")
        with sqlite3.connect(server.store) as db:
            tables = [name for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type='table'")]
            events = next(t for t in tables if "event" in t or "record" in t)
            columns = [row[1] for row in db.execute(f"PRAGMA table_info({events})")]
            blob = next(c for c in columns if isinstance(db.execute(f"SELECT {c} FROM {events}").fetchone()[0], bytes)
                        and len(db.execute(f"SELECT {c} FROM {events}").fetchone()[0]) > 40)
            row, value = db.execute(f"SELECT rowid, {blob} FROM {events} ORDER BY length({blob}) DESC LIMIT 1").fetchone()
            middle = len(value) // 2
            db.execute(f"UPDATE {events} SET {blob} = ? WHERE rowid = ?", (value[:middle] + bytes([value[middle] ^ 1]) + value[middle + 1:], row))
        refused = Server(self.folder, wait=False)
        self.assertEqual(refused.process.wait(30), 1)
        refused.process.stdout.close()
        self.assertRegex(refused.journal, r"(event|offset|record) \d+")
        done = self.margin("state", "verify", "margin.db", code=1)
        self.assertIsNotNone(done)

    def test_a_flipped_byte_in_the_tail_is_told_of_and_nothing_is_dropped_without_a_word(self):
        server = self.serve()
        self.teach(server, 20)
        digests = server.digests()
        server.kill()
        tails = sorted(pathlib.Path(self.folder).glob("margin.db.tail?"), key=lambda path: path.stat().st_size)
        content = tails[-1].read_bytes()
        self.assertGreater(len(content), 1000, "what was taught just now is in the tail")
        middle = len(content.rstrip(b"\0")) // 2
        tails[-1].write_bytes(content[:middle] + bytes([content[middle] ^ 1]) + content[middle + 1:])
        refused = Server(self.folder, wait=False)
        self.assertEqual(refused.process.wait(30), 1)
        refused.process.stdout.close()
        self.assertRegex(refused.journal, r"\d+ events were acknowledged, and \d+ are in it")
        self.margin("state", "verify", "margin.db", code=1)
        tails[-1].write_bytes(content)
        self.margin("state", "verify", "margin.db")
        self.assertEqual(self.serve().digests(), digests, "the refused start has spoilt nothing")

    def a_store(self, name, decisions=5):
        """A store that no server has."""
        server = self.serve(store=name)
        for _ in range(decisions):
            server.post("/v1/decide", {"responses": [{"model": "a", "answer": "x", "confidence": 0.9}]})
        server.stop()
        return pathlib.Path(self.folder, name)

    def test_a_state_is_written_over_nothing_but_a_state(self):
        store = self.a_store("s.db")
        self.margin("state", "export", "s.db", "--out", "a.state")
        self.margin("state", "export", "s.db", "--out", "a.state")
        pathlib.Path(self.folder, "note").write_text("important")
        for target in ("s.db", "note", "s.db.head"):
            before = pathlib.Path(self.folder, target).read_bytes()
            for command in (("export", "s.db"), ("merge", "a.state", "s.db")):
                self.margin("state", *command, "--out", target, code=2)
                self.assertEqual(pathlib.Path(self.folder, target).read_bytes(), before, target)
        self.margin("state", "export", "s.db", "--out", "not/there", code=1)
        self.margin("state", "export", "s.db", "--out", "a.state", "--at", "999", code=2)
        self.margin("state", "export", "s.db", "--out", "none.state", "--pool", "slip", "--at", "0", code=2)
        self.assertFalse(pathlib.Path(self.folder, "none.state").exists())
        self.assertIn("sound", self.margin("state", "verify", str(store)))

    def test_a_restore_replaces_stores_alone_and_lets_nobody_see_more(self):
        store = self.a_store("s.db")
        store.chmod(0o600)
        self.margin("state", "backup", "s.db", "b.db")
        self.assertEqual(pathlib.Path(self.folder, "b.db").stat().st_mode & 0o777, 0o600)
        pathlib.Path(self.folder, "b.db").chmod(0o644)
        self.margin("state", "restore", "b.db", "s.db", "--replace")
        self.assertEqual(store.stat().st_mode & 0o777, 0o600)
        # A backup that nobody may write is put back as a store that its owner can.
        pathlib.Path(self.folder, "b.db").chmod(0o444)
        self.margin("state", "restore", "b.db", "new.db")
        self.assertEqual(pathlib.Path(self.folder, "new.db").stat().st_mode & 0o777, 0o644)
        pathlib.Path(self.folder, "new.db").unlink()
        note = pathlib.Path(self.folder, "note.txt")
        note.write_text("important\n")
        other = sqlite3.connect(pathlib.Path(self.folder, "other.sqlite"))
        other.execute("CREATE TABLE mine (x)")
        other.commit()
        other.close()
        pathlib.Path(self.folder, "sub").mkdir()
        before = sorted(os.listdir(self.folder))
        for target in ("note.txt", "other.sqlite", "sub"):
            self.margin("state", "restore", "b.db", target, "--replace", code=2)
        self.assertEqual((sorted(os.listdir(self.folder)), note.read_text()), (before, "important\n"))
        # What is left of a store is one.
        store.write_bytes(b"x" * 5000)
        pathlib.Path(self.folder, "s.db.head").write_bytes(b"x")
        self.margin("state", "restore", "b.db", "s.db", "--replace")
        self.assertIn("sound", self.margin("state", "verify", "s.db"))

    def test_a_backup_needs_a_name_that_no_store_has_had(self):
        self.a_store("s.db")
        for left in ("-wal", ".head", ".tail1"):
            path = pathlib.Path(self.folder, "b.db" + left)
            path.write_bytes(b"x")
            self.margin("state", "backup", "s.db", "b.db", code=2)
            self.assertFalse(pathlib.Path(self.folder, "b.db").exists())
            path.unlink()
        self.margin("state", "backup", "s.db", "b.db")

    def test_a_restore_that_was_cut_off_lets_no_server_start(self):
        self.a_store("s.db")
        self.margin("state", "backup", "s.db", "b.db")
        store = pathlib.Path(self.folder, "s.db")
        for left in ("s.db.partial", "s.db.replaced", "s.db.replaced-wal"):
            pathlib.Path(self.folder, "s.db.head").unlink(missing_ok=True)
            if left == "s.db.replaced":
                store.rename(pathlib.Path(self.folder, left))
            else:
                pathlib.Path(self.folder, left).write_bytes(b"x")
            done = subprocess.run([BINARY, "serve", "--store", "s.db", "--listen", "127.0.0.1:0"], cwd=self.folder, capture_output=True, text=True, timeout=60)
            self.assertEqual(done.returncode, 1, done.stderr)
            self.assertIn(f"{left}: a restore was cut off here", done.stderr)
            self.margin("state", "restore", "b.db", "s.db", "--replace")
            self.assertEqual(self.serve(store="s.db").stop(), 0)

    def test_what_is_no_store_stays_what_it_is(self):
        empty = pathlib.Path(self.folder, "empty.db")
        empty.touch()
        before = sorted(os.listdir(self.folder))
        self.margin("state", "compact", "empty.db", code=1)
        self.margin("state", "erase", "empty.db", "--decision", "01890a5d-ac96-774b-bcce-b302099a8057", code=1)
        self.assertEqual((sorted(os.listdir(self.folder)), empty.stat().st_size), (before, 0))
        self.a_store("s.db")
        self.margin("state", "export", "s.db", "--out", "a.state")
        self.margin("state", "import", "a.state", "empty.db")  # as a full disk left it
        self.margin("state", "import", "s.db", "new.db", code=2)
        self.assertFalse(pathlib.Path(self.folder, "new.db").exists())

    def test_a_store_that_is_taken_away_is_noticed(self):
        server = self.serve(store="s.db")
        body = {"responses": [{"model": "a", "answer": "x", "confidence": 0.9}]}
        self.assertEqual(server.post("/v1/decide", body).status, 200)
        store, away = pathlib.Path(self.folder, "s.db"), pathlib.Path(self.folder, "away.db")
        store.rename(away)
        acknowledged = 1
        end = time.monotonic() + 60
        while (status := server.post("/v1/decide", body).status) == 200:
            acknowledged += 1
            self.assertLess(time.monotonic(), end)
            time.sleep(0.05)
        self.assertEqual((status, server.get("/ready").status), (503, 503))
        while "the store's file was removed or moved" not in server.journal:
            self.assertLess(time.monotonic(), end)
            time.sleep(0.05)
        away.rename(store)
        while server.post("/v1/decide", body).status != 200:
            self.assertLess(time.monotonic(), end)
            time.sleep(0.05)
        self.assertEqual(server.get("/ready").status, 200)
        server.stop()
        events = int(re.search(r"(\d+) events", self.margin("state", "backup", "s.db", "b.db"))[1])
        self.assertGreaterEqual(events, 2 + acknowledged)

    def test_a_second_name_of_the_same_file_lets_nobody_in(self):
        self.serve(store="s.db")
        os.link(pathlib.Path(self.folder, "s.db"), pathlib.Path(self.folder, "hard.db"))
        done = subprocess.run([BINARY, "serve", "--store", "hard.db", "--listen", "127.0.0.1:0"], cwd=self.folder, capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("under another name", done.stderr)

    def test_a_store_that_cannot_be_had_is_a_failure_and_none_is_bad_input(self):
        for store, code in (("not/there/s.db", 1), (self.folder, 1), ("", 2)):
            done = subprocess.run([BINARY, "serve", "--store", store, "--listen", "127.0.0.1:0"], cwd=self.folder, capture_output=True, text=True, timeout=60)
            self.assertEqual(done.returncode, code, done.stderr)

    def test_an_online_backup_serves_again(self):
        server = self.serve()
        self.teach(server)
        digests = server.digests()
        self.margin("state", "backup", "margin.db", "copy.db")
        self.teach(server)
        server.stop()
        self.assertEqual(self.serve(store="copy.db").digests(), digests)

    def test_two_deployments_are_merged_and_a_third_begins_with_what_both_learned(self):
        """Each with the calibrator that pools have by default."""
        worth = {}
        for place, right in (("east", ("a", "b")), ("west", ("a",))):
            server = self.serve(store=place + ".db")
            for i in range(40):
                made = server.decide({"a": ("x", 0.9), "b": ("y", 0.8)})["decision_id"]
                taught = server.post("/v1/feedback", {"decision_id": made, "outcomes": {model: int(model in right and i % 5 > 0) for model in "ab"}})
                self.assertEqual(taught.status, 200, taught.body)
            worth[place] = {response["model"]: response["calibrated"] for response in server.decide({"a": ("x", 0.9), "b": ("y", 0.8)})["responses"]}
            server.stop()
            self.margin("state", "export", place + ".db", "--out", place)
        self.margin("state", "merge", "east", "west", "--out", "both")
        self.margin("state", "import", "both", "third.db")
        server = self.serve(store="third.db")
        both = {response["model"]: response for response in server.decide({"a": ("x", 0.9), "b": ("y", 0.8)})["responses"]}
        self.assertEqual({model: response["n"] for model, response in both.items()}, {"a": 80, "b": 80})
        self.assertAlmostEqual(both["a"]["calibrated"], 0.8, delta=0.08)
        self.assertGreater(both["b"]["calibrated"], worth["west"]["b"] + 0.1)
        self.assertLess(both["b"]["calibrated"], worth["east"]["b"] - 0.1)

    def test_reverts_behind_what_is_retained_are_refused_and_others_done(self):
        server = self.serve()
        receipts = []
        for _ in range(5):
            made = server.decide(ASKED)
            receipts.append(server.post("/v1/feedback", {"decision_id": made["decision_id"], "correct_answer": "x"}).json["feedback_id"])
        server.stop()
        self.margin("state", "compact", "margin.db", "--keep", "6")
        for _ in range(5):  # more snapshots than are kept
            server = self.serve()
            last = server.decide(ASKED)["decision_id"]
            server.stop()
        server = self.serve()
        for wanted in ({"feedback_id": receipts[0]}, {"source": "local"}):
            refused = server.post("/v1/feedback/revert", wanted)
            self.assertEqual((refused.status, refused.error["code"]), (422, "unsupported"), refused.body)
            self.assertIn("before what the log retains", refused.error["message"])
        done = server.post("/v1/feedback/revert", {"feedback_id": receipts[3]})
        self.assertEqual((done.status, done.json["reverted"]), (200, [receipts[3]]), done.body)
        digests = server.digests()
        server.stop()
        self.margin("state", "verify", "margin.db")
        self.margin("state", "compact", "margin.db", "--keep", "0")
        server = self.serve()
        self.assertEqual(server.digests(), digests)
        self.assertEqual(server.post("/v1/feedback/revert", {"source": "local"}).status, 422)
        receipt = server.post("/v1/feedback", {"decision_id": last, "correct_answer": "x"}).json
        replaced = server.post("/v1/feedback", {"decision_id": last, "correct_answer": "y", "replace": True})
        self.assertEqual((replaced.status, replaced.json["status"]), (200, "applied"), "what came since can be taken back")
        self.assertNotEqual(replaced.json["feedback_id"], receipt["feedback_id"])
        server.stop()
        self.margin("state", "verify", "margin.db")

    def test_answers_are_kept_as_configured(self):
        secret = "the-patient-has-flu"
        for kept, found in (("text", True), ("hash", False), ("none", False)):
            folder = pathlib.Path(self.folder) / kept
            folder.mkdir()
            server = Server(folder, config=f'[store]\nanswers = "{kept}"\n')
            made = server.decide({"a": (secret, 0.9), "b": ("cold", 0.5)})
            self.assertEqual(made["answer"], secret)
            receipt = server.post("/v1/feedback", {"decision_id": made["decision_id"], "outcomes": {"a": 1, "b": 0}}).json
            self.assertEqual(receipt["status"], "applied")
            looked_up = server.get("/v1/decisions/" + made["decision_id"]).json
            self.assertEqual(looked_up["answer"], secret if found else None)
            server.stop()
            stored = b"".join(path.read_bytes() for path in folder.glob("margin.db*"))
            self.assertEqual(secret.encode() in stored, found, kept)
            self.assertNotIn(secret, server.journal)

    def test_a_person_who_asks_for_deletion(self):
        secret = "the-patient-has-flu"
        server = self.serve()
        self.teach(server)
        made = server.decide({"a": (secret, 0.9), "b": ("cold", 0.5)}, task_id=secret + "-1")
        server.post("/v1/feedback", {"decision_id": made["decision_id"], "correct_answer": secret})
        self.teach(server)
        digests = server.digests()
        erase = ("state", "erase", "margin.db", "--decision", made["decision_id"])
        self.margin(*erase, code=1)  # the server has the store
        server.stop()
        stored = lambda: b"".join(path.read_bytes() for path in pathlib.Path(self.folder).glob("margin.db*"))
        self.assertIn(secret.encode(), stored())
        self.assertEqual(self.margin(*erase), f"decision {made['decision_id']}: texts of 1 event erased\n")
        self.assertNotIn(secret.encode(), stored())
        self.margin("state", "verify", "margin.db")
        self.margin("state", "erase", "margin.db", "--decision", "01890f3e-5c1a-7abc-8def-0123456789ab", code=2)
        self.margin("state", "erase", "margin.db", "--decision", "mine", code=2)
        for command in (("erase", "slip.db", "--decision", made["decision_id"]), ("compact", "slip.db")):
            self.margin("state", *command, code=2)
        self.assertEqual(list(pathlib.Path(self.folder).glob("slip.db*")), [], "a slip makes no store")
        server = self.serve()
        self.assertEqual(server.digests(), digests)
        looked_up = server.get("/v1/decisions/" + made["decision_id"])
        self.assertNotIn(secret.encode(), looked_up.body)
        self.assertEqual((looked_up.json["answer"], looked_up.json["p_correct"]), (None, made["p_correct"]))
        self.assertEqual({o["model"]: o["outcome"] for o in looked_up.json["outcomes"]}, {"a": 1, "b": 0})

    def test_a_program_that_reads_the_store_and_does_not_let_go_is_told_of(self):
        server = self.serve(config='[store]\ndurability = "process"\n[limits]\nanswer_bytes = 1000000\n')
        long = 128 << 20  # as docs/event_log.md says
        journal = lambda: float(re.search(r"^margin_log_journal_bytes (\S+)", server.get("/metrics").body.decode(), re.M)[1])
        server.decide(ASKED)
        reader = sqlite3.connect(server.store)
        self.addCleanup(reader.close)
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM events").fetchall()
        told = "is another program reading the store?"
        end = time.monotonic() + 60  # it looks every 15 seconds
        while told not in server.journal:
            self.assertLess(time.monotonic(), end, server.journal)
            if journal() > long:
                time.sleep(0.1)
            else:  # also when it was longer a moment ago: what is in the tail is counted until it is carried over
                for _ in range(10):
                    server.decide({"a": ("x" * 990_000, 0.5)})
        self.assertRegex(server.journal, r"the store's journal is long.* bytes=1[34]\d{7} ")
        reader.rollback()
        end = time.monotonic() + 30
        while journal() > long and time.monotonic() < end:
            server.decide({"a": ("x" * 990_000, 0.5)})
        self.assertLess(journal(), long)


if __name__ == "__main__":
    main()
