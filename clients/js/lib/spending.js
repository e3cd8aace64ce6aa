/** ε as money: exact fractions [numerator, denominator], so that three times 0.1 is 0.3. Mirrors exact/spending.py. */
import { ArgumentError, ArgumentTypeError, BudgetError } from "./errors.js";
import { decimalOf, reduced } from "./exact.js";

const [ZERO, ONE, TEN] = [0, 1, 10].map(BigInt);
const MOST = 16000000; // of a budget
const WRITTEN = /^([0-9]{1,60})(?:\.([0-9]{1,30}))?(?:[eE]([-+]?[0-9]{1,3}))?$/;

export const NOTHING = [ZERO, ONE];
export const plus = ([a, b], [c, d]) => reduced([a * d + c * b, b * d]);
export const minus = (one, [c, d]) => plus(one, [-c, d]);
export const times = ([a, b], count) => reduced([a * BigInt(count), b]);
export const isMore = ([a, b], [c, d]) => a * d > c * b;
export const larger = (one, other) => (isMore(one, other) ? one : other);
export const write = ([a, b]) => (b === ONE ? String(a) : `${a}/${b}`);

/** The decimal that a double prints as, which is what people agree to. */
export const asWritten = (number) => reduced(decimalOf(number));

/** A budget: a number, which means the decimal that it prints as, or a text such as "1.5" or "1/3". */
export function readAmount(budget) {
  if (typeof budget !== "number" && typeof budget !== "string") {
    throw new ArgumentTypeError("budget must be a number, or a text such as 3/2", { argument: "budget" });
  }
  const amount = typeof budget === "number" && budget > 0 && Number.isFinite(budget) ? asWritten(budget) : parsed(String(budget));
  if (amount === null || !isMore(amount, NOTHING) || isMore(amount, [BigInt(MOST), ONE])) {
    throw new ArgumentError(`budget must be positive and at most ${MOST}, got budget=${budget}`, { argument: "budget" });
  }
  return amount;
}

function parsed(text) {
  const ratio = /^([0-9]{1,60})\/([0-9]{1,60})$/.exec(text);
  if (ratio) return BigInt(ratio[2]) === ZERO ? null : reduced([BigInt(ratio[1]), BigInt(ratio[2])]);
  const match = WRITTEN.exec(text);
  if (!match) return null;
  const [, whole, part = "", power = "0"] = match;
  const exponent = Number(power) - part.length;
  const digits = BigInt(whole + part);
  return reduced(exponent >= 0 ? [digits * TEN ** BigInt(exponent), ONE] : [digits, TEN ** BigInt(-exponent)]);
}

/** Refuse what a budget does not hold. */
export function afford(price, spent, budget, what) {
  if (isMore(plus(spent, price), budget)) {
    const left = write(minus(budget, spent));
    throw new BudgetError(`${what} needs epsilon=${write(price)}, but ${left} is left of the budget of ${write(budget)}; nothing was spent`);
  }
}
