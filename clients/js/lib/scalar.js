/**
 * A reporter of one number. What its spec says is a law:
 *
 *     ratio, cells, words                       words: 32-bit words that one draw takes, 2, or 3 with a coin
 *     cell(x, hi, lo, coin)                     the cell of one value on the domain's line
 *     fill(cells, xs, words, from, to)          the cells of many
 *     unitValue(cell)                           what it stands for, in the unit coordinate
 */
import { hide } from "./domain.js";
import { ArgumentTypeError, DataError } from "./errors.js";
import { randomWord, withWords } from "./random.js";
import { Reporter, checkCell, outside } from "./reporter.js";

export class Scalar extends Reporter {
  constructor({ epsilon, domain }, law) {
    super(epsilon, law.ratio, law.cells);
    this.domain = domain;
    hide(this, "law", law);
    Object.freeze(this);
  }

  /** Randomise one value: an integer cell from fresh randomness. */
  report(value, options) {
    const { domain, law } = this;
    const x = domain.contains(value) ? value : this.checked(value, options && options.clip);
    return law.cell(domain.scale === "log" ? domain.line(x) : x, randomWord(), randomWord(), law.words > 2 ? randomWord() : 0);
  }

  /** A value in the domain, or an error that does not tell it. */
  checked(value, clip = false) {
    if (typeof value !== "number") throw new ArgumentTypeError("value must be a number", { argument: "value" });
    const x = clip && Number.isFinite(value) ? this.domain.bringInside(value) : value;
    if (!this.domain.contains(x)) throw outside();
    return x;
  }

  draw(x, next) {
    const [hi, lo] = [next(), next()];
    const coin = this.law.words > 2 ? [next(), next()][0] : 0; // its leading half tosses
    return this.law.cell(this.domain.line(x), hi, lo, coin);
  }

  /** The probability of each cell if this is the value, as counted. */
  probabilities(value) {
    return this.law.probabilities(this.domain.line(this.checked(value)));
  }

  /** Randomise many values, each with randomness of its own. */
  reportAll(values, { clip = false } = {}) {
    const numbers = this.allChecked(values, clip);
    const cells = this.room(numbers.length);
    withWords(numbers.length, this.law.words, (words, from, to) => this.law.fill(cells, numbers, words, from, to));
    return cells;
  }

  /** Room for so many cells: the narrowest unsigned integers that hold them. */
  room(length) {
    return new ({ 1: Uint8Array, 2: Uint16Array, 4: Uint32Array }[this.cellBytes])(length);
  }

  allChecked(values, clip) {
    if (!Array.isArray(values) && !(ArrayBuffer.isView(values) && "length" in values)) {
      throw new ArgumentTypeError("values must be an array of numbers", { argument: "values" });
    }
    const { low, high, scale } = this.domain;
    const linear = scale !== "log";
    const numbers = new Float64Array(values.length);
    let [wrong, first] = [0, -1];
    for (let i = 0; i < numbers.length; i += 1) {
      let value = values[i];
      if (typeof value !== "number") {
        throw new ArgumentTypeError(`values must be numbers, the one at index ${i} is not`, { argument: "values" });
      }
      if (clip && Number.isFinite(value)) value = this.domain.bringInside(value);
      if (value >= low && value <= high) {
        numbers[i] = linear ? value : this.domain.line(value);
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
    return this.law.cell(this.domain.line(this.checked(x)), hi, lo, coin);
  }

  /** The same for many values: `words` holds hi and lo for each, and the coin's word if there is a coin. */
  cellsAt(values, words) {
    const numbers = this.allChecked(values, false);
    const each = this.law.words;
    if (!(words instanceof Uint32Array) || words.length !== numbers.length * each) {
      throw new ArgumentTypeError(`words must be a Uint32Array with ${each} entries for each value`, { argument: "words" });
    }
    const cells = this.room(numbers.length);
    this.law.fill(cells, numbers, words, 0, numbers.length);
    return cells;
  }

  /** The value that a cell stands for, in the units of the domain. */
  decode(cell) {
    checkCell(cell, this.cells);
    return this.domain.at(this.law.unitValue(cell));
  }
}
