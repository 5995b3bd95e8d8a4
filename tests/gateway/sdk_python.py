"""OpenAI's Python SDK, unmodified, and LangChain on top of it, as clients of the gateway: only base_url is changed."""
import asyncio

import openai
from gateway import QUESTION, GatewayTest, main, says
from langchain_openai import ChatOpenAI

WEATHER = {"type": "function", "function": {"name": "weather", "description": "of a town", "parameters": {
    "type": "object", "properties": {"town": {"type": "string"}}, "required": ["town"]}}}


class SdkTest(GatewayTest):
    def setUp(self):
        super().setUp()
        self.upstream.says.update(a=says("B", 90), b=says("A", 50), c=says("A", 30))
        self.server = self.gateway("a", "b", "c")
        self.client = openai.OpenAI(base_url=self.server.url + "/v1", api_key="none")

    def create(self, client=None, **fields):
        return (client or self.client).chat.completions.create(**{"model": "margin/quiz", "messages": QUESTION, **fields})

    def check(self, reply):
        self.assertEqual(reply.object, "chat.completion")
        self.assertEqual(reply.choices[0].message.content, "Answer: B")
        self.assertEqual((reply.choices[0].message.role, reply.choices[0].finish_reason), ("assistant", "stop"))
        margin = reply.model_extra["margin"]
        self.assertEqual(set(margin), {"decision_id", "p_correct", "interval", "status", "winner", "runner_up_gap"})
        self.assertEqual((margin["winner"], reply.id), ("a", "chatcmpl-" + margin["decision_id"]))


class OpenAiSdk(SdkTest):
    def test_a_completion(self):
        self.check(self.create())

    def test_the_alias_of_the_base_url(self):
        self.check(self.create(openai.OpenAI(base_url=self.server.url + "/openai/v1", api_key="none")))

    def test_async_completions_at_once(self):
        async def ask():
            async with openai.AsyncOpenAI(base_url=self.server.url + "/v1", api_key="none") as client:
                return await asyncio.gather(*(self.create(client) for _ in range(20)))

        replies = asyncio.run(ask())
        for reply in replies:
            self.check(reply)
        self.assertEqual(len({reply.id for reply in replies}), 20)

    def test_a_stream(self):
        chunks = list(self.create(stream=True, stream_options={"include_usage": True}))
        self.assertEqual("".join(c.choices[0].delta.content or "" for c in chunks if c.choices), "Answer: B")
        self.assertEqual({(c.id, c.object, c.model) for c in chunks}, {(chunks[0].id, "chat.completion.chunk", "margin/quiz")})
        self.assertEqual([c.choices[0].finish_reason for c in chunks if c.choices][-1], "stop")
        self.assertGreater(chunks[-1].usage.total_tokens, 0)
        self.assertEqual(chunks[-1].choices, [])
        finish = [c for c in chunks if c.choices and c.choices[0].finish_reason][0]
        self.assertEqual(finish.model_extra["margin"]["winner"], "a")

    def test_an_async_stream(self):
        async def ask():
            async with openai.AsyncOpenAI(base_url=self.server.url + "/v1", api_key="none") as client:
                return [chunk async for chunk in await self.create(client, stream=True)]

        chunks = asyncio.run(ask())
        self.assertEqual("".join(c.choices[0].delta.content or "" for c in chunks), "Answer: B")

    def test_the_helper_that_puts_streams_together(self):
        with self.client.chat.completions.stream(model="margin/quiz", messages=QUESTION) as stream:
            for _ in stream:
                pass
            reply = stream.get_final_completion()
        self.assertEqual((reply.choices[0].message.content, reply.choices[0].finish_reason), ("Answer: B", "stop"))

    def test_tools_are_called_by_the_primary(self):
        server = self.gateway("a!tools", "b", "c")
        client = openai.OpenAI(base_url=server.url + "/v1", api_key="none")
        reply = self.create(client, tools=[WEATHER])
        self.assertEqual((reply.choices[0].finish_reason, reply.choices[0].message.tool_calls[0].function.name), ("tool_calls", "weather"))
        self.assertEqual(reply.model_extra["margin"]["reason"], "tools")
        chunks = list(self.create(client, tools=[WEATHER], stream=True))
        calls = [call for c in chunks for call in c.choices[0].delta.tool_calls or []]
        self.assertEqual([call.function.name for call in calls], ["weather"])
        self.assertEqual({r.model for r in self.upstream.requests()}, {"a!tools"})

    def test_the_id_takes_feedback(self):
        reply = self.create()
        receipt = self.server.post("/v1/feedback", {"decision_id": reply.id, "correct_answer": "B"})
        self.assertEqual((receipt.status, receipt.json["status"]), (200, "applied"), receipt.body)

    def test_models(self):
        names = [model.id for model in self.client.models.list()]
        self.assertIn("margin/quiz", names)
        self.assertIn("a", names)
        self.assertEqual(self.client.models.retrieve("margin/quiz").owned_by, "margin")
        with self.assertRaises(openai.NotFoundError):
            self.client.models.retrieve("margin/nowhere")

    def test_headers_of_the_raw_reply(self):
        raw = self.client.chat.completions.with_raw_response.create(model="margin/quiz", messages=QUESTION)
        self.assertEqual("chatcmpl-" + raw.headers["x-margin-decision-id"], raw.parse().id)

    def test_an_unknown_model_is_not_found(self):
        with self.assertRaises(openai.NotFoundError) as caught:
            self.create(model="margin/nowhere")
        self.assertEqual((caught.exception.code, caught.exception.param), ("model_not_found", "model"))

    def test_a_bad_request_is_a_bad_request(self):
        with self.assertRaises(openai.BadRequestError) as caught:
            self.create(messages=[])
        self.assertEqual(caught.exception.param, "messages")

    def test_a_failed_fan_out_is_not_paid_for_twice(self):
        # The SDK repeats 5xx twice by itself unless it is told not to.
        server = self.gateway("a!401", "b!401", "c!wrong_json")
        client = openai.OpenAI(base_url=server.url + "/v1", api_key="none")
        with self.assertRaises(openai.InternalServerError) as caught:
            self.create(client)
        self.assertEqual(caught.exception.response.headers["x-should-retry"], "false")
        self.assertEqual(len(self.upstream.requests()), 3)

    def test_an_idempotency_key_is_not_paid_for_twice(self):
        first, second = (self.create(extra_headers={"Idempotency-Key": "one"}) for _ in range(2))
        self.assertEqual(first.id, second.id)
        self.assertEqual(len(self.upstream.requests()), 3)

    def test_a_client_that_gives_up_is_not_paid_for_further(self):
        server = self.gateway("a!never", "b!never")
        client = openai.OpenAI(base_url=server.url + "/v1", api_key="none", timeout=0.5, max_retries=0)
        with self.assertRaises(openai.APITimeoutError):
            self.create(client)
        seen = self.upstream.wait_for(lambda requests: len(requests) == 2 and all(r.became == "cancelled" for r in requests))
        self.assertEqual([r.became for r in seen], ["cancelled"] * 2)


class LangChain(SdkTest):
    def setUp(self):
        super().setUp()
        self.model = ChatOpenAI(model="margin/quiz", base_url=self.server.url + "/v1", api_key="none")

    def test_invoke(self):
        reply = self.model.invoke("Which letter?")
        self.assertEqual(reply.content, "Answer: B")
        self.assertGreater(reply.usage_metadata["total_tokens"], 0)

    def test_stream(self):
        self.assertEqual("".join(chunk.content for chunk in self.model.stream("Which letter?")), "Answer: B")

    def test_tools(self):
        server = self.gateway("a!tools", "b")
        model = ChatOpenAI(model="margin/quiz", base_url=server.url + "/v1", api_key="none").bind_tools([WEATHER])
        self.assertEqual(model.invoke("How is the weather?").tool_calls[0]["name"], "weather")

    def test_async_batch(self):
        replies = asyncio.run(self.model.abatch(["Which letter?"] * 5))
        self.assertEqual([reply.content for reply in replies], ["Answer: B"] * 5)


if __name__ == "__main__":
    main()
