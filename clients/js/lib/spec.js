/**
 * Reading a `window/1` spec with suspicion: what it must hold, and the one number that matters, the
 * largest ratio of two counts of one cell, by counting. Mirrors sottovoce/spec.py and window.py.
 */
import { SpecError } from "./errors.js";
import { parse } from "./json.js";

const FORMAT = "window/1";
const MIN_BITS = 33; // a draw needs more than the 32 bits of one word …
const MAX_BITS = 52; // … and is an exact double
const MAX_CELLS = 1 << 20;
const LARGEST = 2n ** 53n;
const LEAST_GAP = 2 ** -64; // between two knots, unless they coincide

function rule(holds, sentence) {
  if (!holds) throw new SpecError(sentence);
}

function short(content) {
  const text = String(content instanceof Map ? "an object" : content);
  return text.length <= 40 ? text : text.slice(0, 37) + "...";
}

function keys(content, expected, where) {
  rule(content instanceof Map, `${where} must be an object, got ${short(content)}`);
  for (const key of content.keys()) rule(expected.includes(key), `${where} has an unknown key ${short(key)}`);
  for (const key of expected) rule(content.has(key), `${where} lacks the key ${key}`);
}

function integer(content, where) {
  rule(
    typeof content === "bigint" && content <= LARGEST && content >= -LARGEST,
    `${where} must hold integers up to 2^53, got ${short(content)}`,
  );
  return Number(content);
}

function real(content, where) {
  rule(
    (typeof content === "bigint" || typeof content === "number") && Number.isFinite(Number(content)),
    `${where} must hold finite numbers, got ${short(content)}`,
  );
  return Number(content);
}

function flag(content, where) {
  rule(typeof content === "boolean", `${where} must be true or false, got ${short(content)}`);
  return content;
}

function list(content, where, item) {
  rule(Array.isArray(content), `${where} must be a list, got ${short(content)}`);
  return Float64Array.from(content, (entry) => item(entry, where));
}

/** The claimed ε, the domain and the window of a spec; whether the claim holds is for the caller to check. */
export function readSpec(text) {
  const spec = parse(text);
  keys(spec, ["format", "epsilon", "domain", "circle", "bits", "cells", "start"], "spec");
  rule(spec.get("format") === FORMAT, `format must be ${FORMAT}, got ${short(spec.get("format"))}`);
  const epsilon = real(spec.get("epsilon"), "epsilon");
  const circle = flag(spec.get("circle"), "circle");
  const domain = readDomain(spec.get("domain"), circle);
  const [cells, start] = [spec.get("cells"), spec.get("start")];
  keys(cells, ["count", "background", "extra", "value", "step"], "cells");
  keys(start, ["t", "s", "step"], "start");
  const window = {
    wraps: circle,
    bits: integer(spec.get("bits"), "bits"),
    count: list(cells.get("count"), "cells.count", integer),
    background: list(cells.get("background"), "cells.background", integer),
    extra: list(cells.get("extra"), "cells.extra", integer),
    value: list(cells.get("value"), "cells.value", real),
    step: list(cells.get("step"), "cells.step", real),
    t: list(start.get("t"), "start.t", real),
    s: list(start.get("s"), "start.s", integer),
    stepwise: flag(start.get("step"), "start.step"),
  };
  checkCells(window);
  Object.assign(window, totals(window));
  checkWeights(window);
  checkStarts(window);
  return { epsilon, domain, window };
}

function readDomain(content, circle) {
  const bounds = list(content, "domain", real);
  rule(bounds.length === 2, "domain must be a list of 2");
  const [low, second] = bounds;
  const high = circle ? low + second : second;
  rule(!circle || second > 0, "domain: circumference must be positive");
  rule(low < high && Number.isFinite(high), "domain must have low < high, both finite");
  return { low, high, circle, circumference: circle ? second : null };
}

function checkCells({ wraps, bits, count, background, extra, value, step }) {
  const runs = count.length;
  rule(bits >= MIN_BITS && bits <= MAX_BITS, `bits must be between ${MIN_BITS} and ${MAX_BITS}`);
  rule(runs >= 1, "cells must not be empty");
  for (const [name, column] of Object.entries({ background, extra, value, step })) {
    rule(column.length === runs, `cells.${name} must have one entry per run`);
  }
  let cells = 0;
  let before = wraps ? 0 : -Infinity;
  for (let i = 0; i < runs; i += 1) {
    rule(count[i] >= 1, "cells.count must be at least 1");
    cells += count[i]; // far below 2^53 as long as the rule holds
    rule(cells <= MAX_CELLS, `there can be at most ${MAX_CELLS} cells`);
    rule(background[i] >= 1, "cells.background must be at least 1");
    rule(extra[i] >= 0, "cells.extra must not be negative");
    const last = value[i] + step[i] * (count[i] - 1);
    rule(step[i] >= 0 && value[i] >= before && Number.isFinite(last), "cell values must not decrease");
    before = last;
  }
  rule(!wraps || before <= 1, "values on a circle must lie between 0 and 1");
}

/** N, A, H, K and the largest start, as exact doubles once `checkWeights` has passed. */
function totals({ wraps, bits, count, background, extra }) {
  let [cells, mass, around] = [0, 0n, 0n];
  for (let i = 0; i < count.length; i += 1) {
    cells += count[i];
    mass += BigInt(count[i]) * BigInt(background[i]);
    around += BigInt(count[i]) * BigInt(extra[i]);
  }
  rule(mass + (wraps ? 2n : 1n) * around <= LARGEST, "the weights must add up to at most 2^53");
  const [a, h] = [Number(mass), Number(around)];
  const length = 2 ** bits - a;
  return { cells, mass: a, around: h, length, top: wraps ? 2 * h - 1 : h - length };
}

function checkWeights({ length, around }) {
  rule(length > 0, "the background must leave room for the window (A < 2^bits)");
  rule(around >= length, "the extra weights must hold the window (H >= 2^bits - A)");
}

function checkStarts({ t, s, top, stepwise }) {
  rule(s.length === t.length, "start.t and start.s must have one entry per knot");
  rule(t.length >= (stepwise ? 1 : 2), "start needs a knot (two if it is not a step table)");
  for (let i = 0; i < t.length; i += 1) {
    rule(t[i] >= 0 && t[i] <= 1, "start.t must lie between 0 and 1");
    rule(s[i] >= 0 && s[i] <= top, `start.s must lie in [0, ${top}]`);
    if (i === 0) continue;
    rule(t[i] === t[i - 1] || t[i] - t[i - 1] >= LEAST_GAP, "start.t must not decrease");
    rule(s[i] >= s[i - 1], "start.s must not decrease");
  }
}

/**
 * The largest ratio of two counts of one cell over all allowed starts, as [numerator, denominator].
 *
 * A cell's overlap with the window is least at one of the two extreme starts; on a circle the window
 * misses as much of a cell as the gap H − K can hold. Doubles find the candidates, integers decide.
 */
export function largestRatio(window) {
  let closest = 0;
  eachCell(window, (most, least) => {
    closest = Math.max(closest, most / least);
  });
  closest *= 1 - 1e-14;
  let best = [1n, 1n];
  let seen = [0, 0];
  eachCell(window, (most, least) => {
    if (most / least < closest || (most === seen[0] && least === seen[1])) return;
    seen = [most, least];
    const ratio = [BigInt(most), BigInt(least)];
    if (ratio[0] * best[1] > best[0] * ratio[1]) best = ratio;
  });
  const divisor = gcd(...best);
  return [best[0] / divisor, best[1] / divisor];
}

/** Calls visit(most, least) with the extreme counts of every cell. */
function eachCell({ wraps, count, background, extra, around, length, top }, visit) {
  let edge = 0;
  for (let i = 0; i < count.length; i += 1) {
    const [a, e] = [background[i], extra[i]];
    const most = a + Math.min(e, length);
    for (let j = 0; j < count[i]; j += 1) {
      const right = edge + e;
      const overlap = wraps
        ? Math.max(0, e - (around - length))
        : Math.min(Math.max(0, Math.min(right, length) - edge), Math.max(0, right - Math.max(edge, top)));
      visit(most, a + overlap);
      edge = right;
    }
  }
}

function gcd(a, b) {
  while (b) [a, b] = [b, a % b];
  return a;
}
