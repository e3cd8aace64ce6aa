/**
 * Windows, and a public coin between several: `window/1` and `mixture/1`. A value becomes an integer cell exactly as in
 * the Python library on the same 64 random bits. All arithmetic is on integers below 2^53 held as doubles.
 */
import { largerRatio } from "./exact.js";
import { fillMixed, isPlain } from "./many.js";
import { upper } from "./rows.js";
import { Sampler } from "./sampler.js";
import { largestRatio } from "./window.js";

/** A public coin cancels: the worst part counts. */
export const windowsRatio = ({ windows }) => windows.map(largestRatio).reduce(largerRatio);

/** What windows draw; the weights are those of the coin, one for a lone window. */
export class WindowLaw {
  constructor(content) {
    const { windows, weights, domain } = content;
    this.ratio = windowsRatio(content);
    this.cells = windows.reduce((sum, { cells }) => sum + cells, 0);
    this.coin = Math.log2(weights.reduce((sum, weight) => sum + weight)); // bits of the public coin; 0: there is none
    this.words = this.coin ? 3 : 2;
    let [offset, share] = [0, 0];
    this.parts = windows.map((window, i) => {
      const { value, step, cells } = window;
      const part = { sampler: new Sampler(window, domain), window, value, step, offset, weight: weights[i], share: (share += weights[i]) };
      offset += cells;
      return part;
    });
    this.sides = Uint8Array.from({ length: share }, (_, side) => this.parts.findIndex((part) => side < part.share));
  }

  cell(x, hi, lo, coin) {
    const { sampler, offset } = this.parts[this.sides[(coin >>> (32 - this.coin)) & (this.sides.length - 1)]];
    return offset + sampler.cell(x, hi, lo);
  }

  fill(cells, numbers, words, from, to) {
    if (!this.coin) {
      this.parts[0].sampler.fill(cells, numbers, words, from, to);
      return;
    }
    if (this.parts.every(({ sampler }) => isPlain(sampler))) {
      fillMixed(this.parts, this.sides, this.coin, cells, numbers, words, from, to);
      return;
    }
    for (let i = from, j = 0; i < to; i += 1, j += 3) {
      const { sampler, offset } = this.parts[this.sides[words[j + 2] >>> (32 - this.coin)]];
      cells[i] = offset + sampler.cell(numbers[i], words[j], words[j + 1]);
    }
  }

  /** The probability of each cell at a place on the domain's line. */
  probabilities(x) {
    const cells = new Float64Array(this.cells);
    for (const { sampler, window, offset, weight } of this.parts) {
      const { bits, count, background, extra, length, wraps, around } = window;
      const unit = weight / (this.sides.length * 2 ** bits);
      const start = sampler.start(x);
      let [cell, edge] = [offset, 0];
      count.forEach((many, run) => {
        for (const end = cell + many; cell < end; cell += 1) {
          const right = edge + extra[run];
          const over = (first) => Math.max(0, Math.min(right, first + length) - Math.max(edge, first)); // the window's share of the cell
          cells[cell] = (background[run] + over(start) + (wraps ? over(start - around) : 0)) * unit;
          edge = right;
        }
      });
    }
    return cells;
  }

  /** Unit coordinates where the start of a window turns. */
  get knots() {
    return this.parts.flatMap(({ window }) => Array.from(window.t));
  }

  unitValue(cell) {
    const { offset, value, step, sampler } = last(this.parts, (part) => part.offset <= cell);
    const { first } = sampler;
    const run = upper(first, 0, first.length, cell - offset) - 1;
    return value[run] + step[run] * (cell - offset - first[run]);
  }
}

const last = (items, wanted) => items.filter(wanted).pop();
