"""`margin decide` and `margin feedback` against a real server: what a person types, reads, and gets wrong."""
import json
import subprocess

from harness import BINARY, ServerTest, main


class Shell(ServerTest):
    def typed(self, server, *arguments, code=0, **kw):
        done = subprocess.run([BINARY, *arguments, "--server", server.url], capture_output=True, text=True, cwd=self.folder, timeout=60, **kw)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done.stdout if code == 0 else done.stderr

    def test_a_decision_and_its_outcome(self):
        server = self.serve()
        decision = json.loads(self.typed(server, "decide", "gpt-x=Paris:0.9", "llama=Lyon:0.95", "b=Paris:0.7", "--task", "q17", "--json"))
        self.assertEqual((decision["answer"], decision["model"], decision["status"]), ("Paris", "gpt-x", "cold"))
        said = self.typed(server, "feedback", decision["decision_id"], "--correct-answer", "Paris")
        self.assertTrue(said.startswith("applied, learned: gpt-x, llama, b\n"), said)
        outcomes = server.get("/v1/decisions/" + decision["decision_id"]).json["outcomes"]
        self.assertEqual({o["model"]: o["outcome"] for o in outcomes}, {"gpt-x": 1, "llama": 0, "b": 1})

    def test_words_for_people(self):
        server = self.serve()
        self.assertRegex(self.typed(server, "decide", "a=x:0.9", "b=y:0.2"),
                         r"\Ax\n  right with probability 0\.\d\d, 0\.\d\d to [01]\.\d\d \(cold\), as a says\n  decision [0-9a-f-]{36}\n\Z")
        self.assertTrue(self.typed(server, "decide", "a=x:0.9", "--max-error", "0.01").startswith("(abstains)\n"))

    def test_another_outcome_is_a_conflict_unless_it_replaces(self):
        server = self.serve()
        made = server.decide({"a": ("x", 0.9)})["decision_id"]
        self.typed(server, "feedback", made, "--outcome", "1")
        self.assertTrue(self.typed(server, "feedback", made, "--outcome", "1").startswith("duplicate"))
        self.assertIn("the server says 409: ", self.typed(server, "feedback", made, "--outcome", "0", code=2))
        self.assertTrue(self.typed(server, "feedback", made, "--outcomes", "a=0", "--replace").startswith("applied"))

    def test_what_is_no_number_is_not_sent_as_nothing(self):
        server = self.serve()
        made = server.decide({"a": ("x", 0.9)})["decision_id"]
        for number in ("nan", "inf", "0", "-1", "1.5"):
            self.assertIn("--weight: expected a number in (0, 1]", self.typed(server, "feedback", made, "--outcome", "1", "--weight", number, code=2))
            self.assertIn("--max-error: expected", self.typed(server, "decide", "a=x:0.1", "--max-error", number, code=2))
        for number in ("nan", "inf", "-1", "1.5"):
            self.assertIn("--outcome: expected a number in [0, 1]", self.typed(server, "feedback", made, "--outcome", number, code=2))
        self.assertEqual(server.get("/v1/decisions/" + made).json["outcomes"], [])

    def test_a_tenant_that_is_not_named_confines_nobody_and_is_refused(self):
        for tenant in (("--tenant", ""), ("--tenant=", "--json"), ("--tenant", "-x")):
            self.margin("keys", "create", "--store", "margin.db", "--name", "app", "--scope", "admin", *tenant, code=2)
        self.assertIn("No keys", self.margin("keys", "list", "--store", "margin.db"))

    def test_the_key_decides(self):
        key = json.loads(self.margin("keys", "create", "--store", "margin.db", "--name", "app", "--scope", "decide", "--json"))["key"]
        server = self.serve()
        self.assertIn("the server says 401: ", self.typed(server, "decide", "a=x:0.9", code=1))
        (server.folder / "key").write_text(key + "\n")
        made = json.loads(self.typed(server, "decide", "a=x:0.9", "--key-file", "key", "--json"))["decision_id"]
        self.assertIn("the server says 403: ", self.typed(server, "feedback", made, "--outcome", "1", "--key-file", "key", code=1))

    def test_a_whole_body_may_be_sent(self):
        server = self.serve()
        body = json.dumps({"responses": [{"model": "a", "answer": "x:1", "confidence": 0.9}]})
        self.assertEqual(json.loads(self.typed(server, "decide", "--body", "-", "--json", input=body))["answer"], "x:1")
        for flag in ("--pool", "--task", "--segment", "--kind", "--max-error"):
            said = self.typed(server, "decide", "--body", "-", flag, "0.5", input=body, code=2)
            self.assertIn("--body is the whole request", said, flag)
        self.assertIn("the server says 400: ", self.typed(server, "decide", "--body", "-", input="{", code=2))


if __name__ == "__main__":
    main()
