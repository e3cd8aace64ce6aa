/**
 * The natural logarithm in steps that every language rounds alike, as in sottovoce/exact/logarithm.py: Math.log may
 * differ in its last digit between engines, and a report depends on every digit. No branch depends on the value.
 */
const LN2 = 0.6931471805599453;
const ROOT = 0.7071067811865476;
const FINITE = 700; // e^700 and e^-700 are doubles
const bits = new DataView(new ArrayBuffer(8));

/** The logarithm of a positive normal double. */
export function naturalLog(x) {
  bits.setFloat64(0, x);
  const high = bits.getUint32(0);
  bits.setUint32(0, (high & 0xfffff) | 0x3fe00000);
  const fraction = bits.getFloat64(0); // x = fraction · 2^exponent, a half ≤ fraction < 1
  bits.setFloat64(0, 0); // it tells the value
  const small = Number(fraction < ROOT);
  const [m, k] = [fraction * (1 + small), (high >>> 20) - 1022 - small];
  const s = (m - 1) / (m + 1);
  const z = s * s;
  let series = 0;
  for (let odd = 21; odd > 1; odd -= 2) series = (series + 1 / odd) * z;
  return k * LN2 + 2 * (s + s * series);
}

/** e to the power of a logarithm, always finite and positive. */
export function exponential(logarithm) {
  return Math.exp(Math.min(Math.max(logarithm, -FINITE), FINITE));
}
