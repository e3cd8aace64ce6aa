/** The dashboard: the campaign in the address's fragment, polled while the page is visible. */
import { Card, List, SeriesView } from "./answers.js";
import * as api from "./api.js";
import { element, node } from "./dom.js";
import { closing, promise, told } from "./explanation.js";
import { startPlanner } from "./planner.js";
import { disclosure, fromJson } from "./sottovoce/index.js";
import { speak } from "./texts.js";
import { domainText, number, paragraphs, put, reason, rows, whole } from "./words.js";

const COUNT_EVERY = 2000; // milliseconds between looks at the count; the estimates change only with it …
const SLOWEST = 600_000; // … or when old days are deleted

const shown = { campaign: null, lists: [], estimates: null, n: null, asked: 0 };
let visit = 0; // raised when another campaign is chosen: late answers are dropped

const TOKEN = "sottovoce-read-token";
const token = () => sessionStorage.getItem(TOKEN);
/** A campaign's name needs no escapes; what does is no campaign's. */
const chosenName = () => location.hash.replace(/^#\/?/, "");

/** Without a campaign, what is said is all that the page is about. */
function notice(text) {
  element("notice").hidden = !text;
  element("notice").replaceChildren(...(text ? [node(element("campaign").hidden ? "h1" : "p", { textContent: text })] : []));
}

async function listCampaigns() {
  const list = await api.campaigns(token()).catch((error) => {
    if (error.code !== "bad_token" || !token()) throw error;
    sessionStorage.removeItem(TOKEN); // public campaigns need none
    element("token-details").open = true;
    put({ "token-note": "This collector does not know that token." });
    return api.campaigns();
  });
  element("campaigns").replaceChildren(...list.map(listEntry));
  return list;
}

function listEntry({ name, title, status, epsilon }) {
  const link = Object.assign(document.createElement("a"), { href: `#/${name}`, textContent: title || name });
  link.append(Object.assign(document.createElement("span"), { textContent: `${status} · ε = ${number(epsilon)}` }));
  link.dataset.name = name;
  const item = document.createElement("li");
  item.append(link);
  return item;
}

function markCurrent(name) {
  for (const link of element("campaigns").querySelectorAll("a")) {
    if (link.dataset.name !== name) link.removeAttribute("aria-current");
    else {
      link.setAttribute("aria-current", "page");
      element("campaigns").scrollLeft = link.offsetLeft - element("campaigns").offsetLeft; // a strip on narrow screens
    }
  }
}

/** Show the campaign that the address names, or the first of the list. */
async function show() {
  const mine = (visit += 1);
  element("campaign").hidden = true;
  notice("Loading …");
  try {
    await speak("en");
    const list = await listCampaigns();
    if (mine !== visit) return;
    const name = chosenName() || list[0]?.name;
    if (!name) {
      notice("There is no public campaign yet. If you have a read token, enter it above.");
      return;
    }
    const campaign = await api.campaign(name, token());
    if (mine !== visit) return;
    Object.assign(shown, { campaign, estimates: null, n: null, asked: 0 });
    describe(campaign);
    markCurrent(name);
    showSummary(await api.summary(name, token()));
    if (mine !== visit) return;
    notice(null);
    element("campaign").hidden = false;
    element("planner").hidden = !campaign.domain; // its figures are those of one number
    if (campaign.domain) startPlanner(campaign, () => ({ n: shown.n, confidence: Number(element("confidence").value) }));
    await refreshEstimates(mine);
  } catch (error) {
    if (mine === visit) notice(explain(error));
  }
}

function explain(error) {
  if (error.status === 404) return "There is no such campaign.";
  if (error.status === 401) return "The results of this campaign need a read token: enter it above.";
  if (error.status === 403) return "This token is for something else: enter a read token of this campaign above.";
  return error.status ? `The collector answered: ${error.message}` : "The collector cannot be reached just now.";
}

/** Open, scheduled or closed, with the dates that matter now. */
function when({ status, opens, closes }) {
  const day = (moment) => moment.slice(0, 10);
  if (status === "closed") return `closed on ${day(closes)}`;
  return [status === "scheduled" ? `opens on ${day(opens)}` : "open", closes && `closes on ${day(closes)}`].filter(Boolean).join(" · ");
}

function describe(campaign) {
  const { name, title, question, operator, unit, domain, epsilon, collection, status, min_n, asked, rounds } = campaign;
  document.title = `${title || name} · sottovoce`;
  const facts = [
    operator && `Asked by ${operator}`, rounds && round(rounds), when(campaign), domain && `values ${domainText(domain, unit)}`,
    { open: "anyone may answer", enrolment: "by invitation, one report each", write: "sent by programs" }[collection],
  ];
  put({
    title: title || name, question, facts: facts.filter(Boolean).join(" · "), alarm: "", silence: silence(campaign),
    pending: "computing …",
    footnote: `${appear(min_n)} That is a matter of presentation: what one report tells is limited by ε, on people's own devices. ` +
      `Mechanism ${campaign.digest.slice(0, 16)}…`,
  });
  paragraphs(element("epsilon"), epsilonWords(campaign));
  shown.lists = [new List(element("answers"), Card), new List(element("groups"), SeriesView)];
  element("groups-card").hidden = true;
  element("alarm").hidden = element("central").hidden = true;
  const page = `/survey/${encodeURIComponent(name)}`;
  element("survey-link").href = page;
  element("survey-link").hidden = collection !== "open" || status === "closed"; // an invitation has its own link
  put({
    "empty-link": collection === "open" ? location.origin + page : "",
    "empty-lead": collection === "open" ? "Send people this link: they answer there, and their devices randomise before anything is sent."
      : collection === "enrolment" ? `Send each person a link of their own: sottovoce campaign invite ${name} makes them.`
        : "Reports are sent by programs: docs/howto/run-a-collector.md shows how.",
  });
}

/** What ε means here: what the survey page tells each person, in the same words. */
function epsilonWords({ spec, asked, epsilon }) {
  const mechanism = fromJson(spec);
  const known = disclosure(mechanism);
  const lines = told(known, mechanism, asked).map(([text, names]) => (names ? `${names} ${text}` : text));
  return [`ε = ${number(epsilon)}. Each person is told:`, ...lines, closing(known, mechanism), ...promise(epsilon)];
}

/** Which round this is: nobody answers in both, and public counts of the first decide what the second asks. */
function round({ task, p, number: which, first }) {
  const after = first ? `, after ${first}` : "";
  if (task === "range") return `round ${which}: how large values are${after}`;
  const answer = { mean: "the mean", direction: "the mean direction", quantile: `the ${number(p)}-quantile` }[task];
  return `round ${which} of 2 for ${answer}${after}`;
}

/** Who did not answer cannot be told: that is part of the promise. */
function silence({ missing }) {
  const rule = typeof missing === "object" ? "by the rule that was declared for each question"
    : missing === "uniform" ? "as a value drawn evenly from all" : `as ${number(missing)}`;
  return `Whoever would rather not say is counted too, ${rule}: nobody can tell who or how many they are.`;
}

const appear = (least) => (least === 1 ? "Estimates appear from the first report on." : `Estimates appear from ${whole(least)} reports on.`);

/** One look at the count, and at the estimates if it changed. */
async function look(mine) {
  const { name } = shown.campaign;
  const summary = await api.summary(name, token());
  if (mine !== visit) return;
  showSummary(summary);
  const old = Date.now() - shown.asked;
  if (summary.n !== shown.estimates?.n ? old > COUNT_EVERY / 2 : old > SLOWEST) await refreshEstimates(mine);
}

async function refreshEstimates(mine) {
  shown.asked = Date.now();
  const found = await api.estimates(shown.campaign.name, element("confidence").value, element("sequential").checked, token());
  if (mine !== visit) return;
  shown.estimates = found;
  showEstimates(found);
}

function showSummary({ n, min_n, days, refusals, status }) {
  shown.n = n;
  element("empty").hidden = n > 0 || status === "closed";
  const today = days.at(-1);
  put({
    count: whole(n),
    "count-note": n < min_n ? appear(min_n)
      : [status, today && `${whole(today.n)} on ${today.day}`].filter(Boolean).join(" · "),
  });
  const content = Object.entries(refusals).sort((a, b) => b[1] - a[1]).map(([code, times]) => [reason(code), whole(times)]);
  rows(element("refusals"), content, "none");
}

function showEstimates({ shown: enough, central, answers, days, groups, confidence }) {
  const alarm = answers.some(({ data }) => data?.alarm);
  put({
    central: central ? `${central.sentence} This is about one look at all counts; comparing them as they grow shows smaller groups.` : "",
    alarm: alarm ? "These reports cannot all be honest: do not rely on the estimates. The honesty check below says more." : "",
    pending: answers.length ? "" : enough ? "These reports answer no question by themselves." : "not yet",
  });
  element("central").hidden = !central;
  element("alarm").hidden = !alarm;
  element("groups-card").hidden = !groups.length;
  const of = (item) => (one) => one.item === item;
  const cards = [...new Set(answers.map(({ item }) => item))].map((item) => ({ item, answers: answers.filter(of(item)), days: days.filter(of(item)) }));
  const about = { campaign: shown.campaign, confidence };
  shown.lists[0].show(cards, about);
  shown.lists[1].show(groups, { ...about, groups: true });
}

const draw = () => shown.lists.forEach((list) => list.draw());

async function poll() {
  if (!document.hidden && shown.campaign && !element("campaign").hidden) {
    const mine = visit;
    await look(mine).then(() => notice(null), (error) => mine === visit && notice(explain(error)));
  }
  setTimeout(poll, COUNT_EVERY);
}

async function download(format) {
  const { name } = shown.campaign;
  const address = URL.createObjectURL(await api.counts(name, format, token()));
  Object.assign(document.createElement("a"), { href: address, download: `${name}-counts.${format}` }).click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}

element("token-form").addEventListener("submit", (event) => {
  event.preventDefault();
  const given = element("token").value.trim();
  const usable = /^([a-z]{4}_[\w-]{43})?$/.test(given); // nothing: forget the one before
  put({ "token-note": usable ? "Kept in this tab only." : "That is not a token: one has 48 characters, the first of them read_." });
  if (!usable) return;
  sessionStorage.setItem(TOKEN, given);
  element("token").value = "";
  show();
});
for (const format of ["csv", "parquet"]) {
  element(`download-${format}`).addEventListener("click", () => download(format).catch((error) => notice(explain(error))));
}
for (const id of ["confidence", "sequential"]) {
  element(id).addEventListener("change", () => refreshEstimates(visit).catch((error) => notice(explain(error))));
}
window.addEventListener("hashchange", () => show().then(() => element("main").focus({ preventScroll: true })));
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
show();
setTimeout(poll, COUNT_EVERY);
