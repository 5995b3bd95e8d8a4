"""What the client gets: shapes to the letter, streamed and not; failures that cost the client nothing twice."""
import json
import time

from gateway import GatewayTest, main, says

KEYS = {"id", "object", "created", "model", "choices", "usage", "system_fingerprint", "margin"}


class Replies(GatewayTest):
    def three(self, **kw):
        # Nobody can be spared: any two of them leave open what the third decides.
        self.upstream.says.update(a=says("B", 90), b=says("A", 50), c=says("A", 30))
        return self.gateway("a", "b", "c", **kw)

    def test_a_completion_has_openais_shape_and_one_object_more(self):
        reply = self.answered(self.chat(self.three()))
        self.assertEqual(set(reply), KEYS)
        self.assertEqual((reply["object"], reply["model"], type(reply["created"])), ("chat.completion", "margin/quiz", int))
        self.assertEqual(reply["choices"], [{"index": 0, "message": {"role": "assistant", "content": "Answer: B", "refusal": None},
                                             "logprobs": None, "finish_reason": "stop"}])
        margin = reply["margin"]
        self.assertEqual(set(margin), {"decision_id", "p_correct", "interval", "status", "winner", "runner_up_gap"})
        self.assertTrue(margin["interval"][0] <= margin["p_correct"] <= margin["interval"][1])
        self.assertIn(margin["status"], ("calibrated", "cold", "stale", "drifting"))
        self.assertTrue(reply["system_fingerprint"].startswith("margin-"))

    def test_usage_is_the_sum_over_all_calls(self):
        reply = self.answered(self.chat(self.three(), margin={"include": ["candidates"]}))
        parts = [c["usage"] for c in reply["margin"]["candidates"] if c.get("usage")]
        self.assertEqual(len(parts), 3)
        for name in ("prompt_tokens", "completion_tokens", "total_tokens"):
            self.assertEqual(reply["usage"][name], sum(part[name] for part in parts))
        self.assertGreater(reply["usage"]["completion_tokens"], 0)

    def test_the_decision_is_named_in_a_header_and_can_be_looked_at(self):
        server = self.three()
        answer = self.chat(server)
        decision = answer.headers["x-margin-decision-id"]
        self.assertEqual(answer.json["id"], "chatcmpl-" + decision)
        self.assertRegex(answer.headers["x-margin-overhead-ms"], r"^\d+\.\d{3}$")
        kept = server.get("/v1/decisions/" + decision)
        self.assertEqual(kept.status, 200)
        channels = {response["channel"] for response in kept.json["responses"]}
        self.assertEqual(len(channels), 1)
        self.assertIn("choice/line@1", channels.pop(), "which template was used is part of the channel")

    def test_the_overhead_is_told_without_the_wait_for_models(self):
        some, nobody = self.gateway("a!slow=0.5", "b!slow=0.5!401"), self.gateway("c!slow=0.5!401")
        asked = {"a pool": (self.chat, some, "margin/quiz", 200), "a pool, streamed": (self.stream, some, "margin/quiz", 200),
                 "one model": (self.chat, some, "a", 200), "one model, streamed": (self.stream, some, "a", 200),
                 "a model that fails": (self.chat, some, "b", 401), "a pool that fails": (self.chat, nobody, "margin/quiz", 502)}
        for how, (ask, server, model, status) in asked.items():
            with self.subTest(how):
                began = time.monotonic()
                answer = ask(server, model=model)
                took_ms = 1000 * (time.monotonic() - began)
                self.assertEqual(answer.status, status)
                overhead_ms = float(answer.headers["x-margin-overhead-ms"])
                self.assertGreaterEqual(overhead_ms, 0)
                self.assertGreaterEqual(took_ms - overhead_ms, 500, "the model alone took so long")

    def test_feedback_by_the_replys_id_teaches(self):
        server = self.three()
        reply = self.answered(self.chat(server))
        receipt = server.post("/v1/feedback", {"decision_id": reply["id"], "correct_answer": "B"})
        self.assertEqual((receipt.status, receipt.json["status"]), (200, "applied"), receipt.body)
        outcomes = {o["model"]: o["outcome"] for o in server.get("/v1/decisions/" + reply["margin"]["decision_id"]).json["outcomes"]}
        self.assertEqual(outcomes, {"a": 1, "b": 0, "c": 0})

    # -- streams

    def test_a_stream_has_openais_chunks_to_the_letter(self):
        stream = self.stream(self.three(), stream_options={"include_usage": True})
        self.assertEqual(stream.status, 200)
        self.assertTrue(stream.headers["content-type"].startswith("text/event-stream"))
        self.assertEqual((stream.headers["cache-control"], stream.headers["x-accel-buffering"]), ("no-cache", "no"))
        frames = [frame for frame in stream.frames() if frame.data is not None]
        self.assertEqual(frames[-1].data, "[DONE]")
        chunks = [frame.json for frame in frames[:-1]]
        self.assertEqual(len({(c["id"], c["object"], c["created"], c["model"]) for c in chunks}), 1)
        self.assertEqual((chunks[0]["object"], chunks[0]["model"]), ("chat.completion.chunk", "margin/quiz"))
        self.assertEqual(chunks[0]["choices"][0]["delta"], {"role": "assistant", "content": ""})
        self.assertEqual("".join(c["choices"][0]["delta"]["content"] for c in chunks[1:-2]), "Answer: B")
        for chunk in chunks[:-2]:
            self.assertEqual((chunk["choices"][0]["index"], chunk["choices"][0]["finish_reason"], chunk["usage"]), (0, None, None))
            self.assertNotIn("margin", chunk)
        self.assertEqual((chunks[-2]["choices"][0]["delta"], chunks[-2]["choices"][0]["finish_reason"], chunks[-2]["usage"]), ({}, "stop", None))
        self.assertEqual(chunks[-2]["margin"]["winner"], "a")
        self.assertEqual(chunks[0]["id"], "chatcmpl-" + chunks[-2]["margin"]["decision_id"])
        self.assertEqual(chunks[-1]["choices"], [])
        self.assertGreater(chunks[-1]["usage"]["total_tokens"], 0)

    def test_a_stream_without_usage_has_none(self):
        chunks = [frame.json for frame in self.stream(self.three()).frames() if frame.data not in (None, "[DONE]")]
        self.assertTrue(all(chunk["choices"] for chunk in chunks))
        self.assertTrue(all(chunk.get("usage") is None for chunk in chunks))

    def test_while_the_vote_is_pending_a_stream_says_so(self):
        self.upstream.says.update(a=says("A", 60), b=says("B", 60))
        server = self.gateway("a", "b!slow=1", more="[gateway]\nkeep_alive_ms = 100\n")
        frames = list(self.stream(server).frames())
        comments = [frame.comment for frame in frames if frame.comment is not None]
        self.assertGreater(len(comments), 2)
        self.assertIn("margin waiting 1/2", comments)
        self.assertEqual(frames[-1].data, "[DONE]")

    def test_an_error_after_the_headers_is_a_frame_and_no_done(self):
        server = self.gateway("a!slow=0.4!401", more="[gateway]\nkeep_alive_ms = 100\n")
        frames = list(self.stream(server).frames())
        self.assertTrue(any(frame.comment is not None for frame in frames), "the headers were out")
        data = [frame for frame in frames if frame.data is not None]
        self.assertEqual(len(data), 1)
        self.assertEqual(set(data[0].json["error"]), {"message", "type", "param", "code"})
        self.assertEqual(data[0].json["error"]["type"], "upstream_error")

    def test_an_error_before_any_frame_is_a_plain_error(self):
        stream = self.stream(self.gateway("a"), model="margin/nowhere")
        self.assertEqual(stream.status, 404)
        self.assertEqual(json.loads(stream.reply.read())["error"]["code"], "model_not_found")

    def test_a_streamed_pass_through_is_relayed_as_it_comes(self):
        self.upstream.says["a"] = "word " * 12
        stream = self.stream(self.gateway("a!drip=0.05"), model="a")
        frames = [frame for frame in stream.frames() if frame.data is not None]
        text = "".join(c["delta"].get("content") or "" for frame in frames[:-1] for c in frame.json["choices"])
        self.assertEqual(text, "word " * 12)
        self.assertEqual(frames[-1].data, "[DONE]")
        spread = frames[-1].at - frames[0].at
        self.assertGreater(spread, 0.05 * len(frames) / 2, "frame by frame, not all at the end")

    def test_a_broken_pass_through_ends_with_an_error_and_no_done(self):
        for fault in ("reset", "error_frame"):
            with self.subTest(fault=fault):
                frames = [frame for frame in self.stream(self.gateway(f"a!{fault}"), model="a").frames() if frame.data is not None]
                self.assertEqual(set(frames[-1].json["error"]), {"message", "type", "param", "code"})

    def test_a_client_that_leaves_a_stream_ends_the_calls(self):
        server = self.gateway("a!never", "b!never", more="[gateway]\nkeep_alive_ms = 100\n")
        stream = self.stream(server)
        next(stream.frames())
        stream.reply.close()
        stream.close()
        seen = self.upstream.wait_for(lambda requests: len(requests) == 2 and all(r.became == "cancelled" for r in requests))
        self.assertEqual([r.became for r in seen], ["cancelled", "cancelled"])

    # -- failures

    def test_partial_failure_is_no_error_and_is_listed(self):
        self.upstream.says.update(a=says("B", 90))
        server = self.gateway("a", "b!401", "c!wrong_json", "d!close", "e!wrong_shape", upstreams={"*": {"retries": 0}})
        reply = self.answered(self.chat(server, margin={"include": ["candidates"]}))
        self.assertEqual(reply["choices"][0]["message"]["content"], "Answer: B")
        errors = {c["model"]: c.get("error") for c in reply["margin"]["candidates"]}
        self.assertIsNone(errors.pop("a"))
        self.assertEqual(set(errors), {"b", "c", "d", "e"})
        self.assertTrue(all(errors.values()), errors)

    def test_too_few_usable_replies_are_a_typed_error_that_says_not_to_retry(self):
        self.upstream.says.update(a=says("B", 90))
        server = self.gateway("a", "b!401", pool={"min_responses": 2})
        answer = self.chat(server)
        self.assertEqual((answer.status, answer.error["type"]), (502, "upstream_error"), answer.body)
        self.assertEqual(answer.headers["x-should-retry"], "false")
        self.assertEqual(len(self.upstream.requests()), 2)

    def test_a_reply_without_a_confidence_has_no_part(self):
        self.upstream.says.update(a="Answer: A", b=says("B", 51))
        reply = self.answered(self.chat(self.gateway("a", "b"), margin={"include": ["candidates"]}))
        self.assertEqual(reply["choices"][0]["message"]["content"], "Answer: B")
        errors = {c["model"]: c.get("error") for c in reply["margin"]["candidates"]}
        self.assertTrue(errors["a"])

    def test_a_refusal_has_no_part(self):
        self.upstream.says.update(a="I'm sorry, but I can't help with that.\n\nConfidence: 100", b=says("B", 51))
        reply = self.answered(self.chat(self.gateway("a", "b"), margin={"include": ["candidates"]}))
        errors = {c["model"]: c.get("error") for c in reply["margin"]["candidates"]}
        self.assertEqual((errors["a"], errors["b"]), ("refused", None))

    def test_retries_are_made_here_and_listed(self):
        self.upstream.says.update(a=says("B", 90))
        server = self.gateway("a!429=1!503=1")
        reply = self.answered(self.chat(server, margin={"include": ["candidates"]}))
        self.assertEqual(reply["choices"][0]["message"]["content"], "Answer: B")
        self.assertEqual(len(self.upstream.requests()), 3)

    def test_a_deadline_for_the_decision_takes_what_is_there(self):
        self.upstream.says.update(a=says("B", 60))
        server = self.gateway("a", "b!never", pool={"decision_ms": 500})
        reply = self.answered(self.chat(server, margin={"include": ["candidates"]}))
        self.assertEqual(reply["choices"][0]["message"]["content"], "Answer: B")
        errors = {c["model"]: c.get("error") for c in reply["margin"]["candidates"]}
        self.assertTrue(errors["b"])
        seen = self.upstream.wait_for(lambda requests: any(r.became == "cancelled" for r in requests))
        self.assertEqual([r.became for r in seen if r.model == "b!never"], ["cancelled"])

    def test_a_huge_reply_is_cut_short_by_its_limit(self):
        self.upstream.says.update(a=says("B", 90))
        server = self.gateway("a", "b!huge=3000000", upstreams={"b": {"reply_bytes": 100_000, "retries": 0}})
        reply = self.answered(self.chat(server, margin={"include": ["candidates"]}))
        errors = {c["model"]: c.get("error") for c in reply["margin"]["candidates"]}
        self.assertTrue(errors["b"])

    def test_a_reply_that_names_another_model_still_counts_for_the_one_that_was_asked(self):
        self.upstream.says.update(a=says("B", 90))
        reply = self.answered(self.chat(self.gateway("a!wrong_model")))
        self.assertEqual((reply["margin"]["winner"], reply["model"]), ("a", "margin/quiz"))

    # -- the same request again

    def test_an_idempotency_key_gives_the_same_reply_and_asks_once(self):
        server = self.three()
        first, second = (self.chat(server, headers={"Idempotency-Key": "k1"}) for _ in range(2))
        self.assertEqual((first.status, first.body), (second.status, second.body))
        self.assertEqual(len(self.upstream.requests()), 3)
        other = self.chat(server, headers={"Idempotency-Key": "k1"}, temperature=0.3)
        self.assertEqual(other.status, 422, other.body)

    def test_a_repeated_chat_has_waited_for_no_model(self):
        server = self.gateway("a!slow=0.5")
        for how, ask in {"whole": self.chat, "streamed": self.stream}.items():
            with self.subTest(how):
                first, again = (float(ask(server, headers={"Idempotency-Key": how}).headers["x-margin-overhead-ms"]) for _ in range(2))
                self.assertTrue(0 < first < 500 and 0 < again < 500, (first, again))

    def test_an_idempotency_key_works_for_streams(self):
        server = self.three()
        first, second = ([frame.data for frame in self.stream(server, headers={"Idempotency-Key": "k3"}).frames()] for _ in range(2))
        self.assertEqual(first, second)
        self.assertEqual(first[-1], "[DONE]")
        self.assertEqual(len(self.upstream.requests()), 3)

    def test_an_idempotency_key_while_the_first_is_under_way_asks_once(self):
        self.upstream.says.update(a=says("B", 90))
        server = self.gateway("a!slow=0.5")
        replies = self.at_once(lambda: self.chat(server, headers={"Idempotency-Key": "k2"}), 4)
        self.assertEqual(len(self.upstream.requests()), 1)
        self.assertEqual({answer.status for answer in replies} - {200, 409}, set(), [answer.body for answer in replies])
        self.assertEqual(len({answer.json["id"] for answer in replies if answer.status == 200}), 1)


if __name__ == "__main__":
    main()
