/**
 * JSON without its loopholes: no duplicate keys, nothing deep, and integers kept apart from fractions
 * (JSON.parse turns 9007199254740993 and 1.0 into other numbers without a word).
 *
 * Integers come back as BigInt, numbers written with a point or an exponent as Number.
 */
import { ArgumentTypeError, SpecError } from "./errors.js";

export const MAX_BYTES = 1 << 24;
const MAX_DEPTH = 16;

const SPACE = /[ \t\n\r]*/y;
const NUMBER = /-?(?:0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?/y;
// No name in a spec is long; a bound keeps a hostile string from costing anything.
const STRING = /"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})){0,256}"/y;
const WORDS = [["true", true], ["false", false], ["null", null]];

/** Parse text (or its UTF-8 bytes); anything odd is a SpecError. */
export function parse(text) {
  if (typeof text !== "string") text = decode(text);
  else if (text.length > MAX_BYTES) throw tooLarge(text.length);
  const reader = new Reader(text);
  const value = reader.value(0);
  reader.space();
  if (reader.at < text.length) throw reader.wrong("text after the end");
  return value;
}

const tooLarge = (length) => new SpecError(`a spec must be at most ${MAX_BYTES} bytes, got ${length}`, { code: "too_large" });

function decode(bytes) {
  if (!(bytes instanceof Uint8Array)) throw new ArgumentTypeError("a spec must be JSON text or its bytes", { argument: "text" });
  if (bytes.length > MAX_BYTES) throw tooLarge(bytes.length);
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (cause) {
    throw new SpecError("not valid JSON: not UTF-8", { code: "malformed", cause });
  }
}

class Reader {
  constructor(text) {
    this.text = text;
    this.at = 0;
  }

  wrong(what, code = "malformed") {
    return new SpecError(`not valid JSON: ${what} at position ${this.at}`, { code });
  }

  /** What a sticky pattern matches here, or null. */
  match(pattern) {
    pattern.lastIndex = this.at;
    const found = pattern.exec(this.text);
    if (found) this.at = pattern.lastIndex;
    return found;
  }

  space() {
    this.match(SPACE);
  }

  take(sign) {
    this.space();
    if (this.text[this.at] !== sign) return false;
    this.at += 1;
    return true;
  }

  expect(sign) {
    if (!this.take(sign)) throw this.wrong(`expected ${sign}`);
  }

  value(depth) {
    if (depth > MAX_DEPTH) throw this.wrong("nested too deeply", "too_deep");
    if (this.take("{")) return this.object(depth);
    if (this.take("[")) return this.list(depth);
    if (this.text[this.at] === '"') return this.string();
    for (const [word, meaning] of WORDS) {
      if (this.text.startsWith(word, this.at)) {
        this.at += word.length;
        return meaning;
      }
    }
    return this.number();
  }

  number() {
    const found = this.match(NUMBER);
    if (!found) throw this.wrong("expected a value");
    const [digits, point, exponent] = found;
    if (point !== undefined || exponent !== undefined) return Number(digits);
    if (digits.length > 20) throw this.wrong("an integer of more than 20 digits");
    return BigInt(digits);
  }

  string() {
    const found = this.match(STRING);
    if (!found) throw this.wrong("expected a short string");
    return JSON.parse(found[0]);
  }

  list(depth) {
    const items = [];
    if (this.take("]")) return items;
    do items.push(this.value(depth + 1));
    while (this.take(","));
    this.expect("]");
    return items;
  }

  /** A Map, so that a key such as __proto__ is only a key. */
  object(depth) {
    const items = new Map();
    if (this.take("}")) return items;
    do {
      this.space();
      const key = this.string();
      if (items.has(key)) throw this.wrong("the same key twice", "duplicate_key");
      this.expect(":");
      items.set(key, this.value(depth + 1));
    } while (this.take(","));
    this.expect("}");
    return items;
  }
}
