/** Reading a spec that anybody may have written: a table from its format to what reads it and what runs it. */
import { parse } from "./json.js";
import { Mechanism } from "./mechanism.js";
import { sha256 } from "./random.js";
import { counted } from "./reporter.js";
import { Rows, readRows } from "./rows.js";
import { readMixture, readWindow } from "./spec.js";
import { rule } from "./window.js";

const FORMATS = new Map([
  ["window/1", { read: readWindow, Reporter: Mechanism }],
  ["mixture/1", { read: readMixture, Reporter: Mechanism }],
  ["rows/1", { read: readRows, Reporter: Rows }],
]);

const TASK = "[a-z][a-z ]{0,30}";
const WRITTEN_TASK = new RegExp(`,"task":"${TASK}"`, "g");

/** The digest of a spec: SHA-256 of its canonical text without the task that it says it was made for. */
export function specDigest(text) {
  return sha256(text.replace(WRITTEN_TASK, ""));
}

function withoutTask(spec) {
  const content = new Map(spec);
  const task = content.get("task");
  rule(!content.has("task") || (typeof task === "string" && new RegExp(`^${TASK}$`).test(task)), "task must be a few lowercase letters", "task");
  content.delete("task");
  return content;
}

function open(text) {
  const spec = parse(text);
  rule(spec instanceof Map, "spec must be an object", "spec");
  const format = FORMATS.get(spec.get("format"));
  rule(format, `format must be ${[...FORMATS.keys()].join(" or ")}`, "format");
  return { content: format.read(withoutTask(spec)), Reporter: format.Reporter };
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
