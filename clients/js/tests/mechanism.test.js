/** The mechanism on fresh randomness: the law it claims, and what it refuses. */
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import test from "node:test";
import * as sottovoce from "sottovoce";
import { Domain } from "../lib/domain.js";
import { Sampler } from "../lib/sampler.js";

const { DataError, SpecError, audit, fromJson } = sottovoce;
const { mechanisms } = JSON.parse(
  await readFile(new URL("../../../tests/vectors/sampling.json", import.meta.url), "utf8"),
);
const make = (name) => fromJson(mechanisms.find((vector) => vector.name === name).spec);

/** Counts of cells against exact probabilities: the largest |z|, for cells that expect at least 50. */
function largestZ(counts, probabilities, n) {
  return Math.max(...probabilities.map((p, j) => Math.abs(counts[j] - n * p) / Math.sqrt(n * p * (1 - p))));
}

function exactProbabilities(spec, x) {
  // Small windows only: count the draws of every cell from the spec's own numbers.
  const { cells: c, start, bits, domain } = JSON.parse(spec);
  const [a, e, n] = [c.background[0], c.extra[0], c.count[0]];
  const length = 2 ** bits - n * a;
  const t = (x - domain[0]) / (domain[1] - domain[0]);
  const rise = (start.s[1] - start.s[0]) / (start.t[1] - start.t[0]);
  const s = Math.min(Math.max(start.s[0] + Math.floor((t - start.t[0]) * rise), 0), n * e - length);
  return Array.from({ length: n }, (_, j) =>
    (a + Math.max(0, Math.min((j + 1) * e, s + length) - Math.max(j * e, s))) / 2 ** bits);
}

test("fresh draws follow the exact law; a mutant does not", () => {
  // Three cells, |z| > 5.4 has probability below 1e-6 for all of them together.
  const { spec } = mechanisms.find((vector) => vector.name === "ogpm of 3 cells");
  const m = fromJson(spec);
  const n = 400_000;
  const counts = [0, 0, 0];
  for (const cell of m.reportAll(new Float64Array(n).fill(2.5))) counts[cell] += 1;
  const p = exactProbabilities(spec, 2.5);
  assert.ok(Math.abs(p.reduce((sum, x) => sum + x) - 1) < 1e-12);
  assert.ok(largestZ(counts, p, n) < 5.4);
  const mutant = p.map((x, j) => x + [0.01, -0.005, -0.005][j]);
  assert.ok(largestZ(counts, mutant, n) > 5.4);
});

test("starts are exact on lines that no reader accepts, too", () => {
  for (const top of [1, 2 ** 40 - 1, 2 ** 52 + 1, 2 ** 53 - 3]) {
    for (const gap of [2 ** -64, 2 ** -54, 2 ** -30, 0.1, 0.3]) {
      const lines = { t: [0.25], s: [0], rises: [top / gap], count: [2], background: [1], extra: [1], bits: 52 };
      const sampler = new Sampler({ ...lines, wraps: false, mass: 2, around: 2, top }, new Domain(0, 1));
      const sides = [...new Array(50).keys()].map((i) => i / 49);
      assert.deepEqual(sides.map((t) => sampler.start(t) + 0), sides.map((t) => {
        const place = BigInt(Math.floor((t - 0.25) * (top / gap)));
        return place < 0n ? 0 : place > BigInt(top) ? top : Number(place);
      }));
    }
  }
});

test("values outside the domain are refused without being named", () => {
  const m = make("ogpm");
  for (const value of [NaN, -1, 24.0001, Infinity]) assert.throws(() => m.report(value), DataError);
  assert.throws(() => m.report("3"), TypeError);
  assert.throws(() => m.reportAll([1, 77.7, NaN]), (error) =>
    error instanceof DataError && /2 of 3 are not, the first at index 1/.test(error.message) && !/77/.test(error.message));
  assert.throws(() => m.reportAll([1, "2"]), TypeError);
  assert.throws(() => m.reportAll(3), TypeError);
  assert.throws(() => m.cellsAt([1, 2], new Uint32Array(3)), TypeError);
  assert.throws(() => m.cellsAt([1, 99], new Uint32Array(4)), DataError);
  assert.throws(() => m.report(NaN, { clip: true }), DataError);
  assert.ok(m.report(99, { clip: true }) < m.cells);
  for (const cell of [-1, 65536, 1.5, "0", NaN]) assert.throws(() => m.decode(cell), DataError);
});

test("any finite number comes round a circle, also where its distance from the origin is beyond doubles", () => {
  const { spec } = mechanisms.find((vector) => vector.name === "circle of hours");
  for (const origin of [-1e300, 1e300]) {
    const m = fromJson(JSON.stringify({ ...JSON.parse(spec), domain: [origin, 1e292] }));
    for (const x of [Number.MAX_VALUE, -Number.MAX_VALUE]) {
      assert.ok(m.domain.contains(m.domain.bringInside(x)));
      assert.ok(m.report(x, { clip: true }) < m.cells);
    }
  }
});

test("a mechanism cannot be changed after its audit", () => {
  const m = make("ogpm");
  assert.throws(() => { m.epsilon = 0.1; }, TypeError);
  assert.throws(() => { m.domain.low = -5; }, TypeError);
  assert.throws(() => { m.audit.holds = false; }, TypeError);
});

test("specs come as text or bytes, nothing else", () => {
  const { spec } = mechanisms[0];
  assert.equal(audit(new TextEncoder().encode(spec)).epsilon, audit(spec).epsilon);
  assert.throws(() => audit(JSON.parse(spec)), TypeError);
  assert.throws(() => audit(new Uint8Array([0xff, 0xfe])), SpecError);
  const codes = { "[": "malformed", '{"a":1,"a":2}': "duplicate_key", ["[".repeat(30)]: "too_deep", '{"format":"x/1"}': "spec" };
  for (const [text, code] of Object.entries(codes)) assert.throws(() => fromJson(text), { name: "SpecError", code });
  assert.throws(() => fromJson(spec.replace('"bits":', '"bits":9')), { code: "spec", argument: "bits" });
  assert.equal(audit(spec.replace('"epsilon":1.0', '"epsilon":1e300')).holds, true);
  assert.equal(audit(spec.replace('"epsilon":1.0', '"epsilon":-1.0')).holds, false);
});

test("the typed definitions name what the module exports", async () => {
  const read = (path) => readFile(new URL(path, import.meta.url), "utf8");
  const types = (await read("../lib/index.d.ts")) + (await read("../node/index.d.ts"));
  const declared = [...types.matchAll(/^export (?:abstract )?(?:class|function) (\w+)/gm)].map(([, name]) => name);
  assert.deepEqual(declared.sort(), Object.keys(sottovoce).sort());
  for (const [, name, body] of types.matchAll(/^export (?:abstract )?class (\w+)[^{]*\{\n([^]*?)^\}/gm)) {
    const methods = [...body.matchAll(/^ {2}(?:static )?(\w+)\(/gm)].map(([, method]) => method);
    const kind = sottovoce[name];
    const own = (object) => (object ? [...Object.getOwnPropertyNames(object), ...own(Object.getPrototypeOf(object))] : []);
    const real = [...own(kind.prototype), ...Object.getOwnPropertyNames(kind)];
    for (const method of methods) assert.ok(real.includes(method), `${name}.${method}`);
  }
});

test("a law draws the same cells however many runs it is written in", () => {
  const text = mechanisms.find(({ name }) => name === "sw, epsilon 4").spec;
  const spec = JSON.parse(text);
  const { cells } = spec;
  const [count, value, step] = [cells.count[0], cells.value[0], cells.step[0]];
  const many = 700; // more than are read whole
  cells.count = [...new Array(many).fill(1), count - many];
  cells.value = cells.count.map((_, i) => value + step * i);
  for (const key of ["background", "extra", "step"]) cells[key] = new Array(many + 1).fill(cells[key][0]);
  const [one, other] = [fromJson(text), fromJson(JSON.stringify(spec))];
  const { low, high } = one.domain;
  const words = Uint32Array.from({ length: 2000 }, (_, i) => Math.imul(i + 1, 2654435761));
  const values = Float64Array.from({ length: 1000 }, (_, i) => low + ((high - low) * i) / 999);
  const drawn = Array.from(values, (x, i) => other.cellAt(x, words[2 * i], words[2 * i + 1]));
  assert.deepEqual(drawn, Array.from(one.cellsAt(values, words)));
  assert.deepEqual(drawn, Array.from(other.cellsAt(values, words)));
  assert.ok(new Set(drawn).size > 300);
});

test("a line of starts that leaves the window's room is held within it, one by one and at once", () => {
  const spec = JSON.parse(mechanisms.find((vector) => vector.name === "mixed runs").spec);
  spec.start.t = spec.start.t.map((t) => 0.25 + 0.5 * t);
  const m = fromJson(JSON.stringify(spec));
  const words = new Uint32Array(2000).fill(2 ** 32 - 1); // the last draw is in the window
  const values = Float64Array.from({ length: 1000 }, (_, i) => -3 + (6 * i) / 999);
  const drawn = Array.from(values, (x, i) => m.cellAt(x, words[2 * i], words[2 * i + 1]));
  assert.deepEqual(Array.from(m.cellsAt(values, words)), drawn);
  assert.ok(drawn[0] === drawn[200] && drawn[999] === drawn[800] && drawn[200] < drawn[800]);
});
