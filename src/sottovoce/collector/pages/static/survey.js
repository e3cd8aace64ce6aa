/**
 * The survey: a step per question, a look at all answers, then one report. Values are randomised here, once, entered in this
 * browser's ledger with what they cost, sent, and only then shown. Nothing is shown before it is sent: choosing among draws would break the promise of ε.
 */
import * as api from "./api.js";
import { element, node } from "./dom.js";
import { explainTo } from "./explanation.js";
import { answerText } from "./inputs.js";
import { Client, CollectorError, Ledger, browserStore, indexedStore, sha256 } from "./sottovoce/index.js";
import { answered, makeStep, valueOf } from "./step.js";
import { LANGUAGES, day, known, preferred, remember, say, speak } from "./texts.js";
import { number, put, whole } from "./words.js";

const name = location.pathname.split("/").at(-1); // a campaign's name needs no escapes
const token = () => (campaign.collection === "enrolment" && location.hash.slice(1)) || null; // an enrolment token travels in the fragment
const BUDGET = 16_000_000; // the largest: the ledger counts and tells, and the person decides each time
let campaign = null;
let client = null;
let ledger = null;
let period = ""; // people who share a browser answer with an invitation each
let steps = [];
let at = 0; // the step that is shown; after the last question all answers
let view = () => {}; // what is shown, to be shown again in another language

async function start() {
  element("language").append(...Object.entries(LANGUAGES).map(([value, textContent]) => node("option", { value, textContent, lang: value })));
  try {
    await speakTo(preferred());
  } catch {
    return notice("This page could not be loaded. Please try again."); // not even its texts
  }
  show(() => notice(say("loading")));
  if (!globalThis.isSecureContext) return show(() => notice(say("insecure")));
  try {
    campaign = await api.campaign(name);
    await speakTo(preferred(campaign.language));
    showHead();
    await open();
    await resume();
  } catch (error) {
    show(() => notice(explain(error)));
  }
}

/** Everything that is to be seen, in a language. */
async function speakTo(language) {
  await speak(language);
  element("language").value = language;
  for (const one of document.querySelectorAll("[data-say]")) one.textContent = say(one.dataset.say);
}

/** Without a survey, what is said is all that the page is about. */
function notice(text) {
  element("notice").hidden = !text;
  element("notice").replaceChildren(...(text ? [node(campaign ? "p" : "h1", { textContent: text })] : []));
}

/** Exactly one part of the page is to be seen: a notice, or the one that `render` returns. */
function show(render) {
  view = () => {
    const part = render();
    for (const id of ["form", "waiting", "result"]) element(id).hidden = id !== part;
    element("about").hidden = part !== "form";
    if (part) notice("");
  };
  view();
}

function showHead() {
  const { title, question, operator, asked, language } = campaign;
  document.title = `${title || name} · sottovoce`;
  const several = Object.keys(asked).length > 1;
  put({ title: title || name, intro: several ? question : "", operator: operator ? say("asked_by", { operator }) : "" });
  for (const id of ["title", "intro"]) element(id).lang = language;
  element("survey").hidden = false;
}

/** Fetch and audit the mechanism against the ε that this page tells the person. */
async function open() {
  ledger = await Ledger.open(indexedStore(), { budget: BUDGET });
  client = await Client.open(location.origin, name, { epsilon: campaign.epsilon, token: token(), ledger });
  if (client.campaign.digest !== campaign.digest) throw Object.assign(new Error("the survey changed"), { code: "changed" });
  period = token() ? sha256(token()) : "";
  await client.adopt(browserStore(), { period }); // where this page kept its reports before it had a ledger
}

/** What all reports from this browser to this site have spent. */
async function spent() {
  const [amount, parts] = await ledger.spent();
  return Number(amount) / Number(parts);
}

async function resume() {
  const before = await client.previous({ period });
  if (before?.state === "sent") return showResult(before, "sent_before");
  if (before) return showWaiting(() => say("waiting_before"));
  if (campaign.status === "scheduled") return show(() => notice(say("scheduled", { date: day(campaign.opens) })));
  if (campaign.status === "closed") return show(() => notice(say("over")));
  if (campaign.collection === "write" || (campaign.collection === "enrolment" && !token())) return show(() => notice(say("invitation")));
  if (Object.values(campaign.asked).some(({ kind }) => kind === "other")) return show(() => notice(say("other")));
  if (token()) await api.checkInvitation(name, token()); // a link that is used or wrong is refused before the first question
  const sum = await spent();
  show(() => {
    buildSteps();
    explainTo(campaign, client.mechanism, sum);
    showStep();
    return "form";
  });
}

// -- questions ------------------------------------------------------------------------------------------------

/** A step for each question, with the answers that were given before. */
function buildSteps() {
  const entered = steps.map(({ none, input }) => ({ none: none.checked, value: input.read().value }));
  steps = Object.entries(campaign.asked).map(([key, asked], i) => makeStep(key, asked, `q${i}`, campaign.language, advance));
  entered.forEach(({ none, value }, i) => {
    if (value !== undefined) steps[i].input.show(value);
    steps[i].none.checked = none;
    steps[i].none.dispatchEvent(new Event("change"));
  });
  element("steps").replaceChildren(...steps.map((step) => step.element));
}

/** Show a step, or all answers. */
function go(step) {
  history.pushState({ step }, ""); // the browser's own way back is one step too
  goTo(step);
}

function goTo(step) {
  at = step;
  showStep();
  focusOn(steps[at]?.title ?? element("review-title"));
}

function focusOn(title) {
  title.focus();
  title.scrollIntoView({ block: "nearest" });
}

function showStep() {
  const reviewing = at === steps.length;
  steps.forEach((step, i) => {
    step.element.hidden = i !== at;
  });
  element("review").hidden = !reviewing;
  element("back").hidden = at === 0;
  element("progress-line").hidden = reviewing || steps.length === 1;
  Object.assign(element("bar"), { max: steps.length, value: at + 1 });
  const who = campaign.operator || say("operator");
  put({
    next: say(reviewing ? "send" : "next"), progress: say("progress", { step: whole(at + 1), count: whole(steps.length) }),
    "agree-label": say("consent", { who }), "agree-error": "",
  });
  if (reviewing) element("answers").replaceChildren(...steps.flatMap(reviewOf));
}

function reviewOf(step, i) {
  const { key, asked } = step;
  const question = asked.text || key;
  const value = valueOf(step) ?? null;
  const change = node("button", { type: "button", className: "link", textContent: say("change") });
  change.setAttribute("aria-label", `${say("change")}: ${question}`);
  change.addEventListener("click", () => go(i));
  const answer = value === null ? say("no_answer") : answerText(asked, value);
  return entry(question, answer, node("p", { className: "small", textContent: ruleText(key, asked, value) }), change);
}

/** A question and what belongs to it, of a list. */
const entry = (question, answer, ...more) => [
  node("dt", { textContent: question, lang: campaign.language }), node("dd", {}, node("p", { className: "value", textContent: answer }), ...more),
];

/** What the campaign's rules make of an answer that is missing or out of range. */
function ruleText(key, asked, value) {
  const { missing, outside } = campaign;
  if (value === null) {
    const instead = typeof missing === "object" ? missing[key] : missing;
    return instead === "uniform" ? say("instead_uniform") : say("instead_value", { value: answerText(asked, instead) });
  }
  if (asked.kind !== "number" || (value >= asked.domain.low && value <= asked.domain.high)) return "";
  const nearest = value < asked.domain.low ? asked.domain.low : asked.domain.high;
  return outside === "clip" ? say("counts_as", { value: answerText(asked, nearest) }) : say("counts_as_none");
}

function advance() {
  if (at < steps.length) {
    if (answered(steps[at])) go(at + 1);
    return;
  }
  const lacking = steps.findIndex((step) => valueOf(step) === undefined);
  if (lacking >= 0) {
    go(lacking);
    answered(steps[lacking]);
  } else if (!element("agree").checked) {
    put({ "agree-error": say("consent_missing") });
    element("agree").focus();
  } else {
    const values = new Map(steps.map((step) => [step.key, valueOf(step)]));
    send(values.size === 1 && values.has("value") ? values.get("value") : values);
  }
}

// -- sending --------------------------------------------------------------------------------------------------

async function send(value) {
  element("next").disabled = element("retry").disabled = true;
  put({ next: say("sending") });
  try {
    await showResult(await client.report(value, { period }), "sent");
    history.replaceState(null, "", location.pathname); // a spent token need not stay in the address
  } catch (error) {
    if (error instanceof CollectorError) showWaiting(() => explain(error), REFUSED.has(error.code));
    else show(() => notice(explain(error))); // of the ledger: nothing was drawn
  } finally {
    element("next").disabled = element("retry").disabled = false;
  }
}

/** Answers of the collector that no repetition changes. */
const REFUSED = new Set(["bad_token", "wrong_scope", "token_spent", "closed", "too_late", "unknown_campaign", "digest_differs"]);

function showWaiting(reason, refused = false) {
  show(() => {
    put({ "waiting-title": say(refused ? "refused" : "waiting"), "waiting-reason": reason() });
    element("waiting-again").hidden = refused;
    return "waiting";
  });
  focusOn(element("waiting-title"));
}

/** What was sent, question by question. */
async function showResult({ cells, value }, title) {
  const sum = await spent();
  const sent = value instanceof Map ? value : new Map(value === null ? [] : [["value", value]]);
  const outside = [...sent].some(([key, one]) => {
    const domain = campaign.asked[key]?.domain;
    return domain && (one < domain.low || one > domain.high);
  });
  show(() => {
    const functions = Object.keys(campaign.questions).some((key) => !Object.hasOwn(campaign.asked, key));
    const keys = functions ? [...sent.keys()] : Object.keys(campaign.asked);
    element("sent").replaceChildren(...keys.flatMap((key) => {
      const asked = campaign.asked[key] ?? { kind: "number", unit: "" };
      return entry(asked.text || key, sent.has(key) ? answerText(asked, sent.get(key), 4) : say("sent_not_drawn"));
    }));
    element("sent").hidden = sent.size === 0; // by another mechanism
    put({
      "result-title": say(title), "sent-cells": say("sent_cells", { cells: cells.map(whole).join(", ") }),
      "sent-meaning": say("sent_meaning") + (outside ? ` ${say("sent_outside")}` : ""),
      spent: say("spent", { epsilon: number(campaign.epsilon), sum: number(sum) }),
    });
    element("results-link").hidden = campaign.results !== "public";
    element("results-link").href = `/#/${encodeURIComponent(name)}`;
    return "result";
  });
  focusOn(element("result-title"));
}

function explain(error) {
  if (known(`refused_${error.code}`)) return say(`refused_${error.code}`);
  if (error instanceof DOMException) return say("no_storage");
  if (["LedgerError", "PrivacyError", "SpecError"].includes(error.name)) return say("stopped", { reason: error.message });
  return error.retryable || error instanceof TypeError ? say("unreachable") : error.message;
}

element("form").addEventListener("submit", (event) => {
  event.preventDefault();
  advance();
});
element("back").addEventListener("click", () => go(at - 1));
element("agree").addEventListener("change", () => put({ "agree-error": "" }));
element("retry").addEventListener("click", () => send(null)); // the value matters no more: what was drawn is sent again
element("language").addEventListener("change", async ({ target }) => {
  remember(target.value);
  await speakTo(target.value);
  if (campaign) showHead();
  view();
});
addEventListener("hashchange", () => { // another link in the same tab is another person's
  element("survey").hidden = true;
  location.reload();
});
addEventListener("popstate", ({ state }) => {
  if (!element("form").hidden) goTo(state?.step ?? 0);
});
start();
