/**
 * The sampler of one window: from a value and 64 random bits to a cell. Integers below 2^53 held as doubles,
 * typed tables, nothing allocated on the way; for uniform windows no branch depends on the random bits,
 * because a wrong guess of the processor costs more than the arithmetic.
 */
const NEVER = 2 ** 60; // beyond every position: an interval does not wrap
const GUIDE_BITS = 14; // 2^14 buckets of a guide, as in sottovoce/core/kernels/tables.py
const CHUNK = 2048;
const placed = new Float64Array(CHUNK); // the starts of one chunk, between the two loops of `fill`

export class Sampler {
  constructor({ wraps, bits, count, background, extra, mass, around, top, t, s, stepwise }, domain) {
    const { factor, scaledLow, perWidth } = domain.units;
    Object.assign(this, { scale: factor, scaledLow, perWidth });
    this.shift = 64 - bits;
    this.factor = 2 ** (bits - 32);
    this.mass = mass;
    this.top = top;
    this.edge = wraps ? around : NEVER; // positions from here on …
    this.turn = wraps ? around : 0; // … come back by one turn
    const segments = stepwise ? t.length : t.length - 1;
    this.knots = joined(t.subarray(0, segments), [Infinity]);
    this.starts = s.subarray(0, segments);
    this.slopes = Float64Array.from({ length: segments }, (_, k) =>
      !stepwise && t[k + 1] > t[k] ? (s[k + 1] - s[k]) / (t[k + 1] - t[k]) : 0,
    );
    this.guide = guide(this.knots, segments, 1, 2 ** GUIDE_BITS);
    this.first = edges(count);
    this.runs = tabulated(count, background, extra, this.first);
    this.weights = Float64Array.of(background[0], Math.max(extra[0], 1));
    this.uniform = count.length === 1 && segments === 1;
  }

  /** The cell that the word hi·2^32 + lo draws at x, a place on the domain's line. */
  cell(x, hi, lo) {
    const draw = (hi >>> 0) * this.factor + (lo >>> this.shift); // the top bits of the word
    const { mass, edge, turn, runs } = this;
    const inside = (draw >= mass) | 0; // no early exit: a cell and how it was drawn tell more than the cell
    let u = draw + inside * (this.start(x) - mass);
    u -= ((u >= edge) & inside) * turn;
    const bucket = ((u * (inside ? runs.moreScale : runs.backScale)) | 0) + inside * runs.second;
    return cellOf(runs, runs.guide[bucket], u);
  }

  /** Where the window of x begins. */
  start(x) {
    const { knots, guide } = this;
    const t = (x * this.scale - this.scaledLow) * this.perWidth;
    let k = guide.from[(t * guide.scale) | 0];
    for (let step = 0; step < guide.steps; step += 1) k += (knots[k + 1] <= t) | 0;
    let s = this.starts[k] + Math.floor((t - knots[k]) * this.slopes[k]);
    s *= (s > 0) | 0; // arithmetic, because Math.max takes another way for each side
    s -= ((s > this.top) | 0) * (s - this.top);
    return s - ((s >= this.edge) | 0) * this.turn;
  }

  /** The cells of xs[from … to−1], each drawn by a pair of words; `words` begins with that of xs[from]. */
  fill(cells, xs, words, from, to) {
    if (this.uniform) {
      this.fillUniform(cells, xs, words, from, to);
      return;
    }
    const { factor, shift, mass, edge, turn, runs } = this;
    const { guide, backScale, moreScale, second } = runs;
    for (let chunk = from; chunk < to; chunk += CHUNK) {
      const size = Math.min(CHUNK, to - chunk);
      for (let i = 0; i < size; i += 1) placed[i] = this.start(xs[chunk + i]);
      for (let i = 0, j = 2 * (chunk - from); i < size; i += 1, j += 2) {
        const draw = words[j] * factor + (words[j + 1] >>> shift);
        const inside = (draw >= mass) | 0; // 1: in the window, whose start counts; 0: in the background
        let u = draw + inside * (placed[i] - mass);
        u -= ((u >= edge) & inside) * turn;
        const bucket = ((u * (inside ? moreScale : backScale)) | 0) + inside * second;
        cells[chunk + i] = cellOf(runs, guide[bucket], u);
      }
    }
    placed.fill(0); // starts tell values
  }

  fillUniform(cells, xs, words, from, to) {
    const { factor, shift, mass, scale, scaledLow, perWidth, top, edge, turn, weights } = this;
    const [knot, start, slope] = [this.knots[0], this.starts[0], this.slopes[0]];
    for (let i = from, j = 0; i < to; i += 1, j += 2) {
      const draw = words[j] * factor + (words[j + 1] >>> shift);
      const t = (xs[i] * scale - scaledLow) * perWidth;
      let s = Math.min(Math.max(start + Math.floor((t - knot) * slope), 0), top);
      s -= (s >= edge) * turn;
      const inside = (draw >= mass) | 0;
      let u = draw + inside * (s - mass);
      u -= ((u >= edge) & inside) * turn;
      cells[i] = u / weights[inside]; // a typed array drops the fraction
    }
  }
}

/** Runs of equal cells, those of the background before those of the window, so that one look-up serves both. */
function tabulated(count, background, extra, first) {
  const [back, more] = [edges(count, background), edges(count, extra)];
  const [mass, around] = [back, more].map((left, i) => end(left) + end(count) * end(i ? extra : background));
  const [low, high] = [runGuide(back, mass), runGuide(more, around)];
  return {
    begins: joined(back, more),
    ends: joined(back.subarray(1), [mass], more.subarray(1), [around]),
    each: joined(background, extra.map((weight) => Math.max(weight, 1))),
    first: joined(first, first),
    guide: joined(low.from, high.from.map((run) => run + count.length)),
    steps: Math.max(low.steps, high.steps),
    backScale: low.scale,
    moreScale: high.scale,
    second: low.from.length,
    atoms: count.every((many) => many === 1),
  };
}

/** The cell at a position: from the guide's run on, as many steps for every position. */
function cellOf({ begins, ends, each, first, atoms, steps }, found, at) {
  let run = found;
  for (let step = 0; step < steps; step += 1) run += (ends[run] <= at) | 0;
  return atoms ? first[run] : first[run] + Math.floor((at - begins[run]) / each[run]);
}

const end = (list) => list[list.length - 1];

/** Sums of count·weight before each run. */
export function edges(count, weight = null) {
  const left = new Float64Array(count.length);
  for (let i = 1; i < left.length; i += 1) left[i] = left[i - 1] + count[i - 1] * (weight ? weight[i - 1] : 1);
  return left;
}

/** Several lists in one typed array, of the first one's type. */
function joined(first, ...others) {
  const all = new first.constructor(others.reduce((length, each) => length + each.length, first.length));
  let at = 0;
  for (const each of [first, ...others]) {
    all.set(each, at);
    at += each.length;
  }
  return all;
}

/** The most steps that a look-up takes after its guide: the most knots, or runs, that begin in one bucket. */
export function lookUpSteps({ count, background, extra, mass, around, t, stepwise }) {
  const segments = stepwise ? t.length : t.length - 1;
  const knots = guide(t, segments, 1, 2 ** GUIDE_BITS);
  const runs = [[background, mass], [extra, around]].map(([weight, total]) => runGuide(edges(count, weight), total));
  return Math.max(knots.steps, ...runs.map((one) => one.steps));
}

function runGuide(left, total) {
  let bits = 0;
  while (2 ** bits <= total) bits += 1;
  return guide(left, left.length, total, 2 ** Math.min(0, GUIDE_BITS - bits));
}

/**
 * A guide into the first `many` of sorted left edges: for each bucket the last that begins no later than the
 * bucket. Buckets are wide by a power of two, so the bucket of a position is exact.
 */
function guide(left, many, extent, scale) {
  const from = new Uint32Array(Math.floor(extent * scale) + 1);
  let [at, steps] = [0, 0];
  for (let bucket = 0; bucket < from.length; bucket += 1) {
    const before = at;
    while (at + 1 < many && left[at + 1] <= bucket / scale) at += 1;
    if (bucket > 0) steps = Math.max(steps, at - before);
    from[bucket] = at;
  }
  return { scale, from, steps: Math.max(steps, many - 1 - at) };
}
