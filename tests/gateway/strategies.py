"""Whom a chat asks, when it stops, and what the client gets: every strategy against a real upstream."""
from gateway import QUESTION, GatewayTest, main, says


class Strategies(GatewayTest):
    def test_vote_asks_all_and_weighs_what_they_say(self):
        self.upstream.says.update(a=says("A", 90), b=says("B", 60), c=says("B", 55))
        reply = self.answered(self.chat(self.gateway("a", "b", "c")))
        self.assertEqual(reply["choices"][0]["message"]["content"], "Answer: B", "two who agree outweigh one who is surer")
        self.assertEqual(reply["margin"]["winner"], "b", "the surest of those who gave the answer")
        self.assertEqual(sorted(r.model for r in self.upstream.requests()), ["a", "b", "c"])
        self.assertEqual(reply["model"], "margin/quiz")
        self.assertTrue(reply["id"].startswith("chatcmpl-"))

    def test_vote_stops_when_nobody_missing_could_change_it_and_closes_their_requests(self):
        self.upstream.says.update(a=says("B", 100), b=says("B", 100))
        server = self.gateway("a", "b", "c!never")
        reply = self.answered(self.chat(server, margin={"include": ["candidates"]}))
        self.assertEqual(reply["choices"][0]["message"]["content"], "Answer: B")
        seen = self.upstream.wait_for(lambda requests: [r for r in requests if r.model == "c!never" and r.became == "cancelled"])
        cancelled = [r for r in seen if r.model == "c!never"]
        self.assertEqual([r.became for r in cancelled], ["cancelled"], "it was closed, long before its timeout of a minute")
        left_out = {c["model"]: c.get("error") for c in reply["margin"]["candidates"]}
        self.assertEqual((left_out["a"], left_out["b"]), (None, None))
        self.assertIsNotNone(left_out["c"], "it says why one has no part")

    def test_vote_waits_as_long_as_somebody_could_change_it(self):
        self.upstream.says.update(a=says("A", 60), b=says("B", 50), c=says("B", 50))
        reply = self.answered(self.chat(self.gateway("a", "b!slow=0.3", "c!slow=0.6")))
        self.assertEqual(reply["choices"][0]["message"]["content"], "Answer: B")

    def test_cascade_asks_the_cheapest_first_and_stops_when_sure_enough(self):
        self.upstream.says.update(a=says("B", 99), b=says("B", 99))
        prices = {"a": {"price_prompt": 10.0, "price_completion": 30.0}, "b": {"price_prompt": 0.1, "price_completion": 0.3}}
        server = self.gateway("a", "b", pool={"strategy": "cascade", "target": 0.5}, upstreams=prices)
        self.answered(self.chat(server))
        self.assertEqual([r.model for r in self.upstream.requests()], ["b"])

    def test_cascade_goes_on_when_not_sure_enough(self):
        self.upstream.says.update(a=says("B", 40), b=says("A", 30))
        prices = {"a": {"price_prompt": 10.0}, "b": {"price_prompt": 0.1}}
        server = self.gateway("a", "b", pool={"strategy": "cascade", "target": 0.99}, upstreams=prices)
        self.answered(self.chat(server))
        self.assertEqual([r.model for r in self.upstream.requests()], ["b", "a"], "one after the other, by price")

    def test_cascade_goes_on_when_the_cheapest_fails(self):
        self.upstream.says.update(a=says("B", 99))
        prices = {"a": {"price_prompt": 10.0}, "b": {"price_prompt": 0.1}}
        server = self.gateway("a", "b!401", pool={"strategy": "cascade", "target": 0.5}, upstreams=prices)
        self.assertEqual(self.answered(self.chat(server))["margin"]["winner"], "a")

    def test_single_asks_one_model_and_learns_which(self):
        # a is always wrong, b always right; both say 90.
        self.upstream.says.update(a=says("A", 90), b=says("B", 90))
        server = self.gateway("a", "b", pool={"explore": 0.0})
        for _ in range(40):
            reply = self.answered(self.chat(server, "margin/quiz/vote"))
            self.assertEqual(server.post("/v1/feedback", {"decision_id": reply["id"], "outcomes": {"a": 0, "b": 1}}).status, 200)
        self.upstream.forget()
        for _ in range(10):
            reply = self.answered(self.chat(server, "margin/quiz/single"))
            self.assertEqual(reply["choices"][0]["message"]["content"], "Answer: B")
        self.assertEqual([r.model for r in self.upstream.requests()], ["b"] * 10)

    def test_single_explores_as_often_as_it_says(self):
        self.upstream.says.update(a=says("A", 90), b=says("B", 90))
        server = self.gateway("a", "b", pool={"strategy": "single", "explore": 0.5})
        for _ in range(60):
            self.answered(self.chat(server))
        asked = [r.model for r in self.upstream.requests()]
        self.assertEqual(len(asked), 60, "one model each")
        self.assertGreater(min(asked.count("a"), asked.count("b")), 5, "both are asked now and then")

    def test_shadow_answers_from_the_primary_and_learns_from_all(self):
        self.upstream.says.update(a=says("A", 30), b=says("B", 99), c=says("B", 99))
        server = self.gateway("a", "b!slow=1", "c!slow=1", pool={"strategy": "shadow", "primary": "a"})
        reply = self.answered(self.chat(server))
        self.assertEqual(reply["choices"][0]["message"]["content"], "Answer: A")
        self.assertNotIn("answered", [r.became for r in self.upstream.requests() if r.model != "a"], "the others are not waited for")
        seen = self.upstream.wait_for(lambda requests: len(requests) == 3 and all(r.became == "answered" for r in requests))
        self.assertEqual(sorted(r.model for r in seen), ["a", "b!slow=1", "c!slow=1"])
        decision = self.eventually(lambda: server.get("/v1/decisions/" + reply["margin"]["decision_id"]), lambda a: a.status == 200)
        self.assertEqual(sorted(r["model"] for r in decision.json["responses"]), ["a", "b", "c"])

    def test_an_upstream_by_its_name_is_passed_through(self):
        self.upstream.says["a"] = says("A", 30)
        server = self.gateway("a", "b")
        reply = self.answered(self.chat(server, "a"))
        self.assertEqual(reply["choices"][0]["message"]["content"], says("A", 30), "nothing was asked for, so nothing is taken away")
        self.assertEqual(len(self.upstream.requests()), 1)
        sent = self.upstream.requests()[0].json
        self.assertEqual((sent["model"], sent["messages"]), ("a", QUESTION))

    def test_a_chat_that_is_passed_through_hands_its_idempotency_key_on_as_a_digest(self):
        server = self.gateway("a", "b")
        for key in ("order 17", "order 17", "order 18"):
            self.answered(self.chat(server, "a", headers={"Idempotency-Key": key}))
        self.answered(self.chat(server, "a"))
        first, again, other, without = (request.headers.get("idempotency-key") for request in self.upstream.requests())
        self.assertRegex(first, "^margin-[0-9a-f]{32}$")
        self.assertEqual(again, first)
        self.assertNotEqual(other, first)
        self.assertIsNone(without)

    def test_a_named_strategy_wins_over_the_pools(self):
        self.upstream.says.update(a=says("A", 90), b=says("B", 60))
        server = self.gateway("a", "b", pool={"strategy": "shadow", "primary": "b"})
        self.assertEqual(self.answered(self.chat(server, "margin/quiz/vote"))["margin"]["winner"], "a")

    def test_consistency_asks_each_model_several_times(self):
        letters = iter("AABAA")
        self.upstream.says["a"] = lambda request: f"Answer: {next(letters)}"
        server = self.gateway("a", pool={"channel": "consistency", "samples": 5, "temperature": 0.6, "elicit": "off"})
        reply = self.answered(self.chat(server, margin={"include": ["candidates"]}))
        seen = self.upstream.requests()
        self.assertEqual([r.json["temperature"] for r in seen], [0.6] * 5)
        self.assertIn(reply["margin"]["candidates"][0]["stated"], (0.8, 0.2), "the share that agrees with the first sample")

    def test_models_are_listed(self):
        server = self.gateway("a", "b")
        listed = server.get("/v1/models").json
        self.assertEqual(listed["object"], "list")
        names = [model["id"] for model in listed["data"]]
        self.assertTrue({"margin/quiz", "a", "b"} <= set(names), names)
        for model in listed["data"]:
            self.assertEqual((model["object"], type(model["created"]), type(model["owned_by"])), ("model", int, str))
        self.assertEqual(server.get("/v1/models/margin/quiz").json["id"], "margin/quiz")
        self.assertEqual(server.get("/v1/models/nobody").status, 404)


if __name__ == "__main__":
    main()
