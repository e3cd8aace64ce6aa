/** Times single reports of two values in a given order: {spec, values, order} in, nanoseconds out. */
import { readFileSync } from "node:fs";
import { fromJson } from "../clients/js/lib/index.js";

const { spec, values, order } = JSON.parse(readFileSync(0, "utf8"));
const reporter = fromJson(spec);
const numbers = Float64Array.from(values);
const durations = new Float64Array(order.length);
for (let i = 0; i < 200_000; i += 1) reporter.report(numbers[i & 1]); // until it is compiled
for (let i = 0; i < order.length; i += 1) {
  const value = numbers[order[i]];
  const begin = process.hrtime.bigint();
  reporter.report(value);
  durations[i] = Number(process.hrtime.bigint() - begin);
}
console.log(JSON.stringify(Array.from(durations)));
