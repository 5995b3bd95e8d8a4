"""margin state, as an operator types it: state_commands.py MARGIN MAKE_STORE. Each test has a store of its own in a folder of its own."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

MARGIN, MAKE_STORE = sys.argv[1:3]


class StateCommands(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.digest = self.make("store.db", 20)

    def make(self, name, tasks):
        return subprocess.run([MAKE_STORE, name, str(tasks)], cwd=self.folder.name, check=True, capture_output=True, text=True).stdout.strip()

    def margin(self, *words, code=0):
        done = subprocess.run([MARGIN, "state", *words], cwd=self.folder.name, capture_output=True, text=True)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done.stdout if code == 0 else done.stdout + done.stderr

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def pools(self, store="store.db"):
        return {pool["pool"]: pool for pool in json.loads(self.margin("show", store, "--json"))}

    def flip(self, name, what, by):
        with open(self.path(name), "rb") as file:
            content = file.read()
        self.assertIn(what, content)
        with open(self.path(name), "wb") as file:
            file.write(content.replace(what, by, 1))

    def test_show_names_pools_with_their_state(self):
        pools = self.pools()
        self.assertEqual(sorted(pools), ["default", "law"])
        default = pools["default"]
        self.assertEqual((default["first"], default["next"], default["snapshots"]), (0, 40, [20]))
        self.assertEqual(default["models"], ["ada", "bob", "cyd"])
        self.assertEqual(default["digest"], self.digest)
        self.assertIn(self.digest, self.margin("show", "store.db"))

    def test_a_sound_store_is_said_to_be(self):
        report = json.loads(self.margin("verify", "store.db", "--json"))
        self.assertTrue(report["sound"])
        self.assertEqual([(pool["events"], pool["snapshots"]) for pool in report["pools"]], [(40, [20]), (4, [])])
        self.assertIn("The store is sound.", self.margin("verify", "store.db"))

    def test_a_flipped_byte_is_named(self):
        self.flip("store.db", b"task 14", b"task 15")
        said = self.margin("verify", "store.db", code=1)
        self.assertIn("event 14 of pool default is damaged", said)
        self.assertIn("NOT sound", said)

    def test_a_store_that_is_not_there(self):
        said = self.margin("show", "nothing.db", code=2)
        self.assertIn("nothing.db: cannot be opened", said)
        self.assertEqual(said.count("nothing.db"), 1, said)
        self.assertFalse(os.path.exists(self.path("nothing.db")))

    def test_a_file_that_is_no_store(self):
        with open(self.path("text"), "w") as file:
            file.write("hello " * 1000)
        self.assertIn("not a store", self.margin("verify", "text", code=1))

    def test_an_exported_state_equals_the_pool(self):
        self.assertIn(self.digest, self.margin("export", "store.db", "--out", "state"))
        self.assertIn("The states are equal, digest " + self.digest, self.margin("diff", "state", "store.db"))

    def test_an_earlier_state_differs_and_diff_says_where(self):
        self.margin("export", "store.db", "--at", "10", "--out", "early")
        said = self.margin("diff", "early", "store.db")
        self.assertIn("Factors that differ", said)
        self.assertIn("ada", said)

    def factors(self, first, second):
        """The rows of diff, by model and band: factor and n of both."""
        rows = [line.split() for line in self.margin("diff", first, second).splitlines() if " verbalized " in line]
        return {(row[0], row[2]): row[3:] for row in rows}

    def test_a_new_deployment_starts_from_anothers_state_with_a_discount(self):
        self.margin("export", "store.db", "--out", "state")
        self.assertIn("pool default has the 3 models of state at a trust of 0.5", self.margin("import", "state", "new.db", "--trust", "0.5"))
        rows = self.factors("state", "new.db")
        self.assertEqual(len(rows), 9)
        for there, here, n_there, n_here in rows.values():
            self.assertAlmostEqual(float(n_here), float(n_there) / 2, delta=0.06)
        self.assertIn("The store is sound.", self.margin("verify", "new.db"))
        self.assertEqual(self.pools("new.db")["default"]["next"], 2)

    def test_a_pool_that_has_decided_takes_no_state(self):
        self.margin("export", "store.db", "--out", "state")
        self.assertIn("decision", self.margin("import", "state", "store.db", code=2))
        self.assertEqual(self.pools()["default"]["next"], 40)

    def test_an_import_that_is_refused_leaves_nothing(self):
        self.margin("export", "store.db", "--out", "state")
        before = sorted(os.listdir(self.folder.name))
        self.assertIn("trust: got 0, expected", self.margin("import", "state", "new.db", "--trust", "0", code=2))
        self.assertIn('--pool: got the name "x/y z", expected', self.margin("import", "state", "new.db", "--pool", "x/y z", code=2))
        self.assertIn("trust", self.margin("import", "state", "store.db", "--pool", "new", "--trust", "2", code=2))
        self.assertEqual(sorted(os.listdir(self.folder.name)), before)
        self.assertEqual(sorted(self.pools()), ["default", "law"])
        self.margin("import", "state", "new.db", "--pool", "acme/law")
        self.assertIn("taken over a state before", self.margin("import", "state", "new.db", "--pool", "acme/law", code=2))
        self.assertEqual(self.pools("new.db")["acme/law"]["next"], 2)

    def test_a_merge_has_seen_what_both_have(self):
        self.margin("export", "store.db", "--out", "first")
        self.margin("export", "store.db", "--at", "20", "--out", "second")
        self.margin("merge", "first", "second", "--out", "both")
        seen = {place: (float(row[2]), float(row[3])) for place, row in self.factors("first", "both").items()}
        more = {place: float(row[3]) for place, row in self.factors("first", "second").items()}
        self.assertTrue(seen)
        for place, (before, after) in seen.items():
            self.assertAlmostEqual(after, before + more[place], delta=0.11)

    def test_a_damaged_state_file_is_refused(self):
        self.margin("export", "store.db", "--out", "state")
        self.flip("state", b"ada", b"adb")
        self.assertIn("damaged", self.margin("diff", "state", "store.db", code=1))

    def test_looking_leaves_nothing_behind(self):
        before = sorted(os.listdir(self.folder.name))
        self.margin("show", "store.db")
        self.margin("verify", "store.db")
        self.assertEqual(sorted(os.listdir(self.folder.name)), before)

    def test_an_unknown_word_for_the_audit(self):
        self.assertIn("--audit: got all, expected", self.margin("compact", "store.db", "--audit", "all", code=2))

    def test_an_unknown_pool(self):
        self.assertIn("pool nobody: has no events", self.margin("export", "store.db", "--pool", "nobody", "--out", "state", code=2))

    def test_compaction_keeps_the_state(self):
        self.assertEqual(self.margin("compact", "store.db", "--keep", "6", "--audit", "nothing"), "pool default: events 34 to 40 are retained\n")
        default = self.pools()["default"]
        self.assertEqual((default["first"], default["next"], default["digest"]), (34, 40, self.digest))
        self.assertIn("The store is sound.", self.margin("verify", "store.db"))

    def test_a_backup_beside_a_server_and_back_again(self):
        os.remove(self.path("store.db"))
        os.remove(self.path("store.db.head"))
        server = subprocess.Popen([MAKE_STORE, "store.db", "10", "hold"], cwd=self.folder.name, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        digest = server.stdout.readline().strip()
        try:
            self.assertEqual(self.margin("backup", "store.db", "backup.db"), "backup.db: 2 pools, 24 events\n")
            self.assertIn("exists", self.margin("backup", "store.db", "backup.db", code=2))
            self.assertIn("process %d on " % server.pid, self.margin("compact", "store.db", code=1))
            self.assertIn("process %d on " % server.pid, self.margin("restore", "backup.db", "store.db", "--replace", code=1))
        finally:
            server.communicate("\n")
        self.make_longer()
        self.assertIn("--replace", self.margin("restore", "backup.db", "store.db", code=2))
        self.assertEqual(self.margin("restore", "backup.db", "store.db", "--replace"), "store.db: 2 pools, 24 events; before: 2 pools, 84 events\n")
        self.assertEqual(self.pools()["default"]["digest"], digest)
        self.assertIn("The store is sound.", self.margin("verify", "store.db"))

    def make_longer(self):
        for name in ("store.db", "store.db.head"):
            os.remove(self.path(name))
        self.make("store.db", 40)

    def test_an_old_copy_put_there_by_hand_is_found(self):
        self.margin("export", "store.db", "--out", "state")
        shutil.copy(self.path("store.db"), self.path("old.db"))
        self.margin("import", "state", "store.db", "--pool", "new")
        os.replace(self.path("old.db"), self.path("store.db"))
        self.assertIn("46 events were acknowledged, and 44 are in it", self.margin("verify", "store.db", code=1))
        self.assertIn("46 events were acknowledged, and 44 are in it", self.margin("compact", "store.db", code=1))

    def test_a_backup_with_a_flipped_byte_replaces_nothing(self):
        self.margin("backup", "store.db", "backup.db")
        self.flip("backup.db", b"task 14", b"task 15")
        self.assertIn("event 14 of pool default is damaged", self.margin("restore", "backup.db", "store.db", "--replace", code=1))
        self.assertEqual(self.pools()["default"]["digest"], self.digest)
        self.assertIn("The store is sound.", self.margin("verify", "store.db"))

    def test_another_store_put_there_by_hand_is_found(self):
        self.margin("backup", "store.db", "old.db")
        os.remove(self.path("store.db"))
        os.remove(self.path("store.db.head"))
        self.make("store.db", 30)
        os.replace(self.path("old.db"), self.path("store.db"))
        self.assertIn("another store stood here before", self.margin("verify", "store.db", code=1))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
