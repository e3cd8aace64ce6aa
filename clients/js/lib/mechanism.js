/**
 * A mechanism: what a device runs. It turns a value into an integer cell, exactly as the Python library
 * does on the same 64 random bits. All arithmetic is on integers below 2^53 held as doubles.
 */
import { DataError, PrivacyError, SpecError } from "./errors.js";
import { atMostExp, logOf } from "./exact.js";
import { randomWord } from "./random.js";
import { readSpec } from "./spec.js";
import { largestRatio } from "./window.js";

const [MIN_EPSILON, MAX_EPSILON] = [1e-6, 16];

/** The exact ε of a spec that anybody may have written, without believing what it claims. */
export function audit(text) {
  return findings(readSpec(text));
}

function findings({ epsilon: claimed, windows }) {
  const ratios = windows.map(largestRatio); // a public coin cancels: the worst part counts
  const ratio = ratios.reduce((most, next) => (next[0] * most[1] > most[0] * next[1] ? next : most));
  return { ratio, epsilon: logOf(ratio), claimed, holds: atMostExp(ratio, claimed) };
}

/** Read a spec; refused unless its counts give the ε it claims. */
export function fromJson(text) {
  return new Mechanism(readSpec(text));
}

export class Mechanism {
  #domain;
  #parts;
  #coin;

  constructor(spec) {
    const { epsilon } = spec;
    if (!(epsilon >= MIN_EPSILON && epsilon <= MAX_EPSILON)) {
      throw new SpecError(`epsilon must be between ${MIN_EPSILON} and ${MAX_EPSILON}, got epsilon=${epsilon}`);
    }
    const found = findings(spec);
    if (!found.holds) {
      throw new PrivacyError(`the counts give epsilon=${found.epsilon}, more than the claimed epsilon=${epsilon}`);
    }
    this.#domain = withUnits(spec.domain);
    let [offset, share] = [0, 0];
    this.#parts = spec.windows.map((window, i) => {
      const part = { ...tables(window), offset, share: (share += spec.weights[i]) };
      offset += window.cells;
      return part;
    });
    this.#coin = Math.log2(share); // bits of the public coin; 0: there is none
    this.audit = Object.freeze(found);
    this.epsilon = epsilon;
    this.cells = offset;
    this.domain = Object.freeze(spec.domain);
    Object.freeze(this);
  }

  /** Whether the exact ε is at most this one, in integers. */
  keeps(epsilon) {
    return atMostExp(this.audit.ratio, epsilon);
  }

  /** Whether a value lies in the domain. */
  contains(x) {
    return typeof x === "number" && x >= this.#domain.low && x <= this.#domain.high;
  }

  /** The nearest end of an interval; the same angle on a circle. */
  bringInside(x) {
    const { low, high, circle, circumference } = this.#domain;
    if (x >= low && x <= high) return x;
    if (!circle) return Math.min(Math.max(x, low), high);
    const turn = (x - low) % circumference;
    return low + (turn < 0 ? turn + circumference : turn);
  }

  /** Randomise one value: an integer cell from fresh randomness. */
  report(value, { clip = false } = {}) {
    if (typeof value !== "number") throw new TypeError("value must be a number");
    const x = clip && Number.isFinite(value) ? this.bringInside(value) : value;
    return this.#draw(x);
  }

  #draw(x) {
    return this.cellAt(x, randomWord(), randomWord(), this.#coin ? randomWord() : 0);
  }

  /** Randomise many values, each with randomness of its own. */
  reportAll(values, { clip = false } = {}) {
    const Cells = this.cells <= 1 << 8 ? Uint8Array : this.cells <= 1 << 16 ? Uint16Array : Uint32Array;
    if (!Array.isArray(values) && !(ArrayBuffer.isView(values) && "length" in values)) {
      throw new TypeError("values must be an array of numbers");
    }
    const numbers = new Float64Array(values.length);
    let [wrong, first] = [0, -1];
    for (let i = 0; i < numbers.length; i += 1) {
      const value = values[i];
      if (typeof value !== "number") throw new TypeError(`values must be numbers, the one at index ${i} is not`);
      numbers[i] = clip && Number.isFinite(value) ? this.bringInside(value) : value;
      if (this.contains(numbers[i])) continue;
      wrong += 1;
      if (first < 0) first = i;
    }
    if (wrong) {
      throw new DataError(
        `values must be in the domain: ${wrong} of ${numbers.length} are not, the first at index ${first}`,
      );
    }
    const cells = new Cells(numbers.length);
    for (let i = 0; i < cells.length; i += 1) cells[i] = this.#draw(numbers[i]);
    return cells;
  }

  /**
   * The cell that the 64-bit word hi·2^32 + lo draws at x; `coin` is the leading half of the word that
   * tosses a mixture's coin. For checks against the Python library; to report, use `report`.
   */
  cellAt(x, hi, lo, coin = 0) {
    const domain = this.#domain;
    if (!(x >= domain.low && x <= domain.high)) throw new DataError("value must be a number in the domain");
    const part = this.#coin ? this.#tossed(coin) : this.#parts[0];
    const { offset, mass, around, top, wraps, shift, factor, knots, starts, slopes, back, more } = part;
    const draw = (hi >>> 0) * factor + (lo >>> shift); // the top bits of the word
    if (draw < mass) return offset + pick(back, draw);
    const t = (x * domain.scale - domain.scaledLow) * domain.perWidth;
    const k = last(knots, t);
    let s = starts[k] + Math.floor((t - knots[k]) * slopes[k]);
    s = Math.min(Math.max(s, 0), top);
    if (wraps && s >= around) s -= around;
    let u = s - mass + draw;
    if (wraps && u >= around) u -= around;
    return offset + pick(more, u);
  }

  #tossed(coin) {
    const side = (coin >>> 0) >>> (32 - this.#coin);
    return this.#parts.find(({ share }) => side < share);
  }

  /** The value that a cell stands for, in the units of the domain. */
  decode(cell) {
    if (!Number.isInteger(cell) || cell < 0 || cell >= this.cells) {
      throw new DataError(`cells must be whole numbers in 0..${this.cells - 1}`);
    }
    const { offset, value, step, back } = this.#parts.findLast((part) => part.offset <= cell);
    const run = last(back.first, cell - offset);
    const t = value[run] + step[run] * (cell - offset - back.first[run]);
    const { scaledLow, scaledWidth, scale } = this.#domain;
    return (scaledLow + t * scaledWidth) / scale;
  }
}

/** The last entry that is at most `at` (the first entry if none is). */
function last(sorted, at) {
  let [low, high] = [0, sorted.length];
  while (high - low > 1) {
    const middle = (low + high) >>> 1;
    if (sorted[middle] <= at) low = middle;
    else high = middle;
  }
  return low;
}

/** The cell at a position of the background or of the extra coordinate. */
function pick({ left, weight, first }, at) {
  const run = last(left, at);
  return first[run] + Math.floor((at - left[run]) / weight[run]);
}

/** A power of two brings the width into the range where 1/width is finite. */
function withUnits(domain) {
  const width = domain.high - domain.low;
  const scale = !Number.isFinite(width) ? 0.25 : width > 2 ** -900 ? 1 : 2 ** 200;
  const scaledLow = domain.low * scale;
  const scaledWidth = domain.high * scale - scaledLow;
  return { ...domain, scale, scaledLow, scaledWidth, perWidth: 1 / scaledWidth };
}

/** Left edges of the runs on the background and on the extra coordinate, and of the start table. */
function tables(window) {
  const { wraps, bits, count, background, extra, t, s, stepwise, mass, around, top, value, step } = window;
  const edges = (weights) => {
    const left = new Float64Array(count.length);
    for (let i = 1; i < left.length; i += 1) left[i] = left[i - 1] + count[i - 1] * weights[i - 1];
    return left;
  };
  const first = edges(new Float64Array(count.length).fill(1));
  const segments = stepwise ? t.length : t.length - 1;
  return {
    value,
    step,
    wraps,
    mass,
    around,
    top,
    shift: 64 - bits,
    factor: 2 ** (bits - 32),
    knots: t.subarray(0, segments),
    starts: s.subarray(0, segments),
    slopes: Float64Array.from({ length: segments }, (_, k) =>
      !stepwise && t[k + 1] > t[k] ? (s[k + 1] - s[k]) / (t[k + 1] - t[k]) : 0,
    ),
    back: { left: edges(background), weight: background, first },
    more: { left: edges(extra), weight: extra.map((e) => Math.max(e, 1)), first },
  };
}
