/** What people choose from: a few options with names. Mirrors sottovoce/values/options.py. */
import { ArgumentTypeError, DataError } from "./errors.js";
import { rule } from "./window.js";

const MAX_OPTIONS = 1000;
const MAX_LENGTH = 200;

let printable = null;

/** Text of letters, digits, signs and plain spaces; nothing that is invisible or turns lines around. */
export function isPrintable(text, most) {
  try {
    if (printable === null) printable = new RegExp("^(?: |[^\\p{C}\\p{Z}])+$", "u");
  } catch (error) { // an engine without these classes: all that is not an ordinary sign
    printable = /^(?:[ -~]|[\u00a1-\u00ac\u00ae-\u167f\u1681-\u180d\u1810-\u1fff\u2010-\u2027\u2030-\u205e\u2070-\u2fff\u3001-\ud7ff\uf900-\ufefe\uff01-\ufff8\ufffc\ufffd]|[\ud800-\udbff][\udc00-\udfff])+$/;
  }
  const length = typeof text === "string" ? Array.from(text).length : 0;
  return length >= 1 && length <= most && printable.test(text);
}

/** What two options that a person would take for the same have in common. */
const keyOf = (name) => String(name).normalize("NFC").toUpperCase().toLowerCase().split(/\s+/).filter(Boolean).join(" ");

export class Options {
  constructor(names) {
    this.names = Object.freeze(names);
    Object.defineProperty(this, "places", { value: new Map(names.map((name, i) => [keyOf(name), i])) });
    Object.freeze(this);
  }

  /** The options of a parsed spec as they are kept, or null: texts, or whole numbers. */
  static read(items) {
    const names = items.map((item) => (typeof item === "bigint" ? Number(item) : item));
    const fits = (name, i) => (typeof name === "number"
      ? Math.abs(name) <= 2 ** 53 && BigInt(name) === items[i] : isPrintable(name, MAX_LENGTH) && name.normalize("NFC").trim() === name);
    if (names.length < 2 || names.length > MAX_OPTIONS || items.some((item) => typeof item === "number") || !names.every(fits)) return null;
    const options = new Options(names);
    return options.places.size === names.length ? options : null;
  }

  /** The place of a choice in the list, whatever its case and the spaces around it; −1 if it is not on it. */
  place(value) {
    const place = this.places.get(keyOf(value));
    return place === undefined ? -1 : place;
  }

  contains(value) {
    return this.place(value) >= 0;
  }

  /** The group that options are elements of, and where a choice is in it. */
  get group() {
    return [1, this.names.length];
  }

  point(value) {
    return [0, this.place(value)];
  }

  /** The elements of a base set. */
  members(block) {
    const size = this.names.length;
    rule(new Set(block).size === block.length && block.length >= 1 && block.length < size, "blocks must hold different options, not none and not all", "blocks");
    rule(block.every((one) => one >= 0 && one < size), `blocks must hold numbers from 0 to ${size - 1}`, "blocks");
    return block;
  }

  /** A choice that is on the list, null if it is missing. Another one is refused: there is no nearest. */
  judge(value) {
    if (typeof value !== "string" && typeof value !== "number") {
      throw new ArgumentTypeError("value must be an option, or null if it is missing", { argument: "value" });
    }
    if (typeof value === "string" ? !value.trim() : !Number.isFinite(value)) return null;
    if (!this.contains(value)) throw new DataError("value must be one of the options, or null if it is missing", { code: "outside", argument: "value" });
    return value;
  }

  spread(next) {
    const [hi] = [next(), next()];
    return this.names[Math.floor((hi * this.names.length) / 2 ** 32)];
  }
}
