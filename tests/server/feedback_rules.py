"""What feedback may do to other feedback: who may replace what, what races come to, what waits for its decision, and what is never kept."""
import json
import pathlib
import socket
import threading
import uuid

from harness import ServerTest, main

ASKED = {"a": ("Paris", 0.9), "b": ("Lyon", 0.95), "c": ("Paris", 0.6)}


class FeedbackTest(ServerTest):
    def keep(self, answers):
        return self.serve(config=f'[store]\nanswers = "{answers}"\n')

    def offset(self, server, pool="default"):
        return server.get("/v1/pools/" + pool).json["offset"]

    def outcomes(self, server, decision):
        return {o["model"]: o["outcome"] for o in server.get("/v1/decisions/" + decision).json["outcomes"]}


class Answers(FeedbackTest):
    def test_a_right_answer_is_refused_where_the_answers_were_not_kept(self):
        server = self.keep("none")
        made = server.decide(ASKED)["decision_id"]
        before = self.offset(server)
        refused = server.post("/v1/feedback", {"decision_id": made, "correct_answer": "Paris"})
        self.assertEqual((refused.status, refused.error["param"]), (422, "correct_answer"))
        self.assertIn("outcomes", refused.error["message"])
        self.assertEqual(self.offset(server), before, "nothing was written")
        self.assertEqual(server.post("/v1/feedback", {"decision_id": made, "outcome": 1}).json["updated"], ["a", "c"])

    def test_the_decision_tells_whether_its_answers_were_kept(self):
        server = self.keep("none")
        unkept = server.decide(ASKED)["decision_id"]
        server.stop()
        server = self.keep("hash")
        kept = server.decide(ASKED)["decision_id"]
        self.assertEqual(server.post("/v1/feedback", {"decision_id": unkept, "correct_answer": "Paris"}).status, 422)
        self.assertEqual(server.post("/v1/feedback", {"decision_id": kept, "correct_answer": "Paris"}).json["status"], "applied")
        self.assertEqual(self.outcomes(server, kept), {"a": 1, "b": 0, "c": 1})

    def test_a_right_answer_that_would_wait_is_not_stored_as_text(self):
        for kept in ("none", "hash"):
            server = self.keep(kept)
            mine = str(uuid.uuid4())
            refused = server.post("/v1/feedback", {"decision_id": mine, "correct_answer": "SECRETGOLD1"})
            self.assertEqual((refused.status, refused.error["param"]), (422, "correct_answer"), kept)
            self.assertEqual(server.post("/v1/feedback", {"decision_id": mine, "outcome": 1}).json["status"], "pending_decision")
            server.stop()
            for file in pathlib.Path(self.folder).glob("margin.db*"):
                self.assertNotIn(b"SECRETGOLD1", file.read_bytes(), (kept, file))


if __name__ == "__main__":
    main()
