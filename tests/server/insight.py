"""What the dashboard asks, against a real server: counts agree with what was sent, across a restart too; search, queue, keys' names."""
import random

from harness import ServerTest, main


class Insight(ServerTest):
    def play(self, server, count, seed=1):
        """Decisions with known answers; every second one is graded."""
        chance = random.Random(seed)
        ids = []
        for t in range(count):
            answers = {m: (chance.choice("xy"), round(chance.random(), 3)) for m in ("a", "b", "c")}
            made = server.decide(answers, task_id=f"Task {t}")
            ids.append((made, answers))
            if t % 2 == 0:
                self.assertEqual(server.post("/v1/feedback", {"decision_id": made["decision_id"], "correct_answer": "x"}).json["status"], "applied")
        return ids

    def check(self, server, played):
        models = server.get("/v1/pools/default/models").json
        self.assertEqual(models["decisions"], len(played))
        self.assertEqual(server.get("/v1/pools/default").json["decisions"], len(played))
        for row in models["models"]:
            name = row["model"]
            self.assertEqual(row["responses"], len(played))
            self.assertEqual(row["won"], sum(answers[name][0] == made["answer"] for made, answers in played))
            self.assertEqual(row["led"], sum(made["model"] == name for made, _ in played))
            self.assertEqual(row["stated_histogram"], [sum(min(19, int(20 * a[name][1])) == b for _, a in played) for b in range(20)])
        pairs = server.get("/v1/pools/default/pairs").json
        graded = [answers for i, (_, answers) in enumerate(played) if i % 2 == 0]
        self.assertEqual(len(pairs["pairs"]), 3)
        for row in pairs["pairs"]:
            first, second = pairs["models"][row["first"]], pairs["models"][row["second"]]
            both = [(a[first], a[second]) for a in graded]
            self.assertEqual(row["together"], len(graded))
            self.assertEqual(row["both_wrong"], sum(p[0] == q[0] == "y" for p, q in both))
            differ = [(p, q) for p, q in both if p[0] != q[0]]
            self.assertEqual(row["contests"], len(differ))
            self.assertEqual(row["stated"], sum(1.0 if (p[1] > q[1]) == (p[0] == "x") else 0.0 for p, q in differ if p[1] != q[1]) + 0.5 * sum(p[1] == q[1] for p, q in differ))
        listed = server.get("/v1/decisions?limit=1000").json["decisions"]
        self.assertEqual([d["decision_id"] for d in listed], [made["decision_id"] for made, _ in reversed(played)])
        self.assertEqual([d["outcome"] is not None for d in reversed(listed)], [i % 2 == 0 for i in range(len(played))])

    def test_counts_agree_with_what_was_sent_across_a_restart(self):
        server = self.serve()
        played = self.play(server, 60)
        self.check(server, played)
        pool = server.get("/v1/pools/default").json
        self.assertGreater(pool["decisions_per_minute"], 0)
        self.assertEqual(pool["response_scores"]["window"], 90)
        activity = server.get("/v1/pools/default/activity").json
        self.assertEqual((sum(activity["decisions"]), sum(activity["outcomes"]), sum(activity["settled"])), (60, 30, 30))
        self.assertEqual({len(v) for v in activity.values() if isinstance(v, list)}, {len(activity["decisions"])})
        server.kill()
        server = self.serve()
        self.check(server, played)
        again = server.get("/v1/pools/default/activity").json
        steps = len(activity["outcomes"])
        for key in ("decisions", "outcomes", "settled"):
            self.assertEqual(again[key][:steps], activity[key], key)
        for key in ("ece_stated", "ece_calibrated", "promised_error", "realised_error"):
            for now, before in zip(again[key][:steps], activity[key]):
                self.assertEqual(now is None, before is None, key)
                self.assertAlmostEqual(now or 0, before or 0, places=9, msg=key)

    def test_a_decision_counts_once_by_what_settled_it(self):
        server = self.serve()
        shown = lambda: (server.get("/v1/pools/default").json["decision_scores"]["outcomes"], server.get("/v1/pools/default").json["decision_scores"]["accuracy"],
                         sum(server.get("/v1/pools/default/activity").json["settled"]), [d["outcome"] for d in server.get("/v1/decisions").json["decisions"]])
        say = lambda made, **outcomes: server.post("/v1/feedback", {"decision_id": made, "outcomes": outcomes}).json["status"]
        asked = {"a": ("x", 0.9), "b": ("x", 0.5), "c": ("y", 0.3)}
        made = server.decide(asked)["decision_id"]
        self.assertEqual([say(made, c=1), say(made, b=0), say(made, a=1)], ["applied"] * 3)
        self.assertEqual(shown(), (1, 0, 1, [0]), "the first that was said of the selected answer")
        self.assertEqual(say(server.decide(asked)["decision_id"], a=0, b=1), "applied")
        self.assertEqual(shown(), (2, 0.5, 2, [1, 0]), "and of what it said the best, as the decisions' probability learns it")
        live = shown()
        server.kill()
        server = self.serve()
        self.assertEqual(shown(), live)

    def test_decisions_are_found(self):
        server = self.serve()
        played = self.play(server, 30)
        found = lambda query: [d["task_id"] for d in server.get("/v1/decisions?limit=100&" + query).json["decisions"]]
        self.assertEqual(found("q=TASK%207"), ["Task 7"])
        self.assertEqual(found("q=" + played[3][0]["decision_id"][-8:]), ["Task 3"])
        self.assertEqual(len(found("graded=false")), 15)
        self.assertEqual(sorted(found("model=a") + found("model=b") + found("model=c")), sorted(f"Task {t}" for t in range(30)))
        self.assertEqual(found("before=" + played[2][0]["decision_id"]), ["Task 1", "Task 0"])
        for query in ("status=warm", "graded=1", "before=7", "limit=1001", "answered=maybe"):
            self.assertEqual(server.get("/v1/decisions?" + query).status, 400, query)

    def test_the_queue_has_what_is_open_and_what_is_graded_leaves_it(self):
        server = self.serve()
        self.play(server, 30)
        queue = server.get("/v1/pools/default/queue").json["decisions"]
        self.assertEqual(len(queue), 15)
        self.assertEqual([d["teaches"] for d in queue], sorted((d["teaches"] for d in queue), reverse=True))
        server.post("/v1/feedback", {"decision_id": queue[0]["decision_id"], "correct_answer": "x"})
        self.assertNotIn(queue[0]["decision_id"], [d["decision_id"] for d in server.get("/v1/pools/default/queue").json["decisions"]])

    def test_the_queue_offers_nothing_that_has_expired(self):
        server = self.serve(config="[limits]\npending = 2\n")
        self.play(server, 9)  # Task 8 is graded, those before 7 have made room
        queue = server.get("/v1/pools/default/queue").json["decisions"]
        self.assertEqual([d["task_id"] for d in queue], ["Task 7"])

    def test_windows_and_history_hold_what_was_learned(self):
        server = self.serve()
        self.play(server, 40)
        for window in ("latest", "hour", "day"):
            scores = server.get(f"/v1/pools/default/calibration?window={window}&model=a").json["models"]
            self.assertEqual(list(scores), ["a"])
            self.assertEqual((scores["a"]["window"], sum(b["count"] for b in scores["a"]["stated"]["bins"])), (20, 20))
        history = server.get("/v1/pools/default/history?model=a").json
        self.assertEqual([s["model"] for s in history["series"]], ["a"])
        self.assertEqual([m["kind"] for m in history["marks"]], ["joined"])
        self.assertEqual(server.get("/v1/pools/default/history").status, 400)
        self.assertEqual(server.get("/v1/pools/default/calibration?window=year").status, 400)

    def test_the_heat_map_has_the_factors(self):
        server = self.serve()
        self.play(server, 40)
        rows = {(r["model"], r["channel"], r["segment"]): r for r in server.get("/v1/pools/default/heat").json["rows"]}
        factors = server.get("/v1/pools/default/factors").json["factors"]
        self.assertEqual(len(factors), sum(len(r["factor"]) for r in rows.values()))
        for f in factors:
            row = rows[f["model"], f["channel"], f["segment"]]
            for name, value in (("factor", f["factor"]), ("n", f["n"]), ("low", f["interval"][0]), ("high", f["interval"][1])):
                self.assertAlmostEqual(row[name][f["band"]], value, delta=6e-5)
        self.assertEqual(server.get("/v1/pools/default/factors?model=a").json["factors"], [f for f in factors if f["model"] == "a"])

    def test_the_counterfactual_names_the_other_answer(self):
        server = self.serve()
        made = server.decide({"a": ("x", 0.9), "b": ("y", 0.6)})
        record = server.get("/v1/decisions/" + made["decision_id"]).json
        self.assertEqual(record["without"], [{"model": "a", "answer": "y"}])

    def test_keys_are_named_and_their_secrets_are_not(self):
        made = self.margin("keys", "create", "--store", "margin.db", "--name", "on call", "--scope", "read")
        key = next(word for word in made.split() if word.startswith("sk-mg-"))
        server = self.serve()
        answer = server.get("/status", key=key)
        self.assertEqual([(k["name"], k["scopes"], k["revoked"]) for k in answer.json["keys"]], [("on call", "read", False)])
        self.assertNotIn(key.split("-")[-1].encode(), answer.body)


if __name__ == "__main__":
    main()
