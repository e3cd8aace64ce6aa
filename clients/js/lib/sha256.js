/** SHA-256 (FIPS 180-4), so that digests need no secure page, no worker API and no promise. */

/** The first `count` primes. */
function primes(count) {
  const found = [];
  for (let n = 2; found.length < count; n += 1) if (found.every((prime) => n % prime)) found.push(n);
  return found;
}

/** 32 bits of the fractional part of a root; doubles have 20 to spare. */
const fraction = (root) => ((root - Math.floor(root)) * 2 ** 32) >>> 0;
const ROUNDS = Uint32Array.from(primes(64), (prime) => fraction(Math.cbrt(prime)));
const START = Uint32Array.from(primes(8), (prime) => fraction(Math.sqrt(prime)));

const turn = (word, by) => (word >>> by) | (word << (32 - by));

/** The bytes of a text in UTF-8; a lone surrogate becomes U+FFFD, as in a TextEncoder. */
function utf8(text) {
  const bytes = [];
  for (const sign of text) {
    const point = sign.codePointAt(0);
    const code = point >= 0xd800 && point < 0xe000 ? 0xfffd : point;
    const more = code < 0x80 ? 0 : code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
    bytes.push(more ? ((0xf0 << (3 - more)) & 0xff) | (code >> (6 * more)) : code);
    for (let i = more - 1; i >= 0; i -= 1) bytes.push(0x80 | ((code >> (6 * i)) & 63));
  }
  return bytes;
}

/** SHA-256 of bytes (or of text as UTF-8) in hexadecimal. */
export function sha256(content) {
  const bytes = typeof content === "string" ? utf8(content) : content;
  const padded = new Uint8Array((Math.floor((bytes.length + 8) / 64) + 1) * 64);
  padded.set(bytes);
  padded[bytes.length] = 0x80;
  const view = new DataView(padded.buffer);
  view.setUint32(padded.length - 8, Math.floor(bytes.length / 2 ** 29));
  view.setUint32(padded.length - 4, (bytes.length * 8) >>> 0);
  const [hash, w] = [START.slice(), new Uint32Array(64)];
  for (let at = 0; at < padded.length; at += 64) {
    for (let i = 0; i < 64; i += 1) {
      if (i < 16) w[i] = view.getUint32(at + 4 * i);
      else {
        const [a, b] = [w[i - 15], w[i - 2]];
        w[i] = w[i - 16] + (turn(a, 7) ^ turn(a, 18) ^ (a >>> 3)) + w[i - 7] + (turn(b, 17) ^ turn(b, 19) ^ (b >>> 10));
      }
    }
    let [a, b, c, d, e, f, g, h] = hash;
    for (let i = 0; i < 64; i += 1) {
      const one = h + (turn(e, 6) ^ turn(e, 11) ^ turn(e, 25)) + ((e & f) ^ (~e & g)) + ROUNDS[i] + w[i];
      const two = (turn(a, 2) ^ turn(a, 13) ^ turn(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
      [h, g, f, e, d, c, b, a] = [g, f, e, (d + one) | 0, c, b, a, (one + two) | 0];
    }
    [a, b, c, d, e, f, g, h].forEach((word, i) => { hash[i] += word; });
  }
  return Array.from(hash, (word) => word.toString(16).padStart(8, "0")).join("");
}
