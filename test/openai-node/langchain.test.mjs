// LangChain with @langchain/openai, by chats and by responses.
import assert from "node:assert/strict";
import { test } from "node:test";
import { HumanMessage, ToolMessage } from "@langchain/core/messages";
import { tool } from "@langchain/core/tools";
import { ChatOpenAI, OpenAI, OpenAIEmbeddings } from "@langchain/openai";
import { apiKey, baseURL, cities, city, description, forecast, inputs, model, noted, pieces, planned, question, trip, vectors } from "./trip.mjs";

const options = { model, apiKey, maxRetries: 0, configuration: { baseURL } };

for (const useResponsesApi of [false, true]) {
  const name = useResponsesApi ? "responses" : "chat";
  const chat = new ChatOpenAI({ ...options, useResponsesApi });

  // loop answers calls until there are none. ask returns the answer to messages.
  const loop = async (ask) => {
    const { calls, run } = noted();
    const weather = tool((args) => run(args), { name: "weather", description, schema: city });
    const messages = [new HumanMessage(question)];
    for (let turn = 0; turn < 5; turn++) {
      const got = await ask(chat.bindTools([weather]), messages);
      messages.push(got);
      if (got.tool_calls.length === 0) return { got, calls };
      for (const call of got.tool_calls) messages.push(new ToolMessage({ content: await weather.invoke(call.args), tool_call_id: call.id }));
    }
  };

  test(`${name}: tool loop`, async () => {
    const { got, calls } = await loop((bound, messages) => bound.invoke(messages));
    assert.equal(got.text, forecast);
    assert.deepEqual(calls, cities);
    assert.ok(got.usage_metadata.total_tokens > 0);
  });

  test(`${name}: streamed tool loop`, async () => {
    let deltas = 0;
    const { got, calls } = await loop(async (bound, messages) => {
      let all;
      for await (const chunk of await bound.stream(messages)) {
        deltas += chunk.tool_call_chunks?.length ?? 0;
        all = all ? all.concat(chunk) : chunk;
      }
      return all;
    });
    assert.equal(got.text, forecast);
    assert.deepEqual(calls, cities);
    pieces(deltas);
  });

  test(`${name}: structured output`, async () => {
    // In JSON mode LangChain cannot read the content of a response, which is a list.
    for (const method of ["jsonSchema", "functionCalling", ...(useResponsesApi ? [] : ["jsonMode"])]) {
      const got = await chat.withStructuredOutput(trip, { name: "trip", method }).invoke(question);
      assert.deepEqual(got, planned, method);
    }
  });
}

test("embeddings", async () => {
  const embeddings = new OpenAIEmbeddings(options);
  assert.deepEqual(await embeddings.embedDocuments(inputs), vectors);
  assert.deepEqual(await embeddings.embedQuery(inputs[0]), vectors[0]);
});

test("completion", async () => {
  assert.equal(await new OpenAI({ ...options, model }).invoke("hello"), "Hello you");
});
