/**
 * One of a few options: `translates/1`. A cell is a base set and a shift s, and holds the options x with s − x in the set; all cells
 * have the same background, and those that hold the person's option more. Mirrors sottovoce/core/translates.py.
 */
import { hide } from "./domain.js";
import { reduced } from "./exact.js";
import { Options } from "./options.js";
import { randomWord } from "./random.js";
import { Reporter, checkCell, outside } from "./reporter.js";
import { integer, keys, list, real } from "./spec.js";
import { MAX_BITS, MAX_CELLS, MIN_BITS, rule } from "./window.js";

/** The base sets and counts of a parsed spec, checked for consistency but not yet for ε. */
export function readTranslates(spec) {
  keys(spec, ["format", "epsilon", "bits", "background", "extra", "blocks", "multipliers", "options"], "spec");
  const domain = Options.read(list(spec.get("options"), "options"));
  rule(domain !== null, "options must be 2 to 1000 different ones, printable and without spaces around them", "options");
  const blocks = list(spec.get("blocks"), "blocks").map((block) => list(block, "blocks").map((item) => integer(item, "blocks")));
  const multipliers = list(spec.get("multipliers"), "multipliers").map((item) => integer(item, "multipliers"));
  const [background, extra, bits] = ["background", "extra", "bits"].map((key) => integer(spec.get(key), key));
  rule(bits >= MIN_BITS && bits <= MAX_BITS, `bits must be between ${MIN_BITS} and ${MAX_BITS}`, "bits");
  const size = domain.names.length;
  const cells = blocks.length * multipliers.length * size;
  rule(cells >= 1 && cells <= MAX_CELLS, `blocks must give 1 to ${MAX_CELLS} cells`, "blocks");
  for (const block of blocks) {
    rule(new Set(block).size === block.length && block.length >= 1 && block.length < size, "blocks must hold different options, not none and not all", "blocks");
    rule(block.every((one) => one >= 0 && one < size), `blocks must hold numbers from 0 to ${size - 1}`, "blocks");
  }
  const coprime = (h) => h > 0 && h < Math.max(size, 2) && divisor(h, size) === 1;
  rule(new Set(multipliers).size === multipliers.length && multipliers.every(coprime), "multipliers must be different and coprime to the number of options", "multipliers");
  const entries = [];
  let set = 0;
  for (const block of blocks) {
    for (const h of multipliers) {
      for (const one of block) entries.push({ base: set * size, element: (one * h) % size });
      set += 1;
    }
  }
  rule(background >= 1 && extra >= 0, "background must be at least 1 and extra at least 0", "background");
  const left = BigInt(2 ** bits) - BigInt(cells) * BigInt(background) - BigInt(entries.length) * BigInt(extra);
  rule(left >= BigInt(0) && left < BigInt(cells), `background and extra must leave 0 to ${cells - 1} draws`, "background");
  return { epsilon: real(spec.get("epsilon"), "epsilon"), domain, background, extra, bits, cells, entries, left: Number(left) };
}

const divisor = (a, b) => (b ? divisor(b, a % b) : a);

/** A cell has more draws for an option that it holds than for one that it does not. */
export const translatesRatio = ({ background, extra }) => reduced([BigInt(background) + BigInt(extra), BigInt(background)]);

export class Translates extends Reporter {
  constructor(content) {
    super(content.epsilon, translatesRatio(content), content.cells);
    this.domain = content.domain;
    hide(this, "content", content);
    Object.freeze(this);
  }

  /** Randomise a choice: an integer cell. */
  report(option) {
    return this.draw(this.checked(option), randomWord);
  }

  checked(option) {
    if (this.domain.judge(option) === null) throw outside();
    return option;
  }

  draw(option, next) {
    const { background: a, extra, bits, cells, entries, left } = this.content;
    const [hi, lo] = [next(), next()];
    const draw = hi * 2 ** (bits - 32) + (lo >>> (64 - bits)); // the top bits of the word
    const [first, rest] = [left * (a + 1), cells * a + left];
    // Three kinds of draws: cells of one more than the background, of the background, and those that hold the option.
    const [begin, size] = draw < first ? [0, a + 1] : draw < rest ? [left, a] : [rest, Math.max(extra, 1)];
    const place = divided(draw - begin, size);
    const inSet = draw >= rest;
    const { base, element } = entries[inSet ? place : 0];
    return inSet ? base + ((this.domain.place(option) + element) % this.domain.names.length) : place;
  }

  /** A 1 for each option that a cell holds, and a 0 for each other. */
  decode(cell) {
    checkCell(cell, this.cells);
    const size = this.domain.names.length;
    const [base, shift] = [cell - (cell % size), cell % size];
    const held = this.content.entries.filter((entry) => entry.base === base).map(({ element }) => (shift - element + size) % size);
    return this.domain.names.map((_, x) => Number(held.includes(x)));
  }
}

/** ⌊number / by⌋ of whole doubles below 2^53: the floor of their quotient is right or one too large. */
function divided(number, by) {
  const quotient = Math.floor(number / by);
  return quotient * by > number ? quotient - 1 : quotient;
}
