/**
 * How many values a second one core randomises, on fresh randomness and on given words:  node bench/sampling.js
 *
 * All take turns, with random values in blocks that fit into a turn of a busy processor; each figure is the best of them. The floor is OGPM: the
 * words of `crypto.getRandomValues` that every report takes, the check of the value, and one draw from one window. Results
 * go to benchmarks/results/js_sampling.json, the table into docs/measurements/clients.md.
 */
import { readFile, writeFile } from "node:fs/promises";
import { cpus } from "node:os";
import { fromJson } from "../lib/index.js";

const VALUES = 1 << 13;
const TURNS = 300;
const PAGE = new URL("../../../docs/measurements/clients.md", import.meta.url);
const RESULTS = new URL("../../../benchmarks/results/js_sampling.json", import.meta.url);
const FLOOR = "OGPM, ε = 1";
const CASES = {
  ogpm: FLOOR,
  pm: "PM, ε = 1",
  sw: "SW, ε = 1",
  "circle of hours": "OGPM on a circle, ε = 1",
  "two scales": "two scales (a public coin), ε = 1",
  "optimal l1, epsilon 4": "optimal L1, ε = 4",
  "optimal l2, epsilon 1": "optimal L2, ε = 1",
  "optimal unbiased, epsilon 2": "optimal unbiased, ε = 2",
  "equal cells, nearest": "equal cells, of a nearest window",
};

function randomWords(count) {
  const words = new Uint32Array(count);
  for (let i = 0; i < count; i += 16384) crypto.getRandomValues(words.subarray(i, i + 16384));
  return words;
}

const { mechanisms } = JSON.parse(
  await readFile(new URL("../../../tests/vectors/sampling.json", import.meta.url), "utf8"),
);
const works = Object.entries(CASES).map(([name, what]) => {
  const vector = mechanisms.find((each) => each.name === name);
  if (!vector) throw new Error(`no vector named ${name}`);
  const m = fromJson(vector.spec);
  const { low, high } = m.domain;
  const values = Float64Array.from({ length: VALUES }, () => low + (high - low) * Math.random());
  const given = randomWords(VALUES * (vector.words[0].length > 16 ? 3 : 2));
  return { what, best: [Infinity, Infinity, Infinity], turns: [
    () => m.reportAll(values),
    () => m.cellsAt(values, given),
    () => { for (let i = 0; i < VALUES; i += 1) m.report(values[i]); },
  ] };
});
const plain = new Float64Array(VALUES);
works.push({ what: "words alone", best: [Infinity], turns: [() => randomWords(2 * VALUES)] });
works.push({ what: "Math.random", best: [Infinity], turns: [() => { for (let i = 0; i < VALUES; i += 1) plain[i] = Math.random(); }] });

for (let kind = 0; kind < 3; kind += 1) {
  const takers = works.filter(({ turns }) => turns.length > kind);
  for (let turn = 0; turn < TURNS; turn += 1) {
    for (const { best, turns } of takers) {
      const begin = performance.now();
      turns[kind]();
      best[kind] = Math.min(best[kind], ((performance.now() - begin) * 1e6) / VALUES);
    }
  }
}
const machine = `Node ${process.version}, ${cpus()[0].model.trim()}`;
const nanoseconds = Object.fromEntries(works.map(({ what, best }) => [what, best]));
await writeFile(RESULTS, `${JSON.stringify({ machine, values: VALUES, nanoseconds }, null, 1)}\n`);

const rate = (ns) => (1000 / ns).toFixed(0);
const rows = works.filter(({ best }) => best.length > 1).map(({ what, best }) =>
  `| ${what} | ${best.map(rate).join(" | ")} | ${(best[0] / nanoseconds[FLOOR][0]).toFixed(2)} |`);
const table = [
  "| mechanism | `reportAll` | `cellsAt`, given words | `report`, one by one | `reportAll`, × the floor's time |",
  "| --- | --: | --: | --: | --: |",
  ...rows,
  "",
  `\`crypto.getRandomValues\` alone, at eight bytes a value: ${rate(nanoseconds["words alone"][0])}; \`Math.random\`: ${rate(nanoseconds["Math.random"][0])}. (${machine}, one core.)`,
].join("\n");
const page = await readFile(PAGE, "utf8");
await writeFile(PAGE, page.replace(/(<!-- table: js -->\n\n).*?(\n\n<!-- end -->)/s, (_, begin, end) => begin + table + end));
console.log(table);
