// OpenAI's Agents SDK, by chats and by responses.
import assert from "node:assert/strict";
import { test } from "node:test";
import { Agent, OpenAIProvider, Runner, tool } from "@openai/agents";
import { apiKey, baseURL, cities, city, description, forecast, model, noted, pieces, planned, question, trip } from "./trip.mjs";

for (const useResponses of [false, true]) {
  const name = useResponses ? "responses" : "chat";
  const runner = new Runner({ modelProvider: new OpenAIProvider({ baseURL, apiKey, useResponses }), tracingDisabled: true });
  const agent = (run, more) => new Agent({
    name: "Traveller", instructions: "Ask the tool.", model,
    tools: [tool({ name: "weather", description, parameters: city, execute: async (args) => run(args) })], ...more,
  });

  test(`${name}: tool loop`, async () => {
    const { calls, run } = noted();
    const got = await runner.run(agent(run), question);
    assert.equal(got.finalOutput, forecast);
    assert.deepEqual(calls, cities);
  });

  test(`${name}: streamed tool loop`, async () => {
    const { calls, run } = noted();
    const got = await runner.run(agent(run), question, { stream: true });
    let text = "", n = 0;
    for await (const piece of got.toTextStream()) text += piece, n++;
    await got.completed;
    assert.equal(text, forecast);
    assert.equal(got.finalOutput, forecast);
    assert.deepEqual(calls, cities);
    pieces(n);
  });

  test(`${name}: an object after tools`, async () => {
    const { calls, run } = noted();
    const got = await runner.run(agent(run, { outputType: trip }), question);
    assert.deepEqual(got.finalOutput, planned);
    assert.deepEqual(calls, cities);
  });

  test(`${name}: a second turn`, async () => {
    const { run } = noted();
    const first = await runner.run(agent(run), question);
    const second = await runner.run(agent(run), [...first.history, { role: "user", content: "Once more, please." }]);
    assert.equal(second.finalOutput, forecast);
  });

  test(`${name}: a handoff`, async () => {
    const { calls, run } = noted();
    const desk = new Agent({ name: "Desk", instructions: "Hand over.", model, handoffs: [agent(run)] });
    const got = await runner.run(desk, question);
    assert.equal(got.lastAgent.name, "Traveller");
    assert.equal(got.finalOutput, forecast);
    assert.deepEqual(calls, cities);
  });
}

test("responses: a chain of stored responses", async () => {
  const runner = new Runner({ modelProvider: new OpenAIProvider({ baseURL, apiKey, useResponses: true }), tracingDisabled: true });
  const plain = new Agent({ name: "Plain", model });
  const first = await runner.run(plain, "hello");
  const second = await runner.run(plain, "hello again", { previousResponseId: first.lastResponseId });
  assert.equal(second.finalOutput, "Hello you");
});
