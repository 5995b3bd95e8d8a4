"""Decisions and feedback over HTTP, as a user would: what is decided, what is learned, what is refused."""
import json
import pathlib
import re
import socket
import threading
import time
import uuid

from harness import ServerTest, main

ASKED = {"a": ("Paris", 0.9), "b": ("Lyon", 0.95), "c": ("Paris", 0.6)}


class Decide(ServerTest):
    def test_a_decision_selects_and_explains(self):
        server = self.serve()
        decision = server.decide(ASKED, task_id="t1")
        self.assertEqual(decision["answer"], "Paris")
        self.assertEqual(decision["status"], "cold")
        self.assertFalse(decision["abstained"])
        self.assertEqual([r["model"] for r in decision["responses"]], ["a", "b", "c"])
        self.assertEqual([r["stated"] for r in decision["responses"]], [0.9, 0.95, 0.6])
        votes = {v["answer"]: v for v in decision["votes"]}
        self.assertEqual(votes["Paris"]["models"], ["a", "c"])
        self.assertAlmostEqual(sum(r["weight"] for r in decision["responses"] if r["model"] in "ac"), votes["Paris"]["score"])
        self.assertGreater(decision["runner_up_gap"], 0)
        low, high = decision["interval"]
        self.assertLessEqual(low, decision["p_correct"])
        self.assertLessEqual(decision["p_correct"], high)

        looked_up = server.get("/v1/decisions/" + decision["decision_id"]).json
        for field in ("answer", "model", "p_correct", "votes", "responses", "interval"):
            self.assertEqual(looked_up[field], decision[field], field)
        self.assertEqual(looked_up["task_id"], "t1")
        self.assertEqual(looked_up["outcomes"], [])

    def test_who_abstains_is_not_calibrated(self):
        server = self.serve()
        asked = {"responses": [{"model": "a", "answer": "x", "confidence": 0.9}, {"model": "b", "answer": "x", "confidence": 0.75, "abstained": True}]}
        decision = server.post("/v1/decide", asked).json
        expected = {"model": "b", "channel": "verbalized", "abstained": True, "stated": 0.75, "calibrated": None}
        for told in (decision, server.get("/v1/decisions/" + decision["decision_id"]).json):
            self.assertEqual(told["responses"][1], expected)

    def test_who_has_left_is_neither_calibrated_nor_scored(self):
        server = self.serve()
        for _ in range(2):
            made = server.decide({"a": ("x", 0.9), "b": ("y", 0.8)})["decision_id"]
            server.post("/v1/feedback", {"decision_id": made, "correct_answer": "x"})
            server.delete("/v1/pools/default/models/a")
        decision = server.get("/v1/decisions/" + made).json
        self.assertEqual(decision["responses"][0], {"model": "a", "channel": "verbalized", "stated": 0.9, "calibrated": None})
        self.assertEqual([o["model"] for o in decision["outcomes"]], ["a", "b"], "recorded all the same")
        scores = server.get("/v1/pools/default/calibration").json["models"]
        self.assertEqual({model: scores[model]["outcomes"] for model in scores}, {"a": 1, "b": 2})
        self.assertEqual(server.get("/v1/pools/default").json["response_scores"]["outcomes"], 3)
        rows = {row["model"]: row for row in server.get("/v1/pools/default/models").json["models"]}
        self.assertEqual((rows["a"]["responses"], sum(rows["a"]["calibrated_histogram"])), (2, 1))

    def test_a_decision_is_the_same_wherever_it_is_told(self):
        server = self.serve()
        connection = server.fresh()
        connection.request("GET", "/v1/events")
        stream = connection.getresponse()
        asked = {"a": ("x", 0.87), "b": ("y", 0.31), "c": ("x", 0.7)}
        for named, answers, more in ((True, asked, {}), (False, asked, {"max_error": 0.001}), (False, {"a": (None, 0.5)}, {})):
            decision = server.decide(answers, **more)
            while stream.readline() != b"event: decision\n":
                pass
            told = json.loads(stream.readline().decode().split("data: ")[1])
            listed = server.get("/v1/decisions").json["decisions"][0]
            self.assertEqual(decision["model"] is not None, named)
            self.assertEqual((told["id"], listed["decision_id"]), (decision["decision_id"],) * 2)
            for key in ("model", "p_correct", "status", "abstained"):
                self.assertEqual((told[key], listed[key]), (decision[key],) * 2, key)
            self.assertEqual(listed["answer"], decision["answer"])
        connection.close()

    def test_every_answer_says_what_it_took(self):
        server = self.serve()
        decision = server.decide(ASKED)["decision_id"]
        asked = [(server.post, ("/v1/decide", {"responses": [{"model": "a", "answer": "x", "confidence": 0.9}]}), 200), (server.post, ("/v1/decide", {}), 400),
                 (server.post, ("/v1/feedback", {"decision_id": decision, "correct_answer": "Paris"}), 200), (server.get, ("/v1/decisions/" + decision,), 200),
                 (server.get, ("/nowhere",), 404)]
        for ask, what, status in asked:
            with self.subTest(what):
                began = time.monotonic()
                answer = ask(*what)
                took_ms = 1000 * (time.monotonic() - began)
                self.assertEqual(answer.status, status)
                self.assertRegex(answer.headers["x-margin-overhead-ms"], r"^\d+\.\d{3}$")
                self.assertTrue(0 < float(answer.headers["x-margin-overhead-ms"]) < took_ms)

    def ask_at_once(self, server, requests):
        """The bytes of `requests`, each list of them over a connection of its own, all under way before any answer is read; the statuses."""
        sockets = [socket.create_connection((server.host, int(server.port)), timeout=60) for _ in requests]
        for one, pipelined in zip(sockets, requests):
            head = "{} {} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{}"
            bodies = [(method, path, json.dumps(body)) for method, path, body in pipelined]
            one.sendall("".join(head.format(method, path, len(body), body) for method, path, body in bodies).encode())
        statuses = []
        for one in sockets:
            one.shutdown(socket.SHUT_WR)
            with one, one.makefile("rb") as answers:
                statuses.append([int(status) for status in re.findall(rb"HTTP/1.1 (\d+) ", answers.read())])
        return statuses

    def test_of_decisions_with_one_id_at_the_same_time_one_is_made(self):
        server = self.serve()
        made = str(uuid.uuid4())
        bodies = [{"decision_id": made, "responses": [{"model": "a", "answer": f"x{i}", "confidence": 0.9}]} for i in range(8)]
        statuses = self.ask_at_once(server, [[("POST", "/v1/decide", body)] for body in bodies])
        self.assertEqual(sorted(statuses), [[200]] + 7 * [[409]])
        self.assertEqual(server.get("/v1/decisions/" + made).json["answer"], f"x{statuses.index([200])}")

    def test_pools_are_made_while_many_decisions_are_answered(self):
        server = self.serve()
        decide = ("POST", "/v1/decide", {"responses": [{"model": "a", "answer": "x", "confidence": 0.9}]})
        requests = [[decide, ("PUT", f"/v1/pools/p{i}", {}) if i % 4 == 3 else decide] for i in range(120)]
        for statuses in self.ask_at_once(server, requests):
            self.assertEqual([status // 100 for status in statuses], [2, 2])
        self.assertEqual(server.decide(ASKED)["answer"], "Paris")

    def test_outcomes_move_what_a_confidence_is_worth(self):
        server = self.serve()
        before = server.decide({"liar": ("x", 0.95), "honest": ("y", 0.6)})
        self.assertEqual(before["answer"], "x")
        for _ in range(60):
            made = server.decide({"liar": ("x", 0.95), "honest": ("y", 0.6)})
            receipt = server.post("/v1/feedback", {"decision_id": made["decision_id"], "correct_answer": "y"}).json
            self.assertEqual(receipt["status"], "applied")
            self.assertEqual(sorted(receipt["updated"]), ["honest", "liar"])
        after = server.decide({"liar": ("x", 0.95), "honest": ("y", 0.6)})
        self.assertEqual(after["answer"], "y")
        calibrated = {r["model"]: r["calibrated"] for r in after["responses"]}
        self.assertLess(calibrated["liar"], 0.3)
        self.assertGreater(calibrated["honest"], 0.7)
        self.assertGreater(after["p_correct"], 0.7)
        self.assertEqual(after["status"], "calibrated")
        factors = server.get("/v1/pools/default/factors").json["factors"]
        self.assertTrue(any(f["model"] == "liar" and f["n"] > 50 for f in factors))
        scores = server.get("/v1/pools/default/calibration").json
        self.assertGreater(scores["models"]["liar"]["stated"]["ece"], 0.9)
        self.assertLess(scores["models"]["liar"]["calibrated"]["ece"], scores["models"]["liar"]["stated"]["ece"])

    def test_an_abstention_names_no_answer(self):
        server = self.serve()
        decision = server.decide(ASKED, max_error=0.001)
        self.assertTrue(decision["abstained"])
        self.assertIsNone(decision["answer"])
        self.assertEqual(decision["max_error"], 0.001)

    def test_another_vote_for_one_decision(self):
        server = self.serve()
        asked = {"a": ("x", 0.95), "b": ("y", 0.3), "c": ("y", 0.2)}
        self.assertEqual(server.decide(asked)["answer"], "y", "two together")
        other = server.decide(asked, vote="argmax")
        self.assertEqual((other["answer"], other["vote"], other["status"]), ("x", "argmax@1", "cold"))
        self.assertNotIn("vote", server.decide(asked, vote="sum"), "the pool's own needs no name")
        responses = [{"model": "a", "answer": "x", "confidence": 0.9}]
        refused = server.post("/v1/decide", {"responses": responses, "vote": "stacked"})
        self.assertEqual((refused.status, refused.error["param"]), (422, "vote"))
        for slip in ("majorty", "sum@99", "zzzzzzzzzz"):
            refused = server.post("/v1/decide", {"responses": responses, "vote": slip})
            self.assertEqual((refused.status, refused.error["code"], refused.error["param"]), (400, "invalid_value", "vote"), slip)
            self.assertIn("expected one of sum, argmax, ", refused.error["message"])

    def test_a_decision_is_found_by_its_id_in_every_form_that_feedback_takes(self):
        server = self.serve()
        made = server.decide(ASKED)["decision_id"]
        for form in (made, made.upper(), made.replace("-", ""), "chatcmpl-" + made, "chatcmpl-" + made.replace("-", "")):
            self.assertEqual(server.get("/v1/decisions/" + form).json["decision_id"], made, form)
            self.assertEqual(server.get("/v1/decisions?before=" + form).status, 200, form)
        for form in (made[:-1], "chatcmpl-", made.replace("-", "") + "0", "x" * 32):
            self.assertEqual(server.get("/v1/decisions/" + form).status, 400, form)
        server.post("/v1/feedback", {"decision_id": made.replace("-", ""), "correct_answer": "Paris"})
        self.assertEqual(server.delete("/v1/decisions/" + made.replace("-", "") + "/texts").status, 200)

    def test_bad_requests_name_the_field(self):
        server = self.serve()
        cases = [
            ({}, "responses"),
            ({"responses": []}, None),
            ({"responses": [{"model": "a", "confidence": 1.5}]}, "responses[0].confidence"),
            ({"responses": [{"model": "a", "confidence": "high"}]}, "responses[0].confidence"),
            ({"responses": [{"answer": "x"}]}, "responses[0].model"),
            ({"responses": [{"model": "a"}], "pol": "x"}, "pol"),
            ({"responses": [{"model": "a", "anwser": 1}]}, "responses[0].anwser"),
            ({"responses": [{"model": "a"}], "max_error": 0}, "max_error"),
            ({"responses": [{"model": "a"}], "kind": "poem"}, "kind"),
            ({"responses": [{"model": "a"}], "pool": "no such"}, "pool"),
            ({"responses": {"model": "a"}}, "responses"),
        ]
        for body, param in cases:
            answer = server.post("/v1/decide", body)
            self.assertEqual(answer.status, 400, (body, answer.body))
            self.assertEqual(sorted(answer.error), ["code", "message", "param", "type"])
            self.assertEqual(answer.error["type"], "invalid_request_error")
            if param:
                self.assertEqual(answer.error["param"], param, body)
        kind = server.post("/v1/decide", {"responses": [{"model": "a"}], "kind": "maths"}).error["message"]
        self.assertTrue(kind.startswith("kind: got maths, expected one of exact, "), kind)
        self.assertEqual(server.post("/v1/decide", raw=b"{").status, 400)
        self.assertEqual(server.post("/v1/decide", raw=b"{}", headers={"Content-Type": "text/plain"}).status, 415)
        self.assertEqual(server.post("/v1/decide", {"responses": [{"model": "a"}], "pool": "nowhere"}).status, 404)
        self.assertEqual(server.get("/v1/decide").status, 405)
        self.assertEqual(server.get("/nothing").status, 404)

    def test_an_idempotency_key_decides_once(self):
        server = self.serve()
        body = {"responses": [{"model": "a", "answer": "x", "confidence": 0.7}]}
        first = server.post("/v1/decide", body, headers={"Idempotency-Key": "k1"})
        again = server.post("/v1/decide", body, headers={"Idempotency-Key": "k1"})
        self.assertEqual(first.json, again.json)
        other = server.post("/v1/decide", {**body, "task_id": "other"}, headers={"Idempotency-Key": "k1"})
        self.assertEqual((other.status, other.error["code"]), (422, "idempotency_key_reused"))
        self.assertEqual(server.get("/v1/pools/default").json["decisions"], 1)


class Feedback(ServerTest):
    def test_the_three_forms(self):
        server = self.serve()
        gold = server.decide(ASKED)
        server.post("/v1/feedback", {"decision_id": gold["decision_id"], "correct_answer": "Lyon"})
        outcomes = {o["model"]: o["outcome"] for o in server.get("/v1/decisions/" + gold["decision_id"]).json["outcomes"]}
        self.assertEqual(outcomes, {"a": 0, "b": 1, "c": 0})

        selected = server.decide(ASKED)
        server.post("/v1/feedback", {"inference_id": selected["decision_id"], "outcome": True})
        outcomes = {o["model"]: o["outcome"] for o in server.get("/v1/decisions/" + selected["decision_id"]).json["outcomes"]}
        self.assertEqual({m: outcomes[m] for m in "ac"}, {"a": 1, "c": 1})

        graded = server.decide(ASKED)
        trace = graded["decision_id"].replace("-", "")
        server.post("/v1/feedback", {"trace_id": trace, "outcomes": {"a": 0.5, "b": 0}})
        outcomes = {o["model"]: o["outcome"] for o in server.get("/v1/decisions/" + graded["decision_id"]).json["outcomes"]}
        self.assertEqual(outcomes, {"a": 0.5, "b": 0})

    def test_duplicates_conflicts_and_replacement(self):
        server = self.serve()
        made = server.decide(ASKED)
        body = {"decision_id": made["decision_id"], "outcomes": {"a": 1}}
        first = server.post("/v1/feedback", body).json
        self.assertEqual(first["status"], "applied")
        self.assertEqual(server.post("/v1/feedback", body).json["status"], "duplicate")
        other = {"decision_id": made["decision_id"], "outcomes": {"a": 0}}
        conflict = server.post("/v1/feedback", other)
        self.assertEqual((conflict.status, conflict.error["code"]), (409, "conflict"))
        replaced = server.post("/v1/feedback", {**other, "replace": True})
        self.assertEqual((replaced.status, replaced.json["status"]), (200, "applied"))
        looked_up = server.get("/v1/decisions/" + made["decision_id"]).json
        self.assertEqual([(o["model"], o["outcome"], o["feedback_id"]) for o in looked_up["outcomes"]], [("a", 0, replaced.json["feedback_id"])])

    def test_replacing_equals_never_having_said_it(self):
        server = self.serve()
        server.put("/v1/pools/twin", {})
        made = {pool: [server.decide(ASKED, pool=pool) for _ in range(8)] for pool in ("default", "twin")}
        for i in range(8):
            server.post("/v1/feedback", {"decision_id": made["default"][i]["decision_id"], "outcomes": {"a": i % 2, "b": 1}})
        for i in range(8):
            server.post("/v1/feedback", {"decision_id": made["twin"][i]["decision_id"], "outcomes": {"a": 1 if i == 4 else i % 2, "b": 1}})
        answer = server.post("/v1/feedback", {"decision_id": made["default"][4]["decision_id"], "outcomes": {"a": 1, "b": 1}, "replace": True})
        self.assertEqual(answer.json["status"], "applied", answer.body)
        # The replacement comes last in the log, so only factors that do not depend on order are compared: counts.
        counts = {}
        for pool in ("default", "twin"):
            counts[pool] = {(f["model"], f["band"]): f["n"] for f in server.get(f"/v1/pools/{pool}/factors").json["factors"]}
        self.assertEqual(counts["default"], counts["twin"])

    def test_reverting_the_last_outcome_restores_the_factors(self):
        server = self.serve()
        made = [server.decide(ASKED) for _ in range(5)]
        for one in made[:4]:
            server.post("/v1/feedback", {"decision_id": one["decision_id"], "outcomes": {"a": 1, "b": 0}})
        before = server.get("/v1/pools/default/factors").json
        receipt = server.post("/v1/feedback", {"decision_id": made[4]["decision_id"], "outcomes": {"a": 0, "b": 1}}).json
        self.assertNotEqual(server.get("/v1/pools/default/factors").json, before)
        reverted = server.post("/v1/feedback/revert", {"feedback_id": receipt["feedback_id"]})
        self.assertEqual(reverted.json["reverted"], [receipt["feedback_id"]])
        self.assertEqual(server.get("/v1/pools/default/factors").json, before)
        digests = server.digests()
        server.stop()
        self.assertEqual(self.serve().digests(), digests)

    def test_reverting_a_source(self):
        server = self.serve()
        start = server.decide(ASKED)
        factors = server.get("/v1/pools/default/factors").json
        for _ in range(3):
            made = server.decide(ASKED)
            server.post("/v1/feedback", {"decision_id": made["decision_id"], "correct_answer": "Lyon"})
        self.assertEqual(len(server.post("/v1/feedback/revert", {"source": "local"}).json["reverted"]), 3)
        self.assertEqual(server.get("/v1/pools/default/factors").json, factors)
        self.assertEqual(server.post("/v1/feedback/revert", {"source": "nobody"}).status // 100, 4)
        self.assertIsNotNone(start)

    def test_what_is_no_feedback_cannot_be_taken_back(self):
        server = self.serve()
        made = server.decide({"a": ("x", 0.9)})["decision_id"]
        offset = server.get("/v1/pools/default").json["offset"]
        for unknown in (str(uuid.uuid4()), made):
            answer = server.post("/v1/feedback/revert", {"feedback_id": unknown})
            self.assertEqual((answer.status, answer.error["param"]), (404, "feedback_id"))
        self.assertEqual(server.get("/v1/pools/default").json["offset"], offset, "nothing was written")

    def test_an_id_that_two_pools_know_belongs_to_the_one_that_is_named(self):
        server = self.serve()
        server.put("/v1/pools/other", {})
        made = str(uuid.uuid4())
        for pool in ("default", "other"):
            server.decide({"a": ("x", 0.9)}, pool=pool, decision_id=made)
        graded = lambda pool: server.get(f"/v1/decisions?pool={pool}").json["decisions"][0]["graded"]
        self.assertEqual(server.post("/v1/feedback", {"decision_id": made, "pool": "other", "outcome": 1}).json["status"], "applied")
        self.assertEqual((graded("default"), graded("other")), (0, 1))
        server.post("/v1/feedback", {"decision_id": made, "outcome": 1})
        self.assertEqual(graded("default"), 1)

    def test_a_repeated_decision_comes_with_its_id_in_the_header_too(self):
        server = self.serve()
        ask = lambda: server.post("/v1/decide", {"responses": [{"model": "a", "answer": "x", "confidence": 0.9}]}, headers={"Idempotency-Key": "k"})
        first, second = ask(), ask()
        self.assertEqual(first.body, second.body)
        self.assertEqual(second.headers["x-margin-decision-id"], first.json["decision_id"])

    def test_feedback_before_its_decision_is_kept_and_joined(self):
        server = self.serve()
        mine = str(uuid.uuid4())
        early = server.post("/v1/feedback", {"decision_id": mine, "correct_answer": "Paris"}).json
        self.assertEqual(early["status"], "pending_decision")
        decision = server.decide(ASKED, decision_id=mine)
        self.assertEqual(decision["decision_id"], mine)
        outcomes = {o["model"]: o["outcome"] for o in server.get("/v1/decisions/" + mine).json["outcomes"]}
        self.assertEqual(outcomes, {"a": 1, "b": 0, "c": 1})

    def test_early_feedback_that_contradicts_other_is_named_when_it_is_dropped(self):
        server = self.serve()
        mine = str(uuid.uuid4())
        # Two forms, which only the decision can compare.
        sent = [server.post("/v1/feedback", {"decision_id": mine, **said}).json for said in ({"correct_answer": "Paris"}, {"outcomes": {"a": 0}})]
        self.assertEqual([one["status"] for one in sent], ["pending_decision"] * 2)
        server.decide(ASKED, decision_id=mine)
        self.assertIn('margin_feedback_total{pool="default",result="dropped"} 1\n', server.get("/metrics").body.decode())
        self.assertIn(f"feedback {sent[1]['feedback_id']} came before its decision {mine} and does not fit it", server.journal)
        self.assertNotIn(sent[0]["feedback_id"], server.journal)

    def test_an_idempotency_key_teaches_once_even_after_a_restart(self):
        server = self.serve()
        made = server.decide(ASKED)
        body = {"decision_id": made["decision_id"], "correct_answer": "Paris"}
        first = server.post("/v1/feedback", body, headers={"Idempotency-Key": "f1"}).json
        server.stop()
        server = self.serve()
        again = server.post("/v1/feedback", body, headers={"Idempotency-Key": "f1"}).json
        self.assertEqual((again["status"], again["feedback_id"]), ("duplicate", first["feedback_id"]))
        changed = server.post("/v1/feedback", {**body, "weight": 0.5}, headers={"Idempotency-Key": "f1"})
        self.assertEqual(changed.status, 422)

    def test_a_batch_answers_line_by_line(self):
        server = self.serve()
        made = [server.decide(ASKED)["decision_id"] for _ in range(3)]
        lines = [json.dumps({"decision_id": made[0], "correct_answer": "Paris"}), "not json", "",
                 json.dumps({"decision_id": made[1], "outcome": 2}), json.dumps({"decision_id": made[2], "outcome": 1})]
        answer = server.post("/v1/feedback/batch", raw="\n".join(lines).encode(), headers={"Content-Type": "application/x-ndjson"})
        results = [json.loads(line) for line in answer.body.splitlines()]
        self.assertEqual([r["code"] for r in results], [200, 400, 400, 200])
        self.assertEqual([r["line"] for r in results], [1, 2, 4, 5], "as an editor counts them")
        self.assertEqual(results[3]["status"], "applied")
        self.assertEqual(results[2]["error"]["param"], "outcome")

    def test_bad_feedback_names_the_field(self):
        server = self.serve()
        made = server.decide(ASKED)["decision_id"]
        for body, param in [
            ({"correct_answer": "x"}, "decision_id"),
            ({"decision_id": "x", "correct_answer": "x"}, "decision_id"),
            ({"decision_id": made}, "outcome"),
            ({"decision_id": made, "outcome": 1, "correct_answer": "x"}, "outcome"),
            ({"decision_id": made, "outcomes": {"a": 7}}, "outcomes.a"),
            ({"decision_id": made, "outcomes": {}}, "outcomes"),
            ({"decision_id": made, "outcome": 1, "weight": 0}, "weight"),
            ({"decision_id": made, "outcome": 1, "sorce": "me"}, "sorce"),
        ]:
            answer = server.post("/v1/feedback", body)
            self.assertEqual((answer.status, answer.error["param"]), (400, param), (body, answer.body))
        answer = server.post("/v1/feedback", {"decision_id": made, "outcomes": {"stranger": 1}})
        self.assertEqual((answer.status, answer.error["param"]), (400, "outcomes"))
        self.assertIn("stranger", answer.error["message"])


class Lifecycle(ServerTest):
    def test_pools_and_models_come_and_go(self):
        server = self.serve()
        made = server.put("/v1/pools/law", {"calibrator": "margin", "vote": "log_odds", "calibrator_parameters": {"alpha": 0.1}})
        self.assertEqual((made.status, made.json["calibrator"], made.json["vote"]), (200, "margin@1", "log_odds@1"))
        self.assertEqual(server.put("/v1/pools/law/models/meta%2Fllama").json["models"], ["meta/llama"])
        self.assertEqual(server.delete("/v1/pools/law/models/meta%2Fllama").json["models"], [])
        self.assertEqual(server.delete("/v1/pools/law/models/stranger").status // 100, 4)
        self.assertEqual(server.put("/v1/pools/law", {"calibrator": "margn"}).status, 400)
        slip = server.put("/v1/pools/law", {"calibrator": "margn"}).error
        self.assertEqual((slip["param"], slip["message"]), ("calibrator", "calibrator: no calibrator named margn (did you mean margin?)"))
        self.assertEqual(server.put("/v1/pools/no%20such", {}).status, 400)
        for path in ("/v1/pools/%FF", "/v1/pools/law/models/%FF", "/v1/pools/law/models/a%C3"):
            answer = server.put(path)
            self.assertEqual((answer.status, answer.error["code"]), (400, "invalid_value"), path)
        self.assertEqual(server.put("/v1/pools/law/models/%C3%A9", {}).status, 200)
        self.assertEqual(server.delete("/v1/pools/law/models/%C3%A9").status, 200)
        self.assertEqual([p["pool"] for p in server.get("/v1/pools").json["pools"]], ["default", "law"])

    def test_what_was_put_can_be_read_again(self):
        server = self.serve()
        wanted = {"calibrator": "margin", "calibrator_parameters": {"alpha": 0.1}, "vote": "log_odds", "vote_parameters": {"floor": 0.5},
                  "pending_days": 2.5, "audit_rate": 0.25, "remedy": "weighted", "max_error": 0.125}
        for answer in (server.put("/v1/pools/law", wanted), server.get("/v1/pools/law")):
            shown = answer.json
            for key in ("pending_days", "audit_rate", "remedy", "max_error"):
                self.assertEqual(shown[key], wanted[key])
            self.assertEqual((shown["calibrator"], shown["vote"]), ("margin@1", "log_odds@1"))
            self.assertEqual((shown["calibrator_parameters"]["alpha"], shown["vote_parameters"]["floor"]), (0.1, 0.5))
            self.assertIn("bands", shown["calibrator_parameters"], "defaults too")

    def test_a_pool_abstains_as_it_was_put(self):
        server = self.serve()
        self.assertEqual(server.get("/v1/pools/default").json["max_error"], 1)
        server.put("/v1/pools/law", {"max_error": 0.001})
        decide = lambda server, **more: server.decide(ASKED, pool="law", **more)
        asked = lambda server, **more: (lambda made: (made.get("max_error"), made["abstained"]))(decide(server, **more))
        self.assertEqual(asked(server), (0.001, True))
        self.assertEqual(asked(server, max_error=0.999), (0.999, False), "the request's own comes first")
        digests = server.digests()
        server.kill()
        server = self.serve()
        self.assertEqual(server.digests(), digests)
        self.assertEqual(asked(server), (0.001, True), "for good")
        server.stop()
        server = self.serve()
        self.assertEqual(asked(server), (0.001, True), "from a snapshot too")
        state = server.get("/v1/pools/law/state").body
        server.put("/v1/pools/copy", {})
        self.assertEqual(server.put("/v1/pools/copy/state", raw=state).json["max_error"], 1, "that is the configuration, which stays")
        server.put("/v1/pools/law", {})
        self.assertEqual(asked(server), (None, False), "what is left out has its default")
        for bad in (0, -1, 1.5, "much"):
            refused = server.put("/v1/pools/law", {"max_error": bad})
            self.assertEqual((refused.status, refused.error["param"]), (400, "max_error"), bad)
            self.assertIn("expected a number", refused.error["message"])
        self.assertEqual(server.get("/v1/pools/law").json["max_error"], 1)

    def test_a_pool_begins_with_the_state_of_another(self):
        server = self.serve()
        for _ in range(30):
            made = server.decide(ASKED)
            server.post("/v1/feedback", {"decision_id": made["decision_id"], "correct_answer": "Paris"})
        state = server.get("/v1/pools/default/state").body
        factors = {}
        for pool, trust in (("copy", 1), ("half", 0.5)):
            server.put("/v1/pools/" + pool, {})
            taken = server.put(f"/v1/pools/{pool}/state?trust={trust}", raw=state)
            self.assertEqual((taken.status, taken.json["models"]), (200, ["a", "b", "c"]), taken.body)
            factors[pool] = {(f["model"], f["band"]): f["calibrated"] for f in server.get(f"/v1/pools/{pool}/factors").json["factors"]}
        own = {(f["model"], f["band"]): f["calibrated"] for f in server.get("/v1/pools/default/factors").json["factors"]}
        self.assertEqual(factors["copy"], own)
        self.assertEqual(server.put("/v1/pools/default/state", raw=state).status // 100, 4, "a pool that has decided keeps its own")
        self.assertEqual(server.put("/v1/pools/copy/state", raw=b"junk").status, 400)
        self.assertEqual(server.put("/v1/pools/copy/state?trust=2", raw=state).status, 400)
        digests = server.digests()
        server.kill()
        self.assertEqual(self.serve().digests(), digests)

    def test_freezing_and_pinning(self):
        server = self.serve()
        server.decide(ASKED)
        self.assertTrue(server.post("/v1/pools/default/freeze").json["frozen"])
        made = server.decide(ASKED)
        receipt = server.post("/v1/feedback", {"decision_id": made["decision_id"], "correct_answer": "Paris"}).json
        self.assertEqual(receipt["updated"], [])
        self.assertFalse(server.post("/v1/pools/default/resume").json["frozen"])
        server.put("/v1/pools/default/models/b/pin", {"factor": 0.1})
        pinned = {r["model"]: r["calibrated"] for r in server.decide(ASKED)["responses"]}
        self.assertAlmostEqual(pinned["b"], 0.095)
        server.delete("/v1/pools/default/models/b/pin")
        self.assertNotAlmostEqual({r["model"]: r["calibrated"] for r in server.decide(ASKED)["responses"]}["b"], 0.095)

    def test_segments_and_channels_are_calibrated_apart(self):
        server = self.serve()
        for _ in range(30):
            made = server.decide({"a": ("x", 0.9)}, segment="law")
            server.post("/v1/feedback", {"decision_id": made["decision_id"], "outcome": 0})
        apart = {s: server.decide({"a": ("x", 0.9)}, segment=s)["responses"][0]["calibrated"] for s in ("law", "")}
        self.assertLess(apart["law"], 0.4)
        self.assertGreater(apart[""], 0.6)


class Live(ServerTest):
    def test_events_are_streamed_as_they_happen(self):
        server = self.serve()
        connection = server.fresh()
        connection.request("GET", "/v1/events?pool=default")
        reply = connection.getresponse()
        self.assertEqual(reply.headers["Content-Type"], "text/event-stream")
        seen = []

        def read():
            while "event: joined" not in seen:
                seen.append(reply.readline().decode().strip())

        reader = threading.Thread(target=read)
        reader.start()
        made = server.decide(ASKED)
        server.post("/v1/feedback", {"decision_id": made["decision_id"], "correct_answer": "Paris"})
        server.put("/v1/pools/default/models/z")
        reader.join(30)
        text = "\n".join(seen)
        for kind in ("event: decision", "event: outcome", "event: joined"):
            self.assertIn(kind, text)
        self.assertIn(made["decision_id"], text)
        connection.close()

    def test_every_figure_is_documented(self):
        server = self.serve()
        page = (pathlib.Path(__file__).parents[2] / "docs" / "server.md").read_text()
        names = re.findall(r"^# TYPE (\S+)", server.get("/metrics").body.decode(), re.M)
        self.assertGreater(len(names), 40)
        self.assertEqual([name for name in names if f"`{name}" not in page], [])

    def test_metrics_are_well_formed_and_true(self):
        server = self.serve()
        made = server.decide(ASKED)
        server.post("/v1/feedback", {"decision_id": made["decision_id"], "correct_answer": "Paris"})
        text = server.get("/metrics").body.decode()
        samples = {}
        typed = set()
        for line in text.splitlines():
            if line.startswith("# TYPE"):
                name = line.split()[2]
                self.assertNotIn(name, typed, "a metric is described once")
                typed.add(name)
            elif not line.startswith("#"):
                name, value = line.rsplit(" ", 1)
                self.assertNotIn(name, samples, "a sample stands once")
                samples[name] = float(value)
                base = name.split("{")[0]
                self.assertTrue(any(base == t or base.startswith(t + "_") for t in typed), base)
        self.assertEqual(samples['margin_decisions_total{pool="default",status="cold"}'], 1)
        self.assertEqual(samples['margin_feedback_total{pool="default",result="applied"}'], 1)
        self.assertAlmostEqual(samples['margin_brier_score{pool="default",model="a",stage="stated"}'], 0.01)
        self.assertAlmostEqual(samples['margin_confidence_gap_ratio{pool="default",model="b"}'], 0.95)
        self.assertEqual(samples['margin_requests_total{endpoint="/v1/decide",code="200"}'], 1)


if __name__ == "__main__":
    main()
