/**
 * Several questions within one ε: `survey/1`. Questions drawn by lot are answered; the cells of all of them lie one
 * after the other in one range. Mirrors sottovoce/reporters/composites/survey.py.
 */
import { hide } from "./domain.js";
import { ArgumentTypeError, DataError, about } from "./errors.js";
import { productOfLargest } from "./exact.js";
import { Functions, readFunctions } from "./functions.js";
import { isPrintable } from "./options.js";
import { randomWord } from "./random.js";
import { Reporter, checkCell, outside } from "./reporter.js";
import { integer, keys, list, real } from "./spec.js";
import { rule } from "./window.js";

const MAX_QUESTIONS = 256;
const MAX_NAME = 64;
const MAX_CELLS = 1 << 24;

/** The questions of a parsed spec, and how many of them are answered. */
export function readSurvey(spec) {
  const [more, each] = spec.has("inputs") ? [["inputs", "weights"], ["function", "of"]] : [[], []];
  keys(spec, ["epsilon", "format", "questions", "sampled", ...more], "spec");
  const epsilon = real(spec.get("epsilon"), "epsilon");
  const questions = list(spec.get("questions"), "questions");
  for (const one of questions) keys(one, ["name", "spec", ...each], "questions");
  const names = questions.map((one) => one.get("name"));
  checkNames(names, "questions");
  const sampled = integer(spec.get("sampled"), "sampled");
  rule(sampled >= 1 && sampled <= names.length, `sampled must be a whole number between 1 and ${names.length}`, "sampled");
  return { epsilon, sampled, names, functions: readFunctions(spec, checkNames), specs: questions.map((one) => one.get("spec")) };
}

function checkNames(names, what) {
  rule(names.length >= 1 && names.length <= MAX_QUESTIONS, `a survey has 1 to ${MAX_QUESTIONS} ${what}`, what);
  rule(names.every((name) => isPrintable(name, MAX_NAME)), `names of ${what} must be 1 to ${MAX_NAME} printable characters`, what);
  rule(new Set(names).size === names.length, `two ${what} have the same name`, what);
}

export class Survey extends Reporter {
  constructor({ epsilon, sampled, names, functions }, reporters) {
    const cells = reporters.reduce((sum, one) => sum + one.cells, 0);
    rule(cells <= MAX_CELLS, `the questions must have at most ${MAX_CELLS} cells in all`, "questions");
    super(epsilon, productOfLargest(reporters.map(({ audit }) => audit.ratio), sampled), cells, sampled);
    this.sampled = sampled;
    let end = 0;
    const parts = reporters.map((reporter, i) => ({ name: names[i], reporter, offset: end, end: (end += reporter.cells) }));
    hide(this, "parts", parts);
    hide(this, "functions", functions && new Functions(functions, reporters));
    Object.freeze(this);
  }

  get questions() {
    return new Map(this.parts.map(({ name, reporter }) => [name, reporter]));
  }

  /** Where the values lie that a person gives, by name: by question, or the inputs of functions. */
  get inputs() {
    return this.functions ? this.functions.inputs : new Map(this.parts.map(({ name, reporter }) => [name, reporter.domain]));
  }

  /** Randomise one person's answers, by name or in order: a row of `width` increasing integers. */
  report(values, { clip = false } = {}) {
    return this.draw(this.checked(values, clip), randomWord);
  }

  /** The answers in order, each in its domain. Every one is looked at: a refusal must not depend on the lot. */
  checked(values, clip = false) {
    const inputs = this.functions ? [...this.functions.inputs.values()] : null;
    return this.inOrder(values).map((value, i) => {
      if (inputs) return inside(inputs[i], value, clip);
      const { name, reporter } = this.parts[i];
      try {
        return reporter.checked(value, clip);
      } catch (error) {
        if (!(error instanceof DataError)) throw error;
        throw about(error, `question ${name}`, name);
      }
    });
  }

  /** Values by name (an object or a Map) or in order, as a list in order. */
  inOrder(values) {
    const names = [...this.inputs.keys()];
    if (Array.isArray(values) && values.length === names.length) return Array.from(values); // a hole is undefined then
    const isObject = values !== null && typeof values === "object" && !Array.isArray(values);
    const given = values instanceof Map ? values : new Map(isObject ? Object.entries(values) : []);
    if (!isObject || given.size !== names.length || !names.every((name) => given.has(name))) {
      throw new ArgumentTypeError(`value must be ${names.length} values (null: missing), by name or in order`, { argument: "value" });
    }
    return names.map((name) => given.get(name));
  }

  /** Every answer is randomised, also those that are not sent; of functions the one that the lot names. */
  draw(values, next) {
    if (this.functions) {
      const one = this.functions.lot(next);
      const { reporter, offset } = this.parts[one];
      return [offset + reporter.draw(this.functions.answer(one, values, next), next)];
    }
    const lot = this.lot(next);
    const cells = this.parts.map(({ reporter, offset }, i) => offset + reporter.draw(values[i], next));
    return cells.filter((_, i) => lot[i]);
  }

  /** Which questions are answered: those of the least keys, one random word for each. */
  lot(next) {
    const count = this.parts.length;
    if (this.sampled === count) return this.parts.map(() => true);
    const keyed = this.parts.map((_, i) => ({ i, hi: next(), lo: next() }));
    keyed.sort((one, other) => one.hi - other.hi || one.lo - other.lo || one.i - other.i);
    const chosen = new Array(count).fill(false);
    for (const { i } of keyed.slice(0, this.sampled)) chosen[i] = true;
    return chosen;
  }

  /** What a report stands for: the values of the questions that it answers, by name. */
  decode(cells) {
    if (!Array.isArray(cells) || cells.length !== this.width) {
      throw new DataError(`a report must be ${this.width} cells`, { code: "width", argument: "cells" });
    }
    let before = -1;
    return new Map(cells.map((cell) => {
      checkCell(cell, this.cells);
      const i = this.parts.findIndex(({ end }) => cell < end);
      if (i <= before) throw new DataError("a report must answer different questions in order", { code: "questions", argument: "cells" });
      before = i;
      const { name, reporter, offset } = this.parts[i];
      return [name, reporter.decode(cell - offset)];
    }));
  }
}

function inside(domain, value, clip) {
  const judged = domain.judge(value, clip);
  if (judged === null) throw outside();
  return judged;
}
