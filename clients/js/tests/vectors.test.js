/** The vectors that the Python library wrote: same words, same cells; same specs, same audit. */
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import test from "node:test";
import { checkAudits, checkComposites, checkSampling } from "./vectors.js";

const read = async (name) =>
  JSON.parse(await readFile(new URL(`../../../tests/vectors/${name}.json`, import.meta.url), "utf8"));
const [sampling, specs] = [await read("sampling"), await read("specs")];

test("every vector gives the cell that Python drew", async () => {
  const { checked, wrong } = await checkSampling(sampling);
  assert.deepEqual(wrong, []);
  assert.ok(checked > 700_000, `only ${checked} draws were checked`);
});

test("the check notices one cell that differs", async () => {
  const [first] = sampling.mechanisms;
  const changed = { ...first, expected: first.expected.map((cell, i) => (i === 3 ? cell + 1 : cell)) };
  const { wrong } = await checkSampling({ ...sampling, mechanisms: [changed] });
  assert.equal(wrong.length, 1);
});

test("surveys and positions give the reports that Python drew", () => {
  assert.deepEqual(checkComposites(sampling), []);
  assert.ok(sampling.composites.length >= 5);
  const [first] = sampling.composites;
  assert.equal(checkComposites({ composites: [{ ...first, words: [...first.words.slice(1), first.words[0]] }] }).length > 10, true);
});

test("audits agree to the last digit, and hostile specs are refused", async () => {
  assert.deepEqual(await checkAudits(specs), []);
  assert.ok(specs.refused.length > 100);
});
