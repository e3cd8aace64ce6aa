/**
 * The sampler of one window: from a value and 64 random bits to a cell. Integers below 2^53 held as doubles,
 * typed tables, nothing allocated on the way; for uniform windows no branch depends on the random bits,
 * because a wrong guess of the processor costs more than the arithmetic.
 */
const NEVER = 2 ** 60; // beyond every position: an interval does not wrap
const MOST_BITS = 14; // of a guide table

export class Sampler {
  constructor({ wraps, bits, count, background, extra, mass, around, top, t, s, stepwise }, domain) {
    Object.assign(this, units(domain));
    this.shift = 64 - bits;
    this.factor = 2 ** (bits - 32);
    this.mass = mass;
    this.top = top;
    this.edge = wraps ? around : NEVER; // positions from here on …
    this.turn = wraps ? around : 0; // … come back by one turn
    const segments = stepwise ? t.length : t.length - 1;
    this.knots = sealed(t.subarray(0, segments));
    this.starts = s.subarray(0, segments);
    this.slopes = Float64Array.from({ length: segments }, (_, k) =>
      !stepwise && t[k + 1] > t[k] ? (s[k + 1] - s[k]) / (t[k + 1] - t[k]) : 0,
    );
    this.guide = guide(this.knots, 1);
    this.first = edges(count);
    this.back = new Runs(count, background, this.first);
    this.more = new Runs(count, extra, this.first);
    this.weights = Float64Array.of(background[0], Math.max(extra[0], 1));
    this.uniform = count.length === 1 && segments === 1;
  }

  /** The cell that the word hi·2^32 + lo draws at x, which must lie in the domain. */
  cell(x, hi, lo) {
    const draw = (hi >>> 0) * this.factor + (lo >>> this.shift); // the top bits of the word
    if (draw < this.mass) return this.back.cell(draw);
    const { knots, edge, turn } = this;
    const t = (x * this.scale - this.scaledLow) * this.perWidth;
    const k = last(knots, this.guide, t);
    let s = this.starts[k] + Math.floor((t - knots[k]) * this.slopes[k]);
    s = Math.min(Math.max(s, 0), this.top);
    if (s >= edge) s -= turn;
    const u = s - this.mass + draw;
    return this.more.cell(u >= edge ? u - turn : u);
  }

  /** The cells of xs[from … to−1], each drawn by a pair of words; `words` begins with that of xs[from]. */
  fill(cells, xs, words, from, to) {
    if (!this.uniform) {
      for (let i = from, j = 0; i < to; i += 1, j += 2) cells[i] = this.cell(xs[i], words[j], words[j + 1]);
      return;
    }
    const { factor, shift, mass, scale, scaledLow, perWidth, top, edge, turn, weights } = this;
    const [knot, start, slope] = [this.knots[0], this.starts[0], this.slopes[0]];
    for (let i = from, j = 0; i < to; i += 1, j += 2) {
      const draw = words[j] * factor + (words[j + 1] >>> shift);
      const t = (xs[i] * scale - scaledLow) * perWidth;
      let s = Math.min(Math.max(start + Math.floor((t - knot) * slope), 0), top);
      s -= (s >= edge) * turn;
      const inside = (draw >= mass) | 0; // 1: in the window, whose start counts; 0: in the background
      let u = draw + inside * (s - mass);
      u -= ((u >= edge) & inside) * turn;
      cells[i] = u / weights[inside]; // a typed array drops the fraction
    }
  }
}

/** Runs of equal cells along the background or the extra coordinate. */
class Runs {
  constructor(count, weight, first) {
    const left = edges(count, weight);
    this.extent = left.at(-1) + count.at(-1) * weight.at(-1);
    this.left = sealed(left);
    this.weight = weight.map((each) => Math.max(each, 1));
    this.first = first;
    this.guide = guide(this.left, this.extent);
  }

  /** The cell at a position. */
  cell(at) {
    const { left } = this;
    const run = last(left, this.guide, at);
    return this.first[run] + Math.floor((at - left[run]) / this.weight[run]);
  }
}

/** Sums of count·weight before each run. */
export function edges(count, weight = null) {
  const left = new Float64Array(count.length);
  for (let i = 1; i < left.length; i += 1) left[i] = left[i - 1] + count[i - 1] * (weight ? weight[i - 1] : 1);
  return left;
}

/** The same numbers with an end that nothing reaches. */
function sealed(sorted) {
  const longer = new Float64Array(sorted.length + 1).fill(Infinity);
  longer.set(sorted);
  return longer;
}

/**
 * A guide into sorted numbers: for each bucket the last number that is not beyond its beginning. Buckets are
 * wide by a power of two, so the bucket of a position is exact.
 */
function guide(sorted, extent) {
  const bits = Math.min(MOST_BITS, Math.ceil(Math.log2(sorted.length)) + 1);
  const scale = 2 ** (bits - Math.ceil(Math.log2(extent)) - 1);
  const from = new Int32Array(2 ** bits + 1);
  for (let bucket = 0, at = 0; bucket < from.length; bucket += 1) {
    while (sorted[at + 1] <= bucket / scale) at += 1;
    from[bucket] = at;
  }
  return { scale, from };
}

/** The last entry of sealed numbers that is at most `at`; the first if none is. */
function last(sorted, { scale, from }, at) {
  let found = from[(at * scale) | 0];
  while (sorted[found + 1] <= at) found += 1;
  return found;
}

/** A power of two brings the width into the range where 1/width is finite. */
export function units(domain) {
  const width = domain.high - domain.low;
  const scale = !Number.isFinite(width) ? 0.25 : width > 2 ** -900 ? 1 : 2 ** 200;
  const scaledLow = domain.low * scale;
  const scaledWidth = domain.high * scale - scaledLow;
  return { scale, scaledLow, scaledWidth, perWidth: 1 / scaledWidth };
}
