/**
 * Windows, and a public coin between several: `window/1` and `mixture/1`. A value becomes an integer cell exactly as in
 * the Python library on the same 64 random bits. All arithmetic is on integers below 2^53 held as doubles.
 */
import { largerRatio } from "./exact.js";
import { fillMixed, isPlain } from "./many.js";
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
      const part = { sampler: new Sampler(window, domain), value, step, offset, share: (share += weights[i]) };
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

  unitValue(cell) {
    const { offset, value, step, sampler } = last(this.parts, (part) => part.offset <= cell);
    const first = sampler.first;
    let run = first.length - 1;
    while (first[run] > cell - offset) run -= 1;
    return value[run] + step[run] * (cell - offset - first[run]);
  }
}

const last = (items, wanted) => items.filter(wanted).pop();
