"""What feedback may do to other feedback: who may replace what, what races come to, what waits for its decision, and what is never kept."""
import json
import pathlib
import resource
import signal
import socket
import threading
import time
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
    def test_an_outcome_of_a_model_that_gave_two_answers_is_refused(self):
        server = self.serve()
        said = lambda model, answer, channel: {"model": model, "answer": answer, "confidence": 0.9, "channel": channel}
        decide = lambda *responses: server.post("/v1/decide", {"responses": responses}).json["decision_id"]
        made = decide(said("a", "Paris", "verbalized"), said("a", "Rome", "logprob"), said("b", "Paris", "verbalized"))
        before = self.offset(server)
        say = lambda **how: server.post("/v1/feedback", {"decision_id": made, **how})
        refused = say(outcomes={"b": 1, "a": 1})
        self.assertEqual((refused.status, refused.error["code"], refused.error["param"]), (422, "unsupported", "outcomes"))
        for word in ("model a", "correct_answer", "outcome (of the selected answer)"):
            self.assertIn(word, refused.error["message"])
        self.assertEqual(self.offset(server), before)
        self.assertEqual(say(outcomes={"b": 1}).json["updated"], ["b"], "nobody doubts this one's")
        self.assertEqual(say(correct_answer="Paris").status, 200)
        outcomes = server.get("/v1/decisions/" + made).json["outcomes"]
        self.assertEqual([(o["model"], o["channel"], o["outcome"]) for o in outcomes], [("a", "verbalized", 1), ("a", "logprob", 0), ("b", "verbalized", 1)])
        made = decide(said("a", "Paris", "verbalized"), said("a", "Paris", "logprob"), {"model": "a", "channel": "hidden", "abstained": True})
        self.assertEqual(say(outcomes={"a": 1}).json["status"], "applied", "of one answer in two channels")
        self.assertEqual({o["outcome"] for o in server.get("/v1/decisions/" + made).json["outcomes"]}, {1})

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


class Replacing(FeedbackTest):
    def key(self, *flags):
        return json.loads(self.margin("keys", "create", "--store", "margin.db", "--json", *flags))["key"]

    def test_only_ones_own_feedback_is_replaced_without_the_scope_admin(self):
        app, other, reader = (self.key("--name", name, "--scope", "decide,feedback,read", "--weight", weight)
                              for name, weight in (("app", "1"), ("other", "1"), ("reader", "0")))
        admin = self.key("--name", "chief", "--scope", "feedback,admin")
        mighty_reader = self.key("--name", "mighty reader", "--scope", "feedback,admin", "--weight", "0")
        server = self.serve()
        body = {"responses": [{"model": "a", "answer": "x", "confidence": 0.9}]}
        made = server.post("/v1/decide", body, key=app).json["decision_id"]
        say = lambda key, outcome, **more: server.post("/v1/feedback", {"decision_id": made, "outcome": outcome, **more}, key=key)
        recorded = lambda: [o["outcome"] for o in server.get("/v1/decisions/" + made, key=app).json["outcomes"]]
        self.assertEqual(say(app, 1).json["status"], "applied")
        for key, why in ((other, "admin"), (reader, "weight 0"), (mighty_reader, "weight 0")):
            refused = say(key, 0, replace=True)
            self.assertEqual((refused.status, refused.error["type"], refused.error["param"]), (403, "permission_error", "replace"))
            self.assertIn(why, refused.error["message"])
            self.assertEqual(recorded(), [1])
        self.assertEqual(say(app, 0, replace=True).json["status"], "applied", "one's own")
        self.assertEqual(recorded(), [0])
        self.assertEqual(say(admin, 1, replace=True).json["status"], "applied")
        self.assertEqual(recorded(), [1])

    def test_who_only_repeated_what_is_replaced_does_not_come_to_count(self):
        first, second = (self.key("--name", name, "--scope", "decide,feedback,read") for name in ("first", "second"))
        admin = self.key("--name", "chief", "--scope", "feedback,admin")
        server = self.serve()
        body = {"responses": [{"model": m, "answer": a, "confidence": c} for m, (a, c) in ASKED.items()]}
        made = server.post("/v1/decide", body, key=first).json["decision_id"]
        say = lambda key, **what: server.post("/v1/feedback", {"decision_id": made, **what}, key=key)
        recorded = lambda: {o["model"]: o["outcome"] for o in server.get("/v1/decisions/" + made, key=first).json["outcomes"]}
        self.assertEqual(say(first, outcomes={"a": 0}).json["updated"], ["a"])
        self.assertEqual(say(second, outcomes={"a": 0, "b": 1}).json["updated"], ["b"])
        refused = say(first, outcomes={"a": 1}, replace=True)
        self.assertEqual((refused.status, recorded()), (403, {"a": 0, "b": 1}), "another key says so, too")
        replaced = say(admin, outcomes={"a": 1}, replace=True)
        self.assertEqual((replaced.status, replaced.json["status"], replaced.json["updated"]), (200, "applied", ["a"]), replaced.body)
        self.assertEqual(recorded(), {"a": 1}, "what the second said is taken back whole")
        self.assertIn('margin_feedback_lag_seconds_count{pool="default"} 3\n', server.get("/metrics", key=first).body.decode(), "each that counted")

    def test_a_replacement_goes_into_the_log_whole_or_not_at_all(self):
        server = self.serve(config="[limits]\nqueue = 1\n")
        body = json.dumps({"responses": [{"model": "z", "answer": "x", "confidence": 0.5}]})

        def decide():
            connection = server.fresh()
            connection.request("POST", "/v1/decide", body, {"Content-Type": "application/json"})
            connection.getresponse().read()
            connection.close()

        for _ in range(20):
            made = server.decide(ASKED)["decision_id"]
            self.assertEqual(server.post("/v1/feedback", {"decision_id": made, "outcomes": {"a": 1}}).status, 200)
            busy = threading.Thread(target=decide)
            busy.start()
            replaced = server.post("/v1/feedback", {"decision_id": made, "outcomes": {"a": 0}, "replace": True})
            busy.join()
            self.assertIn(replaced.status, (200, 503))
            self.assertEqual(self.outcomes(server, made), {"a": 0 if replaced.status == 200 else 1})


class Together(FeedbackTest):
    def batch(self, server, *lines):
        raw = "\n".join(json.dumps(line) for line in lines).encode()
        answer = server.post("/v1/feedback/batch", raw=raw, headers={"Content-Type": "application/x-ndjson"})
        return [json.loads(line) for line in answer.body.splitlines()]

    def test_what_a_batch_says_of_one_decision_is_compared_line_by_line(self):
        server = self.serve()
        made = server.decide(ASKED)["decision_id"]
        before = self.offset(server)
        results = self.batch(server, *({"decision_id": made, "outcome": o} for o in (1, 0, 1)))
        self.assertEqual([r["code"] for r in results], [200, 409, 200])
        self.assertEqual((results[1]["error"]["param"], results[1]["error"]["code"]), ("outcome", "conflict"))
        self.assertIn("replace", results[1]["error"]["message"])
        self.assertEqual((results[2]["status"], results[2]["feedback_id"]), ("duplicate", results[0]["feedback_id"]))
        self.assertEqual(self.offset(server), before + 1, "only the first is in the log")
        server.post("/v1/feedback/revert", {"feedback_id": results[0]["feedback_id"]})
        self.assertEqual(self.outcomes(server, made), {}, "what was refused does not come back")

    def test_a_replacement_may_stand_in_the_same_batch(self):
        server = self.serve()
        made = server.decide(ASKED)["decision_id"]
        results = self.batch(server, {"decision_id": made, "outcome": 1}, {"decision_id": made, "outcome": 0, "replace": True})
        self.assertEqual([r.get("status") for r in results], ["applied", "applied"], results)
        self.assertEqual(self.outcomes(server, made), {"a": 0, "c": 0})
        digests = server.digests()
        server.stop()
        self.assertEqual(self.serve().digests(), digests)

    def test_of_contradicting_requests_at_the_same_time_one_is_taken(self):
        server = self.serve()
        for early in (False, True):
            made = str(uuid.uuid4()) if early else server.decide(ASKED)["decision_id"]
            before = self.offset(server)
            sockets = [socket.create_connection((server.host, int(server.port)), timeout=60) for _ in range(8)]
            for i, one in enumerate(sockets):
                body = json.dumps({"decision_id": made, "outcome": i % 2})
                one.sendall(f"POST /v1/feedback HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\nConnection: close\r\n\r\n{body}".encode())
            statuses = []
            for one in sockets:
                with one, one.makefile("rb") as answer:
                    statuses.append(int(answer.read().split()[1]))
            self.assertEqual(sorted(statuses), 4 * [200] + 4 * [409])
            self.assertEqual(self.offset(server), before + 1)

    def test_feedback_that_meets_its_decision_on_the_way_is_answered_by_what_counts(self):
        server = self.serve()
        asked = {"responses": [{"model": m, "answer": a, "confidence": c} for m, (a, c) in ASKED.items()]}
        head = "POST {} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{}"
        for i in range(10):
            mine, replace = str(uuid.uuid4()), i % 2 == 0
            early = server.post("/v1/feedback", {"decision_id": mine, "outcomes": {"a": 1}}).json["feedback_id"]
            sockets = [socket.create_connection((server.host, int(server.port)), timeout=30) for _ in range(2)]
            for one in sockets:
                one.sendall(b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n")
                self.assertIn(b" 200 ", one.recv(4096))
            bodies = [json.dumps({**asked, "decision_id": mine}), json.dumps({"decision_id": mine, "correct_answer": "Lyon", "replace": replace})]
            for one, path, body in zip(sockets, ("/v1/decide", "/v1/feedback"), bodies):
                one.sendall(head.format(path, len(body), body).encode())
            for one in sockets:
                one.shutdown(socket.SHUT_WR)
            answers = [one.makefile("rb").read().split(b"\r\n\r\n", 1) for one in sockets]
            codes = [int(answer[0].split()[1]) for answer in answers]
            for one in sockets:
                one.close()
            expected = {"a": 0, "b": 1, "c": 0} if replace else {"a": 1}
            if b"pending_decision" in answers[1][1]:
                continue  # it was first after all, and waited: what does not fit then is named in the log
            self.assertEqual(codes, [200, 200 if replace else 409], answers[1])
            self.assertEqual(self.outcomes(server, mine), expected)
            if not replace:
                server.post("/v1/feedback/revert", {"feedback_id": early})
                self.assertEqual(self.outcomes(server, mine), {}, "what was refused does not come to count")
        server.stop()
        self.margin("state", "verify", "margin.db")


class Failing(FeedbackTest):
    def test_who_waits_for_a_store_that_fails_hears_of_it(self):
        # A limit on the size of files stands for a full disk.
        server = self.serve(config='[store]\ndurability = "process"\n')
        made = server.decide(ASKED)["decision_id"]
        resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE, (1, resource.RLIM_INFINITY))
        lines = "\n".join(json.dumps({"decision_id": made, "outcome": outcome}) for outcome in (1, 0, 1)).encode()
        send = lambda: [json.loads(line) for line in server.post("/v1/feedback/batch", raw=lines, headers={"Content-Type": "application/x-ndjson"}).body.splitlines()]
        self.assertEqual([r["code"] for r in send()], [503] * 3)
        resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        end = time.monotonic() + 30
        while (codes := [r["code"] for r in send()])[0] == 503:
            self.assertLess(time.monotonic(), end, "it works again when there is room")
            time.sleep(0.1)
        self.assertEqual(codes, [200, 409, 200])
        self.assertEqual(self.outcomes(server, made), {"a": 1, "c": 1})

    def test_who_waits_when_the_server_drains_is_answered(self):
        server = self.serve()
        made = server.decide(ASKED)["decision_id"]
        lines = "\n".join(json.dumps({"decision_id": made, "outcome": i % 2, "replace": True}) for i in range(8)).encode()
        before = self.offset(server)
        one = socket.create_connection((server.host, int(server.port)), timeout=60)
        head = "POST /v1/feedback/batch HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/x-ndjson\r\nContent-Length: {}\r\n\r\n"
        one.sendall(head.format(len(lines)).encode() + lines)
        with one, one.makefile("rb") as answer:
            while self.offset(server) == before:
                time.sleep(0.001)
            server.process.send_signal(signal.SIGTERM)
            codes = [json.loads(line)["code"] for line in answer.read().splitlines() if line.startswith(b"{")]
        self.assertEqual(codes, [200] * 8)
        self.assertEqual(server.stop(), 0)


class Told(FeedbackTest):
    def counts(self, server):
        lines = server.get("/metrics").body.decode().splitlines()
        counted = [line.rsplit(" ", 1) for line in lines if line.startswith('margin_feedback_total{pool="default"')]
        return {name.split('result="')[1][:-2]: int(value) for name, value in counted if value != "0"}

    def test_feedback_is_counted_by_what_it_was_answered_with(self):
        server = self.serve()
        made = server.decide(ASKED)["decision_id"]
        say = lambda outcome, **more: server.post("/v1/feedback", {"decision_id": made, "outcome": outcome, **more})
        say(1)
        self.assertEqual(self.counts(server), {"applied": 1})
        say(1)
        say(0)
        self.assertEqual(self.counts(server), {"applied": 1, "duplicate": 1, "conflict": 1})
        say(0, replace=True)
        self.assertEqual(self.counts(server), {"applied": 2, "duplicate": 1, "conflict": 1})
        server.post("/v1/feedback", {"decision_id": made, "outcomes": {"stranger": 1}})
        self.assertEqual(self.counts(server)["refused"], 1)

    def test_a_replacement_is_streamed_as_what_became_of_it(self):
        server = self.serve()
        made = server.decide(ASKED)["decision_id"]
        first = server.post("/v1/feedback", {"decision_id": made, "outcome": 1}).json["feedback_id"]
        connection = server.fresh()
        connection.request("GET", "/v1/events?pool=default")
        reply = connection.getresponse()
        replaced = server.post("/v1/feedback", {"decision_id": made, "outcome": 0, "replace": True}).json
        offset = self.offset(server) - 1
        def hear(event):
            while reply.readline().decode() != f"event: {event}\n":
                pass
            return json.loads(reply.readline().decode().split("data: ")[1])

        told = hear("reverted")
        self.assertEqual((told.get("feedback_id"), told.get("decision_id")), (first, made), "what was taken back")
        told = hear("outcome")
        self.assertEqual((told["id"], told["status"], told["offset"], told["updated"]), (replaced["feedback_id"], "applied", offset, replaced["updated"]))
        server.post("/v1/feedback/revert", {"source": "local"})
        self.assertEqual(hear("reverted").get("source"), "local")
        connection.close()

    def test_what_a_source_says_beyond_its_share_is_named(self):
        server = self.serve(config="[pools.default]\nsource_share_max = 0.5\n")
        receipts = []
        for _ in range(14):
            made = server.decide({"a": ("x", 0.9)})["decision_id"]
            receipts.append(server.post("/v1/feedback", {"decision_id": made, "outcome": 1}).json)
        self.assertEqual((receipts[0]["status"], receipts[0]["updated"], receipts[0].get("capped")), ("applied", ["a"], None))
        self.assertEqual((receipts[-1]["status"], receipts[-1]["updated"], receipts[-1].get("capped")), ("applied", [], ["a"]))


class Repeating(FeedbackTest):
    def test_a_batch_is_remembered_whole(self):
        server = self.serve()
        made = [server.decide(ASKED)["decision_id"] for _ in range(4)]
        lines = [json.dumps({"decision_id": decision, "outcome": 1}) for decision in made]
        send = lambda lines, key="k": server.post("/v1/feedback/batch", raw="\n".join(lines).encode(), headers={"Idempotency-Key": key})
        statuses = lambda answer: [json.loads(line).get("status") for line in answer.body.splitlines()]
        self.assertEqual(statuses(send(lines[:3])), ["applied"] * 3)
        self.assertEqual(statuses(send(lines[:3])), ["duplicate"] * 3)
        server.kill()
        server = self.serve()
        self.assertEqual(statuses(send(lines[:3])), ["duplicate"] * 3, "after a restart too")
        for other in (lines, lines[:2], ["{}", *lines[1:3]], [*lines[:2], lines[3]]):
            answer = send(other)
            self.assertEqual((answer.status, answer.error["code"]), (422, "idempotency_key_reused"), other)
        self.assertEqual(self.outcomes(server, made[3]), {})
        # What was refused is not remembered, so the rest of such a batch may come again with it.
        self.assertEqual(statuses(send(["no JSON", lines[3]], "other")), [None, "applied"])
        self.assertEqual(statuses(send(["no JSON", lines[3]], "other")), [None, "duplicate"])
        many = [json.dumps({"decision_id": str(uuid.uuid4()), "outcome": 1}) for _ in range(1100)]
        self.assertEqual(set(statuses(send(many, "many"))), {"pending_decision"})
        self.assertEqual(set(statuses(send(many, "many"))), {"duplicate"})

    def test_a_key_is_one_for_all_pools(self):
        server = self.serve()
        server.put("/v1/pools/law", {})
        made = [server.decide(ASKED, pool=pool)["decision_id"] for pool in ("default", "law")]
        say = lambda decision: server.post("/v1/feedback", {"decision_id": decision, "outcome": 1}, headers={"Idempotency-Key": "k"})
        self.assertEqual(say(made[0]).json["status"], "applied")
        self.assertEqual((say(made[1]).status, say(made[1]).error["code"]), (422, "idempotency_key_reused"))
        self.assertEqual(self.outcomes(server, made[1]), {})
        body = {"responses": [{"model": "a", "answer": "x", "confidence": 0.9}]}
        decide = lambda **more: server.post("/v1/decide", {**body, **more}, headers={"Idempotency-Key": "d"})
        self.assertEqual([decide().status, decide(pool="law").status, decide().status], [200, 422, 200])

    def test_a_request_that_was_a_duplicate_is_remembered_too(self):
        server = self.serve()
        made = server.decide(ASKED)["decision_id"]
        first = server.post("/v1/feedback", {"decision_id": made, "outcome": 1}).json
        say = lambda outcome: server.post("/v1/feedback", {"decision_id": made, "outcome": outcome, "replace": True}, headers={"Idempotency-Key": "k"})
        self.assertEqual((say(1).json["status"], say(1).json["feedback_id"]), ("duplicate", first["feedback_id"]))
        self.assertEqual(say(0).status, 422, "another body")

    def test_a_key_without_a_letter_is_refused(self):
        refused = self.serve().post("/v1/decide", {"responses": [{"model": "a"}]}, headers={"Idempotency-Key": ""})
        self.assertEqual(refused.status, 400)
        self.assertIn("expected 1 to 255", refused.error["message"])

    def test_two_keys_for_one_request_are_refused(self):
        server = self.serve()
        connection = server.fresh()
        connection.putrequest("POST", "/v1/decide")
        body = b'{"responses":[{"model":"a"}]}'
        for name, value in (("Content-Type", "application/json"), ("Content-Length", str(len(body))), ("Idempotency-Key", "k"), ("idempotency-key", "k")):
            connection.putheader(name, value)
        connection.endheaders(body)
        reply = connection.getresponse()
        self.assertEqual(reply.status, 400)
        self.assertIn(b"Idempotency-Key", reply.read())
        connection.close()


class Waiting(FeedbackTest):
    def test_feedback_that_waits_is_compared_like_any_other(self):
        server = self.serve()
        mine = str(uuid.uuid4())
        say = lambda outcome, **more: server.post("/v1/feedback", {"decision_id": mine, "outcome": outcome, **more})
        first = say(1).json
        self.assertEqual(first["status"], "pending_decision")
        again = say(1).json
        self.assertEqual((again["status"], again["feedback_id"]), ("duplicate", first["feedback_id"]))
        conflict = say(0)
        self.assertEqual((conflict.status, conflict.error["param"]), (409, "outcome"))
        self.assertIn('margin_feedback_early{pool="default"} 1\n', server.get("/metrics").body.decode())
        replaced = say(0, replace=True).json
        self.assertEqual(replaced["status"], "pending_decision")
        server.decide(ASKED, decision_id=mine)
        self.assertEqual(self.outcomes(server, mine), {"a": 0, "c": 0})

    def test_feedback_that_found_its_decision_is_in_every_figure(self):
        server = self.serve()
        mine = str(uuid.uuid4())
        early = server.post("/v1/feedback", {"decision_id": mine, "outcome": 1}).json["feedback_id"]
        connection = server.fresh()
        connection.request("GET", "/v1/events?pool=default")
        stream = connection.getresponse()
        server.decide(ASKED, decision_id=mine)

        def shown():
            row = server.get("/v1/decisions?graded=true").json["decisions"]
            metrics = server.get("/metrics").body.decode()
            return {"listed": [(d["decision_id"], d["graded"], d["outcome"]) for d in row],
                    "queue": server.get("/v1/pools/default/queue").json["decisions"],
                    "models": {m: s["outcomes"] for m, s in server.get("/v1/pools/default/calibration").json["models"].items()},
                    "samples": [line for line in metrics.splitlines() if line.startswith("margin_calibration_samples")],
                    "settled": sum(server.get("/v1/pools/default/activity").json["settled"])}

        live = shown()
        self.assertEqual((live["listed"], live["queue"]), ([(mine, 2, 1)], []))
        self.assertEqual((live["models"], live["settled"]), ({"a": 1, "c": 1}, 1))
        self.assertTrue(live["samples"])
        self.assertEqual(sum(server.get("/v1/pools/default/activity").json["outcomes"]), 1)
        metrics = server.get("/metrics").body.decode()
        for line in ('margin_feedback_total{pool="default",result="pending_decision"} 1\n', 'margin_feedback_total{pool="default",result="applied"} 1\n',
                     'margin_feedback_lag_seconds_count{pool="default"} 1\n'):
            self.assertIn(line, metrics)
        server.put("/v1/pools/default/models/z")  # so that the stream has an end to read to
        seen = []
        while "event: joined" not in seen:
            seen.append(stream.readline().decode().strip())
        connection.close()
        told = json.loads(seen[seen.index("event: outcome") + 1].split("data: ")[1])
        self.assertLess(seen.index("event: decision"), seen.index("event: outcome"))
        self.assertEqual((told["id"], told["decision_id"], told["status"], told["updated"]), (early, mine, "applied", ["a", "c"]))
        server.kill()
        server = self.serve()
        self.assertEqual(shown(), live)

    def test_feedback_waits_until_it_is_taken_back_or_found_its_decision_elsewhere(self):
        server = self.serve()
        server.put("/v1/pools/law", {})

        def waiting():
            metric = next(line for line in server.get("/metrics").body.decode().splitlines() if line.startswith('margin_feedback_early{pool="default"}'))
            return server.get("/v1/pools/default").json["early_outcomes"], int(metric.split()[-1])

        back, moved, stays = (str(uuid.uuid4()) for _ in range(3))
        said = [server.post("/v1/feedback", {"decision_id": decision, "outcomes": {"a": 1, "b": 0}}).json["feedback_id"] for decision in (back, moved, stays)]
        self.assertEqual(waiting(), (6, 6))
        for _ in range(2):  # taken back once, however often it is asked for
            server.post("/v1/feedback/revert", {"feedback_id": said[0]})
            self.assertEqual(waiting(), (4, 4))
        server.decide(ASKED, decision_id=moved, pool="law")
        self.assertEqual(waiting(), (2, 2))
        server.kill()
        server = self.serve()
        self.assertEqual(waiting(), (2, 2))
        for decision in (back, stays):
            server.decide(ASKED, decision_id=decision)
        self.assertEqual(waiting(), (0, 0))
        self.assertEqual((self.outcomes(server, back), self.outcomes(server, stays)), ({}, {"a": 1, "b": 0}))

    def test_feedback_without_a_pool_joins_its_decision_in_any_of_them(self):
        server = self.serve()
        server.put("/v1/pools/law", {})
        mine = str(uuid.uuid4())
        early = server.post("/v1/feedback", {"decision_id": mine, "correct_answer": "Paris"}).json
        self.assertEqual(early["status"], "pending_decision")
        conflict = server.post("/v1/feedback", {"decision_id": mine, "correct_answer": "Rome", "pool": "law"})
        self.assertEqual(conflict.status, 409, "wherever it waits")
        server.decide(ASKED, decision_id=mine, pool="law")
        looked_up = server.get("/v1/decisions/" + mine).json
        self.assertEqual({(o["model"], o["outcome"], o["feedback_id"]) for o in looked_up["outcomes"]},
                         {(model, outcome, early["feedback_id"]) for model, outcome in (("a", 1), ("b", 0), ("c", 1))})
        digests = server.digests()
        server.kill()
        self.assertEqual(self.serve().digests(), digests)

    def test_feedback_of_a_decision_that_was_forgotten_is_expired(self):
        server = self.serve(config="[limits]\npending = 2\n")
        made = [server.decide(ASKED)["decision_id"] for _ in range(4)]
        brought = str(uuid.uuid4())
        server.decide(ASKED, decision_id=brought)
        made += [server.decide(ASKED)["decision_id"] for _ in range(3)]
        before = self.offset(server)
        for forgotten in (made[0], brought):
            answer = server.post("/v1/feedback", {"decision_id": forgotten, "outcome": 1}).json
            self.assertEqual((answer["status"], answer["updated"]), ("expired", []))
        self.assertEqual(self.offset(server), before, "nothing was written")
        self.assertEqual(server.post("/v1/feedback", {"decision_id": made[-1], "outcome": 1}).json["status"], "applied")
        self.assertEqual(server.post("/v1/feedback", {"decision_id": str(uuid.uuid4()), "outcome": 1}).json["status"], "pending_decision")

    def test_expired_feedback_is_counted_where_its_decision_was(self):
        server = self.serve(config="[limits]\npending = 1\n")
        server.put("/v1/pools/law", {})
        made = [server.decide(ASKED, pool="law")["decision_id"] for _ in range(3)][0]
        for named in ({}, {"pool": "default"}, {"pool": "law"}):
            self.assertEqual(server.post("/v1/feedback", {"decision_id": made, "outcome": 1, **named}).json["status"], "expired")
        metrics = server.get("/metrics").body.decode()
        for pool, count in (("law", 3), ("default", 0)):
            self.assertIn(f'margin_feedback_total{{pool="{pool}",result="expired"}} {count}\n', metrics)

    def test_a_long_batch_of_the_unknown_is_answered_in_order(self):
        server = self.serve()
        lines = [json.dumps({"decision_id": str(uuid.uuid4()), "outcome": i % 2}) for i in range(200)]
        answer = server.post("/v1/feedback/batch", raw="\n".join(lines).encode(), headers={"Content-Type": "application/x-ndjson"})
        results = [json.loads(line) for line in answer.body.splitlines()]
        self.assertEqual([r["line"] for r in results], list(range(1, 201)))
        self.assertEqual({r["status"] for r in results}, {"pending_decision"})


if __name__ == "__main__":
    main()
