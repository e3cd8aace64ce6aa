/** Words from a cryptographic generator, fetched in the largest blocks: one call per report would be slow. */
import { ArgumentTypeError } from "./errors.js";

let source = null;

/**
 * Where randomness comes from, if the platform has no `crypto.getRandomValues` of its own (React Native): an object
 * with that method. There is no other fallback: weak randomness would break ε silently.
 */
export function useCrypto(crypto) {
  if (!crypto || typeof crypto.getRandomValues !== "function") {
    throw new ArgumentTypeError("crypto must have a method getRandomValues", { argument: "crypto" });
  }
  source = crypto;
  pool.fill(0);
  used = pool.length;
}

function refill(words) {
  if (source === null) useCrypto(typeof crypto === "undefined" ? null : crypto);
  source.getRandomValues(words);
  return words;
}

const pool = new Uint32Array(16384);
let used = pool.length;

/** A uniform 32-bit word; a word that was handed out does not stay in memory. */
export function randomWord() {
  if (used === pool.length) {
    refill(pool);
    used = 0;
  }
  const word = pool[used];
  pool[used++] = 0;
  return word;
}

const block = new Uint32Array(16384); // the most that one call gives

/**
 * Calls use(words, from, to) until `count` draws of `each` words are made; words that were used do not stay in
 * memory.
 */
export function withWords(count, each, use) {
  const most = Math.floor(block.length / each);
  try {
    for (let from = 0; from < count; from += most) {
      const to = Math.min(count, from + most);
      use(refill(block.subarray(0, (to - from) * each)), from, to);
    }
  } finally {
    block.fill(0);
  }
}

/** 128 random bits in hexadecimal: an idempotency key. */
export function randomKey() {
  return Array.from({ length: 4 }, () => randomWord().toString(16).padStart(8, "0")).join("");
}
