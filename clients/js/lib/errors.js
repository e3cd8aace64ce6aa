/** What can go wrong, in words: argument, rule, value. About people's data never the value itself. */

class Named extends Error {
  constructor(message, options) {
    super(message, options);
    this.name = new.target.name;
  }
}

/** A mechanism's JSON spec is malformed or its numbers contradict each other. */
export class SpecError extends Named {}

/** The integer counts do not give the ε that is claimed, or more than was agreed to. */
export class PrivacyError extends Named {}

/** Values that a mechanism cannot take. */
export class DataError extends Named {}

/** What the collector answered instead of accepting: its status, code and field. */
export class CollectorError extends Named {
  constructor(message, { status = 0, code = "", field = null, retryable = false, cause } = {}) {
    super(message, { cause });
    Object.assign(this, { status, code, field, retryable });
  }
}
