/** What goes over the wire: one request that is repeated until it is answered, always the same bytes. */
import { CollectorError } from "./errors.js";

const BINARY = "application/vnd.sottovoce.cells";
const DIGITS = 7; // of the largest cell, 2^20 − 1
const LONGEST_WAIT = 30; // seconds, whatever Retry-After says

/** The body of a batch, always the same bytes for the same record; its length tells nothing about the cells. */
export function body({ digest, cells, width }) {
  if (cells.length === 1) {
    const padding = " ".repeat(DIGITS - String(cells[0]).length);
    return { type: "application/json", content: JSON.stringify({ digest, cells }) + padding };
  }
  const bytes = new Uint8Array(32 + cells.length * width);
  for (let i = 0; i < 32; i += 1) bytes[i] = Number.parseInt(digest.slice(2 * i, 2 * i + 2), 16);
  for (let i = 0; i < cells.length; i += 1) {
    for (let k = 0; k < width; k += 1) bytes[32 + i * width + k] = (cells[i] >>> (8 * k)) & 255;
  }
  return { type: BINARY, content: bytes };
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
    await wait(Math.min(after ?? 0.25 * 2 ** attempt, LONGEST_WAIT));
  }
}

async function once(url, fetch, timeout, options) {
  let response, text;
  try {
    response = await fetch(url, {
      ...options,
      cache: "no-store",
      credentials: "omit",
      redirect: "error",
      referrerPolicy: "no-referrer",
      signal: AbortSignal.timeout(timeout * 1000),
    });
    text = await response.text();
  } catch (cause) {
    return { error: new CollectorError("the collector could not be reached", { retryable: true, cause }) };
  }
  let content = null;
  try {
    content = JSON.parse(text);
  } catch {
    // Not the collector's own answer: a proxy's page, perhaps.
  }
  const isObject = content !== null && typeof content === "object";
  if (response.ok && isObject) return { answer: content };
  const { code = "unknown", message, field = null } = isObject ? content : {};
  const { status } = response;
  const error = new CollectorError(
    message ?? `the collector's answer cannot be read (status ${status})`,
    { status, code, argument: field, retryable: status === 429 || status >= 500 || response.ok },
  );
  const after = Number.parseFloat(response.headers.get("retry-after"));
  return { error, after: after >= 0 ? after : undefined };
}
