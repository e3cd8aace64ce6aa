/**
 * The cells of many values, the same ones as one by one. No branch depends on the random bits, because a wrong guess of the
 * processor costs more than the arithmetic; tables are looked up by guides.
 */
import { knotGuide, runGuide } from "./guides.js";

const CHUNK = 2048;
const placed = new Float64Array(CHUNK); // the starts of one chunk, between the two loops

/** Fill `cells` as Sampler.fill says. */
export function fill(sampler, cells, xs, words, from, to) {
  if (sampler.segments.length + sampler.runs.length === 16) {
    fillEven(sampler, cells, xs, words, from, to);
    return;
  }
  if (sampler.guides === null) sampler.guides = guidesOf(sampler);
  fillUneven(sampler, sampler.guides, cells, xs, words, from, to);
}

/** One run and one segment: no table at all. */
function fillEven({ factor, shift, mass, scale, scaledLow, perWidth, top, edge, turn, segments, runs }, cells, xs, words, from, to) {
  const [knot, start, slope] = [segments[0], segments[1], segments[2]];
  for (let i = from, j = 0; i < to; i += 1, j += 2) {
    const draw = words[j] * factor + (words[j + 1] >>> shift);
    const t = (xs[i] * scale - scaledLow) * perWidth;
    let s = Math.min(Math.max(start + Math.floor((t - knot) * slope), 0), top);
    s -= (s >= edge) * turn;
    const inside = (draw >= mass) | 0; // 1: in the window, whose start counts; 0: in the background
    let u = draw + inside * (s - mass);
    u -= ((u >= edge) & inside) * turn;
    cells[i] = u / runs[2 + inside]; // a typed array drops the fraction
  }
}

/** Guides into the segments, and into the runs of the background and of the window, one after the other. */
function guidesOf({ segments, runs, totals, first }) {
  const column = (table, k) => table.filter((_, i) => i % 4 === k);
  const [low, high] = totals.map((total, k) => runGuide(column(runs, k).subarray(0, first.length), total));
  const knots = column(segments, 0).filter((t) => t <= 1);
  return {
    knots: knotGuide(knots, knots.length),
    from: Uint32Array.from([...low.from, ...high.from]),
    second: low.from.length,
    scales: Float64Array.of(low.scale, high.scale),
    steps: Math.max(low.steps, high.steps),
  };
}

function fillUneven(sampler, { knots, from: guides, second, scales, steps }, cells, xs, words, from, to) {
  const { factor, shift, mass, scale, scaledLow, perWidth, top, edge, turn, segments, runs, first, atoms } = sampler;
  for (let chunk = from; chunk < to; chunk += CHUNK) {
    const size = Math.min(CHUNK, to - chunk);
    for (let i = 0; i < size; i += 1) {
      const t = (xs[chunk + i] * scale - scaledLow) * perWidth;
      let at = knots.from[(t * knots.scale) | 0] << 2;
      for (let step = 0; step < knots.steps; step += 1) at += ((segments[at + 4] <= t) | 0) << 2;
      const s = Math.min(Math.max(segments[at + 1] + Math.floor((t - segments[at]) * segments[at + 2]), 0), top);
      placed[i] = s - (s >= edge) * turn;
    }
    for (let i = 0, j = 2 * (chunk - from); i < size; i += 1, j += 2) {
      const draw = words[j] * factor + (words[j + 1] >>> shift);
      const inside = (draw >= mass) | 0;
      let u = draw + inside * (placed[i] - mass);
      u -= ((u >= edge) & inside) * turn;
      let at = guides[((u * scales[inside]) | 0) + inside * second] << 2;
      for (let step = 0; step < steps; step += 1) at += ((runs[at + 4 + inside] <= u) | 0) << 2;
      cells[chunk + i] = first[at >> 2] + (atoms ? 0 : Math.floor((u - runs[at + inside]) / runs[at + 2 + inside]));
    }
  }
  placed.fill(0); // starts tell values
}
