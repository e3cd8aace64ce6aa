/**
 * Times single reports of two values in a given order: {spec, values, order, slower} in, nanoseconds out. With `slower`
 * the second value takes so many steps of arithmetic more: a difference that must be found.
 */
import { readFileSync } from "node:fs";
import { fromJson } from "../clients/js/lib/index.js";

const { spec, values, order, slower } = JSON.parse(readFileSync(0, "utf8"));
const reporter = fromJson(spec);
const numbers = Float64Array.from(values); // not a list: boxed numbers lie at different places of the memory, which takes time
const extra = Uint32Array.of(0, slower);
let sum = 0;

function delay(steps) {
  let x = 1;
  for (let i = 0; i < steps; i += 1) x = Math.sqrt(x + i);
  return x;
}

function run(sides, durations) {
  for (let i = 0; i < sides.length; i += 1) {
    const side = sides[i];
    const value = numbers[side];
    const begin = process.hrtime.bigint();
    sum += reporter.report(value);
    if (slower > 0) sum += delay(extra[side]);
    durations[i] = Number(process.hrtime.bigint() - begin);
  }
}

const sides = Uint8Array.from(order);
const durations = new Float64Array(order.length);
for (let i = 0; i < 4; i += 1) run(sides.subarray(0, sides.length / 10), durations); // until it is compiled
run(sides, durations);
if (!(sum >= 0)) throw new Error("no cells");
console.log(JSON.stringify(Array.from(durations)));
