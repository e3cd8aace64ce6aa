/** Numbers and privacy in words; both pages say the same things with the same functions. */

let locale = "en";

/** Write numbers as they are written somewhere: a BCP 47 tag. */
export const writeAs = (tag) => {
  locale = tag;
};

const SUPERSCRIPTS = { "-": "⁻", 0: "⁰", 1: "¹", 2: "²", 3: "³", 4: "⁴", 5: "⁵", 6: "⁶", 7: "⁷", 8: "⁸", 9: "⁹" };

/** Digits as people write them: grouped, with a real minus, and never minus zero. */
function digitsOf(value, options) {
  return new Intl.NumberFormat(locale, { signDisplay: "negative", ...options }).format(value).replace("-", "−");
}

/** Beyond these a number is written with a power of ten. */
const extreme = (size) => size !== 0 && (size >= 1e9 || size < 1e-4);

/** A number with about `digits` significant digits. */
export function number(value, digits = 4) {
  if (value === null || !Number.isFinite(value)) return "–";
  if (!extreme(Math.abs(value))) return digitsOf(value, { maximumSignificantDigits: digits });
  const [mantissa, exponent] = value.toExponential(digits - 1).split("e");
  const power = [...exponent.replace("+", "")].map((sign) => SUPERSCRIPTS[sign]).join("");
  return `${digitsOf(Number(mantissa), { maximumFractionDigits: digits })} × 10${power}`;
}

/** How to write an interval and the numbers in it: to two digits of its width, so that noise is not read. */
export function writer(low, high) {
  const [width, size] = [high - low, Math.max(Math.abs(low), Math.abs(high))];
  if (low === null || high === null || !(width > 0)) return number;
  const order = Math.floor(Math.log10(width));
  if (extreme(size)) return (x) => number(x, 2 + Math.max(0, Math.floor(Math.log10(size)) - order));
  if (order > 1) return (x) => digitsOf(Math.round(x / 10 ** (order - 1)) * 10 ** (order - 1), { maximumFractionDigits: 0 });
  const places = Math.min(12, 1 - order);
  return (x) => digitsOf(x, { minimumFractionDigits: places, maximumFractionDigits: places });
}

/** An interval; an open end is null. */
export function range(low, high) {
  const write = writer(low, high);
  if (low === null || high === null) {
    return low === high ? "any value" : low === null ? `up to ${write(high)}` : `${write(low)} or more`;
  }
  return `${write(low)} to ${write(high)}`;
}

/** As the beginning of a sentence. */
export const sentence = (text) => text.charAt(0).toUpperCase() + text.slice(1);

export const withUnit = (text, unit) => (unit ? `${text}${unit === "°" ? "" : "\u00a0"}${unit}` : text);
export const whole = (n) => new Intl.NumberFormat(locale).format(n);
export const percent = (share, digits = 3) => `${number(100 * share, digits)}\u00a0%`;

/** A number of hours as a time of day, to the minute. */
export function clockTime(hours) {
  const minutes = ((Math.round(60 * hours) % 1440) + 1440) % 1440;
  return [minutes / 60, minutes % 60].map((part) => String(Math.floor(part)).padStart(2, "0")).join(":");
}

/** An interval on a circle, its ends brought back onto it; an arc that is the whole circle says so. */
export function arc(low, high, domain, write = writer(low, high)) {
  const around = domain.high - domain.low;
  if (low === null || high === null || high - low >= around * (1 - 1e-9)) return "anywhere on the circle";
  const onto = (x) => domain.low + ((((x - domain.low) % around) + around) % around);
  return `${write(onto(low))} to ${write(onto(high))}`;
}

export function domainText({ low, high, circle }, unit) {
  const span = withUnit(`${number(low, 6)} to ${number(high, 6)}`, unit);
  return circle ? `${span}, once around a circle` : span;
}

const REASONS = {
  malformed: "the request could not be read",
  duplicate_key: "a field was given twice",
  too_deep: "nested too deeply",
  key_missing: "no idempotency key",
  bad_token: "token missing or unknown",
  wrong_scope: "token made for something else",
  not_open_yet: "before the campaign opened",
  digest_differs: "made with another mechanism",
  token_spent: "enrolment token used before",
  closed: "after the campaign closed",
  too_large: "too large",
  unsupported_type: "content type not understood",
  cell_out_of_range: "a cell that the mechanism does not have",
  not_an_integer: "a cell that is not a whole number",
  empty_batch: "no cells",
  one_report_per_token: "more than one report for one token",
  key_reused: "idempotency key used for something else",
  rate_limited: "too many requests",
  busy: "too much at once",
  clock_unconfirmed: "the collector's clock was in doubt",
  store_unavailable: "the store could not write",
  invalid: "a parameter broke its rule",
};

export const reason = (code) => REASONS[code] ?? code.replaceAll("_", " ");

/** Set the text of elements by id; text only, never markup. */
export function put(texts) {
  for (const [id, text] of Object.entries(texts)) document.getElementById(id).textContent = text;
}

export function paragraphs(element, texts) {
  element.replaceChildren(...texts.map((text) => Object.assign(document.createElement("p"), { textContent: text })));
}

/** Fill the body of a table from rows of texts; the first column heads its row. */
export function rows(table, content, empty) {
  const line = (cells) => {
    const row = document.createElement("tr");
    row.append(...cells.map((text, i) =>
      Object.assign(document.createElement(i ? "td" : "th"), { textContent: text, ...(i ? {} : { scope: "row" }) })));
    return row;
  };
  table.tBodies[0].replaceChildren(...(content.length ? content : [[empty, ...Array(table.rows[0].cells.length - 1).fill("")]]).map(line));
}
