/**
 * Exact arithmetic: a rational lower bound of e^ε, and the logarithm of a ratio. The same integers as
 * sottovoce/core/exact.py; a fraction is a pair [numerator, denominator] of BigInts. Nothing here is on the
 * sampling path.
 */
const BITS = 160n; // denominators of the bounds are 2^160
const WORK = 256n; // bits carried while computing them

const bitLength = (n) => BigInt(n.toString(2).length) * (n > 0n ? 1n : 0n);
const less = ([a, b], [c, d]) => a * d < c * b;

/** A finite double ≥ 0, exactly. */
export function fractionOf(number) {
  const view = new DataView(new ArrayBuffer(8));
  view.setFloat64(0, number);
  const bits = view.getBigUint64(0);
  const exponent = (bits >> 52n) & 0x7ffn;
  const low = bits & ((1n << 52n) - 1n);
  const mantissa = exponent ? low | (1n << 52n) : low;
  const shift = (exponent || 1n) - 1075n;
  return shift >= 0n ? [mantissa << shift, 1n] : [mantissa, 1n << -shift];
}

/** The decimal that a double prints as, exactly. */
function decimalOf(number) {
  const [, whole, part = "", power = "0"] = /^(\d+)(?:\.(\d+))?(?:e([-+]\d+))?$/.exec(String(number));
  const exponent = BigInt(power.replace("+", "")) - BigInt(part.length);
  const digits = BigInt(whole + part);
  return exponent >= 0n ? [digits * 10n ** exponent, 1n] : [digits, 10n ** -exponent];
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
  const halvings = bitLength((numerator + denominator - 1n) / denominator) + 4n;
  const work = WORK + 2n * halvings;
  const x = (numerator << work) / denominator >> halvings;
  let term = 1n << work;
  let total = term;
  for (let n = 1n; term; n += 1n) {
    term = ((term * x) >> work) / n;
    total += term;
  }
  for (let i = 0n; i < halvings; i += 1n) total = (total * total) >> work;
  return [total >> (work - BITS), 1n << BITS];
}

/** Whether a ratio of integers up to 2^53 is at most e^ε, in integers. */
export function atMostExp(ratio, epsilon) {
  if (!(epsilon > 0)) return false;
  if (epsilon >= 37) return true; // 2^53 < e^37, and the series of a huge ε would never end
  return !less(expLower(rationalEpsilon(epsilon)), ratio);
}

/** The least double ε with ratio ≤ e^ε: comparing it with another double decides as the integers do. */
export function logUpper(ratio) {
  let epsilon = nearestLog(ratio);
  while (less(expLower(rationalEpsilon(epsilon)), ratio)) epsilon = nextUp(epsilon);
  return epsilon;
}

/** The double after a finite one ≥ 0. */
function nextUp(number) {
  const view = new DataView(new ArrayBuffer(8));
  view.setFloat64(0, number);
  view.setBigUint64(0, view.getBigUint64(0) + 1n);
  return view.getFloat64(0);
}

/**
 * The logarithm of a ratio ≥ 1 of integers up to 2^53, rounded to the nearest double: a first guess y, and
 * what is left, ln(ratio / e^y), by two terms of its series in fixed point.
 */
function nearestLog([numerator, denominator]) {
  const guess = Math.max(0, Math.log(Number(numerator) / Number(denominator)));
  const [q] = expLower(fractionOf(guess));
  const one = 1n << BITS;
  const rest = (numerator << (2n * BITS)) / (denominator * q) - one;
  const [high, scale] = fractionOf(guess);
  const total = (high << BITS) / scale + rest - (rest * rest) / (2n * one);
  return Number(total) / 2 ** Number(BITS);
}
