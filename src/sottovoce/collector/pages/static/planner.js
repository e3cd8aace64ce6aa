/** The planner: move ε and people, see what error to expect. The figures are those of sottovoce.plan. */
import * as api from "./api.js";
import { drawPlan } from "./charts.js";
import { number, put, whole, withUnit } from "./words.js";

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

/** Where a value lies among sorted nodes, on a logarithmic scale: [index of the node before, part of the way]. */
function between(nodes, value) {
  let i = 0;
  while (i < nodes.length - 2 && nodes[i + 1] <= value) i += 1;
  const part = Math.log(value / nodes[i]) / Math.log(nodes[i + 1] / nodes[i]);
  return [i, Math.min(1, Math.max(0, part))];
}

/** The logarithms of a grid's errors, interpolated. */
function interpolated({ epsilon, people }, error, at, n) {
  const [[i, p], [j, q]] = [between(epsilon, at), between(people, n)];
  const row = (k) => (1 - q) * Math.log(error[k][j]) + q * Math.log(error[k][j + 1]);
  return Math.exp((1 - p) * row(i) + p * row(i + 1));
}

/** Errors of a question for every ε of the slider, in the units of the domain. */
function errors(question, { domain }, people, confidence) {
  const { mean, shapes } = table[domain.circle ? "circle" : "interval"];
  const width = domain.high - domain.low;
  if (question !== "mean") return table.epsilon.map((e) => width * interpolated(shapes, shapes[question].error, e, people));
  const scale = (normalQuantile(confidence) * width) / Math.sqrt(people);
  return mean.error.map((error) => error * scale);
}

const MEAN_NAMES = {
  optimal: "the optimal unbiased mechanism", ptt: "an unbiased piecewise mechanism (I-PTT)", duchi: "two-point reports (Duchi)",
  pm: "the piecewise mechanism (PM)", arc: "the arc that points most clearly",
};

function noteOf(question, { domain }, chosen, confidence) {
  if (question === "distribution") {
    return "How far the estimated curve is off on average: the distance over which a share of people would have to be moved " +
      "(Wasserstein). Simulated with two window widths, over a one-peaked and a two-peaked truth.";
  }
  if (question === "quartiles") {
    return "How far an estimated quartile (what a quarter, or three quarters, of the people are below) is off on average. Simulated with two window widths, over a one-peaked and a " +
      "two-peaked truth; its interval, which holds for every truth, is wider.";
  }
  const { design, ratio } = table[domain.circle ? "circle" : "interval"].mean;
  const level = `${number(100 * confidence)} % interval`;
  const name = MEAN_NAMES[design[chosen]] ?? design[chosen];
  if (domain.circle) return `${level} of the mean direction with ${name}, over a one-peaked and a two-peaked truth. Four times as many people halve it.`;
  const proof = ratio[chosen] ? ` Certified: no unbiased mechanism with this ε has a smaller error by more than ${number(100 * (Math.sqrt(ratio[chosen]) - 1), 2)} %.` : "";
  return `${level} of the mean, for the worst truth, with ${name}.${proof} Four times as many people halve it.`;
}

function plan() {
  const { campaign, state } = current;
  const question = element("plan-question").value;
  const chosen = Number(element("plan-epsilon").value);
  const people = Math.round(Number((10 ** Number(element("plan-people").value)).toPrecision(2)));
  const { confidence } = state();
  const found = errors(question, campaign, people, confidence);
  put({
    "plan-epsilon-value": number(table.epsilon[chosen]),
    "plan-people-value": whole(people),
    "plan-error": `${question === "mean" ? "±" : "≈"} ${withUnit(number(found[chosen], 3), campaign.unit)}`,
    "plan-note": noteOf(question, campaign, chosen, confidence),
  });
  element("plan-epsilon").setAttribute("aria-valuetext", `ε ${table.epsilon[chosen]}`);
  element("plan-people").setAttribute("aria-valuetext", `${whole(people)} people`);
  drawPlan(element("plan-chart"), table.epsilon, found, chosen, campaign.unit, question === "mean" ? "±" : "≈");
}

/** What can be planned on this domain: what the table has figures for. */
function offerTasks({ circle }) {
  const { shapes } = table[circle ? "circle" : "interval"];
  const questions = { mean: circle ? "mean direction" : "mean" };
  for (const name of ["distribution", "quartiles"]) if (name in shapes) questions[name] = name;
  const before = element("plan-question").value;
  element("plan-question").replaceChildren(...Object.entries(questions).map(([value, textContent]) =>
    Object.assign(document.createElement("option"), { value, textContent })));
  element("plan-question").value = before in questions ? before : "mean";
}

/** Begin at the campaign's own ε and number of people. */
export async function startPlanner(campaign, state) {
  table ??= await api.planner();
  current = { campaign, state };
  const nearest = table.epsilon.reduce((best, e, i) =>
    Math.abs(Math.log(e / campaign.epsilon)) < Math.abs(Math.log(table.epsilon[best] / campaign.epsilon)) ? i : best, 0);
  offerTasks(campaign.domain);
  element("plan-epsilon").max = String(table.epsilon.length - 1);
  element("plan-epsilon").value = String(nearest);
  element("plan-people").value = String(Math.log10(Math.max(100, state().n ?? 1000)));
  plan();
}

for (const id of ["plan-epsilon", "plan-people", "plan-question"]) element(id).addEventListener("input", plan);
element("confidence").addEventListener("change", () => current && plan());
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => current && plan());
