/**
 * What reports: a value in, an integer cell out, within an ε that was counted. A kind of reporter adds its law:
 *
 *     static largestRatio(content) → [numerator, denominator]     what its counts give
 *     cellFrom(x, hi, lo, coin)                                    the cell of one value on the domain's line
 *     fill(cells, xs, words, from, to)                             the cells of many
 *     unitValue(cell)                                              what it stands for, in the unit coordinate
 */
import { ArgumentTypeError, DataError, PrivacyError, SpecError } from "./errors.js";
import { atMostExp, logUpper } from "./exact.js";
import { exponential, naturalLog } from "./logarithm.js";
import { randomWord, withWords } from "./random.js";
import { units } from "./sampler.js";

const [MIN_EPSILON, MAX_EPSILON] = [1e-6, 16];

/** The largest ratio of the counts of what a spec says and its logarithm, against what is claimed. */
export function counted(Reporter, content) {
  const { epsilon: claimed } = content;
  const ratio = Reporter.largestRatio(content);
  return { ratio, epsilon: logUpper(ratio), claimed, holds: atMostExp(ratio, claimed) };
}

export class Reporter {
  #bounds;
  #words; // 32-bit words that one draw takes

  constructor(content, cells, words) {
    const { epsilon, domain } = content;
    if (!(epsilon >= MIN_EPSILON && epsilon <= MAX_EPSILON)) {
      throw new SpecError(`epsilon must be between ${MIN_EPSILON} and ${MAX_EPSILON}, got epsilon=${epsilon}`, { argument: "epsilon" });
    }
    const audit = counted(new.target, content);
    if (!audit.holds) {
      throw new PrivacyError(`the counts give epsilon=${audit.epsilon}, more than the claimed epsilon=${epsilon}`, { argument: "epsilon" });
    }
    this.#bounds = { ...domain, ...units(domain), log: domain.scale === "log" };
    this.#words = words;
    this.audit = Object.freeze(audit);
    this.epsilon = epsilon;
    this.cells = cells;
    this.domain = Object.freeze(domain);
    Object.freeze(this);
  }

  /** Whether the exact ε is at most this one, in integers. */
  keeps(epsilon) {
    return atMostExp(this.audit.ratio, epsilon);
  }

  /** Whether a value lies in the domain. */
  contains(x) {
    return typeof x === "number" && x >= this.#bounds.low && x <= this.#bounds.high;
  }

  /** The nearest end of an interval; the same angle on a circle. */
  bringInside(x) {
    const { low, high, circle, circumference } = this.#bounds;
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
    return this.cellAt(x, randomWord(), randomWord(), this.#words > 2 ? randomWord() : 0);
  }

  /** Randomise many values, each with randomness of its own. */
  reportAll(values, { clip = false } = {}) {
    const numbers = this.#checked(values, clip);
    const cells = this.#room(numbers.length);
    withWords(numbers.length, this.#words, (words, from, to) => this.fill(cells, numbers, words, from, to));
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
    const { low, high } = this.#bounds;
    const numbers = new Float64Array(values.length);
    let [wrong, first] = [0, -1];
    for (let i = 0; i < numbers.length; i += 1) {
      let value = values[i];
      if (typeof value !== "number") {
        throw new ArgumentTypeError(`values must be numbers, the one at index ${i} is not`, { argument: "values" });
      }
      if (clip && Number.isFinite(value)) value = this.bringInside(value);
      if (value >= low && value <= high) {
        numbers[i] = this.#line(value);
        continue;
      }
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

  /**
   * The cell that the 64-bit word hi·2^32 + lo draws at x; `coin` is the leading half of the word that
   * tosses a mixture's coin. For checks against the Python library; to report, use `report`.
   */
  cellAt(x, hi, lo, coin = 0) {
    const { low, high } = this.#bounds;
    if (!(x >= low && x <= high)) {
      throw new DataError("value must be a number in the domain", { code: "outside", argument: "value" });
    }
    return this.cellFrom(this.#line(x), hi, lo, coin);
  }

  /** The same for many values: `words` holds hi and lo for each, and the coin's word if there is a coin. */
  cellsAt(values, words) {
    const numbers = this.#checked(values, false);
    if (!(words instanceof Uint32Array) || words.length !== numbers.length * this.#words) {
      throw new ArgumentTypeError(`words must be a Uint32Array with ${this.#words} entries for each value`, { argument: "words" });
    }
    const cells = this.#room(numbers.length);
    this.fill(cells, numbers, words, 0, numbers.length);
    return cells;
  }

  /** The value that a cell stands for, in the units of the domain. */
  decode(cell) {
    if (!Number.isInteger(cell) || cell < 0 || cell >= this.cells) {
      throw new DataError(`cells must be whole numbers in 0..${this.cells - 1}`, { argument: "cell" });
    }
    return this.#at(this.unitValue(cell));
  }

  /** A value of the domain on the line that the unit coordinate is measured along: itself or its logarithm. */
  #line(x) {
    const { low, high, log } = this.#bounds;
    return log ? Math.min(Math.max(naturalLog(x), naturalLog(low)), naturalLog(high)) : x;
  }

  /** The place of a unit coordinate in the domain. */
  #at(t) {
    const { scaledLow, scaledWidth, scale, log } = this.#bounds;
    const place = (scaledLow + t * scaledWidth) / scale;
    if (!log) return place;
    return t < 0 || t > 1 ? exponential(place) : this.bringInside(exponential(place));
  }
}
