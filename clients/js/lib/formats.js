/** Reading a spec that anybody may have written: a table from its format to what reads, counts and runs it. */
import { SpecError } from "./errors.js";
import { productOfLargest } from "./exact.js";
import { parse } from "./json.js";
import { WindowLaw, windowsRatio } from "./mechanism.js";
import { Polar, readPolar } from "./polar.js";
import { counted } from "./reporter.js";
import { RowsLaw, readRows, rowsRatio } from "./rows.js";
import { Scalar } from "./scalar.js";
import { sha256 } from "./sha256.js";
import { readMixture, readWindow } from "./spec.js";
import { Survey, readSurvey } from "./survey.js";
import { Translates, readTranslates, translatesRatio } from "./translates.js";
import { rule } from "./window.js";

const MAX_BYTES = 1 << 22; // of a spec that is not a table or a survey
const WINDOW = {
  read: readWindow, ratio: windowsRatio, build: (content) => new Scalar(content, new WindowLaw(content)),
};
const FORMATS = new Map([
  ["window/1", WINDOW],
  ["mixture/1", { ...WINDOW, read: readMixture }],
  ["rows/1", { read: readRows, ratio: rowsRatio, build: (content) => new Scalar(content, new RowsLaw(content)) }],
  ["translates/1", { read: readTranslates, ratio: translatesRatio, build: (content) => new Translates(content) }],
  ["polar/1", {
    read: readPolar,
    ratio: ({ specs }) => productOfLargest(specs.map((spec) => WINDOW.ratio(readWindow(spec))), 2),
    build: (content) => new Polar(content, content.specs.map((spec) => WINDOW.build(readWindow(spec)))),
  }],
  ["survey/1", {
    read: readSurvey,
    ratio: ({ specs, sampled }) => productOfLargest(specs.map((spec) => opened(spec, QUESTIONS, "ratio").result), sampled),
    build: (content) => new Survey(content, content.specs.map((spec) => opened(spec, QUESTIONS, "build").result)),
  }],
]);
const QUESTIONS = [...FORMATS.keys()].filter((format) => format !== "survey/1");

const TASKED = ["window/1", "mixture/1", "rows/1"]; // what may say which question it was made for
const TASK = "[a-z][a-z ]{0,30}";
const WRITTEN_TASK = new RegExp(`,"task":"${TASK}"`, "g");

/** The digest of a spec: SHA-256 of its canonical text without the task that it says it was made for. */
export function specDigest(text) {
  return sha256(text.replace(WRITTEN_TASK, ""));
}

function withoutTask(spec) {
  const content = new Map(spec);
  if (TASKED.includes(spec.get("format"))) content.delete("task");
  return content;
}

/** What a parsed spec claims, and what `step` makes of it. */
function opened(spec, formats, step) {
  rule(spec instanceof Map, "spec must be an object", "spec");
  const name = spec.get("format");
  rule(formats.includes(name), `format must be ${formats.join(" or ")}`, "format");
  const task = spec.get("task");
  rule(step === "ratio" || !spec.has("task") || (typeof task === "string" && new RegExp(`^${TASK}$`).test(task)), "task must be a few lowercase letters", "task");
  const format = FORMATS.get(name);
  const content = format.read(withoutTask(spec));
  return { claimed: content.epsilon, result: format[step](content) };
}

function read(text, step) {
  const spec = parse(text);
  const large = spec instanceof Map && ["rows/1", "survey/1"].includes(spec.get("format"));
  if (text.length > MAX_BYTES && !large) throw new SpecError(`a spec must be at most ${MAX_BYTES} bytes, got ${text.length}`, { code: "too_large" });
  return opened(spec, [...FORMATS.keys()], step);
}

/** Read a spec; refused unless its counts give the ε it claims. */
export function fromJson(text) {
  return read(text, "build").result;
}

/** The exact ε of a spec, without believing what it claims; refused as fromJson refuses it, but for the claim. */
export function audit(text) {
  const { claimed, result } = read(text, "ratio");
  try {
    fromJson(text);
  } catch (error) {
    if (error.argument !== "epsilon") throw error;
  }
  return counted(result, claimed);
}
