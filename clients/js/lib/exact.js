/**
 * Exact arithmetic: a rational lower bound of e^ε, and the logarithm of a ratio. The same integers as
 * sottovoce/exact/rational_bounds.py; a fraction is a pair [numerator, denominator] of BigInts. Nothing here is on the
 * sampling path. BigInts are made by calls: their literals are younger than the syntax that this package keeps to.
 */
const [ZERO, ONE, TWO, TEN] = [0, 1, 2, 10].map(BigInt);
const BITS = BigInt(160); // denominators of the bounds are 2^160
const WORK = BigInt(256); // bits carried while computing them
const HALF_WORD = BigInt(32);

const bitLength = (n) => (n > ZERO ? n.toString(2).length : 0);
const less = ([a, b], [c, d]) => a * d < c * b;

/** The leading and the trailing 32 bits of a double. */
function halves(number) {
  const view = new DataView(new ArrayBuffer(8));
  view.setFloat64(0, number);
  return [view.getUint32(0), view.getUint32(4)];
}

/** A finite double ≥ 0, exactly. */
export function fractionOf(number) {
  const [high, low] = halves(number);
  const exponent = (high >>> 20) & 0x7ff;
  const lead = (high & 0xfffff) + (exponent ? 0x100000 : 0);
  const mantissa = (BigInt(lead) << HALF_WORD) + BigInt(low);
  const shift = (exponent || 1) - 1075;
  return shift >= 0 ? [mantissa << BigInt(shift), ONE] : [mantissa, ONE << BigInt(-shift)];
}

/** The decimal that a double ≥ 0 prints as, exactly. */
export function decimalOf(number) {
  const [, whole, part = "", power = "0"] = /^(\d+)(?:\.(\d+))?(?:e([-+]\d+))?$/.exec(String(number));
  const exponent = BigInt(power.replace("+", "")) - BigInt(part.length);
  const digits = BigInt(whole + part);
  return exponent >= ZERO ? [digits * TEN ** exponent, ONE] : [digits, TEN ** -exponent];
}

/** The smaller of the double and the decimal it prints as: 0.1 means no more than one tenth. */
export function rationalEpsilon(epsilon) {
  const exactly = fractionOf(epsilon);
  const printed = decimalOf(epsilon);
  return less(printed, exactly) ? printed : exactly;
}

/**
 * q ≤ e^x for a fraction x ≥ 0, as [numerator, 2^160]: Taylor's series in fixed point at x/2^k, squared k
 * times. Every term is positive and every operation rounds down.
 */
export function expLower([numerator, denominator]) {
  const halvings = BigInt(bitLength((numerator + denominator - ONE) / denominator) + 4);
  const work = WORK + TWO * halvings;
  const x = (numerator << work) / denominator >> halvings;
  let term = ONE << work;
  let total = term;
  for (let n = ONE; term; n += ONE) {
    term = ((term * x) >> work) / n;
    total += term;
  }
  for (let i = ZERO; i < halvings; i += ONE) total = (total * total) >> work;
  return [total >> (work - BITS), ONE << BITS];
}

/** Whether a ratio of at least 1 is at most e^ε, in integers. */
export function atMostExp(ratio, epsilon) {
  if (!(epsilon > 0)) return false;
  if (epsilon >= bitLength(ratio[0])) return true; // ratio < 2^ε, and the series of a huge ε would never end
  return !less(expLower(rationalEpsilon(epsilon)), ratio);
}

/** The least double ε with ratio ≤ e^ε: comparing it with another double decides as the integers do. */
export function logUpper(ratio) {
  let epsilon = cutLog(ratio);
  while (less(expLower(rationalEpsilon(epsilon)), ratio)) epsilon = nextUp(epsilon);
  return epsilon;
}

/** The double after a finite one ≥ 0. */
function nextUp(number) {
  const [high, low] = halves(number);
  const view = new DataView(new ArrayBuffer(8));
  view.setUint32(0, low === 0xffffffff ? high + 1 : high);
  view.setUint32(4, low + 1); // modulo 2^32
  return view.getFloat64(0);
}

/**
 * The logarithm of a ratio ≥ 1, cut to 53 bits: a first guess y from leading bits, and what is left,
 * ln(ratio / e^y), by two terms of its series in fixed point.
 */
function cutLog([numerator, denominator]) {
  const [[p, a], [d, b]] = [numerator, denominator].map(leading);
  const guess = Math.max(0, Math.log(p / d) + (a - b) * Math.LN2);
  const [q] = expLower(fractionOf(guess));
  const one = ONE << BITS;
  const rest = (numerator << (TWO * BITS)) / (denominator * q) - one;
  const [high, scale] = fractionOf(guess);
  const [total, cut] = leading((high << BITS) / scale + rest - (rest * rest) / (TWO * one));
  return total * 2 ** (cut - Number(BITS));
}

/** The leading 53 bits of an integer, and how many follow: Hermes does not round longer ones as it should. */
function leading(n) {
  const cut = Math.max(0, bitLength(n) - 53);
  return [Number(n >> BigInt(cut)), cut];
}

/** The larger of two ratios. */
export const largerRatio = (one, other) => (other[0] * one[1] > one[0] * other[1] ? other : one);

/** The product of the `count` largest of some ratios: that of a report which answers any `count` of them. */
export function productOfLargest(ratios, count) {
  const sorted = [...ratios].sort((one, other) => (less(one, other) ? 1 : less(other, one) ? -1 : 0));
  return reduced(sorted.slice(0, count).reduce(([a, b], [c, d]) => [a * c, b * d], [ONE, ONE]));
}

/** A ratio in lowest terms. */
export function reduced([numerator, denominator]) {
  let [a, b] = [numerator, denominator];
  while (b) [a, b] = [b, a % b];
  return [numerator / a, denominator / a];
}
