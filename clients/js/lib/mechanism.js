/**
 * Windows, and a public coin between several: `window/1` and `mixture/1`. A value becomes an integer cell exactly as in
 * the Python library on the same 64 random bits. All arithmetic is on integers below 2^53 held as doubles.
 */
import { Reporter } from "./reporter.js";
import { Sampler } from "./sampler.js";
import { largerRatio, largestRatio } from "./window.js";

export class Mechanism extends Reporter {
  #parts;
  #coin;
  #sides;

  /** A public coin cancels: the worst part counts. */
  static largestRatio({ windows }) {
    return windows.map(largestRatio).reduce(largerRatio);
  }

  constructor(content) {
    const { windows, weights, domain } = content;
    const coin = Math.log2(weights.reduce((sum, weight) => sum + weight)); // bits of the public coin; 0: there is none
    super(content, windows.reduce((sum, { cells }) => sum + cells, 0), coin ? 3 : 2);
    let [offset, share] = [0, 0];
    this.#parts = windows.map((window, i) => {
      const { value, step, cells } = window;
      const part = { sampler: new Sampler(window, domain), value, step, offset, share: (share += weights[i]) };
      offset += cells;
      return part;
    });
    this.#coin = coin;
    this.#sides = Uint8Array.from({ length: share }, (_, side) => this.#parts.findIndex((part) => side < part.share));
  }

  cellFrom(x, hi, lo, coin) {
    const side = this.#coin ? this.#sides[(coin >>> 0) >>> (32 - this.#coin)] : 0;
    const { sampler, offset } = this.#parts[side];
    return offset + sampler.cell(x, hi, lo);
  }

  fill(cells, numbers, words, from, to) {
    if (!this.#coin) {
      this.#parts[0].sampler.fill(cells, numbers, words, from, to);
      return;
    }
    for (let i = from, j = 0; i < to; i += 1, j += 3) {
      const { sampler, offset } = this.#parts[this.#sides[words[j + 2] >>> (32 - this.#coin)]];
      cells[i] = offset + sampler.cell(numbers[i], words[j], words[j + 1]);
    }
  }

  unitValue(cell) {
    const { offset, value, step, sampler } = this.#parts.findLast((part) => part.offset <= cell);
    const run = sampler.first.findLastIndex((first) => first <= cell - offset);
    return value[run] + step[run] * (cell - offset - sampler.first[run]);
  }
}
