// The AI SDK (ai) with both of its providers: @ai-sdk/openai-compatible, and
// @ai-sdk/openai, whose models speak the Responses API unless asked for a chat.
import assert from "node:assert/strict";
import { test } from "node:test";
import { createOpenAI } from "@ai-sdk/openai";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { embed, embedMany, generateObject, generateText, Output, stepCountIs, streamObject, streamText, tool } from "ai";
import { apiKey, baseURL, cities, city, description, forecast, inputs, model, noted, pieces, planned, question, trip, vectors } from "./trip.mjs";

const compatible = createOpenAICompatible({ name: "koldun", baseURL, apiKey, supportsStructuredOutputs: true, includeUsage: true });
const openai = createOpenAI({ baseURL, apiKey });
const stateless = { openai: { store: false } };
const common = { maxRetries: 0, prompt: question, stopWhen: stepCountIs(5) };

const providers = [
  { name: "openai-compatible", chat: compatible(model), embedding: compatible.textEmbeddingModel(model), completion: compatible.completionModel(model) },
  { name: "openai, chat", chat: openai.chat(model), embedding: openai.embedding(model), completion: openai.completion(model) },
  { name: "openai, responses that are stored", chat: openai(model) },
  { name: "openai, responses without a store", chat: openai(model), options: stateless },
];

const weather = (run) => ({ weather: tool({ description, inputSchema: city, execute: async (args) => run(args) }) });

for (const { name, chat, embedding, completion, options } of providers) {
  const request = { ...common, model: chat, providerOptions: options };

  test(`${name}: tool loop`, async () => {
    const { calls, run } = noted();
    const got = await generateText({ ...request, tools: weather(run) });
    assert.equal(got.text, forecast);
    assert.deepEqual(calls, cities);
    assert.deepEqual(got.steps.map((s) => s.finishReason), ["tool-calls", "tool-calls", "stop"]);
    assert.ok(got.totalUsage.inputTokens > 0 && got.totalUsage.outputTokens > 0);
  });

  test(`${name}: streamed tool loop`, async () => {
    const { calls, run } = noted();
    const got = streamText({ ...request, tools: weather(run), onError: ({ error }) => { throw error; } });
    let deltas = 0, text = "";
    for await (const part of got.fullStream) {
      if (part.type === "tool-input-delta") deltas++;
      if (part.type === "text-delta") text += part.text;
      assert.notEqual(part.type, "error", String(part.error));
    }
    assert.equal(text, forecast);
    assert.deepEqual(calls, cities);
    pieces(deltas);
    assert.ok((await got.totalUsage).outputTokens > 0);
  });

  test(`${name}: objects`, async () => {
    const object = { model: chat, schema: trip, prompt: question, maxRetries: 0, providerOptions: options };
    assert.deepEqual((await generateObject(object)).object, planned);
    const streamed = streamObject(object);
    let partials = 0;
    for await (const _ of streamed.partialObjectStream) partials++;
    assert.deepEqual(await streamed.object, planned);
    pieces(partials);
  });

  test(`${name}: an object after tools`, async () => {
    const { calls, run } = noted();
    const got = await generateText({ ...request, tools: weather(run), output: Output.object({ schema: trip }) });
    assert.deepEqual(got.output, planned);
    assert.deepEqual(calls, cities);
  });

  test(`${name}: a forced tool`, async () => {
    const got = await generateText({ ...request, stopWhen: stepCountIs(1), tools: weather(() => ""), toolChoice: { type: "tool", toolName: "weather" } });
    assert.deepEqual(got.toolCalls.map((c) => [c.toolName, c.input]), [["weather", { city: "Brno" }]]);
  });

  if (embedding) test(`${name}: embeddings`, async () => {
    assert.deepEqual((await embed({ model: embedding, value: inputs[0], maxRetries: 0 })).embedding, vectors[0]);
    assert.deepEqual((await embedMany({ model: embedding, values: inputs, maxRetries: 0 })).embeddings, vectors);
  });

  if (completion) test(`${name}: completion`, async () => {
    assert.equal((await generateText({ model: completion, prompt: "hello", maxRetries: 0 })).text, "Hello you");
    const streamed = streamText({ model: completion, prompt: "hello", maxRetries: 0 });
    let text = "";
    for await (const piece of streamed.textStream) text += piece;
    assert.equal(text, "Hello you");
  });
}
