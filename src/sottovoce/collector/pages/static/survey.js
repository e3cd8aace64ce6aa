/**
 * The survey: read, agree, answer; the value is randomised here, once, stored with its key, sent, and only
 * then shown. Nothing is shown before it is sent: choosing among draws would break the promise of ε.
 */
import * as api from "./api.js";
import { Client, audit, specDigest } from "./sottovoce/index.js";
import { domainText, epsilonWords, number, paragraphs, put, whole, withUnit } from "./words.js";

const element = (id) => document.getElementById(id);
const name = location.pathname.split("/").at(-1); // a campaign's name needs no escapes
const token = () => location.hash.slice(1) || null; // an enrolment token travels in the fragment
let campaign = null;
let client = null;

function notice(text) {
  element("notice").hidden = !text;
  put({ notice: text ?? "" });
}

/** Exactly one part of the page is to be seen. */
function only(part) {
  for (const id of ["consent", "form", "waiting", "result"]) element(id).hidden = id !== part;
}

async function start() {
  if (!globalThis.isSecureContext) {
    notice("This page must be opened over HTTPS: only then does your browser give it the functions that check the mechanism.");
    return;
  }
  try {
    campaign = await api.campaign(name);
    document.title = `${campaign.title || name} · sottovoce`;
    put({
      title: campaign.title || name, question: campaign.question,
      operator: campaign.operator ? `Asked by ${campaign.operator}` : "",
    });
    element("survey").hidden = false;
    await open();
    notice(null);
    await resume();
  } catch (error) {
    notice(explain(error));
  }
}

/** Fetch and audit the mechanism against the ε that this page tells the person. */
async function open() {
  client = await Client.open(location.origin, name, { epsilon: campaign.epsilon, token: token() });
  if (client.campaign.digest !== campaign.digest) throw new Error("The campaign changed while this page was loading.");
}

async function resume() {
  const before = await client.previous();
  if (before?.state === "sent") return showResult(before, "You have answered from this device.");
  if (before) return showWaiting("An answer that was drawn earlier has not been confirmed by the collector.");
  if (campaign.status !== "open") {
    const when = campaign.status === "scheduled" ? `It opens on ${campaign.opens.slice(0, 10)}.` : "It is closed.";
    return notice(`This survey cannot be answered now. ${when}`);
  }
  if (campaign.collection === "write" || (campaign.collection === "enrolment" && !token())) {
    return notice("This survey is by invitation: please open the link that you were sent.");
  }
  return showConsent();
}

async function showConsent() {
  const { epsilon, domain, unit, operator, digest, spec, cells, retention_days: days } = campaign;
  const who = operator || "the operator of this site";
  const steps = [
    "You enter a number. It stays on this device.",
    `Your browser replaces it, once, by one of ${whole(cells)} possible reports, at random: more often one near your number, but possibly any.`,
    `That report, without your name or address in it, is sent to ${who} over this connection and added to a count` +
      (days ? `, which is deleted within ${days === 1 ? "a day" : `${whole(days)} days`}.` : "."),
    "Afterwards you see what was sent. It cannot be drawn again: choosing among several draws would weaken your protection and bias the result.",
  ];
  const list = steps.map((text) => Object.assign(document.createElement("li"), { textContent: text }));
  element("steps").replaceChildren(...list);
  paragraphs(element("epsilon"), epsilonWords(epsilon, domain, unit));
  const found = audit(spec);
  put({
    trust: `The code of this page, which does the randomising, is served by ${location.host}. You trust that server for the code; ` +
      "you need not trust anybody with your number. A copy of the report is kept in this browser, so that it is sent only once.",
    "agree-label": `I agree that one randomised report with ε = ${number(epsilon)} is sent.`,
    "value-label": campaign.question || "Your value",
    unit,
    rule: ruleText(),
  });
  details({
    "ε, counted just now in your browser": String(found.epsilon),
    "Largest ratio of two counts": found.ratio.join(" / "),
    "Values": domainText(domain, unit),
    "Possible reports": whole(cells),
    "SHA-256 of the mechanism": `${await specDigest(spec)}${(await specDigest(spec)) === digest ? ", as announced" : ""}`,
  });
  only("consent");
}

function details(facts) {
  element("audit").replaceChildren(...Object.entries(facts).flatMap(([term, text]) => [
    Object.assign(document.createElement("dt"), { textContent: term }),
    Object.assign(document.createElement("dd"), { textContent: text }),
  ]));
}

function ruleText() {
  const { domain, unit, missing, outside } = campaign;
  const span = withUnit(`${number(domain.low, 6)} to ${number(domain.high, 6)}`, unit);
  const beyond = domain.circle && outside === "clip" ? "other values are counted around the circle"
    : outside === "clip" ? "a value beyond counts as the nearest end" : "a value beyond counts as no answer";
  const instead = missing === "uniform" ? "a value drawn evenly from these" : withUnit(number(missing, 6), unit);
  return `Values go from ${span}; ${beyond}. Without an answer, ${instead} is randomised instead, so that nobody can tell who ` +
    "did not answer.";
}

/** The number that was typed (a comma is a point), null for none, undefined if it is not a number. */
function typed() {
  if (element("none").checked) return null;
  const text = entry().replace(/^([-+]?\d*),(\d*)$/, "$1.$2");
  return /^[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?$/i.test(text) ? Number(text) : undefined;
}

const entry = () => element("value").value.trim().replace("−", "-");

/** What keeps the entry from being sent, in words. A draw cannot be taken back, so nothing is guessed. */
function fault() {
  if (element("none").checked) return "";
  const two = /^([-+]?[1-9]\d{0,2})([.,])(\d{3})$/.exec(entry()); // 45,000: thousands here, a fraction there
  if (two) return `${two[0]} can be read in two ways: please write ${two[1]}${two[3]} or ${two[1]}.${two[3]}0.`;
  return typed() === undefined ? "Please enter a number, or say that you have none." : "";
}

async function send(value) {
  element("send").disabled = element("retry").disabled = true;
  try {
    showResult(await client.report(value), "Sent. Thank you.");
    history.replaceState(null, "", location.pathname); // a spent token need not stay in the address
  } catch (error) {
    showWaiting(explain(error), REFUSED.has(error.code));
  } finally {
    element("send").disabled = element("retry").disabled = false;
  }
}

/** Answers of the collector that no repetition changes. */
const REFUSED = new Set(["bad_token", "wrong_scope", "token_spent", "closed", "too_late", "unknown_campaign", "digest_differs"]);

function showWaiting(text, refused = false) {
  put({ "waiting-title": refused ? "Not accepted" : "Not sent yet", "waiting-reason": text });
  element("waiting-again").hidden = refused;
  only("waiting");
  element("waiting-title").focus();
}

function showResult({ cell, value }, title) {
  const { domain, unit, cells, epsilon, results } = campaign;
  const span = withUnit(`${number(domain.low, 6)} to ${number(domain.high, 6)}`, unit);
  put({
    "result-title": title,
    sent: value === null ? `report ${whole(cell)}` : withUnit(number(value), unit),
    "sent-cell": `Report number ${whole(cell)} of ${whole(cells)} (counted from 0).`,
  });
  const outside = value !== null && (value < domain.low || value > domain.high);
  paragraphs(element("sent-meaning"), [
    `Every value could have produced it: each from ${span} can give this very report, and none makes it more than ` +
      `${number(Math.exp(epsilon), 3)} times as likely as another does. Your own number was not sent.`,
    ...(outside ? ["It lies outside the values that were asked for: that is part of the randomising."] : []),
  ]);
  element("results-link").hidden = results !== "public";
  element("results-link").href = `/#/${encodeURIComponent(name)}`;
  only("result");
  element("result-title").focus();
}

function explain(error) {
  const said = {
    unknown_campaign: "There is no such survey.", token_spent: "This invitation has been used already.",
    bad_token: "This invitation is not known to the collector.", wrong_scope: "This invitation belongs to another survey.",
    closed: "The survey has been closed.", not_open_yet: "The survey has not been opened yet.",
    too_late: "It is too late to send this answer again: it might be counted twice.",
  }[error.code];
  if (said) return said;
  if (error.name === "PrivacyError" || error.name === "SpecError") {
    return `Stopped to protect you, nothing was sent: ${error.message}.`;
  }
  return error.retryable || error instanceof TypeError ? "The collector cannot be reached just now." : error.message;
}

element("agree").addEventListener("change", () => {
  element("continue").disabled = !element("agree").checked;
});
element("continue").addEventListener("click", () => {
  only("form");
  element("form-title").focus();
});
element("none").addEventListener("change", () => {
  element("value").disabled = element("none").checked;
  put({ "value-error": "" });
});
element("form").addEventListener("submit", (event) => {
  event.preventDefault();
  const wrong = fault();
  put({ "value-error": wrong });
  element("value").setAttribute("aria-invalid", String(wrong !== ""));
  if (wrong) element("value").focus();
  else send(typed());
});
// The value matters no more: what was drawn before is sent again.
element("retry").addEventListener("click", () => send(null));
start();
