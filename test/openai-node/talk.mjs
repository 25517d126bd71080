// Talks to a gateway with the official client for Node, as its users do, and
// prints what it got as one line of JSON. Usage: node talk.mjs BASE_URL
import OpenAI from "openai";

const client = new OpenAI({ baseURL: process.argv[2], apiKey: "sk-any", maxRetries: 0 });
const messages = [{ role: "user", content: "hello" }];
const out = {};

out.models = (await client.models.list()).data.map((m) => m.id);
out.model = (await client.models.retrieve("tiny")).id;

const whole = await client.chat.completions.create({ model: "tiny", messages });
out.whole = [whole.object, whole.choices[0].message.content, whole.choices[0].finish_reason, whole.usage.total_tokens];

const runner = client.chat.completions.stream({ model: "tiny", messages, stream_options: { include_usage: true } });
let chunks = 0;
for await (const _ of runner) chunks++;
const last = await runner.finalChatCompletion();
out.stream = [chunks, last.choices[0].message.content, last.choices[0].finish_reason, (await runner.totalUsage()).total_tokens];

const text = await client.completions.create({ model: "tiny", prompt: "hello", max_tokens: 5 });
out.text = [text.object, text.choices[0].text];

try {
  await client.chat.completions.create({ model: "tiny", messages, n: 99 });
} catch (e) {
  out.error = [e.constructor.name, e.status, e.code, e.param, e.requestID?.startsWith("req_")];
}

const broken = await client.chat.completions.create({ model: "tiny", messages: [{ role: "user", content: "break" }], stream: true });
try {
  for await (const _ of broken);
  out.broken = "ended as if it were whole";
} catch (e) {
  out.broken = [e.code, e.message];
}

const left = await client.chat.completions.create({ model: "tiny", messages: [{ role: "user", content: "wait" }], stream: true });
for await (const chunk of left) {
  if (chunk.choices[0]?.delta?.content) break; // leaves in the middle
}
console.log(JSON.stringify(out));
