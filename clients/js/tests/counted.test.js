/** Choices, places and functions by counting: every run of draws of small cases against the construction, and mutants. */
import assert from "node:assert/strict";
import test from "node:test";
import { fromJson } from "sottovoce";

const BITS = 33; // the least that a spec may have: draws are counted by runs of one cell, at both ends and in the middle
const TOTAL = 2 ** BITS;
const mod = (a, b) => ((a % b) + b) % b;
const sum = (numbers) => numbers.reduce((all, one) => all + one, 0);

/** The halves of a word whose top bits are a draw and whose last bits are a lot. */
const halves = (draw, lot = 0) => [Math.floor(draw / 2), (draw % 2) * 2 ** 31 + lot];

/** How often each cell comes up: `runs` are the lengths within which it must not change. */
function counted(cells, runs, cellOf) {
  const counts = new Array(cells).fill(0);
  let draw = 0;
  for (const length of runs) {
    const [cell, ...others] = [draw, draw + Math.floor(length / 2), draw + length - 1].map(cellOf);
    if (others.some((other) => other !== cell)) return null;
    counts[cell] += length;
    draw += length;
  }
  assert.equal(draw, TOTAL);
  return counts;
}

/** A spec of small base sets with as much extra as ε = 2 allows: background, extra and what is left over. */
function translates(own, sets, size) {
  const [cells, entries] = [sets.length * size, sum(sets.map((set) => set.length))];
  const background = Math.ceil(TOTAL / (cells + entries * (Math.exp(2) - 1 - 1e-9)));
  const extra = Math.floor((TOTAL - cells * background) / entries);
  const left = TOTAL - cells * background - entries * extra;
  const runs = [...new Array(left).fill(background + 1), ...new Array(cells - left).fill(background), ...new Array(entries).fill(extra)];
  return { runs, background, extra, left, spec: { format: "translates/1", epsilon: 2, bits: BITS, background, extra, ...own } };
}

const CHOICES = [
  { options: ["yes", "no"], blocks: [[0]], multipliers: [1] },
  { options: ["a", "b", "c", "d"], blocks: [[2, 3], [0, 2], [3, 0]], multipliers: [1] },
  { options: [1, 2, 3, 4, 5], blocks: [[0, 1]], multipliers: [1, 2] },
  { options: ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j"], blocks: [[0, 1, 2], [0, 3, 7]], multipliers: [1, 3] },
];

for (const own of CHOICES) {
  const k = own.options.length;
  const sets = own.blocks.flatMap((block) => own.multipliers.map((h) => block.map((one) => (one * h) % k)));
  const { runs, background, extra, left, spec } = translates(own, sets, k);

  test(`every draw of a choice of ${k}`, () => {
    const m = fromJson(JSON.stringify(spec));
    const law = (x) => sets.flatMap((set, b) => own.options.map((_, s) => background + (b * k + s < left) + extra * set.includes(mod(s - x, k))));
    own.options.forEach((option, x) => {
      const count = (value) => counted(m.cells, runs, (draw) => m.reportFrom(Uint32Array.from(halves(draw)), value));
      assert.deepEqual(count(option), law(x));
      assert.notDeepEqual(count(own.options[(x + 1) % k]), law(x), "another option is noticed");
    });
  });
}

test("every draw and every lot of a place", () => {
  const [[rows, columns], blocks] = [[5, 6], [[1, 3, 1], [3]]];
  const area = { x: [0, 3], y: [0, 2], round: false, degrees: false, points: [3, 4], moduli: [rows, columns] };
  const holds = (block, row, column) => row < block.length && Math.abs(column - (Math.max(...block) - 1) / 2) <= (block[row] - 1) / 2;
  const points = [...new Array(rows * columns).keys()].map((s) => [Math.floor(s / columns), s % columns]);
  const sets = blocks.map((block) => points.filter(([row, column]) => holds(block, row, column)));
  const { runs, background, extra, left, spec } = translates({ area, blocks }, sets, rows * columns);
  const m = fromJson(JSON.stringify(spec));
  for (const [x, y] of [[0, 0], [3, 2], [1.3125, 0.71875]]) {
    for (let lot = 0; lot < 1024; lot += 33) { // each of the 32 steps of x and of y
      const [column, row] = [Math.floor(x + ((lot & 31) + 0.5) / 32), Math.floor(y + ((lot >> 5) + 0.5) / 32)];
      const law = blocks.flatMap((block, b) => points.map(([s, t], i) =>
        background + (b * points.length + i < left) + extra * holds(block, mod(s - row, rows), mod(t - column, columns))));
      const count = (shift) => counted(m.cells, runs, (draw) => m.reportFrom(Uint32Array.from(halves(draw, lot)), [x + shift, y]));
      assert.deepEqual(count(0), law);
      if (x < 2) assert.notDeepEqual(count(1), law, "a step aside is noticed");
    }
  }
});

// Rows of counts around three inputs: the nearest to a function's value decides.
const ROWS = [[4, 2, 2], [2, 4, 2], [2, 2, 4]].map((row) => row.map((count) => (count * TOTAL) / 8));
const QUESTION = { format: "rows/1", epsilon: 1, domain: [0, 1], circle: false, bits: BITS, inputs: [0, 0.5, 1], values: [0, 0.5, 1], rows: ROWS };
/** With p and q for the numbers on a scale from −1 to 1. */
const FORMULAS = {
  value: (p) => (p + 1) / 2,
  square: (p) => p ** 2,
  sum: (p, q) => ((p + q) / 2) ** 2,
  difference: (p, q) => ((p - q) / 2) ** 2,
  squares: (p, q) => (1 + p ** 2 - q ** 2) / 2,
};

/** The cells of all sides of a coin of eight and all draws of the question that it names. */
function functionCounts(survey, values, runsOf) {
  const counts = new Array(survey.cells).fill(0);
  for (let side = 0; side < 8; side += 1) {
    const cellOf = (draw) => survey.reportFrom(Uint32Array.from([side * 2 ** 29, 0, ...halves(draw)]), values)[0];
    const own = counted(survey.cells, runsOf(side), cellOf);
    if (own === null) return null;
    own.forEach((count, cell) => {
      counts[cell] += count;
    });
  }
  return counts;
}

test("every function of two numbers, every side of its lot and every draw", () => {
  const [names, weights] = [Object.keys(FORMULAS), [1, 2, 3, 1, 1]];
  const sides = weights.flatMap((weight, i) => new Array(weight).fill(i));
  const input = (name) => ({ name, domain: [0, 1], circle: false });
  const questions = names.map((name) => ({ name, function: name, of: FORMULAS[name].length === 2 ? ["u", "v"] : ["u"], spec: QUESTION }));
  const spec = { format: "survey/1", epsilon: 1, sampled: 1, inputs: [input("u"), input("v")], questions, weights };
  const survey = fromJson(JSON.stringify(spec));
  const swapped = fromJson(JSON.stringify({ ...spec, questions: questions.map((one) => ({ ...one, function: one.name === "sum" ? "difference" : one.function })) }));
  const eighths = [...new Array(9).keys()].map((i) => i / 8);
  for (const u of eighths) {
    for (const v of eighths) {
      const rows = names.map((name) => ROWS[Math.min(Math.floor(2 * FORMULAS[name](2 * u - 1, 2 * v - 1) + 0.5), 2)]);
      const law = rows.flatMap((row, i) => row.map((count) => count * weights[i]));
      const count = (reporter) => functionCounts(reporter, [u, v], (side) => rows[sides[side]]);
      assert.deepEqual(count(survey), law);
      if (u === 1 && v === 1) assert.notDeepEqual(count(swapped), law, "another function is noticed");
    }
  }
});

test("every rounding of a number within groups, and every draw", () => {
  const [ways, blocks] = [["car", "bike"], [[0, 1, 3]]];
  const { runs, background, extra, left, spec } = translates({ options: [0, 1, 2, 3, 4, 5], blocks, multipliers: [1] }, blocks, 6);
  const inputs = [{ name: "way", options: ways }, { name: "u", domain: [0, 1], circle: false }];
  const questions = [{ name: "both", function: "level", of: ["way", "u"], spec }];
  const survey = fromJson(JSON.stringify({ format: "survey/1", epsilon: 2, sampled: 1, inputs, questions, weights: [1] }));
  const law = (x) => [0, 1, 2, 3, 4, 5].map((s) => background + (s < left) + extra * blocks[0].includes(mod(s - x, 6)));
  const count = (way, u, up) => counted(6, runs, (draw) => survey.reportFrom(Uint32Array.from([up * 2 ** 29, 0, ...halves(draw)]), [way, u])[0]);
  ways.forEach((way, c) => {
    for (let eighths = 0; eighths <= 8; eighths += 1) { // three levels: places in quarters, which eight words decide exactly
      const level = Math.min(Math.floor(eighths / 4), 1);
      for (let up = 0; up < 8; up += 1) assert.deepEqual(count(way, eighths / 8, up), law(c + 2 * (level + (up < 2 * (eighths - 4 * level)))));
    }
  });
  assert.notDeepEqual(count("car", 0.125, 3), law(2), "the other level is noticed");
});
