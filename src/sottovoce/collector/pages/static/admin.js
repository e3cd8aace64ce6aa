/** Administration: create a survey with its plan beside it, change its words, invite people, close, export. */
import * as api from "./api.js";
import { element, node } from "./dom.js";
import { numberIn, settled } from "./number_field.js";
import { speak } from "./texts.js";
import { number, percent, put, whole, withUnit } from "./words.js";

let token = null; // in memory only: whoever gets at the storage of this browser finds none
let current = null; // the campaign that is edited or invited to

function notice(text) {
  element("notice").hidden = !text;
  put({ notice: text ?? "" });
}

/** Do something that the collector may refuse, and say so. */
async function attempt(work) {
  try {
    notice(null);
    return await work();
  } catch (error) {
    notice(error.status ? `The collector answered: ${error.message}.` : error.message);
    return null;
  }
}

function button(label, work) {
  const made = Object.assign(document.createElement("button"), { type: "button", textContent: label });
  made.addEventListener("click", () => attempt(work));
  return made;
}

function link(label, href) {
  return Object.assign(document.createElement("a"), { textContent: label, href });
}

const WHO = { open: "anyone", enrolment: "people with an invitation", write: "programs" };

async function listCampaigns() {
  const list = await api.campaigns(token);
  const line = (campaign) => {
    const { name, title, status, epsilon, collection } = campaign;
    const cells = [title || name, status, number(epsilon), WHO[collection], ""].map((text, i) =>
      Object.assign(document.createElement(i ? "td" : "th"), { textContent: text, ...(i ? {} : { scope: "row" }) }));
    cells[4].append(
      link("Preview", `/survey/${name}`), " ", link("Results", `/#/${name}`), " ",
      button("Words", () => edit(name)), " ",
      ...(collection === "enrolment" && status !== "closed" ? [button("Invite", () => invite(campaign)), " "] : []),
      button("Export", () => exported(name)), " ",
      ...(status === "closed" ? [] : [button("Close", () => close(name))]));
    const row = document.createElement("tr");
    row.append(...cells);
    return row;
  };
  element("campaigns").tBodies[0].replaceChildren(...list.map(line));
}

/** A file for the person at the screen. */
function save(blob, name) {
  const address = URL.createObjectURL(blob);
  Object.assign(document.createElement("a"), { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}

async function exported(name) {
  save(await api.counts(name, "csv", token), `${name}-counts.csv`);
  save(new Blob([(await api.campaign(name, token)).spec], { type: "application/json" }), `${name}-spec.json`);
}

async function close(name) {
  if (!confirm(`Close ${name}? No new answers are taken from then on.`)) return;
  await api.send("POST", `campaigns/${name}/close`, null, token);
  await listCampaigns();
}

// -- words ------------------------------------------------------------------------------------------------

function field(label, key, value) {
  const input = Object.assign(document.createElement("input"), { type: "text", value: value ?? "" });
  input.dataset.key = key;
  const paragraph = document.createElement("p");
  const around = Object.assign(document.createElement("label"), { textContent: label });
  around.append(input);
  paragraph.append(around);
  return paragraph;
}

async function edit(name) {
  current = await api.campaign(name, token);
  const { title, question, operator, unit, texts, asked } = current;
  const own = Object.keys(asked).length > 1 ? Object.keys(asked).flatMap((key) => [
    field(`${key}: question`, `texts.${key}.text`, texts[key]?.text), field(`${key}: unit`, `texts.${key}.unit`, texts[key]?.unit)]) : [field("Unit", "unit", unit)];
  element("edit-fields").replaceChildren(field("Heading", "title", title), field("Question", "question", question), field("Who asks", "operator", operator), ...own);
  put({ "edit-title": `Words of ${name}` });
  element("edit").hidden = false;
  element("edit-title").focus();
}

async function saveWords() {
  const changes = {};
  for (const input of element("edit-fields").querySelectorAll("input")) {
    const [key, question, word] = input.dataset.key.split(".");
    if (!question) changes[key] = input.value;
    else (changes.texts ??= structuredClone(current.texts))[question] = { ...changes.texts?.[question], [word]: input.value };
  }
  await api.send("PATCH", `campaigns/${current.name}`, changes, token);
  element("edit").hidden = true;
  await listCampaigns();
  notice("The words are saved.");
}

// -- invitations ------------------------------------------------------------------------------------------

function invite(campaign) {
  current = campaign;
  put({ "invite-title": `Invite people to ${campaign.title || campaign.name}` });
  element("invite").hidden = false;
  element("invite-title").focus();
}

async function sendInvitations(form) {
  if (!settled(element("invite-count"))) return;
  const content = { count: numberIn(element("invite-count")), url: location.origin, form };
  const response = await api.send("POST", `campaigns/${current.name}/invitations`, content, token);
  save(await response.blob(), `${current.name}-invitations.${form}`);
}

async function revoke(given) {
  const id = given.includes("_") ? await tokenId(given) : given;
  await api.send("DELETE", `campaigns/${current.name}/tokens/${id}`, null, token);
  element("revoke-id").value = "";
  notice(`${id} is good for nothing any more.`);
}

async function tokenId(text) {
  const hash = new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text)));
  return [...hash.slice(0, 6)].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

// -- a new survey -----------------------------------------------------------------------------------------

function addQuestion() {
  const copy = element("question-fields").content.cloneNode(true);
  const [set] = copy.children;
  const count = element("new-questions").children.length + 1;
  set.querySelector("legend").textContent = `Question ${count}`;
  set.querySelector("[data-key=name]").value = `question ${count}`;
  const kind = set.querySelector("[data-key=kind]");
  kind.addEventListener("change", () => {
    for (const part of set.querySelectorAll("[data-for]")) part.hidden = !part.dataset.for.split(" ").includes(kind.value);
  });
  set.querySelector("[data-remove]").addEventListener("click", () => {
    set.remove();
    plan();
  });
  element("new-questions").append(copy);
  set.querySelector("[data-key=name]").focus();
  plan();
}

/** The questions as a survey's file has them. */
function questions() {
  const entries = [...element("new-questions").children].map((set) => {
    const input = (key) => set.querySelector(`[data-key=${key}]`);
    const value = (key) => input(key).value;
    const kind = value("kind");
    const kinds = {
      range: () => ({ range: [numberIn(input("low")), numberIn(input("high"))] }), clock: () => ({ clock: true }), circle: () => ({ circle: 360 }),
      options: () => ({ options: value("options").split("\n").map((line) => line.trim()).filter(Boolean) }), radius: () => ({ radius: numberIn(input("radius")) }),
    };
    const unit = kind === "range" || kind === "radius" ? { unit: value("unit") } : {};
    return [value("name"), { text: value("text"), ...unit, ...kinds[kind](), weight: numberIn(input("weight")) }];
  });
  return Object.fromEntries(entries);
}

/** Names of two numbers a line. */
const relations = () => element("new-relations").value.split("\n").filter((line) => line.trim()).map((line) => line.split(",").map((name) => name.trim()));

/** ± of each question in words, or why it has none; what is no question is a relation. */
function known(name, within, problem, question) {
  if (within === null) return `${name}: ${problem}`;
  if (!question) return `correlation of ${name}: ± ${number(within, 2)}`;
  const { unit, options, clock, circle } = question;
  if (options) return `${name}: each share to about ± ${percent(within, 2)}`;
  if (clock) return `${name}: ± ${withUnit(number(60 * within, 2), "minutes")}`;
  return `${name}: ± ${withUnit(number(within, 2), circle ? "°" : unit)}`;
}

/** Fields with numbers that are used: those of another kind of answer are hidden. */
const numberFields = () => [...element("new-form").querySelectorAll("input[inputmode]")].filter((input) => !input.closest("[hidden]"));

const planned = () => ({
  epsilon: numberIn(element("new-epsilon")), people: numberIn(element("new-people")), questions: questions(), relations: relations(),
});

let asked = 0;

/** What will be known, said while the survey is written; a number that was typed is judged. */
async function plan(typed) {
  const mine = (asked += 1);
  await new Promise((later) => setTimeout(later, 300)); // until typing pauses
  if (mine !== asked) return;
  if (typed?.inputMode) settled(typed);
  if (numberFields().some((input) => numberIn(input) === null)) {
    put({ plan: "One of the numbers cannot be read yet." });
    return;
  }
  const content = planned();
  if (!Object.keys(content.questions).length) {
    put({ plan: "Add a question to see what will be known." });
    return;
  }
  try {
    const { answered, of, within, problems } = await (await api.send("POST", "surveys/plan", content, token)).json();
    if (mine !== asked) return;
    const lot = content.relations.length ? `Each report is about one of ${of} figures, by lot: an answer, or a function of two. `
      : answered < of ? `Each person answers ${answered} of ${of} questions, by lot. ` : "Each person answers everything. ";
    put({ plan: `${lot}With ${whole(content.people)} people, 95 % intervals: ${Object.entries(within).map(([name, w]) => known(name, w, problems[name], content.questions[name])).join("; ")}.` });
  } catch (error) {
    put({ plan: error.message });
  }
}

/** The kind of answer of a question, in words. */
function answerWords({ range, clock, circle, options, radius, unit }) {
  if (range) return `a number from ${number(range[0], 15)} to ${withUnit(number(range[1], 15), unit)}`;
  if (options) return `one of ${options.length} options: ${options.join(", ")}`;
  if (clock || circle) return clock ? "a time of day" : "a direction in degrees";
  return `a place at most ${withUnit(number(radius, 15), unit)} from the middle`;
}

/** The whole survey in words; whether the person at the screen agrees. */
async function agreed({ name, title, operator, epsilon, collection, results, questions: mine, relations: pairs }) {
  const facts = [
    ["Address", `${location.origin}/survey/${name}`], ["Heading", title || name], ["Who asks", operator || "not said"],
    ["ε of a person's whole report", number(epsilon, 15)], ["Who may answer", WHO[collection]],
    ["Who sees the results", results === "public" ? "everyone" : "holders of a read token"],
    ...Object.entries(mine).map(([key, one]) => [
      key, `${one.text ? `“${one.text}” ` : ""}${answerWords(one)}${one.weight === 1 ? "" : `, weight ${number(one.weight, 15)}`}`]),
    ...pairs.map((both) => ["Relation", both.join(" and ")]),
  ];
  element("check-list").replaceChildren(...facts.flatMap(([term, textContent]) => [node("dt", { textContent: term }), node("dd", { textContent })]));
  const dialog = element("check");
  dialog.returnValue = "";
  dialog.showModal();
  element("check-title").focus();
  await new Promise((done) => dialog.addEventListener("close", done, { once: true }));
  return dialog.returnValue === "create";
}

async function create() {
  const unclear = numberFields().filter((input) => !settled(input));
  if (unclear.length) {
    unclear[0].focus();
    return;
  }
  const value = (id) => element(`new-${id}`).value;
  const { people, ...asks } = planned();
  await api.send("POST", "surveys/plan", { people, ...asks }, token); // what the collector refuses is not read back
  const content = {
    name: value("name"), title: value("heading"), operator: value("operator"),
    collection: value("collection"), results: value("results"), ...asks,
  };
  if (!await agreed(content)) return;
  const { name } = await (await api.send("POST", "surveys", content, token)).json();
  element("new-form").reset();
  element("new-questions").replaceChildren();
  await listCampaigns();
  notice(`Created. People answer at ${location.origin}/survey/${name}.`);
}

function onSubmit(id, work) {
  element(id).addEventListener("submit", (event) => {
    event.preventDefault();
    attempt(() => work(event));
  });
}

onSubmit("token-form", async () => {
  token = element("token").value.trim();
  element("token").value = "";
  await api.send("GET", "campaigns", null, token);
  await listCampaigns();
  element("token-form").hidden = true;
  element("work").hidden = false;
});
onSubmit("edit-form", saveWords);
onSubmit("invite-form", (event) => sendInvitations(event.submitter.value));
onSubmit("revoke-form", () => revoke(element("revoke-id").value.trim()));
onSubmit("new-form", create);
element("add-question").addEventListener("click", addQuestion);
element("new-form").addEventListener("input", ({ target }) => plan(target));
await speak("en");
