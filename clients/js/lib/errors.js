/**
 * What can go wrong, in words for people (argument, rule, value; about people's data never the value itself) and
 * for programs: a `code`, and the `argument` that it is about, or null.
 */

/** A kind of error. Its name is written out: what minifies programs renames classes. */
const coded = (Base, name, usual) => class extends Base {
  constructor(message, { code = usual, argument = null, cause } = {}) {
    super(message);
    Object.assign(this, { name, code, argument });
    if (cause !== undefined) this.cause = cause;
  }
};

/** An argument has a value that it must not have. */
export class ArgumentError extends coded(RangeError, "ArgumentError", "range") {}

/** An argument has the wrong type. */
export class ArgumentTypeError extends coded(TypeError, "ArgumentTypeError", "type") {}

/** A spec is malformed or its numbers contradict each other. */
export class SpecError extends coded(Error, "SpecError", "spec") {}

/** The integer counts do not give the ε that is claimed, or more than was agreed to. */
export class PrivacyError extends coded(Error, "PrivacyError", "privacy") {}

/** Values or cells that a reporter cannot take. */
export class DataError extends coded(Error, "DataError", "data") {}

/** Spending would exceed the budget; nothing was spent. */
export class BudgetError extends coded(Error, "BudgetError", "budget") {}

/** A ledger that cannot be trusted or written: nothing may be sent. */
export class LedgerError extends coded(Error, "LedgerError", "ledger") {}

/** What the collector answered instead of accepting; `argument` is the field that it names. */
export class CollectorError extends coded(Error, "CollectorError", "unreachable") {
  constructor(message, { status = 0, retryable = false, ...options } = {}) {
    super(message, options);
    Object.assign(this, { status, retryable });
  }
}

/** The same error, of a part of what was given. */
export const about = (error, where, argument) => new error.constructor(`${where}: ${error.message}`, { code: error.code, argument });
