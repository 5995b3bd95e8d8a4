"""What the models are told: the client's request, byte for byte where nothing is elicited, and nothing that a client must not decide."""
import json

from gateway import QUESTION, GatewayTest, main, says

SYSTEM = [{"role": "system", "content": "You are terse."}]
TOOL = {"type": "function", "function": {"name": "weather", "parameters": {"type": "object", "properties": {}}}}
IMAGE = [{"role": "user", "content": [{"type": "text", "text": "What is this?"}, {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}]}]


class Asking(GatewayTest):
    def only(self):
        seen = self.upstream.requests()
        self.assertEqual(len(seen), 1)
        return seen[0]

    def test_without_elicitation_the_prompt_is_the_clients_byte_for_byte(self):
        # Spaces, escapes, key order, a long number and an unknown member: whatever is not understood must not be touched.
        messages = '[ {"content":"caf\\u00e9  \\ud83d\\ude00 \\/ \\"", "role" : "user","name":"x", "odd": 12345678901234567890.0100} ]'
        members = ['"messages":' + messages, '"logit_bias":{"50256": -100}', '"future":{"b":1,"a":[ ]}', '"seed":1e2']
        server = self.gateway("a", pool={"elicit": "off", "channel": "consistency", "samples": 2})
        for model in ("margin/quiz", "a"):
            with self.subTest(model=model):
                self.upstream.forget()
                raw = "{" + ", ".join([*members, f'"model":"{model}"', '"margin":{}']) + "}"
                answer = server.ask("POST", "/v1/chat/completions", raw=raw.encode())
                self.assertEqual(answer.status, 200, answer.body)
                for seen in self.upstream.requests():
                    for member in members:
                        self.assertIn(member, seen.body.decode())
                    self.assertEqual(seen.json["model"], "a")
                    self.assertNotIn("margin", seen.json)

    def test_a_line_is_asked_for_behind_the_leading_system_messages(self):
        server = self.gateway("a")
        self.answered(self.chat(server, messages=SYSTEM + QUESTION))
        sent = self.only().json["messages"]
        self.assertEqual((sent[0], sent[2:]), (SYSTEM[0], QUESTION))
        self.assertEqual(sent[1]["role"], "system")
        self.assertIn("Confidence: N", sent[1]["content"])

    def test_a_schema_is_asked_for_where_the_pool_says_so(self):
        self.upstream.says["a"] = json.dumps({"answer": "B", "confidence": 70})
        server = self.gateway("a", pool={"elicit": "schema"})
        reply = self.answered(self.chat(server, margin={"include": ["candidates"]}))
        sent = self.only().json["response_format"]
        self.assertEqual((sent["type"], sent["json_schema"]["strict"]), ("json_schema", True))
        self.assertEqual(reply["choices"][0]["message"]["content"], "B")
        self.assertEqual(reply["margin"]["candidates"][0]["stated"], 0.7)

    def test_common_and_unknown_fields_are_forwarded(self):
        fields = {"temperature": 0.5, "top_p": 0.9, "stop": ["\n\n"], "max_tokens": 50, "presence_penalty": 0.1, "frequency_penalty": 0.2, "seed": 7,
                  "logit_bias": {"1": 2}, "user": "u", "metadata": {"k": "v"}, "reasoning_effort": "low", "service_tier": "auto", "brand_new": [1, {"x": None}]}
        server = self.gateway("a")
        self.answered(self.chat(server, **fields))
        sent = self.only().json
        self.assertEqual({name: sent.get(name) for name in fields}, fields)
        self.assertNotIn("margin", sent)

    def test_the_clients_key_stays_here_and_the_upstreams_goes_there(self):
        (self.folder_path() / "key").write_text("sk-upstream-secret\n")
        server = self.gateway("a", upstreams={"a": {"key": f"file::{self.folder_path()}/key"}})
        self.answered(self.chat(server, headers={"Authorization": "Bearer sk-of-the-client"}))
        self.assertEqual(self.only().headers["authorization"], "Bearer sk-upstream-secret")
        self.assertNotIn("sk-upstream-secret", server.journal)

    def test_the_trace_is_passed_on(self):
        server = self.gateway("a")
        trace = "0af7651916cd43dd8448eb211c80319c"
        self.answered(self.chat(server, headers={"traceparent": f"00-{trace}-b7ad6b7169203331-01"}))
        self.assertEqual(self.only().headers["traceparent"].split("-")[1], trace)

    def test_tools_go_to_the_primary_and_it_is_said(self):
        server = self.gateway("a", "b!tools", "c", pool={"primary": "b"})
        reply = self.answered(self.chat(server, tools=[TOOL]))
        self.assertEqual(self.only().model, "b!tools")
        self.assertEqual(self.only().json["tools"], [TOOL])
        self.assertEqual(reply["choices"][0]["finish_reason"], "tool_calls")
        self.assertEqual(reply["choices"][0]["message"]["tool_calls"][0]["function"]["name"], "weather")
        self.assertIn("tools", json.dumps(reply["margin"]))
        self.assertEqual(reply["margin"]["winner"], "b")

    def test_images_go_to_the_primary_and_it_is_said(self):
        server = self.gateway("a", "b", pool={"primary": "b"})
        reply = self.answered(self.chat(server, messages=IMAGE))
        self.assertEqual(self.only().model, "b")
        self.assertEqual(self.only().json["messages"][-1], IMAGE[0])
        self.assertIn("images", json.dumps(reply["margin"]))

    def test_a_fan_out_has_a_cap(self):
        server = self.gateway("a", "b", "c", "d", pool={"fan_out_max": 2})
        self.answered(self.chat(server))
        self.assertEqual(len(self.upstream.requests()), 2)

    def test_a_cap_on_tokens_leaves_out_whom_they_do_not_suffice_for(self):
        server = self.gateway("a", "b", "c", "d", pool={"tokens_max": 1})
        answer = self.chat(server, max_tokens=1000)
        self.assertLess(len(self.upstream.requests()), 4)
        self.assertIn(answer.status, (200, 400, 429, 502, 503), answer.body)

    def test_a_key_has_a_budget_for_a_day(self):
        server = self.gateway("a", more="[gateway]\ntokens_per_day = 100\n")
        statuses = [self.chat(server).status for _ in range(10)]
        self.assertEqual(statuses[0], 200)
        self.assertEqual(statuses[-1], 429)
        refused = self.chat(server)
        self.assertEqual((refused.error["type"], refused.headers["x-should-retry"]), ("rate_limit_error", "false"))

    def test_hostile_requests_get_an_error_that_names_the_place(self):
        server = self.gateway("a")
        for raw, param in [
            (b"", None), (b"{", None), (b"[]", None), (b'{"model":"margin/quiz"}', "messages"),
            (b'{"messages":[{"role":"user","content":"x"}]}', "model"),
            (b'{"model":7,"messages":[{"role":"user","content":"x"}]}', "model"),
            (b'{"model":"margin/quiz","messages":{}}', "messages"), (b'{"model":"margin/quiz","messages":[]}', "messages"),
            (b'{"model":"margin/quiz","messages":[7]}', "messages[0]"),
            (b'{"model":"margin/quiz","messages":[{"role":"user","content":"x"}],"stream":"yes"}', "stream"),
            (b'{"model":"margin/quiz","messages":[{"role":"user","content":"x"}],"margin":{"nope":1}}', "margin.nope"),
            (b'{"model":"margin/quiz","messages":[{"role":"user","content":"x"}],"margin":{"include":["everything"]}}', "margin.include"),
            (b'{"model":"margin/quiz","messages":[{"role":"user","content":"x"}],"n":0}', "n"),
            (b'{"model":"margin/quiz","model":"a","messages":[{"role":"user","content":"x"}]}', None),
            (b'{"model":"margin/quiz","messages":' + b"[" * 5000 + b"]" * 5000 + b"}", None),
            (b'{"model":"margin/quiz","messages":[{"role":"user","content":"\xff"}]}', None),
        ]:
            with self.subTest(raw=raw[:80]):
                answer = server.ask("POST", "/v1/chat/completions", raw=raw)
                self.assertEqual(answer.status, 400, answer.body)
                self.assertEqual(set(answer.error), {"message", "type", "param", "code"})
                self.assertEqual(answer.error["type"], "invalid_request_error")
                if param:
                    self.assertTrue(str(answer.error["param"]).startswith(param), answer.body)
        self.assertEqual(self.upstream.requests(), [], "nobody was paid for them")

    def test_unknown_models_and_strategies_are_not_found(self):
        server = self.gateway("a")
        for model in ("nobody", "margin/nowhere", "margin/quiz/dance", "margin/", "margin", "", "margin/quiz/vote/more", "margin/default"):
            with self.subTest(model=model):
                answer = self.chat(server, model)
                self.assertIn(answer.status, (400, 404), answer.body)
                self.assertEqual(answer.error["param"], "model")
        self.assertEqual(self.upstream.requests(), [])

    def test_a_prompt_that_states_a_confidence_states_none(self):
        self.upstream.says["a"] = lambda request: "Answer: B\n> " + request["messages"][-1]["content"]
        server = self.gateway("a", "b")
        reply = self.answered(self.chat(server, messages=[{"role": "user", "content": "Confidence: 100"}], margin={"include": ["candidates"]}))
        stated = {c["model"]: c.get("stated") for c in reply["margin"]["candidates"]}
        self.assertIsNone(stated["a"])
        self.assertEqual(stated["b"], 0.8)


if __name__ == "__main__":
    main()
