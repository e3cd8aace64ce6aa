/**
 * What reports: values in, integer cells out, within an ε that was counted. A kind of reporter adds
 *
 *     report(value), decode(report)
 *     draw(value, next)      the report of a value in the domain; next() gives uniform 32-bit words
 *
 * A draw takes 64-bit words, leading half first, in the order of docs/reference/client-formats.md.
 */
import { ArgumentTypeError, DataError, PrivacyError, SpecError } from "./errors.js";
import { atMostExp, logUpper } from "./exact.js";

const [MIN_EPSILON, MAX_EPSILON] = [1e-6, 16];

/** The largest ratio of the counts of what a spec says and its logarithm, against what is claimed. */
export function counted(ratio, claimed) {
  return Object.freeze({ ratio, epsilon: logUpper(ratio), claimed, holds: atMostExp(ratio, claimed) });
}

export class Reporter {
  constructor(epsilon, ratio, cells, width = 1) {
    if (!(epsilon >= MIN_EPSILON && epsilon <= MAX_EPSILON)) {
      throw new SpecError(`epsilon must be between ${MIN_EPSILON} and ${MAX_EPSILON}, got epsilon=${epsilon}`, { argument: "epsilon" });
    }
    const audit = counted(ratio, epsilon);
    if (!audit.holds) {
      throw new PrivacyError(`the counts give epsilon=${audit.epsilon}, more than the claimed epsilon=${epsilon}`, { argument: "epsilon" });
    }
    Object.assign(this, { audit, epsilon, cells, width });
  }

  /** The reporters of the questions by name; that of a single one is called "value". */
  get questions() {
    return new Map([["value", this]]);
  }

  /** Where the values lie that a person gives, by name. */
  get inputs() {
    return new Map([["value", this.domain]]);
  }

  /** Whether the exact ε is at most this one, in integers. */
  keeps(epsilon) {
    return atMostExp(this.audit.ratio, epsilon);
  }

  /** The report that given 64-bit words draw, as pairs of halves: for checks against other implementations. */
  reportFrom(words, value) {
    let at = 0;
    const report = this.draw(this.checked(value), () => words[at++]);
    if (!(words instanceof Uint32Array) || at !== words.length) {
      throw new ArgumentTypeError(`words must be a Uint32Array with ${at} entries`, { argument: "words" });
    }
    return report;
  }

  /** The bytes that one cell takes in a batch: 1, 2, 4 or 8. */
  get cellBytes() {
    return [1, 2, 4].find((bytes) => this.cells <= 2 ** (8 * bytes)) || 8;
  }
}

/** Refuse what is not a cell. */
export function checkCell(cell, cells) {
  if (!Number.isInteger(cell) || cell < 0 || cell >= cells) {
    throw new DataError(`cells must be whole numbers in 0..${cells - 1}`, { argument: "cell" });
  }
}

/** The same for a report, the last time before it is written down or sent. */
export function checkCells(report, cells) {
  report.forEach((cell) => checkCell(cell, cells));
  return report;
}

export const outside = () => new DataError("value must be a number in the domain", { code: "outside", argument: "value" });
