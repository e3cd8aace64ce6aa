/**
 * The cells of many values, the same ones as one by one. No branch depends on the random bits, because a wrong guess of the
 * processor costs more than the arithmetic; tables are looked up by guides.
 */
import { knotGuide, runGuide } from "./guides.js";

const CHUNK = 2048;
const placed = new Float64Array(CHUNK); // the starts of one chunk, between the two loops
const drawn = new Int32Array(CHUNK); // its cells: a loop that writes several kinds of arrays is slower

/** Whether there is one run and one segment, and so no table at all. */
const isEven = ({ segments, runs }) => segments.length + runs.length === 16;

/** Fill `cells` as Sampler.fill says. */
export function fill(sampler, cells, xs, words, from, to) {
  if (sampler.guides === null && !isEven(sampler)) sampler.guides = guidesOf(sampler);
  const fillChunk = isEven(sampler) ? fillEven : fillUneven;
  inChunks(cells, from, to, (chunk, size) => fillChunk(sampler, xs, words, chunk, 2 * (chunk - from), size));
}

/** Whether `fillMixed` draws from this part: an even one of an interval. */
export const isPlain = (sampler) => isEven(sampler) && !sampler.turn;

/** The same for plain parts under a public coin; three words a value. */
export function fillMixed(parts, sides, coin, cells, xs, words, from, to) {
  const rows = Float64Array.from(parts.flatMap(({ sampler, offset }) => {
    const { factor, shift, mass, top, segments, runs } = sampler;
    return [...segments.subarray(0, 3), top, factor, shift, mass, offset, runs[2], runs[3], 0, 0, 0, 0, 0, 0];
  }));
  inChunks(cells, from, to, (chunk, size) => fillCoin(rows, sides, 32 - coin, parts[0].sampler, xs, words, chunk, 3 * (chunk - from), size));
}

function inChunks(cells, from, to, draw) {
  for (let chunk = from; chunk < to; chunk += CHUNK) {
    const size = Math.min(CHUNK, to - chunk);
    draw(chunk, size);
    cells.set(drawn.subarray(0, size), chunk);
  }
  placed.fill(0); // starts tell values
}

function fillEven({ factor, shift, mass, scale, scaledLow, perWidth, top, edge, turn, segments, runs }, xs, words, chunk, first, size) {
  const [knot, start, rise] = [segments[0], segments[1], segments[2]];
  for (let i = 0, j = first; i < size; i += 1, j += 2) {
    const draw = words[j] * factor + (words[j + 1] >>> shift);
    const t = (xs[chunk + i] * scale - scaledLow) * perWidth;
    let s = Math.min(Math.max(start + Math.floor((t - knot) * rise), 0), top);
    s -= (s >= edge) * turn;
    const inside = (draw >= mass) | 0; // 1: in the window, whose start counts; 0: in the background
    let u = draw + inside * (s - mass);
    u -= ((u >= edge) & inside) * turn;
    drawn[i] = u / runs[2 + inside]; // a typed array drops the fraction
  }
}

/** One row of numbers for each part: the coin is no branch. */
function fillCoin(rows, sides, shift, { scale, scaledLow, perWidth }, xs, words, chunk, first, size) {
  for (let i = 0, j = first; i < size; i += 1, j += 3) {
    const at = sides[words[j + 2] >>> shift] << 4;
    const t = (xs[chunk + i] * scale - scaledLow) * perWidth;
    const s = Math.min(Math.max(rows[at + 1] + Math.floor((t - rows[at]) * rows[at + 2]), 0), rows[at + 3]);
    const draw = words[j] * rows[at + 4] + (words[j + 1] >>> rows[at + 5]);
    const inside = (draw >= rows[at + 6]) | 0;
    drawn[i] = Math.floor((draw + inside * (s - rows[at + 6])) / rows[at + 8 + inside]) + rows[at + 7];
  }
}

/** Guides into the segments, and into the runs of the background and of the window, one after the other. */
function guidesOf({ segments, runs, totals, first, top }) {
  const column = (table, k) => table.filter((_, i) => i % 4 === k);
  const ofRuns = (k) => column(runs, k).subarray(0, first.length);
  const [low, high] = totals.map((total, k) => runGuide(ofRuns(k), total));
  const knots = column(segments, 0).filter((t) => t <= 1);
  const { scale, from, steps } = knotGuide(knots, knots.length);
  const start = (k, t) => segments[4 * k + 1] + Math.floor((t - segments[4 * k]) * segments[4 * k + 2]);
  const ends = Array.from(knots, (t, k) => [start(k, k ? t : 0), start(k, k + 1 < knots.length ? knots[k + 1] : 1)]).flat();
  const Indices = Math.max(knots.length, first.length) < 2 ** 16 ? Uint16Array : Int32Array; // few bytes stay in the cache
  return {
    knots: { scale, from: Indices.from(from), steps },
    clamps: ends.some((s) => s < 0 || s > top),
    even: evenCells(ofRuns(2), ofRuns(3), first),
    from: Indices.from([...low.from, ...high.from]),
    second: low.from.length,
    scales: Float64Array.of(low.scale, high.scale),
    steps: Math.max(low.steps, high.steps),
  };
}

/** The weights of cells that are all equal, but for some draws more of the first: nothing has to be looked up. */
function evenCells(background, extra, first) {
  const [back, more, rest] = [background[background.length - 1], extra[0], background[0] - background[background.length - 1]];
  const equal = extra.every((weight) => weight === more) && background.every((weight, i) => !i || weight === back);
  return equal && (!rest || (rest > 0 && first[1] === 1)) ? { back, more, rest } : null;
}

/** Several short loops, which take less time than one. */
function fillUneven(sampler, xs, words, chunk, begin, size) {
  const { factor, shift, mass, scale, scaledLow, perWidth, top, edge, turn, segments, atoms, guides } = sampler;
  const { knots, clamps } = guides;
  const [knotsFrom, knotsScale, knotsSteps] = [knots.from, knots.scale, knots.steps];
  for (let i = 0; i < size; i += 1) {
    const t = (xs[chunk + i] * scale - scaledLow) * perWidth;
    let at = knotsFrom[(t * knotsScale) | 0] << 2;
    at += ((segments[at + 4] <= t) | 0) << 2;
    for (let step = 1; step < knotsSteps; step += 1) at += ((segments[at + 4] <= t) | 0) << 2;
    placed[i] = segments[at + 1] + Math.floor((t - segments[at]) * segments[at + 2]);
  }
  if (clamps) for (let i = 0; i < size; i += 1) placed[i] = Math.min(Math.max(placed[i], 0), top);
  if (turn) for (let i = 0; i < size; i += 1) placed[i] -= (placed[i] >= edge) * turn;
  for (let i = 0, j = begin; i < size; i += 1, j += 2) {
    const draw = words[j] * factor + (words[j + 1] >>> shift);
    const inside = (draw >= mass) | 0;
    drawn[i] = inside;
    placed[i] = draw + inside * (placed[i] - mass);
  }
  if (turn) for (let i = 0; i < size; i += 1) placed[i] -= ((placed[i] >= edge) & drawn[i]) * turn;
  (guides.even ? equalCells : atoms && guides.steps === 1 ? closeCells : cellsOfRuns)(sampler, size);
}

function equalCells({ guides: { even: { back, more, rest } } }, size) {
  const wider = more - back;
  for (let i = 0; i < size; i += 1) {
    const inside = drawn[i];
    drawn[i] = Math.max(placed[i] - rest * (1 - inside), 0) / (back + inside * wider);
  }
}

/** Runs of one cell of which at most one begins in a bucket. Scales are powers of two, and their sums exact. */
function closeCells({ runs, guides: { from, second, scales } }, size) {
  const [back, more] = [scales[0], scales[1] - scales[0]];
  for (let i = 0; i < size; i += 1) {
    const u = placed[i];
    const inside = drawn[i];
    const at = from[((u * (back + inside * more)) | 0) + inside * second];
    drawn[i] = at + ((runs[4 * at + 4 + inside] <= u) | 0);
  }
}

function cellsOfRuns({ runs, first, atoms, guides: { from, second, scales, steps } }, size) {
  for (let i = 0; i < size; i += 1) {
    const u = placed[i];
    const inside = drawn[i];
    let at = from[((u * scales[inside]) | 0) + inside * second] << 2;
    at += ((runs[at + 4 + inside] <= u) | 0) << 2;
    for (let step = 1; step < steps; step += 1) at += ((runs[at + 4 + inside] <= u) | 0) << 2;
    drawn[i] = atoms ? at >> 2 : first[at >> 2] + Math.floor((u - runs[at + inside]) / runs[at + 2 + inside]);
  }
}
