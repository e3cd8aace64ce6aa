/** Rows of counts: the law that the table says, drawn exactly, and what is refused. */
import assert from "node:assert/strict";
import test from "node:test";
import { audit, fromJson } from "sottovoce";

const T = 2 ** 33;
const SPEC = {
  format: "rows/1", epsilon: 1.2, domain: [0, 10], circle: false, bits: 33,
  inputs: [0, 0.5, 1], values: [0, 0.25, 1], rows: [[T / 2, T / 4, T / 4], [T / 4, T / 2, T / 4], [T / 4, T / 4, T / 2]],
};
const text = (changes = {}) => JSON.stringify({ ...SPEC, ...changes });
/** The halves of a 64-bit word whose top 33 bits are `draw`. */
const halves = (draw) => [Math.floor(draw / 2), draw % 2 === 0 ? 0 : 2 ** 31];

test("every draw gives the cell whose part of the row holds it", () => {
  const m = fromJson(text());
  assert.equal(m.cells, 3);
  assert.deepEqual([0, 1, 2].map((cell) => m.decode(cell)), [0, 2.5, 10]);
  const nearest = { 0: 0, 2.4999: 0, 2.5: 1, 7.4999: 1, 7.5: 2, 10: 2 };
  for (const [x, row] of Object.entries(nearest)) {
    let below = 0;
    SPEC.rows[row].forEach((count, cell) => {
      for (const draw of [below, below + count - 1]) assert.equal(m.cellAt(Number(x), ...halves(draw)), cell);
      below += count;
    });
  }
  const xs = [1, 5, 9];
  assert.deepEqual([...m.cellsAt(xs, Uint32Array.from(xs.flatMap(() => halves(T - 1))))], [2, 2, 2]);
});

test("on a circle the last values are nearest to the first input", () => {
  const m = fromJson(text({ circle: true, inputs: [0, 0.25, 0.5] }));
  assert.equal(m.cellAt(7.4, ...halves(T / 2)), 2); // only the last row: nearer to 5 than, around the seam, to 10
  for (const x of [7.5, 9.9, 10]) assert.equal(m.cellAt(x, ...halves(T / 2 - 1)), 0);
});

test("the audit counts, and a claim below it is refused", () => {
  assert.deepEqual(audit(text()).ratio, [2n, 1n]);
  assert.ok(audit(text()).epsilon - Math.log(2) < 2e-16); // rounded up
  assert.equal(audit(text({ epsilon: 0.6 })).holds, false);
  assert.throws(() => fromJson(text({ epsilon: 0.6 })), { name: "PrivacyError", argument: "epsilon" });
});

test("tables that contradict themselves are refused, by the argument", () => {
  const wrong = {
    bits: [{ bits: 20 }, { bits: 53 }],
    inputs: [{ inputs: [0, 0.5, 0.5] }, { inputs: [-0.1, 0.5, 1] }, { circle: true, inputs: [0.1, 0.5, 1] }],
    values: [{ values: [0, 1, 0.5] }],
    rows: [{ bits: 34 }, { inputs: [0, 1] }, { values: [0, 1] }, { rows: [[T, 0, 0], ...SPEC.rows.slice(1)] }],
    spec: [{ more: 1 }],
  };
  for (const [argument, cases] of Object.entries(wrong)) {
    for (const changes of cases) assert.throws(() => fromJson(text(changes)), { name: "SpecError", argument });
  }
});

test("fresh draws follow the table", () => {
  // |z| > 5.4 has probability below 1e-6 for three cells together.
  const [m, n, counts] = [fromJson(text()), 200_000, [0, 0, 0]];
  for (const cell of m.reportAll(new Float64Array(n).fill(9))) counts[cell] += 1;
  const z = (p) => Math.max(...p.map((share, i) => Math.abs(counts[i] - n * share) / Math.sqrt(n * share * (1 - share))));
  assert.ok(z([0.25, 0.25, 0.5]) < 5.4);
  assert.ok(z([0.24, 0.25, 0.51]) > 5.4, "a mutant is noticed");
});
