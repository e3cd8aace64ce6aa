/** Numbers and privacy in words; both pages say the same things with the same functions. */

/** A number with about `digits` significant digits, as people write it. */
export function number(value, digits = 4) {
  if (value === null || !Number.isFinite(value)) return "–";
  const size = Math.abs(value);
  if (size !== 0 && (size >= 1e9 || size < 1e-4)) return value.toExponential(digits - 1);
  return new Intl.NumberFormat("en", { maximumSignificantDigits: digits }).format(value);
}

/** Two ends to the digits in which they differ, so that an interval reads as one. */
export function range(low, high) {
  if (low === null || high === null) {
    return `${low === null ? "below" : `from ${number(low)}`} ${high === null ? "upwards" : number(high)}`;
  }
  const places = Math.min(8, Math.max(0, 1 - Math.floor(Math.log10(Math.max(high - low, 1e-12)))));
  const big = Math.max(Math.abs(low), Math.abs(high));
  if (big >= 1e9 || (big < 1e-4 && big > 0)) return `${number(low)} to ${number(high)}`;
  const write = (x) => new Intl.NumberFormat("en", { minimumFractionDigits: places, maximumFractionDigits: places }).format(x);
  return `${write(low)} to ${write(high)}`;
}

/** As the beginning of a sentence. */
export const sentence = (text) => text.charAt(0).toUpperCase() + text.slice(1);

export const withUnit = (text, unit) => (unit ? `${text} ${unit}` : text);
export const whole = (n) => new Intl.NumberFormat("en").format(n);
export const percent = (share, digits = 3) => `${number(100 * share, digits)} %`;

export function domainText({ low, high, circle }, unit) {
  const span = withUnit(`${number(low, 6)} to ${number(high, 6)}`, unit);
  return circle ? `${span}, once around a circle` : span;
}

/** What ε promises to one person of this campaign: three short paragraphs. */
export function epsilonWords(epsilon, domain, unit) {
  const factor = Math.exp(epsilon);
  const sure = factor / (1 + factor);
  return [
    `ε = ${number(epsilon)} is a promise about every single report: any value from ` +
      `${withUnit(`${number(domain.low, 6)} to ${number(domain.high, 6)}`, unit)} could have produced it, and no value ` +
      `is more than ${number(factor, 3)} times as likely to as any other.`,
    `So nobody who sees a report, the collector included, can move their odds about a person by more than a factor of ` +
      `${number(factor, 3)}: who thought two possibilities equally likely can become at most ${percent(sure)} sure.`,
    strength(epsilon),
  ];
}

function strength(epsilon) {
  if (epsilon <= 0.5) return "That is strong: a report by itself says next to nothing; only many together do.";
  if (epsilon <= 2) return "That is the usual range: a report is a weak hint, many reports together give a clear picture.";
  if (epsilon <= 5) return "That is weak for a sensitive question: a report is a fair hint at the value behind it.";
  return "That is very weak: a report usually lies close to the value behind it. Use it for harmless questions only.";
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
    row.append(...cells.map((text) => Object.assign(document.createElement("td"), { textContent: text })));
    return row;
  };
  table.tBodies[0].replaceChildren(...(content.length ? content : [[empty, ...Array(table.rows[0].cells.length - 1).fill("")]]).map(line));
}
