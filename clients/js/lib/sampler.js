/**
 * The sampler of one window: from a value and 64 random bits to a cell. Integers below 2^53 held as doubles, typed
 * tables, nothing allocated on the way.
 *
 * Of one value, nothing that takes time depends on it: no branch, no number of steps, and no address in memory, since what
 * was not used lately takes longer to read.
 */
import { edges } from "./guides.js";
import { fill } from "./many.js";

const NEVER = 2 ** 60; // beyond every position: an interval does not wrap
const ONE = 8; // numbers of a table of one record
const CACHED = 2048; // numbers that stay in a processor's first cache once they are read

const record = new Float64Array(3); // the segment that was found …
const taken = new Int32Array(record.buffer); // … and its bits

export class Sampler {
  constructor({ wraps, bits, count, background, extra, mass, around, top, t, s, rises }, domain) {
    const { factor, scaledLow, perWidth } = domain.units;
    Object.assign(this, { scale: factor, scaledLow, perWidth });
    this.shift = 64 - bits;
    this.factor = 2 ** (bits - 32);
    this.mass = mass;
    this.top = top;
    this.edge = wraps ? around : NEVER; // positions from here on …
    this.turn = wraps ? around : 0; // … come back by one turn
    this.segments = records(rises.length, (k) => [t[k], s[k], rises[k]]);
    const [back, more] = [edges(count, background), edges(count, extra)];
    this.runs = records(count.length, (i) => [back[i], more[i], background[i], Math.max(extra[i], 1)]);
    this.first = edges(count);
    this.totals = [mass, around];
    this.atoms = count.every((cells) => cells === 1);
    this.guides = null; // of many values, made when they come
  }

  /** The cell that the word hi·2^32 + lo draws at x, a place on the domain's line. */
  cell(x, hi, lo) {
    const { mass, runs } = this;
    const draw = (hi >>> 0) * this.factor + (lo >>> this.shift); // the top bits of the word
    const inside = (draw >= mass) | 0; // no early exit: a cell and how it was drawn tell more than the cell
    let u = draw + inside * (this.start(x) - mass);
    u -= ((u >= this.edge) & inside) * this.turn;
    return runs.length === ONE ? Math.floor(u / runs[2 + inside]) : this.cellOf(u, inside);
  }

  /** The cell at a position among several runs. */
  cellOf(u, inside) {
    const { runs } = this;
    const at = runs.length > CACHED ? this.searched(u, inside) : found(runs, inside, u);
    return this.atoms ? at >> 2 : this.first[at >> 2] + Math.floor((u - runs[at + inside]) / runs[at + 2 + inside]);
  }

  /** The run of a position among very many. What is read on the way follows from the cell, which is no secret. */
  searched(u, inside) {
    let at = 0;
    for (let left = this.first.length; left > 1; left -= left >> 1) {
      const half = (left >> 1) << 2;
      at += half & -((this.runs[at + half + inside] <= u) | 0);
    }
    return at;
  }

  /** Where the window of x begins. */
  start(x) {
    const { segments } = this;
    const t = (x * this.scale - this.scaledLow) * this.perWidth;
    let s = segments.length === ONE ? segments[1] + Math.floor((t - segments[0]) * segments[2]) : bent(segments, t);
    s *= (s > 0) | 0; // arithmetic, because Math.max takes another way for each side
    const over = (s > this.top) | 0;
    s = s * (1 - over) + over * this.top; // s − (s − top) would round where s is above 2^53
    return s - ((s >= this.edge) | 0) * this.turn;
  }

  /** The cells of xs[from … to−1], each drawn by a pair of words; `words` begins with that of xs[from]. */
  fill(cells, xs, words, from, to) {
    fill(this, cells, xs, words, from, to);
  }
}

/** The start on a line of several segments. */
function bent(segments, t) {
  if (segments.length > CACHED) return swept(segments, t);
  const at = found(segments, 0, t);
  return segments[at + 1] + Math.floor((t - segments[at]) * segments[at + 2]);
}

/**
 * The last record of a table whose number in a column is at most `number`, or the first. All records are read, whichever
 * it is: what was read before is read sooner, and that would tell. Two share a line of the cache, so every second one will do.
 */
function found(table, column, number) {
  let pairs = 0;
  for (let i = column; i < table.length; i += 32) { // four lines at a time, which is quicker
    pairs = (pairs + ((table[i] <= number) | 0) + ((table[i + 8] <= number) | 0) + ((table[i + 16] <= number) | 0) + ((table[i + 24] <= number) | 0)) | 0;
  }
  const pair = (pairs - ((pairs > 0) | 0)) << 3;
  return pair + (((table[pair + 4 + column] <= number) | 0) << 2);
}

/** The same where the cache may not hold all: of each segment the bits are taken, those of all but one as zeros. */
function swept(segments, t) {
  let begun = 0;
  for (let i = 4; i < segments.length; i += 4) begun = (begun + ((segments[i] <= t) | 0)) | 0;
  const words = new Int32Array(segments.buffer);
  const at = begun << 3;
  let [a, b, c, d, e, f] = [0, 0, 0, 0, 0, 0];
  for (let i = words.length - 8; i >= 0; i -= 8) {
    const mask = -((i === at) | 0);
    a |= words[i] & mask;
    b |= words[i + 1] & mask;
    c |= words[i + 2] & mask;
    d |= words[i + 3] & mask;
    e |= words[i + 4] & mask;
    f |= words[i + 5] & mask;
  }
  taken.set([a, b, c, d, e, f]);
  const start = record[1] + Math.floor((t - record[0]) * record[2]);
  taken.fill(0); // it tells the value
  return start;
}

/** Records of four numbers; more of them, beyond every number that is looked up, make tables of several whole lines. */
function records(many, record) {
  const table = new Float64Array(many > 1 ? 32 * Math.ceil((many + 1) / 8) : ONE).fill(NEVER);
  for (let i = 0; i < many; i += 1) table.set(record(i), 4 * i);
  return table;
}
