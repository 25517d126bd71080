// What all clients here ask for: the weather of two cities, one call after the
// other, and a trip that fits a schema. The scripted engine of
// internal/serving/gateway/node_script_test.go answers.
import assert from "node:assert/strict";
import { z } from "zod";

const needed = 18;
if (Number(process.versions.node.split(".")[0]) < needed) {
  throw new Error(`These clients need node ${needed} or newer, and this is ${process.versions.node}.`);
}

// KOLDUN_URL is the base URL of a gateway, with /v1.
export const baseURL = process.env.KOLDUN_URL;
export const apiKey = "none";
export const model = "default/tiny";

export const question = "How warm is it in Brno and in Olomouc?";
export const forecast = "21 in Brno, 19 in Olomouc";
export const cities = ["Brno", "Olomouc"];

export const city = z.object({ city: z.string() });
export const description = "The temperature in a city.";

// degrees is the tool.
export const degrees = ({ city }) => ({ Brno: "21 in Brno", Olomouc: "19 in Olomouc" })[city] ?? `no city ${city}`;

export const trip = z.object({ city: z.string(), days: z.number().int() });
export const planned = { city: "Brno", days: 2 };

// Two inputs have the vectors [1, 0.5] and [2, 0.5].
export const inputs = ["one", "two"];
export const vectors = [[1, 0.5], [2, 0.5]];

// noted returns a tool and the cities that it was called for.
export function noted() {
  const calls = [];
  return { calls, run: (args) => (calls.push(args.city), degrees(args)) };
}

// pieces fails unless a stream came in several pieces.
export function pieces(n) {
  assert.ok(n > 1, `it came in ${n} pieces`);
}
