/** Guides into sorted tables, and the rule that keeps the steps after them few. Mirrors sottovoce/reporters/sampling/tables.py. */
const GUIDE_BITS = 14; // 2^14 buckets

/** Sums of count·weight before each run. */
export function edges(count, weight = null) {
  const left = new Float64Array(count.length);
  for (let i = 1; i < left.length; i += 1) left[i] = left[i - 1] + count[i - 1] * (weight ? weight[i - 1] : 1);
  return left;
}

/** The most steps that a look-up takes after its guide: the most knots, or runs, that begin in one bucket. */
export function lookUpSteps({ count, background, extra, mass, around, t, stepwise }) {
  const segments = stepwise ? t.length : t.length - 1;
  const knots = knotGuide(t, segments);
  const runs = [[background, mass], [extra, around]].map(([weight, total]) => runGuide(edges(count, weight), total));
  return Math.max(knots.steps, ...runs.map((one) => one.steps));
}

/** The guide into the first `many` knots, between 0 and 1. */
export const knotGuide = (t, many) => guide(t, many, 1, 2 ** GUIDE_BITS);

/** The guide into runs, of which all together are `total` wide. */
export function runGuide(left, total) {
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
