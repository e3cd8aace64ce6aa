/**
 * What can go wrong, in words for people (argument, rule, value; about people's data never the value itself) and
 * for programs: a `code`, and the `argument` that it is about, or null.
 */

const coded = (Base, code) => class extends Base {
  constructor(message, options = {}) {
    super(message, options);
    this.name = new.target.name;
    this.code = options.code ?? code;
    this.argument = options.argument ?? null;
  }
};

/** An argument has the wrong type. */
export class ArgumentTypeError extends coded(TypeError, "type") {}

/** A mechanism's JSON spec is malformed or its numbers contradict each other. */
export class SpecError extends coded(Error, "spec") {}

/** The integer counts do not give the ε that is claimed, or more than was agreed to. */
export class PrivacyError extends coded(Error, "privacy") {}

/** Values that a mechanism cannot take. */
export class DataError extends coded(Error, "data") {}

/** What the collector answered instead of accepting; `argument` is the field that it names. */
export class CollectorError extends coded(Error, "unreachable") {
  constructor(message, { status = 0, retryable = false, ...options } = {}) {
    super(message, options);
    Object.assign(this, { status, retryable });
  }
}
