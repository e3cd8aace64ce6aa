/**
 * One of a few options, or a place: `translates/1`. A cell is a base set and a shift s, and holds the elements x of a finite group with s − x
 * in the set; all cells have the same background, and those that hold the person's element more. Mirrors sottovoce/reporters/translates.py.
 */
import { Area } from "./area.js";
import { hide } from "./domain.js";
import { reduced } from "./exact.js";
import { Options } from "./options.js";
import { randomWord } from "./random.js";
import { Reporter, checkCell, outside } from "./reporter.js";
import { integer, keys, list, real } from "./spec.js";
import { MAX_BITS, MAX_CELLS, MIN_BITS, rule } from "./window.js";

/** The base sets and counts of a parsed spec, checked for consistency but not yet for ε. */
export function readTranslates(spec) {
  rule(spec instanceof Map, "spec must be an object", "spec");
  const own = spec.has("area") ? ["area"] : ["multipliers", "options"];
  keys(spec, ["format", "epsilon", "bits", "background", "extra", "blocks", ...own], "spec");
  const domain = spec.has("area") ? Area.read(spec.get("area")) : Options.read(list(spec.get("options"), "options"));
  rule(domain !== null, "options must be 2 to 1000 different ones, printable and without spaces around them", "options");
  const blocks = list(spec.get("blocks"), "blocks").map((block) => list(block, "blocks").map((item) => integer(item, "blocks")));
  const multipliers = spec.has("area") ? [1] : list(spec.get("multipliers"), "multipliers").map((item) => integer(item, "multipliers"));
  const [background, extra, bits] = ["background", "extra", "bits"].map((key) => integer(spec.get(key), key));
  rule(bits >= MIN_BITS && bits <= MAX_BITS, `bits must be between ${MIN_BITS} and ${MAX_BITS}`, "bits");
  const columns = domain.group[1];
  const size = domain.group[0] * columns;
  const cells = blocks.length * multipliers.length * size;
  rule(cells >= 1 && cells <= MAX_CELLS, `blocks must give 1 to ${MAX_CELLS} cells`, "blocks");
  const coprime = (h) => h > 0 && h < Math.max(size, 2) && divisor(h, size) === 1;
  rule(new Set(multipliers).size === multipliers.length && multipliers.every(coprime), "multipliers must be different and coprime to the number of options", "multipliers");
  const entries = [];
  let set = 0;
  for (const members of blocks.map((block) => domain.members(block))) {
    for (const h of multipliers) {
      for (const one of members) {
        const element = (one * h) % size;
        entries.push({ base: set * size, row: Math.floor(element / columns), column: element % columns });
      }
      set += 1;
    }
  }
  rule(background >= 1 && extra >= 0, "background must be at least 1 and extra at least 0", "background");
  const left = BigInt(2 ** bits) - BigInt(cells) * BigInt(background) - BigInt(entries.length) * BigInt(extra);
  rule(left >= BigInt(0) && left < BigInt(cells), `background and extra must leave 0 to ${cells - 1} draws`, "background");
  return { epsilon: real(spec.get("epsilon"), "epsilon"), domain, background, blocks, extra, bits, cells, entries, left: Number(left) };
}

const divisor = (a, b) => (b ? divisor(b, a % b) : a);

/** A cell has more draws for an element that it holds than for one that it does not. */
export const translatesRatio = ({ background, extra }) => reduced([BigInt(background) + BigInt(extra), BigInt(background)]);

const LOTS = 1 << 10; // a position goes to one of four points by the last ten bits of a word

export class Translates extends Reporter {
  constructor(content) {
    super(content.epsilon, translatesRatio(content), content.cells);
    this.domain = content.domain;
    hide(this, "content", content);
    Object.freeze(this);
  }

  /** Randomise a choice or a position [x, y]: an integer cell. */
  report(value, { clip = false } = {}) {
    return this.draw(this.checked(value, clip), randomWord);
  }

  checked(value, clip = false) {
    const judged = this.domain.judge(value, clip);
    if (judged === null) throw outside();
    return judged;
  }

  draw(value, next) {
    const { background: a, extra, bits, cells, entries, left } = this.content;
    const [hi, lo] = [next(), next()];
    const draw = hi * 2 ** (bits - 32) + (lo >>> (64 - bits)); // the top bits of the word
    const [first, rest] = [left * (a + 1), cells * a + left];
    // Three kinds of draws: cells of one more than the background, of the background, and those that hold the element.
    const [begin, size] = draw < first ? [0, a + 1] : draw < rest ? [left, a] : [rest, Math.max(extra, 1)];
    const place = divided(draw - begin, size);
    const inSet = draw >= rest;
    const { base, row, column } = entries[inSet ? place : 0];
    const [rows, columns] = this.domain.group;
    const [y, x] = this.domain.point(value, lo);
    return inSet ? base + ((y + row) % rows) * columns + ((x + column) % columns) : place;
  }

  /** The probability of each cell if this is the value, as counted; of a position, of all points that it may go to. */
  probabilities(value) {
    const { background, extra, bits, cells, entries, left } = this.content;
    const [inside, [rows, columns], points] = [this.checked(value), this.domain.group, new Map()];
    for (let lot = 0; lot < LOTS; lot += 1) {
      const [y, x] = this.domain.point(inside, lot);
      points.set(y * columns + x, (points.get(y * columns + x) || 0) + 1);
    }
    const result = Float64Array.from({ length: cells }, (_, cell) => background + Number(cell < left));
    points.forEach((lots, point) => {
      const [y, x] = [Math.floor(point / columns), point % columns];
      for (const { base, row, column } of entries) {
        result[base + ((y + row) % rows) * columns + ((x + column) % columns)] += (extra * lots) / LOTS;
      }
    });
    return result.map((count) => count / 2 ** bits);
  }

  /** Of options: how many a report names on average, and how often the person's own is among them. */
  get named() {
    const { background, extra, bits, cells, entries } = this.content;
    return { many: (entries.length * this.domain.group[1]) / cells, right: (entries.length * (background + extra)) / 2 ** bits };
  }

  /** A 1 for each option that a cell holds, and a 0 for each other; or the position in the middle of a cell. */
  decode(cell) {
    checkCell(cell, this.cells);
    const { blocks, entries } = this.content;
    const [rows, columns] = this.domain.group;
    const shift = cell % (rows * columns);
    const base = cell - shift;
    if (this.domain instanceof Area) {
      return this.domain.decode(Math.floor(shift / columns), shift % columns, blocks[base / (rows * columns)]);
    }
    const held = entries.filter((entry) => entry.base === base).map(({ column }) => (shift - column + columns) % columns);
    return this.domain.names.map((_, x) => Number(held.includes(x)));
  }
}

/** ⌊number / by⌋ of whole doubles below 2^53: the floor of their quotient is right or one too large. */
function divided(number, by) {
  const quotient = Math.floor(number / by);
  return quotient * by > number ? quotient - 1 : quotient;
}
