/** Words from the operating system's generator, fetched in the largest blocks: one call per report would be slow. */
const { crypto } = globalThis.crypto ? globalThis : { crypto: (await import("node:crypto")).webcrypto };

const pool = new Uint32Array(16384);
let used = pool.length;

/** A uniform 32-bit word; a word that was handed out does not stay in memory. */
export function randomWord() {
  if (used === pool.length) {
    crypto.getRandomValues(pool);
    used = 0;
  }
  const word = pool[used];
  pool[used] = 0;
  used += 1;
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
      use(crypto.getRandomValues(block.subarray(0, (to - from) * each)), from, to);
    }
  } finally {
    block.fill(0);
  }
}

/** 128 random bits in hexadecimal: an idempotency key. */
export function randomKey() {
  return Array.from({ length: 4 }, () => randomWord().toString(16).padStart(8, "0")).join("");
}

/** SHA-256 of bytes (or of text as UTF-8) in hexadecimal. */
export async function sha256(content) {
  if (!crypto.subtle) throw new Error("SHA-256 needs a secure page: open it over HTTPS or on localhost");
  const bytes = typeof content === "string" ? new TextEncoder().encode(content) : content;
  const hash = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
  return Array.from(hash, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
