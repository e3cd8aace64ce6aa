/**
 * How many values a second one core randomises, on fresh randomness and on given words:  node bench/sampling.js
 *
 * "floor" is `crypto.getRandomValues` alone, in blocks of 65,536 bytes, at the eight bytes that a value takes.
 * Each figure is the best of several repetitions, in millions a second.
 */
import { readFile } from "node:fs/promises";
import { cpus } from "node:os";
import { fromJson } from "../lib/index.js";

const VALUES = 1 << 13; // within a turn of a busy processor
const REPETITIONS = 300;
const CASES = {
  ogpm: "OGPM, ε = 1",
  pm: "PM, ε = 1",
  sw: "SW, ε = 1",
  "circle of hours": "OGPM on a circle, ε = 1",
  "two scales": "two scales (a public coin), ε = 1",
  "optimal l1, epsilon 4": "optimal L1, ε = 4",
  "optimal unbiased, epsilon 2": "optimal unbiased, ε = 2",
};

function fastest(work) {
  let best = Infinity;
  for (let i = 0; i < REPETITIONS; i += 1) {
    const begun = performance.now();
    work();
    best = Math.min(best, performance.now() - begun);
  }
  return VALUES / best / 1000;
}

function randomWords(count) {
  const words = new Uint32Array(count);
  for (let i = 0; i < count; i += 16384) crypto.getRandomValues(words.subarray(i, i + 16384));
  return words;
}

const { mechanisms } = JSON.parse(
  await readFile(new URL("../../../tests/vectors/sampling.json", import.meta.url), "utf8"),
);
console.log(`Node ${process.version}, ${cpus()[0].model.trim()}`);
console.log("| mechanism | `reportAll` | `cellsAt`, given words | `report`, one by one |\n|---|---|---|---|");
const row = (name, ...rates) => console.log(`| ${name} | ${rates.map((rate) => rate.toFixed(0)).join(" | ")} |`);
for (const [name, words] of Object.entries(CASES)) {
  const vector = mechanisms.find((each) => each.name === name);
  if (!vector) throw new Error(`no vector named ${name}`);
  const m = fromJson(vector.spec);
  const { low, high } = m.domain;
  const values = Float64Array.from({ length: VALUES }, (_, i) => low + (high - low) * ((i * 0.618034) % 1));
  const given = randomWords(VALUES * (vector.words[0].length > 16 ? 3 : 2));
  row(
    words,
    fastest(() => m.reportAll(values)),
    fastest(() => m.cellsAt(values, given)),
    fastest(() => { for (let i = 0; i < VALUES; i += 1) m.report(values[i]); }),
  );
}
console.log(`\nfloor: ${fastest(() => randomWords(2 * VALUES)).toFixed(0)}`);
