// The clients against the embedded engine. The text of the tiny model says little,
// but calls that are forced and structured output are valid whatever it writes,
// because the engine masks all other tokens.
import assert from "node:assert/strict";
import { test } from "node:test";
import { createOpenAI } from "@ai-sdk/openai";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import Anthropic from "@anthropic-ai/sdk";
import { zodOutputFormat } from "@anthropic-ai/sdk/helpers/zod";
import { HumanMessage, ToolMessage } from "@langchain/core/messages";
import { tool as langchainTool } from "@langchain/core/tools";
import { ChatOpenAI } from "@langchain/openai";
import { Agent, OpenAIProvider, Runner, tool as agentsTool } from "@openai/agents";
import { embedMany, generateObject, generateText, stepCountIs, streamObject, streamText, tool } from "ai";
import OpenAI from "openai";
import { zodFunction, zodTextFormat } from "openai/helpers/zod";
import { z } from "zod";
import { apiKey, baseURL } from "./trip.mjs";

const model = "default/koldun-tiny";
const city = z.object({ city: z.enum(["Brno", "Olomouc"]) });
const trip = z.object({ city: z.enum(["Brno", "Olomouc"]), days: z.enum(["one", "two"]), sunny: z.boolean() });
const question = "Hi"; // the context of the tiny model is short
const short = 80; // tokens, more than any call has

const providers = {
  "openai-compatible": createOpenAICompatible({ name: "koldun", baseURL, apiKey, supportsStructuredOutputs: true })(model),
  "openai, chat": createOpenAI({ baseURL, apiKey }).chat(model),
  "openai, responses": createOpenAI({ baseURL, apiKey })(model),
};

for (const [name, chat] of Object.entries(providers)) {
  const request = {
    model: chat, prompt: question, maxRetries: 0, maxOutputTokens: short,
    providerOptions: { openai: { store: false, parallelToolCalls: false }, koldun: { parallel_tool_calls: false } },
  };

  test(`ai, ${name}: tool loop of two rounds`, async () => {
    for (const streamed of [false, true]) {
      const asked = [];
      const got = (streamed ? streamText : generateText)({
        ...request, stopWhen: stepCountIs(3),
        tools: { weather: tool({ inputSchema: city, execute: async (args) => (asked.push(city.parse(args)), "21") }) },
        prepareStep: ({ stepNumber }) => ({ toolChoice: stepNumber < 2 ? "required" : "none" }),
      });
      if (streamed) await got.consumeStream();
      const steps = await (streamed ? got.steps : (await got).steps);
      assert.deepEqual(steps.map((s) => s.toolCalls.length > 0), [true, true, false]);
      assert.ok(asked.length >= 2);
    }
  });

  test(`ai, ${name}: objects`, async () => {
    trip.parse((await generateObject({ ...request, schema: trip })).object);
    const streamed = streamObject({ ...request, schema: trip });
    for await (const _ of streamed.partialObjectStream);
    trip.parse(await streamed.object);
  });
}

test("ai: embeddings", async () => {
  const { embeddings } = await embedMany({ model: createOpenAI({ baseURL, apiKey }).embedding(model), values: ["one", "two"], maxRetries: 0 });
  assert.ok(embeddings.length === 2 && embeddings[0].length > 1 && embeddings[0].length === embeddings[1].length);
  assert.notDeepEqual(embeddings[0], embeddings[1]);
});

test("openai: a forced call, and a response that fits a schema", async () => {
  const client = new OpenAI({ baseURL, apiKey, maxRetries: 0 });
  const tools = [zodFunction({ name: "weather", parameters: city })];
  for (const stream of [true, false]) {
    const runner = stream
      ? await client.chat.completions.stream({ model, messages: [{ role: "user", content: question }], tools, tool_choice: "required", parallel_tool_calls: false, max_tokens: short }).finalChatCompletion()
      : await client.chat.completions.parse({ model, messages: [{ role: "user", content: question }], tools, tool_choice: "required", parallel_tool_calls: false, max_tokens: short });
    city.parse(runner.choices[0].message.tool_calls[0].function.parsed_arguments);
  }
  const got = await client.responses.parse({ model, input: question, max_output_tokens: short, text: { format: zodTextFormat(trip, "trip") } });
  trip.parse(got.output_parsed);
});

for (const useResponsesApi of [false, true]) {
  const chat = new ChatOpenAI({ model, apiKey, maxRetries: 0, maxTokens: short, useResponsesApi, zdrEnabled: true, modelKwargs: { parallel_tool_calls: false }, configuration: { baseURL } });

  test(`langchain, ${useResponsesApi ? "responses" : "chat"}: tool loop of two rounds`, async () => {
    const weather = langchainTool(async () => "21", { name: "weather", schema: city });
    const messages = [new HumanMessage(question)];
    for (let round = 0; round < 2; round++) {
      let got;
      for await (const chunk of await chat.bindTools([weather], { tool_choice: "weather" }).stream(messages)) got = got ? got.concat(chunk) : chunk;
      messages.push(got);
      assert.ok(got.tool_calls.length > 0);
      for (const call of got.tool_calls) messages.push(new ToolMessage({ content: await weather.invoke(call.args), tool_call_id: call.id }));
    }
  });

  test(`langchain, ${useResponsesApi ? "responses" : "chat"}: structured output`, async () => {
    trip.parse(await chat.withStructuredOutput(trip, { name: "trip", method: "jsonSchema" }).invoke(question));
    city.parse(await chat.withStructuredOutput(city, { name: "city", method: "functionCalling" }).invoke(question));
  });
}

for (const useResponses of [false, true]) {
  test(`agents, ${useResponses ? "responses" : "chat"}: a forced call, and an object`, async () => {
    const asked = [];
    const runner = new Runner({ modelProvider: new OpenAIProvider({ baseURL, apiKey, useResponses }), tracingDisabled: true });
    const common = { name: "Traveller", model, modelSettings: { maxTokens: short, store: false } };
    const caller = new Agent({
      ...common, modelSettings: { ...common.modelSettings, toolChoice: "required", parallelToolCalls: false }, toolUseBehavior: "stop_on_first_tool",
      tools: [agentsTool({ name: "weather", description: "", parameters: city, execute: async (args) => (asked.push(city.parse(args)), "21") })],
    });
    assert.equal((await runner.run(caller, question)).finalOutput, "21");
    assert.equal(asked.length, 1);
    trip.parse((await runner.run(new Agent({ ...common, outputType: trip }), question)).finalOutput);
  });
}

test("anthropic: tool loop of two rounds, and an object", async () => {
  const client = new Anthropic({ baseURL: baseURL.replace(/\/v1$/, ""), apiKey, maxRetries: 0 });
  const tools = [{ name: "weather", input_schema: z.toJSONSchema(city) }];
  const messages = [{ role: "user", content: question }];
  for (const type of ["any", "tool", "none"]) {
    const tool_choice = { type, ...(type === "tool" && { name: "weather" }), ...(type !== "none" && { disable_parallel_tool_use: true }) };
    const got = await client.messages.stream({ model, max_tokens: short, messages, tools, tool_choice }).finalMessage();
    const calls = got.content.filter((block) => block.type === "tool_use");
    assert.equal(calls.length > 0, type !== "none");
    calls.forEach((call) => city.parse(call.input));
    messages.push({ role: "assistant", content: got.content }, { role: "user", content: calls.map((call) => ({ type: "tool_result", tool_use_id: call.id, content: "21" })) });
  }
  const got = await client.messages.parse({ model, max_tokens: short, messages: messages.slice(0, 1), output_config: { format: zodOutputFormat(trip) } });
  trip.parse(got.parsed_output);
});
