/**
 * The address of a collector in one spelling, so that one collector is not taken for several: `HTTPS://C.Example:443/`
 * and `https://c.example` are the same one, and so are `127.1`, `localhost` and `[::1]`. What could be read in more than
 * one way is refused. Mirrors sottovoce/device/address.py, on the same vectors.
 */
import { ArgumentError } from "./errors.js";

const ADDRESS = new RegExp(
  "^(https?)://([^\\x00-\\x20\\x7f/?#@:%\\\\\\[\\]]+|\\[[0-9a-f:.]+\\])(?::([0-9]{1,9}))?((?:/[a-z0-9_~-][a-z0-9._~-]*)*)/*$", "i",
);
const NAME = /^[a-z0-9_-]{1,63}(\.[a-z0-9_-]{1,63})*$/;
const NUMBER_LAST = /(^|\.)([0-9]+|0x[0-9a-f]*)$/; // 127.1, 0x7f.1 and 2130706433 are addresses
const AMBIGUOUS = /[ßẞς\u200c\u200d]/; // which standards for international names read differently
const PORTS = { http: 80, https: 443 };

/** What to send requests to, and the one spelling. */
export function readOrigin(url) {
  const match = ADDRESS.exec(String(url));
  const scheme = match && match[1].toLowerCase();
  const host = match && hostOf(match[2]);
  const port = match && Number(match[3] || PORTS[scheme]);
  if (!host || !(port > 0 && port < 65536)) {
    // What was given may hold a user name and a password, so it is not repeated here.
    throw new ArgumentError(
      "url must be like https://collector.example:8443/folder, without user name, query or fragment",
      { code: "form", argument: "url" },
    );
  }
  const end = `${port === PORTS[scheme] ? "" : `:${port}`}${match[4]}`;
  const local = host === "[::1]" || host.startsWith("127.") || host.endsWith(".localhost");
  return { address: `${scheme}://${host}${end}`, name: `${scheme}://${local ? "localhost" : host}${end}` };
}

/** A host as browsers write it, or null: lower-case, international names in ASCII, addresses in numbers. */
function hostOf(text) {
  let host = text.toLowerCase().replace(/\.$/, "");
  const bytes = host.split(".");
  const isAddress = bytes.length === 4 && bytes.every((byte) => String(byte & 255) === byte);
  if (!NAME.test(host) || (NUMBER_LAST.test(host) && !isAddress)) {
    try { // React Native's URL does not bring hosts into one spelling: there, these are refused
      if (new URL("http://0x7f.1/").hostname !== "127.0.0.1") return null;
      host = new URL(`http://${text}/`).hostname.replace(/\.$/, "");
    } catch (error) {
      return null;
    }
  }
  const mapped = /^\[::ffff:([0-9a-f]+):([0-9a-f]+)\]$/.exec(host);
  if (mapped) {
    const halves = mapped.slice(1).map((half) => Number.parseInt(half, 16));
    host = halves.map((half) => `${half >> 8}.${half & 255}`).join(".");
  }
  if (host === "[::]" || host === "0.0.0.0" || AMBIGUOUS.test(text)) return null;
  return host.startsWith("[") || NAME.test(host) ? host : null;
}

/** A campaign's path. */
export const campaignPath = (campaign) =>
  `/v1/campaigns/${encodeURIComponent(campaign).replace(/[!'()*]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`)}`;
