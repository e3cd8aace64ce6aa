/** Checks of the shared vectors that run in Node and, unchanged, in a browser. */
import { PrivacyError, SpecError, audit, fromJson, sha256, specDigest } from "../lib/index.js";

/** The finaliser of MurmurHash3, as tests/vectors/make.py uses it on a counter. */
function mix32(h) {
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b);
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
  return (h ^ (h >>> 16)) >>> 0;
}

/** Values and words of the bulk draws: [x, hi, lo, coin] each. */
function* bulk(m, count) {
  const { low, high } = m.domain;
  for (let i = 0; i < count; i += 1) {
    const t = mix32(4 * i + 2) / 2 ** 32;
    const x = Math.min(Math.max(low * (1 - t) + high * t, low), high);
    yield [x, mix32(4 * i), mix32(4 * i + 1), mix32(4 * i + 3)];
  }
}

/** The cells of some draws, one by one; `say` hears if the loop over many draws gives others. */
function cellsOf(m, draws, hasCoin, say) {
  const one = Uint32Array.from(draws, (draw) => m.cellAt(...draw));
  const words = Uint32Array.from(draws.flatMap(([, ...words]) => (hasCoin ? words : words.slice(0, 2))));
  const many = m.cellsAt(draws.map(([x]) => x), words);
  const differ = one.findIndex((cell, i) => cell !== many[i]);
  if (differ >= 0) say(`draw ${differ} of many is ${many[differ]}, alone ${one[differ]}`);
  return one;
}

/** The halves of 64-bit words written in hexadecimal. */
const halves = (text) => Uint32Array.from(text.match(/.{8}/g), (digits) => Number.parseInt(digits, 16));

/** A report as a list, or null where the value is outside. */
function reported(reporter, words, value) {
  try {
    return [].concat(reporter.reportFrom(words, value));
  } catch (error) {
    if (error.code === "outside") return null;
    throw error;
  }
}

/** Surveys and positions: reports drawn by given words, value by value. */
export function checkComposites({ composites }) {
  const wrong = [];
  for (const { name, spec, digest, cells, width, values, words, expected } of composites) {
    const reporter = fromJson(spec);
    if (reporter.cells !== cells || reporter.width !== width || specDigest(spec) !== digest) wrong.push(`${name}: another reporter`);
    values.forEach((value, i) => {
      const report = reported(reporter, halves(words[i]), value);
      if (String(report) !== String(expected[i])) wrong.push(`${name}: draw ${i} is ${report}, not ${expected[i]}`);
    });
  }
  return wrong;
}

export async function checkSampling({ bulk_count: count, mechanisms }) {
  const wrong = [];
  let checked = 0;
  for (const vector of mechanisms) {
    const m = fromJson(vector.spec);
    const say = (what) => wrong.push(`${vector.name}: ${what}`);
    if (m.cells !== vector.cells) say(`${m.cells} cells`);
    if (specDigest(vector.spec) !== vector.digest) say("digest");
    const hasCoin = vector.words[0].length > 16;
    const words = (text) => [0, 8, 16].map((at) => Number.parseInt(text.slice(at, at + 8) || "0", 16));
    const draws = vector.x.map((x, i) => [x, ...words(vector.words[i])]);
    cellsOf(m, draws, hasCoin, say).forEach((cell, i) => {
      if (cell !== vector.expected[i]) say(`draw ${i} at ${vector.x[i]} is ${cell}, not ${vector.expected[i]}`);
    });
    [0, Math.floor(m.cells / 2), m.cells - 1].forEach((cell, i) => {
      // An exponential may differ in its last digit; what a report stands for is not the report.
      const slack = m.domain.scale === "log" ? 1e-13 * vector.decoded[i] : 0;
      if (!(Math.abs(m.decode(cell) - vector.decoded[i]) <= slack)) say(`cell ${cell} decodes to ${m.decode(cell)}`);
    });
    const cells = cellsOf(m, [...bulk(m, count)], hasCoin, say);
    if ((await sha256(new Uint8Array(cells.buffer))) !== vector.bulk) say("bulk draws differ");
    checked += vector.x.length + count;
  }
  return { checked, wrong };
}

export async function checkAudits({ audits, refused }) {
  const wrong = [];
  for (const vector of audits) {
    const found = audit(vector.spec);
    const same =
      found.ratio.join("/") === vector.ratio.join("/") &&
      found.epsilon === vector.epsilon &&
      found.claimed === vector.claimed &&
      found.holds === vector.holds &&
      specDigest(vector.spec) === vector.digest;
    if (!same) wrong.push(`${vector.name}: ${found.ratio.join("/")}, ${found.epsilon}, ${found.holds}`);
    if (refusal(vector.spec) !== vector.error) wrong.push(`${vector.name}: ${refusal(vector.spec)}, not ${vector.error}`);
  }
  for (const { name, spec, error, audit: audited } of refused) {
    const text = typeof spec === "string" ? spec : spec.map(([sign, times]) => sign.repeat(times)).join("");
    if (error === null || refusal(text) !== error) wrong.push(`${name}: ${refusal(text)}, not ${error}`);
    if (refusal(text, audit) !== audited) wrong.push(`${name}, audited: ${refusal(text, audit)}, not ${audited}`);
  }
  return wrong;
}

/** Why a spec is refused, or null; anything but the two errors made for this is a fault. */
function refusal(spec, read = fromJson) {
  try {
    read(spec);
    return null;
  } catch (error) {
    if (error instanceof PrivacyError) return "privacy";
    if (error instanceof SpecError) return "spec";
    throw error;
  }
}
