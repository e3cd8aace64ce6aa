/**
 * Questions about functions of what a person gives: computed here, and one of them asked, by lot. The list is closed.
 * Mirrors sottovoce/reporters/composites/functions_by_lot.py.
 */
import { Domain } from "./domain.js";
import { SpecError } from "./errors.js";
import { Options } from "./options.js";
import { MAX_COIN, integer, keys, list, readDomain } from "./spec.js";
import { rule } from "./window.js";

const unit = (domain, x) => domain.along(domain.line(x));

/** Functions of unit coordinates into [0, 1], and of how many. */
const OF_NUMBERS = {
  square: [1, (u) => (2 * u - 1) * (2 * u - 1)],
  sum: [2, (u, v) => (u + v - 1) * (u + v - 1)],
  difference: [2, (u, v) => (u - v) * (u - v)],
  squares: [2, (u, v) => Math.min(Math.max(0.5 + 2 * ((u - v) * (u + v - 1)), 0), 1)],
};

/** The inputs, functions and weights of a parsed survey, checked by their types; null where it has none. */
export function readFunctions(spec, checkNames) {
  if (!spec.has("inputs")) return null;
  const listed = list(spec.get("inputs"), "inputs");
  const inputs = new Map(listed.map((one) => {
    const options = one instanceof Map && one.has("options");
    keys(one, options ? ["name", "options"] : ["circle", "domain", "name"], "inputs", options ? [] : ["scale"]);
    const space = options ? Options.read(list(one.get("options"), "options")) : readDomain(one);
    rule(space !== null, "options must be 2 to 1000 different ones, printable and without spaces around them", "options");
    return [one.get("name"), space];
  }));
  checkNames(listed.map((one) => one.get("name")), "inputs");
  const each = list(spec.get("questions"), "questions").map((one) => ({ name: one.get("function"), of: list(one.get("of"), "of") }));
  const weights = list(spec.get("weights"), "weights").map((one) => integer(one, "weights"));
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  rule(weights.length === each.length && weights.every((weight) => weight >= 1), "weights must be whole numbers, one for each question", "weights");
  rule(total <= MAX_COIN && 2 ** Math.round(Math.log2(total)) === total, `weights must add up to a power of two up to ${MAX_COIN}`, "weights");
  rule(integer(spec.get("sampled"), "sampled") === 1, "of functions a person answers one: sampled must be 1", "sampled");
  for (const { name, of } of each) {
    rule(name === "value" || name === "level" || Object.keys(OF_NUMBERS).includes(name), "function must be one of the list", "function");
    rule(of.every((one) => inputs.has(one)) && new Set(of).size === of.length, "a function must be of different inputs", "of");
  }
  return { inputs, each, weights };
}

export class Functions {
  constructor({ inputs, each, weights }, reporters) {
    this.inputs = inputs;
    const names = [...inputs.keys()];
    this.each = each.map(({ name, of }, i) => {
      const spaces = of.map((one) => inputs.get(one));
      if (!fits(name, spaces, reporters[i].domain)) throw new SpecError(`the function ${name} does not fit its inputs or its question`, { argument: "function" });
      return { name, spaces, at: of.map((one) => names.indexOf(one)), domain: reporters[i].domain };
    });
    this.sides = weights.flatMap((weight, i) => new Array(weight).fill(i));
    this.bits = Math.log2(this.sides.length);
    Object.freeze(this);
  }

  /** Which question is answered: the top bits of a word; no word where there is one only. */
  lot(next) {
    if (this.each.length === 1) return 0;
    const [hi] = [next(), next()];
    return this.sides[(hi >>> 0) >>> (32 - this.bits)];
  }

  /** The value of one question, of the inputs in order. */
  answer(i, values, next) {
    const { name, spaces, at, domain } = this.each[i];
    const own = at.map((place) => values[place]);
    if (name === "value") return own[0];
    if (name !== "level") return OF_NUMBERS[name][1](...spaces.map((space, j) => unit(space, own[j])));
    const up = (next() * 2 ** 21 + (next() >>> 11)) / 2 ** 53;
    const [{ names }, line] = spaces;
    const steps = domain.names.length / names.length - 1;
    const place = unit(line, own[1]) * steps;
    const level = Math.min(Math.floor(place), steps - 1);
    return spaces[0].place(own[0]) + names.length * (level + Number(up < place - level));
  }
}

function fits(name, spaces, domain) {
  const line = (space) => space instanceof Domain && !space.circle;
  if (name === "value") return spaces.length === 1 && same(spaces[0], domain);
  if (name === "level") {
    const listed = domain instanceof Options && domain.names.every((option, i) => option === i);
    if (!listed || spaces.length !== 2 || !(spaces[0] instanceof Options) || !line(spaces[1])) return false;
    const k = spaces[0].names.length;
    return domain.names.length % k === 0 && domain.names.length > k;
  }
  const whole = line(domain) && domain.low === 0 && domain.high === 1 && domain.scale === "linear";
  return spaces.length === OF_NUMBERS[name][0] && spaces.every(line) && whole;
}

function same(one, other) {
  if (one instanceof Options) return other instanceof Options && String(one.names) === String(other.names) && one.names.every((name, i) => name === other.names[i]);
  return other instanceof Domain && ["low", "high", "circumference", "scale"].every((key) => one[key] === other[key]);
}
