/**
 * What a campaign asks of a person: a reporter, and the rules for values that are missing (null, NaN, infinite) or
 * outside. A client that stayed silent because of a value would tell something about it, so every value is reported; what
 * cannot be an answer at all, undefined too, is an error of the program, found before anything is drawn. Mirrors
 * sottovoce/device/inquiry.py.
 */
import { ArgumentError, ArgumentTypeError, DataError, about } from "./errors.js";
import { randomWord } from "./random.js";
import { Domain } from "./domain.js";
import { checkCells } from "./reporter.js";

export class Inquiry {
  /** `missing` is "uniform" or a number, for all questions or by name; `outside` is "clip" or "missing". */
  constructor(reporter, missing, outside) {
    const inputs = [...reporter.inputs];
    const byName = missing !== null && typeof missing === "object";
    if (byName && (Object.keys(missing).length !== inputs.length || !inputs.every(([name]) => name in missing))) {
      throw new ArgumentError("missing must have a rule for each question", { code: "lacking", argument: "missing" });
    }
    this.reporter = reporter;
    this.several = !reporter.inputs.has("value") || inputs.length > 1;
    this.asked = inputs.map(([name, domain]) => ({ name, domain, missing: byName ? missing[name] : missing }));
    this.outside = outside;
    for (const one of this.asked) {
      if (one.missing !== "uniform" && !(one.domain instanceof Domain && one.domain.contains(one.missing))) {
        const code = typeof one.missing === "number" ? "range" : "choice";
        throw new ArgumentError("missing must be a number inside the domain, or uniform", { code, argument: "missing" });
      }
    }
    if (!["clip", "missing"].includes(outside)) {
      throw new ArgumentError("outside must be clip or missing", { code: "choice", argument: "outside" });
    }
  }

  /** How many different reports there are. */
  get outcomes() {
    const ways = [1, ...new Array(this.reporter.width).fill(0)]; // ways[j]: reports of j questions among those seen
    for (const { cells } of this.reporter.questions.values()) {
      for (let j = this.reporter.width; j > 0; j -= 1) ways[j] += ways[j - 1] * cells;
    }
    return ways.pop();
  }

  /** The value of each question in order, after the rule for values outside; null where it is missing. */
  judge(value) {
    const clip = this.outside === "clip";
    return this.byQuestion(value).map((one, i) => {
      const { name, domain } = this.asked[i];
      try {
        return one === null ? null : domain.judge(one, clip);
      } catch (error) {
        throw this.several ? about(error, `question ${name}`, name) : error;
      }
    });
  }

  /** The same for many people; the first whose value cannot be an answer is refused by index, and nobody is drawn. */
  judgeAll(values) {
    if (!Array.isArray(values) && !(ArrayBuffer.isView(values) && "length" in values)) {
      throw new ArgumentTypeError("values must be an array with one for each person", { argument: "values" });
    }
    if (!values.length) throw new DataError("values must not be empty", { code: "no_data", argument: "values" });
    return Array.from(values, (value, i) => {
      try {
        return this.judge(value);
      } catch (error) {
        throw about(error, `the one at index ${i}`, "values");
      }
    });
  }

  byQuestion(value) {
    if (!this.several) return [value];
    if (value === null) return this.asked.map(() => null);
    return this.reporter.inOrder(value);
  }

  /** Values that can all be randomised: what is missing has its stand-in. */
  fill(values, next = randomWord) {
    return values.map((value, i) => {
      const { missing, domain } = this.asked[i];
      if (value !== null) return value;
      return missing === "uniform" ? domain.spread(next) : missing;
    });
  }

  /** One exact draw of judged values: the cells of a report. */
  draw(values, next = randomWord) {
    const ready = this.fill(values, next);
    return checkCells([].concat(this.reporter.draw(this.several ? ready : ready[0], next)), this.reporter.cells);
  }

  /** What cells stand for. */
  decode(cells) {
    return this.reporter.decode(this.several ? cells : cells[0]);
  }
}
