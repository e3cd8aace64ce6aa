/** The answers as the collector's summary has them: in its order, under its labels, each with its sentence and its picture. */
import { drawCumulative, drawDistribution, drawIntervals, drawMap, drawRose } from "./charts.js";
import { node } from "./dom.js";
import { arc, clockTime, domainText, number, percent, range, rows, sentence, whole, withUnit, writer } from "./words.js";

/** Views of things, one below the other: updated in place, and made anew where there are others than before. */
export class List {
  constructor(root, View) {
    Object.assign(this, { root, View, views: [], keys: "" });
    root.replaceChildren();
  }

  show(things, about) {
    const keys = JSON.stringify(things.map(({ item, label, picture }) => [item, label, picture]));
    if (keys !== this.keys) {
      this.views = things.map((thing) => new this.View(thing, about));
      this.root.replaceChildren(...this.views.map(({ root }) => root));
      this.keys = keys;
    }
    this.views.forEach((view, i) => view.show(things[i], about));
  }

  draw() {
    for (const view of this.views) view.draw();
  }
}

let named = 0;

/** A new element that others are labelled by. */
const titled = (tag, textContent, className = "") => node(tag, { id: `text-${(named += 1)}`, textContent, className });

/** A new element that another one labels. */
function labelled(by, role, properties, ...children) {
  const made = node("div", properties, ...children);
  made.setAttribute("aria-labelledby", by.id);
  made.setAttribute("role", role);
  return made;
}

/** What people were asked for about an item; nothing where it is about several. */
const askedOf = ({ asked }, item) => asked[item || (Object.keys(asked).length === 1 && "value")] ?? {};

const scroll = (by, content) => labelled(by, "region", { className: "scroll", tabIndex: 0 }, content);
const details = (textContent, ...content) => node("details", {}, node("summary", { textContent }), ...content);
const table = (heads) =>
  node("table", {}, node("thead", {}, node("tr", {}, ...heads.map((textContent) => node("th", { textContent, scope: "col" })))), node("tbody"));

/** How numbers of an answer are written, and between which ends they lie: shares in per cent, others in the unit of what was asked. */
function measureOf(question, { kind, domain, options, unit = "" }) {
  const share = ["share", "shares", "probability"].includes(question);
  const valued = ["mean", "quantile", "direction", "distribution", "groups"].includes(question);
  const [circle, clock] = valued && domain?.circle ? [domain, kind === "clock" ? clockTime : undefined] : [];
  const factor = share ? 100 : 1;
  return {
    factor, unit: share ? "%" : valued ? unit : "", log: domain?.scale === "log", tick: clock ?? number,
    ends: share ? [0, 1] : question === "correlation" ? [-1, 1] : !valued || circle ? null : domain ? [domain.low, domain.high] : options && [options[0], options.at(-1)],
    value: ({ value, low, high }) => (clock ?? writer(factor * low, factor * high))(factor * value),
    span: ({ low, high }) => (circle ? arc(low, high, circle, clock) : range(low && factor * low, high && factor * high)),
  };
}

/** A value in its interval, on a line of all that it can be. */
function drawScale(element, { numbers: [{ value, low, high }] }, { ends, factor, unit, log }) {
  if (!ends) return;
  const [least, most, ...marks] = [...ends, low ?? ends[0], high ?? ends[1], value].map(log ? Math.log : Number);
  const [from, to, at] = marks.map((x) => 100 * Math.min(1, Math.max(0, (x - least) / (most - least))));
  const [bar, dot] = ["bar", "dot"].map((className) => node("div", { className }));
  Object.assign(bar.style, { left: `${from}%`, width: `${to - from}%` });
  dot.style.left = `${at}%`;
  const names = ends.map((x) => node("span", { textContent: withUnit(number(factor * x, 6), unit) }));
  element.replaceChildren(node("div", { className: "scale" }, bar, dot), node("p", { className: "ends small" }, ...names));
}

const SHARE = measureOf("share", {});
const means = ({ numbers }) => numbers.filter(({ of }) => of.endsWith(": mean"));
const lines = ({ numbers }, measure) => numbers.map((one) => {
  const { unit, value, span } = one.of.endsWith(": share") ? SHARE : measure; // of a group
  return [one.of, withUnit(value(one), unit), span(one)];
});
const NUMBERS = { heads: ["Of", "Value", "Interval"], lines };
const bins = ({ data: { edges, probability, ribbon_low, ribbon_high, cdf_low, cdf_high } }) => probability.map((p, i) => [number(edges[i]), number(edges[i + 1]),
  percent(p), `${percent(ribbon_low[i])} to ${percent(ribbon_high[i])}`, `${percent(cdf_low[i + 1])} to ${percent(cdf_high[i + 1])}`]);
const BINS = { heads: ["From", "To", "Share", "Nine in ten", "Share up to here"], lines: bins };

/** How each picture is drawn, and the table of the numbers in it. */
const PICTURES = {
  interval: { draw: drawScale },
  ribbon: { size: "chart", draw: (element, { data }, { unit }) => drawDistribution(element, data, unit), ...BINS },
  rose: { size: "chart", draw: (element, { data }, { unit, tick }, hand) => drawRose(element, data, unit, hand, tick), ...BINS },
  bars: { size: "chart low", draw: (element, { numbers }, measure) => drawIntervals(element, numbers.map(({ of }) => of), numbers, measure, { bars: true }), ...NUMBERS },
  forest: { size: "chart low", draw: (element, answer, measure) => drawIntervals(element, means(answer).map(({ of }) => of.slice(0, -6)), means(answer), measure), ...NUMBERS },
  map: { size: "chart", draw: (element, { data }) => drawMap(element, data) },
  none: {},
};

/** One answer, or why there is none. */
class AnswerView {
  constructor({ item, question, about, label, picture }, { campaign }) {
    const { size = "", heads } = PICTURES[picture];
    const title = titled("h3", label);
    this.measure = measureOf(question, askedOf(campaign, question === "groups" ? about.at(-1) : item)); // whose number is drawn
    this.text = titled("p", "");
    this.notes = node("div", { className: "small" });
    this.picture = labelled(this.text, "img", { className: size });
    this.root = labelled(title, "group", { className: size ? "answer wide" : "answer" }, title, this.text, this.picture, this.notes);
    this.root.dataset.question = question;
    if (heads === BINS.heads) this.root.append(this.cumulative());
    if (!heads) return;
    this.table = table(heads);
    this.root.append(details("The numbers behind the picture", scroll(title, this.table)));
  }

  cumulative() {
    const text = titled("p", "Share of people up to each value. The whole true curve lies in the band, as surely as the intervals hold.", "small");
    this.band = labelled(text, "img", { className: "chart" });
    this.more = details("The share of people up to each value, with its band", this.band, text);
    this.more.addEventListener("toggle", () => this.draw());
    return this.more;
  }

  show(answer, { hand, told }) {
    Object.assign(this, { answer, hand });
    this.text.textContent = sentence(answer.problem || answer.sentence);
    const notes = [...(this.band ? reading(answer) : []), ...answer.notes].filter((note) => !told.has(note));
    for (const note of notes) told.add(note); // once on a card
    this.notes.replaceChildren(...notes.map((note) => node("p", { textContent: `${sentence(note)}.` })));
    if (this.table) rows(this.table, PICTURES[answer.picture].lines(answer, this.measure));
    this.draw();
  }

  /** The picture, in the colours that the page has now. */
  async draw() {
    const { answer, measure, hand, picture, more, band } = this;
    picture.hidden = answer.picture === "none" || (answer.picture === "interval" && !measure.ends);
    try {
      await PICTURES[answer.picture].draw?.(picture, answer, measure, hand);
      if (more?.open) await drawCumulative(band, answer.data, measure.unit);
    } catch (error) {
      this.notes.textContent = error.message;
    }
  }
}

/** How the picture of a distribution is read. */
const reading = ({ picture, data: { shaped } }) => [
  `${shaped ? "The line is the likeliest curve; the shade" : "The shade"} is where the true one lies at about nine places in ten. ` +
    `${picture === "rose" ? "The dotted circle is where it would be if all were equally common. " : ""}` +
    "Values that people round to, closer together than the shade is smooth, show as one hill",
];

/** A number day by day, or of the campaigns of a family, which are also in a table. */
export class SeriesView {
  constructor({ item, question, label }, { campaign, groups }) {
    this.measure = measureOf(question, askedOf(campaign, item));
    this.text = titled("p", "", "small");
    this.picture = labelled(this.text, "img", { className: "chart low" });
    const title = titled("h3", groups ? label : `${label}, day by day`);
    this.root = node("div", { className: "series" }, title, this.picture, this.text);
    if (!groups) return;
    this.table = table(["Group", "Reports", [label, this.measure.unit].filter(Boolean).join(", "), "Interval", "Rank"]);
    this.root.append(scroll(title, this.table));
  }

  show(series, { confidence }) {
    const { points, slope, problem } = Object.assign(this, { series }).series;
    const { value, span, unit } = this.measure;
    this.text.textContent = problem || `We are ${percent(confidence)} sure of all ${points.length} intervals together.` +
      (slope ? ` Per day it changes by ${withUnit(span(slope), unit)}.` : "");
    this.draw();
    if (!this.table) return;
    rows(this.table, points.map((one) => [one.campaign, whole(one.n), value(one), span(one), [...new Set([one.first_rank, one.last_rank])].join(" to ")]));
    for (const cell of this.table.querySelectorAll("tbody th")) {
      cell.replaceChildren(node("a", { href: `#/${cell.textContent}`, textContent: cell.textContent }));
    }
  }

  draw() {
    const { series: { points }, measure, picture, text, table: groups } = this;
    picture.hidden = !points.length;
    if (!points.length) return;
    drawIntervals(picture, points.map(({ day, campaign }) => day ?? campaign), points, measure, { across: !groups }).catch((error) => (text.textContent = error.message));
  }
}

/** All that is known of one item, or of several together. */
export class Card {
  constructor({ item }, { campaign }) {
    const { text, kind, domain, unit } = askedOf(campaign, item);
    const title = titled("h2", item ? text || item : kind ? "The answers" : "Several questions together");
    const [answers, days] = [node("div", { className: "answers" }), node("div")];
    this.facts = node("p", { className: "facts" });
    this.values = item && domain ? ` · values ${domainText(domain, unit)}` : "";
    this.root = labelled(title, "region", { className: "card item" }, title, this.facts, answers, days);
    this.root.dataset.item = item;
    Object.assign(this, { answers: new List(answers, AnswerView), days: new List(days, SeriesView) });
  }

  show({ answers, days }, about) {
    this.facts.textContent = `${whole(answers[0].n)} people${this.values}`;
    const hand = answers.find(({ question }) => question === "direction")?.numbers[0];
    this.answers.show(answers, { ...about, hand, told: new Set() });
    this.days.show(days, about);
  }

  draw() {
    this.answers.draw();
    this.days.draw();
  }
}
