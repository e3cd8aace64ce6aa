/**
 * Explicit integer rows: `rows/1`. Row i holds, for input i, how many of the 2^bits equally likely draws give each
 * cell; a value goes to the nearest input. Mirrors sottovoce/core/rows.py.
 */
import { largerRatio, reduced } from "./exact.js";
import { integer, keys, list, numbers, readDomain, real } from "./spec.js";
import { MAX_BITS, MIN_BITS, rule } from "./window.js";

const MAX_ENTRIES = 1 << 24;

/** The table of a parsed spec, checked for consistency but not yet for ε. */
export function readRows(spec) {
  keys(spec, ["format", "epsilon", "domain", "circle", "bits", "inputs", "rows", "values"], "spec", ["scale"]);
  const [epsilon, domain] = [real(spec.get("epsilon"), "epsilon"), readDomain(spec)];
  const bits = integer(spec.get("bits"), "bits");
  rule(bits >= MIN_BITS && bits <= MAX_BITS, `bits must be between ${MIN_BITS} and ${MAX_BITS}`, "bits");
  const [inputs, values] = ["inputs", "values"].map((name) => numbers(spec.get(name), name, real));
  const rows = list(spec.get("rows"), "rows").map((row) => numbers(row, "rows", integer));
  rule(rows.length === inputs.length && rows.length * values.length >= 1, "rows must have one entry per input", "rows");
  rule(rows.length * values.length <= MAX_ENTRIES, `rows must have at most ${MAX_ENTRIES} entries`, "rows");
  for (const row of rows) {
    rule(row.length === values.length && row.every((count) => count >= 1), "rows must hold a positive count for every cell", "rows");
    // Far below 2^53 as long as the rule holds; beyond, no rounding could bring the sum back to 2^bits.
    rule(row.reduce((sum, count) => sum + count, 0) === 2 ** bits, `every row must add up to 2^${bits}`, "rows");
  }
  rule(inputs.every((t, i) => t >= 0 && t <= 1 && (i === 0 || t > inputs[i - 1])), "inputs must increase from 0 to at most 1", "inputs");
  rule(!domain.circle || inputs[0] === 0, "inputs on a circle must begin at 0", "inputs");
  rule(values.every((t, i) => i === 0 || t >= values[i - 1]), "values must not decrease", "values");
  return { epsilon, domain, bits, inputs, values, rows };
}

/** The largest ratio of two counts of one cell. */
export function rowsRatio({ rows, values }) {
  let best = [1, 1].map(BigInt);
  for (let cell = 0; cell < values.length; cell += 1) {
    let [least, most] = [Infinity, 0];
    for (const row of rows) [least, most] = [Math.min(least, row[cell]), Math.max(most, row[cell])];
    best = largerRatio(best, [BigInt(most), BigInt(least)]);
  }
  return reduced(best);
}

/** What a table draws. */
export class RowsLaw {
  constructor(content) {
    const { domain, bits, inputs, values, rows } = content;
    const middles = Array.from(inputs.subarray(1), (t, i) => (t + inputs[i]) / 2);
    const last = inputs[inputs.length - 1];
    this.ratio = rowsRatio(content);
    this.cells = values.length;
    this.words = 2;
    this.domain = domain;
    this.bits = bits;
    this.values = values;
    this.borders = Float64Array.from(domain.circle ? [...middles, (last + 1) / 2] : middles); // where the nearest input changes
    this.inputs = rows.length;
    this.sums = new Float64Array(rows.length * values.length); // counts up to and with each cell: of all rows, cell after cell
    rows.forEach((row, i) => row.reduce((sum, count, cell) => (this.sums[cell * rows.length + i] = sum + count), 0));
  }

  /** What is read on the way follows from the cell, which is no secret, and not from the row. */
  cell(x, hi, lo) {
    const { borders, cells, bits, inputs } = this;
    const t = this.domain.along(x);
    let row = 0;
    for (let i = 0; i < borders.length; i += 1) row += (borders[i] <= t) | 0;
    row -= ((row === inputs) | 0) * inputs; // across the seam of a circle
    const draw = (hi >>> 0) * 2 ** (bits - 32) + (lo >>> (64 - bits)); // the top bits of the word
    let cell = 0;
    for (let left = cells; left > 1; left -= left >> 1) {
      cell += ((this.sum(cell + (left >> 1) - 1, row) <= draw) | 0) * (left >> 1);
    }
    return cell;
  }

  /** The sum of a row up to a cell; that of every row is read. */
  sum(cell, row) {
    const { sums, inputs } = this;
    let sum = 0;
    for (let i = 0; i < inputs; i += 1) sum += sums[cell * inputs + i] * ((i === row) | 0);
    return sum;
  }

  fill(cells, xs, words, from, to) {
    for (let i = from, j = 0; i < to; i += 1, j += 2) cells[i] = this.cell(xs[i], words[j], words[j + 1]);
  }

  unitValue(cell) {
    return this.values[cell];
  }
}
