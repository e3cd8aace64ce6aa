/** What goes over the wire: one request that is repeated until it is answered, always the same bytes. */
import { CollectorError } from "./errors.js";
import { checkCells } from "./reporter.js";

const BINARY = "application/vnd.sottovoce.cells";
const LONGEST_WAIT = 30; // seconds, whatever Retry-After says
const BEAT = 0.25; // seconds

/** The body of reports, always the same bytes for the same ones; its length tells nothing about the cells. */
export function body({ digest, reports }, { cells, width, cellBytes }) {
  for (const report of reports) checkCells(report, cells);
  if (reports.length === 1) {
    const [report] = reports;
    const most = String(cells - 1).length * width;
    const padding = " ".repeat(most - report.reduce((length, cell) => length + String(cell).length, 0));
    const content = JSON.stringify({ digest, cells: width > 1 ? reports : report });
    return { type: "application/json", content: content + padding };
  }
  const bytes = new Uint8Array(32 + reports.length * width * cellBytes);
  for (let i = 0; i < 32; i += 1) bytes[i] = Number.parseInt(digest.slice(2 * i, 2 * i + 2), 16);
  let at = 32;
  for (const report of reports) {
    for (let cell of report) {
      for (let k = 0; k < cellBytes; k += 1, cell = Math.floor(cell / 256)) bytes[at++] = cell % 256;
    }
  }
  return { type: BINARY, content: bytes };
}

const seconds = () => (typeof performance === "undefined" ? Date.now() : performance.now()) / 1000;

/**
 * A promise for a moment that is fixed now, before a value is looked at: a whole number of quarter seconds from here.
 * When a report leaves does not tell how long randomising took.
 */
export function beat(wait) {
  const start = seconds();
  return () => wait(BEAT - ((seconds() - start) % BEAT));
}

/**
 * One request and its JSON answer. Without an answer, or told to come back later, it is repeated as it is;
 * any other refusal is final.
 */
export async function request(url, { fetch, attempts, timeout, wait }, options = {}) {
  for (let attempt = 1; ; attempt += 1) {
    const { answer, error, after } = await once(url, fetch, timeout, options);
    if (!error) return answer;
    if (!error.retryable || attempt >= attempts) throw error;
    const pause = 0.25 * 2 ** attempt * (0.5 + Math.random()); // so that those who wait do not come back together
    await wait(Math.min(after === undefined ? pause : Math.max(after, pause), LONGEST_WAIT));
  }
}

/** One try, of which head and body together take no longer than the timeout. */
async function once(url, fetch, timeout, options) {
  const stop = new AbortController();
  let alarm;
  const late = new Promise((_, fail) => {
    alarm = setTimeout(() => {
      stop.abort();
      fail(new Error(`no whole answer within ${timeout} seconds`));
    }, timeout * 1000);
  });
  let response, text;
  try {
    const sent = fetch(url, {
      ...options,
      cache: "no-store",
      credentials: "omit",
      redirect: "error",
      referrerPolicy: "no-referrer",
      signal: stop.signal,
    });
    response = await Promise.race([sent, late]);
    text = await Promise.race([response.text(), late]);
  } catch (cause) {
    return { error: new CollectorError("the collector could not be reached", { retryable: true, cause }) };
  } finally {
    clearTimeout(alarm);
  }
  let content = null;
  try {
    content = JSON.parse(text);
  } catch (error) {
    // Not the collector's own answer: a proxy's page, perhaps.
  }
  const isObject = content !== null && typeof content === "object" && !Array.isArray(content);
  if (response.ok && isObject) return { answer: content };
  const { code = "unknown", message, field = null } = isObject ? content : {};
  const { status } = response;
  const error = new CollectorError(
    message || `the collector's answer cannot be read (status ${status})`,
    { status, code, argument: field, retryable: status === 429 || status >= 500 || response.ok },
  );
  const after = Number.parseFloat(response.headers.get("retry-after"));
  return { error, after: after >= 0 ? after : undefined };
}
