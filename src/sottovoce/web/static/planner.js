/** The planner: move ε and people, see what error to expect. */
import * as api from "./api.js";
import { drawPlan } from "./charts.js";
import { number, put, whole, withUnit } from "./words.js";

const NAMES = { ptt: "an unbiased piecewise mechanism (I-PTT)", duchi: "two-point reports (Duchi)", ogpm: "the optimal circular mechanism" };
const element = (id) => document.getElementById(id);
let table = null;
let current = null; // the campaign, and what the page shows of it

/** z with P(|Z| ≤ z) = confidence, by bisection on the error function's series. */
function normalQuantile(confidence) {
  let [low, high] = [0, 8];
  for (let i = 0; i < 60; i += 1) {
    const z = (low + high) / 2;
    if (central(z) < confidence) low = z;
    else high = z;
  }
  return low;
}

/** P(|Z| ≤ z) of a standard normal: 2φ(z)·(z + z³/3 + z⁵/15 + …). */
function central(z) {
  let [sum, term] = [z, z];
  for (let k = 1; k < 200; k += 1) sum += term *= (z * z) / (2 * k + 1);
  return (2 * sum * Math.exp((-z * z) / 2)) / Math.sqrt(2 * Math.PI);
}

function plan() {
  const { campaign, state } = current;
  const { domain, unit } = campaign;
  const { design, deviation } = table[domain.circle ? "circle" : "interval"];
  const chosen = Number(element("plan-epsilon").value);
  const people = Math.round(Number((10 ** Number(element("plan-people").value)).toPrecision(2)));
  const { confidence } = state();
  const scale = (normalQuantile(confidence) * (domain.high - domain.low)) / Math.sqrt(people);
  const errors = deviation.map((d) => d * scale);
  put({
    "plan-epsilon-value": number(table.epsilon[chosen]),
    "plan-people-value": whole(people),
    "plan-error": `± ${withUnit(number(errors[chosen], 3), unit)}`,
    "plan-note": `${number(100 * confidence)} % interval of the ${domain.circle ? "mean direction, if people agree," : "mean, at worst,"} ` +
      `with ${NAMES[design[chosen]]}. Four times as many people halve it.`,
  });
  element("plan-epsilon").setAttribute("aria-valuetext", `ε ${table.epsilon[chosen]}`);
  element("plan-people").setAttribute("aria-valuetext", `${whole(people)} people`);
  drawPlan(element("plan-chart"), table.epsilon, errors, chosen, unit);
}

/** Begin at the campaign's own ε and number of people. */
export async function startPlanner(campaign, state) {
  table ??= await api.planner();
  current = { campaign, state };
  const nearest = table.epsilon.reduce((best, e, i) =>
    Math.abs(Math.log(e / campaign.epsilon)) < Math.abs(Math.log(table.epsilon[best] / campaign.epsilon)) ? i : best, 0);
  element("plan-epsilon").max = String(table.epsilon.length - 1);
  element("plan-epsilon").value = String(nearest);
  element("plan-people").value = String(Math.log10(Math.max(100, state().n ?? 1000)));
  put({
    "planner-about": campaign.domain.circle
      ? "What error to expect of the mean direction, if people mostly agree; the less they do, the larger it is."
      : "What error to expect of the mean if the campaign were run with another ε, or with more people.",
  });
  plan();
}

for (const id of ["plan-epsilon", "plan-people"]) element(id).addEventListener("input", plan);
element("confidence").addEventListener("change", () => current && plan());
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => current && plan());
