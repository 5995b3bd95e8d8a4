// OpenAI's SDK for Node, unmodified, as a client of the gateway: node sdk.mjs BASE_URL FAILING_BASE_URL. sdk_node.py starts both gateways.
import assert from "node:assert/strict";
import { createRequire } from "node:module";
import test from "node:test";

const require = createRequire(process.env.MARGIN_SDK_NODE + "/");
const OpenAI = require("openai").OpenAI;
const [baseURL, failingURL] = process.argv.slice(2);
const client = new OpenAI({ baseURL, apiKey: "none" });
const model = "margin/quiz";
const messages = [{ role: "user", content: "Which letter? A) one B) two" }];

test("a completion", async () => {
  const reply = await client.chat.completions.create({ model, messages });
  assert.equal(reply.choices[0].message.content, "Answer: B");
  assert.equal(reply.choices[0].finish_reason, "stop");
  assert.equal(reply.id, "chatcmpl-" + reply.margin.decision_id);
  assert.ok(reply.usage.total_tokens > 0);
});

test("a stream", async () => {
  const stream = await client.chat.completions.create({ model, messages, stream: true, stream_options: { include_usage: true } });
  let text = "";
  let usage = null;
  let margin = null;
  for await (const chunk of stream) {
    assert.equal(chunk.object, "chat.completion.chunk");
    text += chunk.choices[0]?.delta?.content ?? "";
    usage = chunk.usage ?? usage;
    margin = chunk.margin ?? margin;
  }
  assert.equal(text, "Answer: B");
  assert.ok(usage.total_tokens > 0);
  assert.equal(margin.winner, "a");
});

test("the helper that puts streams together", async () => {
  const reply = await client.chat.completions.stream({ model, messages }).finalChatCompletion();
  assert.equal(reply.choices[0].message.content, "Answer: B");
});

test("models", async () => {
  const names = [];
  for await (const one of client.models.list()) names.push(one.id);
  assert.ok(names.includes(model));
});

test("an unknown model is not found", async () => {
  await assert.rejects(client.chat.completions.create({ model: "margin/nowhere", messages }), (error) => {
    assert.ok(error instanceof OpenAI.NotFoundError);
    assert.equal(error.code, "model_not_found");
    return true;
  });
});

test("a failed fan-out says not to repeat it", async () => {
  const failing = new OpenAI({ baseURL: failingURL, apiKey: "none" });
  await assert.rejects(failing.chat.completions.create({ model, messages }), (error) => {
    assert.ok(error instanceof OpenAI.InternalServerError);
    assert.equal(error.headers.get("x-should-retry"), "false");
    return true;
  });
});

test("a client that gives up", async () => {
  const controller = new AbortController();
  const asked = client.chat.completions.create({ model: "margin/patience", messages }, { signal: controller.signal });
  setTimeout(() => controller.abort(), 300);
  await assert.rejects(asked, OpenAI.APIUserAbortError);
});
