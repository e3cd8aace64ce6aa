/** Reading a spec that anybody may have written: a table from its format to what reads it and what runs it. */
import { parse } from "./json.js";
import { Mechanism } from "./mechanism.js";
import { counted } from "./reporter.js";
import { Rows, readRows } from "./rows.js";
import { readMixture, readWindow } from "./spec.js";
import { rule } from "./window.js";

const FORMATS = new Map([
  ["window/1", { read: readWindow, Reporter: Mechanism }],
  ["mixture/1", { read: readMixture, Reporter: Mechanism }],
  ["rows/1", { read: readRows, Reporter: Rows }],
]);

function open(text) {
  const spec = parse(text);
  rule(spec instanceof Map, "spec must be an object", "spec");
  const format = FORMATS.get(spec.get("format"));
  rule(format, `format must be ${[...FORMATS.keys()].join(" or ")}`, "format");
  return { content: format.read(spec), Reporter: format.Reporter };
}

/** Read a spec; refused unless its counts give the ε it claims. */
export function fromJson(text) {
  const { content, Reporter } = open(text);
  return new Reporter(content);
}

/** The exact ε of a spec, without believing what it claims. */
export function audit(text) {
  const { content, Reporter } = open(text);
  return counted(Reporter, content);
}
