/**
 * Reading `window/1` and `mixture/1` specs with suspicion: types, keys and what the numbers must satisfy.
 * Mirrors sottovoce/reporters/formats.py; nothing here believes the ε that a spec claims.
 */
import { Domain } from "./domain.js";
import { MAX_CELLS, checkWindow, rule } from "./window.js";

const LARGEST = BigInt(2 ** 53);
const MAX_PARTS = 16;
export const MAX_COIN = 1 << 10;

function short(content) {
  const text = String(content instanceof Map ? "an object" : content);
  return text.length <= 40 ? text : text.slice(0, 37) + "...";
}

export function keys(content, expected, where, optional = []) {
  rule(content instanceof Map, `${where} must be an object, got ${short(content)}`, where);
  for (const key of content.keys()) rule(expected.includes(key) || optional.includes(key), `${where} has an unknown key ${short(key)}`, where);
  for (const key of expected) rule(content.has(key), `${where} lacks the key ${key}`, where);
}

export function integer(content, where) {
  rule(
    typeof content === "bigint" && content <= LARGEST && content >= -LARGEST,
    `${where} must hold integers up to 2^53, got ${short(content)}`,
    where,
  );
  return Number(content);
}

export function real(content, where) {
  rule(
    (typeof content === "bigint" || typeof content === "number") && Number.isFinite(Number(content)),
    `${where} must hold finite numbers, got ${short(content)}`,
    where,
  );
  return Number(String(content)); // Hermes does not round large BigInts as it should
}

export function flag(content, where) {
  rule(typeof content === "boolean", `${where} must be true or false, got ${short(content)}`, where);
  return content;
}

export function list(content, where) {
  rule(Array.isArray(content), `${where} must be a list, got ${short(content)}`, where);
  return content;
}

export function numbers(content, where, item) {
  return Float64Array.from(list(content, where), (entry) => item(entry, where));
}

/** A lone window: the coin has one side. */
export function readWindow(spec) {
  return { ...joined([readPart(spec)]), weights: [1] };
}

/** Windows, and the weights of the public coin between them. */
export function readMixture(spec) {
  keys(spec, ["format", "parts", "weights"], "spec");
  const weights = Array.from(numbers(spec.get("weights"), "weights", integer));
  const parts = list(spec.get("parts"), "parts");
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  rule(parts.length >= 1 && parts.length <= MAX_PARTS, `a mixture has between 1 and ${MAX_PARTS} parts`, "parts");
  rule(weights.length === parts.length, "weights must have one entry per part", "weights");
  rule(weights.every((weight) => weight >= 1), "weights must be whole numbers of at least 1", "weights");
  rule(total <= MAX_COIN && 2 ** Math.round(Math.log2(total)) === total,
    `weights must add up to a power of two up to ${MAX_COIN}`, "weights");
  return { ...joined(parts.map(readPart)), weights };
}

function joined(read) {
  const [{ epsilon, domain }] = read;
  const cells = read.reduce((sum, { window }) => sum + window.cells, 0);
  rule(cells <= MAX_CELLS, `there can be at most ${MAX_CELLS} cells`, "parts");
  for (const part of read) {
    const same = ["low", "high", "circumference", "scale"].every((key) => part.domain[key] === domain[key]);
    rule(same && part.epsilon === epsilon, "the parts of a mixture must have the same epsilon and domain", "parts");
  }
  return { epsilon, domain, windows: read.map(({ window }) => window) };
}

function readPart(spec) {
  keys(spec, ["format", "epsilon", "domain", "circle", "bits", "cells", "start"], "spec", ["scale"]);
  rule(spec.get("format") === "window/1", `format must be window/1, got ${short(spec.get("format"))}`, "format");
  const epsilon = real(spec.get("epsilon"), "epsilon");
  const domain = readDomain(spec);
  const [cells, start] = [spec.get("cells"), spec.get("start")];
  keys(cells, ["count", "background", "extra", "value", "step"], "cells");
  keys(start, ["t", "s", "step"], "start");
  const window = checkWindow({
    wraps: domain.circle,
    bits: integer(spec.get("bits"), "bits"),
    count: numbers(cells.get("count"), "cells.count", integer),
    background: numbers(cells.get("background"), "cells.background", integer),
    extra: numbers(cells.get("extra"), "cells.extra", integer),
    value: numbers(cells.get("value"), "cells.value", real),
    step: numbers(cells.get("step"), "cells.step", real),
    t: numbers(start.get("t"), "start.t", real),
    s: numbers(start.get("s"), "start.s", integer),
    stepwise: flag(start.get("step"), "start.step"),
  });
  return { epsilon, domain, window };
}

export function readDomain(spec) {
  const circle = flag(spec.get("circle"), "circle");
  const bounds = numbers(spec.get("domain"), "domain", real);
  rule(bounds.length === 2, "domain must be a list of 2", "domain");
  const [low, second] = bounds;
  const high = circle ? low + second : second;
  rule(!circle || second > 0, "domain: circumference must be positive", "domain");
  rule(low < high && Number.isFinite(high), "domain must have low < high, both finite", "domain");
  const log = spec.has("scale");
  rule(!log || (spec.get("scale") === "log" && !circle), "scale must be log, of an interval", "scale");
  rule(!log || low >= 1e-300, "domain: a log scale needs low of at least 1e-300", "domain");
  const domain = new Domain(low, high, { circumference: circle ? second : null, scale: log ? "log" : "linear" });
  rule(domain.units.scaledWidth > 0, "domain: a log scale needs ends whose logarithms differ", "domain");
  return domain;
}
