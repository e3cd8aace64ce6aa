/**
 * The integer window: the rules its numbers obey, and the one number that matters, the largest ratio of two
 * counts of one cell, by counting. Mirrors sottovoce/reporters/window.py.
 */
import { SpecError } from "./errors.js";
import { largerRatio, reduced } from "./exact.js";
import { lookUpSteps } from "./guides.js";

export const MAX_CELLS = 1 << 20;
export const MIN_BITS = 33; // a draw needs more than the 32 bits of one word …
export const MAX_BITS = 52; // … and is an exact double
export const MAX_STEPS = 4; // of a look-up; every design of the library needs at most three
const [ZERO, ONE, TWO] = [0, 1, 2].map(BigInt);
const LARGEST = BigInt(2 ** 53);
const LEAST_GAP = 2 ** -64; // between two knots, unless they coincide

export function rule(holds, sentence, argument = null) {
  if (!holds) throw new SpecError(sentence, { argument });
}

/** The window with its totals N, A, H, K and the largest start; every later number is an exact double. */
export function checkWindow(window) {
  checkCells(window);
  const checked = { ...window, ...totals(window) };
  checked.rises = checkedRises(checked);
  const sentence = `at most ${MAX_STEPS} runs or knots may begin in one of 2^14 equal buckets: a look-up must take as long for one value as for another`;
  if (lookUpSteps(checked) > MAX_STEPS) throw new SpecError(sentence, { code: "timing", argument: "cells" });
  return checked;
}

function checkCells({ wraps, bits, count, background, extra, value, step }) {
  const runs = count.length;
  rule(bits >= MIN_BITS && bits <= MAX_BITS, `bits must be between ${MIN_BITS} and ${MAX_BITS}`, "bits");
  rule(runs >= 1, "cells must not be empty", "cells");
  for (const [name, column] of Object.entries({ background, extra, value, step })) {
    rule(column.length === runs, `cells.${name} must have one entry per run`, `cells.${name}`);
  }
  let cells = 0;
  let before = wraps ? 0 : -Infinity;
  for (let i = 0; i < runs; i += 1) {
    rule(count[i] >= 1, "cells.count must be at least 1", "cells.count");
    cells += count[i]; // far below 2^53 as long as the rule holds
    rule(cells <= MAX_CELLS, `there can be at most ${MAX_CELLS} cells`, "cells.count");
    rule(background[i] >= 1, "cells.background must be at least 1", "cells.background");
    rule(extra[i] >= 0, "cells.extra must not be negative", "cells.extra");
    const last = value[i] + step[i] * (count[i] - 1);
    rule(step[i] >= 0 && value[i] >= before && Number.isFinite(last), "cell values must not decrease", "cells.value");
    before = last;
  }
  rule(!wraps || before <= 1, "values on a circle must lie between 0 and 1", "cells.value");
}

function totals({ wraps, bits, count, background, extra }) {
  let [cells, a, h] = [0, ZERO, ZERO];
  for (let i = 0; i < count.length; i += 1) {
    cells += count[i];
    a += BigInt(count[i]) * BigInt(background[i]);
    h += BigInt(count[i]) * BigInt(extra[i]);
  }
  rule(a + (wraps ? TWO : ONE) * h <= LARGEST, "the weights must add up to at most 2^53");
  const [mass, around, length] = [Number(a), Number(h), 2 ** bits - Number(a)];
  rule(length > 0, "the background must leave room for the window (A < 2^bits)");
  rule(around >= length, "the extra weights must hold the window (H >= 2^bits - A)");
  return { cells, mass, around, length, top: wraps ? 2 * around - 1 : around - length };
}

/** The rises of the lines of starts, if all that they reach is exact. */
function checkedRises({ t, s, top, stepwise }) {
  rule(s.length === t.length, "start.t and start.s must have one entry per knot", "start.s");
  rule(t.length >= (stepwise ? 1 : 2), "start needs a knot (two if it is not a step table)", "start.t");
  for (let i = 0; i < t.length; i += 1) {
    rule(t[i] >= 0 && t[i] <= 1, "start.t must lie between 0 and 1", "start.t");
    rule(s[i] >= 0 && s[i] <= top, `start.s must lie in [0, ${top}]`, "start.s");
    if (i === 0) continue;
    rule(t[i] === t[i - 1] || t[i] - t[i - 1] >= LEAST_GAP, "start.t must not decrease", "start.t");
    rule(s[i] >= s[i - 1], "start.s must not decrease", "start.s");
  }
  const rises = t.slice(stepwise ? 0 : 1).map((end, k) => (stepwise || end === t[k] ? 0 : (s[k + 1] - s[k]) / (end - t[k])));
  rises.forEach((rise, k) => { // the last line is followed up to 1; before the first all starts are 0
    const end = k + 1 < rises.length ? t[k + 1] : 1;
    rule(s[k] + Math.floor((end - t[k]) * rise) <= 2 ** 53, "lines of starts must stay within 2^53", "start.t");
  });
  return rises;
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
  let best = [ONE, ONE];
  let seen = [0, 0];
  eachCell(window, (most, least) => {
    if (most / least < closest || (most === seen[0] && least === seen[1])) return;
    seen = [most, least];
    best = largerRatio(best, [BigInt(most), BigInt(least)]);
  });
  return reduced(best);
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
