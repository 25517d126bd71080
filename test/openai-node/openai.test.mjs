// The npm package openai: tools, structured output, embeddings and responses.
import assert from "node:assert/strict";
import { test } from "node:test";
import OpenAI from "openai";
import { zodFunction, zodResponseFormat, zodResponsesFunction, zodTextFormat } from "openai/helpers/zod";
import { apiKey, baseURL, cities, city, degrees, description, forecast, inputs, model, noted, pieces, planned, question, trip, vectors } from "./trip.mjs";

const client = new OpenAI({ baseURL, apiKey, maxRetries: 0 });
const messages = [{ role: "user", content: question }];

test("tool loop by runTools", async () => {
  for (const stream of [false, true]) {
    const { calls, run } = noted();
    const runner = client.chat.completions.runTools({
      model, messages, stream, tools: [zodFunction({ name: "weather", description, parameters: city, function: run })],
    });
    assert.equal(await runner.finalContent(), forecast);
    assert.deepEqual(calls, cities);
  }
});

test("streamed calls", async () => {
  const tools = [{ type: "function", function: { name: "weather", parameters: { type: "object", properties: { city: { type: "string" } } } } }];
  const stream = await client.chat.completions.create({ model, messages, tools, stream: true });
  let text = "", id, name, n = 0, finish;
  for await (const { choices: [choice] } of stream) {
    finish = choice?.finish_reason ?? finish;
    for (const call of choice?.delta?.tool_calls ?? []) {
      assert.equal(call.index, 0);
      id ??= call.id;
      name ??= call.function.name;
      text += call.function.arguments ?? "";
      n++;
    }
  }
  assert.deepEqual([name, finish, JSON.parse(text)], ["weather", "tool_calls", { city: "Brno" }]);
  assert.ok(id);
  pieces(n);
});

test("structured output", async () => {
  const got = await client.chat.completions.parse({ model, messages, response_format: zodResponseFormat(trip, "trip") });
  assert.deepEqual(got.choices[0].message.parsed, planned);
  const runner = client.chat.completions.stream({ model, messages, response_format: zodResponseFormat(trip, "trip") });
  assert.deepEqual((await runner.finalChatCompletion()).choices[0].message.parsed, planned);
});

test("log probabilities", async () => {
  const got = await client.chat.completions.create({ model, messages, logprobs: true, top_logprobs: 1 });
  assert.ok(got.choices[0].message.content);
});

test("embeddings", async () => {
  for (const encoding_format of [undefined, "float", "base64"]) {
    const got = await client.embeddings.create({ model, input: inputs, encoding_format });
    const want = encoding_format === "base64" ? vectors.map((v) => Buffer.from(new Float32Array(v).buffer).toString("base64")) : vectors;
    assert.deepEqual(got.data.map((d) => d.embedding), want);
  }
});

test("responses: tool loop that sends its items", async () => {
  const input = [{ role: "user", content: question }];
  const tools = [zodResponsesFunction({ name: "weather", description, parameters: city })];
  const called = [];
  for (let turn = 0; turn < 5; turn++) {
    const got = await client.responses.create({ model, input, tools, store: false });
    input.push(...got.output);
    const calls = got.output.filter((item) => item.type === "function_call");
    if (calls.length === 0) {
      assert.equal(got.output_text, forecast);
      break;
    }
    for (const call of calls) {
      const args = JSON.parse(call.arguments);
      called.push(args.city);
      input.push({ type: "function_call_output", call_id: call.call_id, output: degrees(args) });
    }
  }
  assert.deepEqual(called, cities);
});

test("responses: tool loop by previous_response_id, streamed", async () => {
  const tools = [zodResponsesFunction({ name: "weather", description, parameters: city })];
  let input = question, previous_response_id, last;
  const called = [];
  for (let turn = 0; turn < 5; turn++) {
    const stream = client.responses.stream({ model, input, tools, previous_response_id });
    let deltas = 0;
    for await (const event of stream) if (event.type === "response.function_call_arguments.delta") deltas++;
    last = await stream.finalResponse();
    previous_response_id = last.id;
    const calls = last.output.filter((item) => item.type === "function_call");
    if (calls.length === 0) break;
    pieces(deltas);
    called.push(...calls.map((call) => call.parsed_arguments.city));
    input = calls.map((call) => ({ type: "function_call_output", call_id: call.call_id, output: degrees(call.parsed_arguments) }));
  }
  assert.equal(last.output_text, forecast);
  assert.deepEqual(called, cities);
});

test("responses: structured output", async () => {
  const got = await client.responses.parse({ model, input: question, text: { format: zodTextFormat(trip, "trip") } });
  assert.deepEqual(got.output_parsed, planned);
});
