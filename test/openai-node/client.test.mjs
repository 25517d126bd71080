// Asks a gateway through OpenAI's own client. The environment says which:
// KOLDUN_URL is its base URL, with /v1.
import assert from "node:assert/strict";
import { test } from "node:test";
import OpenAI, { BadRequestError, NotFoundError } from "openai";

const model = "default/koldun-tiny";
const messages = [{ role: "user", content: "What is Koldun?" }];
const answer =
  "Koldun turns a short YAML claim into a running, OpenAI-compatible language model service on distributed-llama.";
const client = new OpenAI({ baseURL: process.env.KOLDUN_URL, apiKey: "none", maxRetries: 0 });

test("models", async () => {
  const ids = [];
  for await (const m of client.models.list()) ids.push(m.id);
  assert.deepEqual(ids, [model]);
  // An id holds a slash, which the client escapes in the path.
  const one = await client.models.retrieve(model);
  assert.equal(one.id, model);
  assert.equal(one.object, "model");
});

test("chat", async () => {
  const { data, response } = await client.chat.completions.create({ model, messages, temperature: 0 }).withResponse();
  assert.equal(data.object, "chat.completion");
  assert.equal(data.choices[0].message.content, answer);
  assert.equal(data.choices[0].finish_reason, "stop");
  assert.ok(data.usage.prompt_tokens > 0 && data.usage.completion_tokens > 0);
  assert.equal(data.usage.total_tokens, data.usage.prompt_tokens + data.usage.completion_tokens);
  assert.match(response.headers.get("x-request-id"), /^req_/);
});

test("max_completion_tokens ends with length", async () => {
  const got = await client.chat.completions.create({ model, messages, max_completion_tokens: 3 });
  assert.equal(got.choices[0].finish_reason, "length");
  assert.ok(answer.startsWith(got.choices[0].message.content));
});

test("stop sequences, alone and in a list", async () => {
  for (const stop of [" YAML", ["never", " YAML"]]) {
    const got = await client.chat.completions.create({ model, messages, stop });
    assert.equal(got.choices[0].message.content, "Koldun turns a short");
    assert.equal(got.choices[0].finish_reason, "stop");
  }
});

test("stream", async () => {
  const stream = await client.chat.completions.create({
    model, messages, stream: true, stream_options: { include_usage: true },
  });
  let text = "", finish, usage, chunks = 0;
  for await (const chunk of stream) {
    assert.equal(chunk.object, "chat.completion.chunk");
    text += chunk.choices[0]?.delta?.content ?? "";
    finish = chunk.choices[0]?.finish_reason ?? finish;
    usage = chunk.usage ?? usage;
    chunks++;
  }
  assert.equal(text, answer);
  assert.equal(finish, "stop");
  assert.ok(usage.completion_tokens > 0);
  assert.ok(chunks >= 3, `it came in ${chunks} chunks`);
});

test("the stream helper", async () => {
  const runner = client.chat.completions.stream({ model, messages });
  assert.equal(await runner.finalContent(), answer);
});

test("a stream that the client ends", async () => {
  const stream = await client.chat.completions.create({ model, messages, stream: true });
  for await (const chunk of stream) {
    if (chunk.choices[0]?.delta?.content) break; // aborts the request
  }
  const next = await client.chat.completions.create({ model, messages });
  assert.equal(next.choices[0].message.content, answer);
});

test("errors", async () => {
  await assert.rejects(client.chat.completions.create({ model: "default/nobody", messages }), (e) => {
    assert.ok(e instanceof NotFoundError);
    assert.equal(e.code, "model_not_found");
    assert.equal(e.param, "model");
    return true;
  });
  await assert.rejects(client.chat.completions.create({ model, messages, n: 99 }), (e) => {
    assert.ok(e instanceof BadRequestError);
    assert.equal(e.param, "n");
    return true;
  });
  await assert.rejects(client.chat.completions.create({ model, messages: [] }), BadRequestError);
});

test("several choices", async () => {
  const seeded = { model, messages: [{ role: "user", content: "Any words" }], n: 3, seed: 7, temperature: 2, max_tokens: 16 };
  const got = await client.chat.completions.create(seeded);
  assert.deepEqual(got.choices.map((c) => c.index), [0, 1, 2]);
  assert.ok(new Set(got.choices.map((c) => c.message.content)).size > 1, "all choices are alike");
  const stream = client.chat.completions.stream(seeded);
  const streamed = await stream.finalChatCompletion();
  assert.deepEqual(streamed.choices.map((c) => c.message.content), got.choices.map((c) => c.message.content));
});

test("embeddings", async () => {
  const { operations } = await client.models.retrieve(model);
  if (!operations.includes("embedding")) {
    await assert.rejects(client.embeddings.create({ model, input: "x" }), (e) => {
      assert.ok(e instanceof BadRequestError);
      assert.equal(e.param, "model");
      assert.match(e.message, /do not serve the operation 'embedding'/);
      return true;
    });
    return;
  }
  const input = ["one", "two"];
  const encoded = await client.embeddings.create({ model, input }); // the client asks for base64 by default
  const floats = await client.embeddings.create({ model, input, encoding_format: "float" });
  assert.equal(encoded.data.length, 2);
  encoded.data.forEach(({ embedding, index }, i) => {
    assert.equal(index, i);
    const plain = floats.data[i].embedding;
    assert.ok(plain.length > 1 && embedding.length === plain.length);
    embedding.forEach((x, j) => assert.ok(Math.abs(x - plain[j]) < 1e-6));
  });
  assert.notDeepEqual(encoded.data[0].embedding, encoded.data[1].embedding);
});
