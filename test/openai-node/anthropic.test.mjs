// Anthropic's client (@anthropic-ai/sdk) at /v1/messages.
import assert from "node:assert/strict";
import { test } from "node:test";
import Anthropic from "@anthropic-ai/sdk";
import { betaZodTool } from "@anthropic-ai/sdk/helpers/beta/zod";
import { zodOutputFormat } from "@anthropic-ai/sdk/helpers/zod";
import { apiKey, baseURL, cities, city, degrees, description, forecast, model, noted, pieces, planned, question, trip } from "./trip.mjs";

const client = new Anthropic({ baseURL: baseURL.replace(/\/v1$/, ""), apiKey, maxRetries: 0 });
const request = { model, max_tokens: 100 };
const tools = [{ name: "weather", description, input_schema: { type: "object", properties: { city: { type: "string" } }, required: ["city"] } }];

// loop answers calls until there are none. ask returns the answer to messages.
async function loop(ask) {
  const messages = [{ role: "user", content: question }], called = [];
  for (let turn = 0; turn < 5; turn++) {
    const got = await ask(messages);
    messages.push({ role: "assistant", content: got.content });
    const calls = got.content.filter((block) => block.type === "tool_use");
    if (calls.length === 0) {
      assert.equal(got.stop_reason, "end_turn");
      return { called, text: got.content.map((block) => block.text).join("") };
    }
    assert.equal(got.stop_reason, "tool_use");
    called.push(...calls.map((call) => call.input.city));
    messages.push({ role: "user", content: calls.map((call) => ({ type: "tool_result", tool_use_id: call.id, content: degrees(call.input) })) });
  }
}

test("tool loop", async () => {
  const got = await loop((messages) => client.messages.create({ ...request, messages, tools }));
  assert.deepEqual(got, { called: cities, text: forecast });
});

test("streamed tool loop", async () => {
  let deltas = 0;
  const got = await loop((messages) => {
    const stream = client.messages.stream({ ...request, messages, tools });
    stream.on("inputJson", () => deltas++);
    return stream.finalMessage();
  });
  assert.deepEqual(got, { called: cities, text: forecast });
  pieces(deltas);
});

test("tool loop by toolRunner", async () => {
  const { calls, run } = noted();
  const got = await client.beta.messages.toolRunner({
    ...request, messages: [{ role: "user", content: question }], tools: [betaZodTool({ name: "weather", description, inputSchema: city, run })],
  });
  assert.equal(got.content[0].text, forecast);
  assert.deepEqual(calls, cities);
});

test("structured output", async () => {
  const got = await client.messages.parse({ ...request, messages: [{ role: "user", content: question }], output_config: { format: zodOutputFormat(trip) } });
  assert.deepEqual(got.parsed_output, planned);
});

test("a forced tool", async () => {
  const got = await client.messages.create({ ...request, messages: [{ role: "user", content: question }], tools, tool_choice: { type: "tool", name: "weather" } });
  assert.deepEqual(got.content.map((block) => [block.name, block.input]), [["weather", { city: "Brno" }]]);
});

test("count_tokens is refused by name, and the usage of an answer says the same", async () => {
  const counted = { model, messages: [{ role: "user", content: question }] };
  await assert.rejects(client.messages.countTokens(counted), (e) => {
    assert.ok(e instanceof Anthropic.BadRequestError);
    assert.match(e.error.error.message, /usage\.input_tokens/);
    return true;
  });
  assert.ok((await client.messages.create({ ...counted, max_tokens: 1 })).usage.input_tokens > 0);
});

test("errors", async () => {
  await assert.rejects(client.messages.create({ ...request, model: "default/none", messages: [{ role: "user", content: "x" }] }), (e) => {
    assert.ok(e instanceof Anthropic.NotFoundError);
    assert.equal(e.error.error.type, "not_found_error");
    return true;
  });
});
