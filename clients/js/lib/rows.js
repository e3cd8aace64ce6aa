/**
 * Explicit integer rows: `rows/1`. Row i holds, for input i, how many of the 2^bits equally likely draws give each
 * cell; a value goes to the nearest input. Mirrors sottovoce/reporters/rows.py.
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
    this.knots = Array.from(inputs);
    this.borders = Float64Array.from(domain.circle ? [...middles, (last + 1) / 2] : middles); // where the nearest input changes
    this.prefix = new Float64Array(rows.length * values.length); // counts up to and with each cell, row after row
    rows.forEach((row, i) => row.reduce((sum, count, cell) => (this.prefix[i * values.length + cell] = sum + count), 0));
  }

  /** All of the table is read, whatever the value and the cell: what was read before is read sooner, and that would tell. */
  cell(x, hi, lo) {
    const { borders, prefix, cells } = this;
    const t = this.domain.along(x);
    let row = 0;
    for (let i = 0; i < borders.length; i += 1) row += (borders[i] <= t) | 0;
    const first = this.begin(row);
    const draw = this.drawn(hi, lo);
    let cell = 0;
    for (let at = 0; at < prefix.length; at += cells) {
      const here = (at === first) | 0;
      for (let i = 0; i < cells; i += 1) cell += here & (prefix[at + i] <= draw);
    }
    return cell;
  }

  /** Where a row begins; across the seam of a circle the first one follows the last. */
  begin(row) {
    return row * this.cells - ((row * this.cells === this.prefix.length) | 0) * this.prefix.length;
  }

  /** The top bits of a word. */
  drawn(hi, lo) {
    return (hi >>> 0) * 2 ** (this.bits - 32) + (lo >>> (64 - this.bits));
  }

  fill(cells, xs, words, from, to) {
    const { borders, prefix } = this;
    for (let i = from, j = 0; i < to; i += 1, j += 2) {
      const row = upper(borders, 0, borders.length, this.domain.along(xs[i]));
      cells[i] = upper(prefix, this.begin(row), this.cells - 1, this.drawn(words[j], words[j + 1]));
    }
  }

  /** The probability of each cell at a place on the domain's line. */
  probabilities(x) {
    const { borders, prefix, cells } = this;
    const first = this.begin(upper(borders, 0, borders.length, this.domain.along(x)));
    return Float64Array.from({ length: cells }, (_, i) => (prefix[first + i] - (i ? prefix[first + i - 1] : 0)) / 2 ** this.bits);
  }

  unitValue(cell) {
    return this.values[cell];
  }
}

/** How many of `size` sorted entries from `first` on are at most `at`. */
export function upper(sorted, first, size, at) {
  let base = first;
  for (let left = size; left > 1; left -= left >> 1) {
    base += ((sorted[base + (left >> 1) - 1] <= at) | 0) * (left >> 1);
  }
  return base - first + ((size > 0 && sorted[base] <= at) | 0);
}
