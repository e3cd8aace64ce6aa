/**
 * A mechanism: what a device runs. It turns a value into an integer cell, exactly as the Python library
 * does on the same 64 random bits. All arithmetic is on integers below 2^53 held as doubles.
 */
import { ArgumentTypeError, DataError, PrivacyError, SpecError } from "./errors.js";
import { atMostExp, logUpper } from "./exact.js";
import { randomWord, withWords } from "./random.js";
import { Sampler, units } from "./sampler.js";
import { largestRatio } from "./window.js";

const [MIN_EPSILON, MAX_EPSILON] = [1e-6, 16];

export class Mechanism {
  #domain;
  #parts;
  #coin;
  #sides;

  /** The largest ratio of a spec's counts and its logarithm, against what it claims. */
  static count({ epsilon: claimed, windows }) {
    const ratios = windows.map(largestRatio); // a public coin cancels: the worst part counts
    const ratio = ratios.reduce((most, next) => (next[0] * most[1] > most[0] * next[1] ? next : most));
    return { ratio, epsilon: logUpper(ratio), claimed, holds: atMostExp(ratio, claimed) };
  }

  constructor(spec) {
    const { epsilon } = spec;
    if (!(epsilon >= MIN_EPSILON && epsilon <= MAX_EPSILON)) {
      throw new SpecError(`epsilon must be between ${MIN_EPSILON} and ${MAX_EPSILON}, got epsilon=${epsilon}`, { argument: "epsilon" });
    }
    const audit = Mechanism.count(spec);
    if (!audit.holds) {
      throw new PrivacyError(`the counts give epsilon=${audit.epsilon}, more than the claimed epsilon=${epsilon}`, { argument: "epsilon" });
    }
    this.#domain = { ...spec.domain, ...units(spec.domain) };
    let [offset, share] = [0, 0];
    this.#parts = spec.windows.map((window, i) => {
      const { value, step } = window;
      const part = { sampler: new Sampler(window, spec.domain), value, step, offset, share: (share += spec.weights[i]) };
      offset += window.cells;
      return part;
    });
    this.#coin = Math.log2(share); // bits of the public coin; 0: there is none
    this.#sides = Uint8Array.from({ length: share }, (_, side) => this.#parts.findIndex((part) => side < part.share));
    this.audit = Object.freeze(audit);
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
    const far = !Number.isFinite(x - low); // then half of everything is within doubles
    const turn = far ? 2 * ((x / 2 - low / 2) % (circumference / 2)) : (x - low) % circumference;
    return low + (turn < 0 ? turn + circumference : turn);
  }

  /** A value drawn evenly from the domain: it may stand in for a missing one. */
  spread() {
    const t = ((randomWord() >>> 5) * 2 ** 26 + (randomWord() >>> 6)) / 2 ** 53;
    return this.bringInside(this.#at(t));
  }

  /** Randomise one value: an integer cell from fresh randomness. */
  report(value, { clip = false } = {}) {
    if (typeof value !== "number") throw new ArgumentTypeError("value must be a number", { argument: "value" });
    const x = clip && Number.isFinite(value) ? this.bringInside(value) : value;
    return this.#draw(x);
  }

  #draw(x) {
    return this.cellAt(x, randomWord(), randomWord(), this.#coin ? randomWord() : 0);
  }

  /** Randomise many values, each with randomness of its own. */
  reportAll(values, { clip = false } = {}) {
    const numbers = this.#checked(values, clip);
    const cells = this.#room(numbers.length);
    withWords(numbers.length, this.#coin ? 3 : 2, (words, from, to) => this.#fill(cells, numbers, words, from, to));
    return cells;
  }

  /** Room for so many cells: the narrowest unsigned integers that hold them. */
  #room(length) {
    return new (this.cells <= 1 << 8 ? Uint8Array : this.cells <= 1 << 16 ? Uint16Array : Uint32Array)(length);
  }

  #checked(values, clip) {
    if (!Array.isArray(values) && !(ArrayBuffer.isView(values) && "length" in values)) {
      throw new ArgumentTypeError("values must be an array of numbers", { argument: "values" });
    }
    const { low, high } = this.#domain;
    const numbers = new Float64Array(values.length);
    let [wrong, first] = [0, -1];
    for (let i = 0; i < numbers.length; i += 1) {
      let value = values[i];
      if (typeof value !== "number") {
        throw new ArgumentTypeError(`values must be numbers, the one at index ${i} is not`, { argument: "values" });
      }
      if (clip && Number.isFinite(value)) value = this.bringInside(value);
      numbers[i] = value;
      if (value >= low && value <= high) continue;
      wrong += 1;
      if (first < 0) first = i;
    }
    if (wrong) {
      throw new DataError(
        `values must be in the domain: ${wrong} of ${numbers.length} are not, the first at index ${first}`,
        { code: "outside", argument: "values" },
      );
    }
    return numbers;
  }

  #fill(cells, numbers, words, from, to) {
    if (!this.#coin) {
      this.#parts[0].sampler.fill(cells, numbers, words, from, to);
      return;
    }
    for (let i = from, j = 0; i < to; i += 1, j += 3) {
      const { sampler, offset } = this.#parts[this.#sides[words[j + 2] >>> (32 - this.#coin)]];
      cells[i] = offset + sampler.cell(numbers[i], words[j], words[j + 1]);
    }
  }

  /**
   * The cell that the 64-bit word hi·2^32 + lo draws at x; `coin` is the leading half of the word that
   * tosses a mixture's coin. For checks against the Python library; to report, use `report`.
   */
  cellAt(x, hi, lo, coin = 0) {
    const { low, high } = this.#domain;
    if (!(x >= low && x <= high)) throw new DataError("value must be a number in the domain", { code: "outside", argument: "value" });
    const side = this.#coin ? this.#sides[(coin >>> 0) >>> (32 - this.#coin)] : 0;
    const { sampler, offset } = this.#parts[side];
    return offset + sampler.cell(x, hi, lo);
  }

  /** The same for many values: `words` holds hi and lo for each, and the coin's word if there is a coin. */
  cellsAt(values, words) {
    const numbers = this.#checked(values, false);
    if (!(words instanceof Uint32Array) || words.length !== numbers.length * (this.#coin ? 3 : 2)) {
      throw new ArgumentTypeError(`words must be a Uint32Array with ${this.#coin ? 3 : 2} entries for each value`, { argument: "words" });
    }
    const cells = this.#room(numbers.length);
    this.#fill(cells, numbers, words, 0, numbers.length);
    return cells;
  }

  /** The value that a cell stands for, in the units of the domain. */
  decode(cell) {
    if (!Number.isInteger(cell) || cell < 0 || cell >= this.cells) {
      throw new DataError(`cells must be whole numbers in 0..${this.cells - 1}`, { argument: "cell" });
    }
    const { offset, value, step, sampler } = this.#parts.findLast((part) => part.offset <= cell);
    const run = sampler.first.findLastIndex((first) => first <= cell - offset);
    const t = value[run] + step[run] * (cell - offset - sampler.first[run]);
    return this.#at(t);
  }

  /** The place of a unit coordinate in the domain. */
  #at(t) {
    const { scaledLow, scaledWidth, scale } = this.#domain;
    return (scaledLow + t * scaledWidth) / scale;
  }
}
