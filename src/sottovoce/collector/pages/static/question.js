/** One question on the dashboard: its picture, its numbers, and how sure they are. */
import { drawCumulative, drawDistribution, drawIntervals, drawMap, drawRose, drawShares } from "./charts.js";
import { arc, clockTime, domainText, number, percent, range, rows, sentence, whole, withUnit, writer } from "./words.js";

const REFERENCES = ["aria-labelledby", "for"];

/** How values of a question are written, and intervals of them. */
function penOf({ kind, domain }, unit) {
  if (kind === "clock") return { value: ({ value }) => clockTime(value), span: (low, high) => arc(low, high, domain, clockTime) };
  const span = domain?.circle ? (low, high) => arc(low, high, domain) : range;
  return {
    value: ({ value, low, high }) => withUnit(writer(low, high)(value), unit),
    span: (low, high) => withUnit(span(low, high), unit),
  };
}

/** What kind of answer there is, in a few words. */
function kindWords({ kind, domain, options, area }, unit) {
  if (kind === "clock") return "time of day";
  if (domain) return `values ${domainText(domain, unit)}`;
  if (options) return `one of ${options.length} options`;
  return area ? "a place" : "";
}

export class QuestionView {
  /** The ids of the first question are those of the template; the others have its number behind them. */
  constructor(name, asked, index) {
    const copy = document.getElementById("question-template").content.cloneNode(true);
    const later = index ? `-${index}` : "";
    this.root = copy.firstElementChild;
    this.parts = {};
    for (const part of this.root.querySelectorAll("[id]")) {
      this.parts[part.id] = part;
      part.id += later;
    }
    for (const attribute of REFERENCES) {
      for (const part of [this.root, ...this.root.querySelectorAll(`[${attribute}]`)]) {
        const ids = part.getAttribute(attribute);
        if (ids) part.setAttribute(attribute, ids.split(" ").map((id) => id + later).join(" "));
      }
    }
    Object.assign(this, { name, asked, unit: asked.unit ?? "", answers: null, pen: penOf(asked, asked.unit) });
    this.parts["cumulative-details"].addEventListener("toggle", () => this.draw());
    this.describe();
  }

  put(texts) {
    for (const [id, text] of Object.entries(texts)) this.parts[id].textContent = text;
  }

  hide(ids, hidden) {
    for (const id of ids) this.parts[id].hidden = hidden;
  }

  describe() {
    const { domain, options, kind } = this.asked;
    const alone = this.name === "value";
    this.put({
      "question-title": alone ? "The answers" : this.asked.text || this.name,
      "question-facts": alone ? "" : kindWords(this.asked, this.unit),
      "mean-title": kind === "clock" ? "Mean time" : kind === "place" ? "Mean place" : domain?.circle ? "Mean direction" : "Mean",
      "quantiles-note": "", "quantiles-value": this.unit ? `Value, ${this.unit}` : "Value",
      "scale-low": domain ? number(domain.low, 6) : "", "scale-high": domain ? number(domain.high, 6) : "",
      "mean-interval": "computing …", "distribution-summary": "computing …", "shares-summary": "computing …",
      honesty: "computing …",
    });
    rows(this.parts.quantiles, [], "computing …");
    rows(this.parts["distribution-table"], [], "computing …");
    this.hide(["distribution", "shares"], true);
    this.hide(["shares-card"], !options);
    this.hide(["distribution-card"], !domain);
    this.hide(["mean-card"], !domain && kind !== "rating" && kind !== "place");
    this.hide(["quantiles-card"], !domain || domain.circle);
    this.hide(["mean-scale"], !domain || domain.circle); // a rose has a hand instead
    this.hide(["map-card"], kind !== "place");
    this.placeBar(null);
  }

  /** What is known now. */
  show(answers, { shown, confidence }) {
    Object.assign(this, { answers, confidence });
    const mean = answers.mean ?? answers.circular_mean;
    const because = answers.problems.mean ?? answers.problems.circular_mean ?? answers.problems.position;
    const notes = (mean?.notes ?? []).map((note) => `. ${sentence(note)}`).join("");
    this.put({
      mean: mean ? this.pen.value(mean) : "–",
      "mean-interval": mean ? `${percent(confidence)} interval: ${this.pen.span(mean.low, mean.high)}${notes}` : because ?? (shown ? "" : "not yet"),
      honesty: honestyWords(answers),
    });
    this.placeBar(mean);
    if (answers.position.length) this.showPosition(answers.position);
    const line = ({ p, value, low, high }) => [percent(p), writer(low, high)(value), range(low, high)];
    rows(this.parts.quantiles, answers.quantiles.map(line), answers.problems.quantiles ?? "not yet");
    const median = answers.quantiles.find(({ p }) => p === 0.5) ?? answers.quantiles[0];
    this.put({ "quantiles-note": (median?.notes ?? []).map((note) => `${sentence(note)}.`).join(" ") });
    this.showShares(answers);
    this.showDistribution(answers);
    this.showMap(answers);
    this.hide(["honesty-card"], !answers.honesty && !answers.problems.honesty && shown);
    this.draw();
  }

  /** The mean of x and that of y, each with its interval. */
  showPosition(both) {
    const parts = both.map(({ value, low, high }, i) => {
      const back = !this.asked.area.degrees && high < 0; // to the west or south without a doubt
      const name = this.asked.area.degrees ? ["longitude", "latitude"][i] : `to the ${["east", "north", "west", "south"][i + (back ? 2 : 0)]}`;
      return { name, ...(back ? { value: -value, low: -high, high: -low } : { value, low, high }) };
    });
    const each = (write) => parts.map((one) => `${write(one)} ${one.name}`).join(", ");
    this.put({ mean: each(this.pen.value), "mean-interval": `${percent(this.confidence)} intervals: ${each(({ low, high }) => this.pen.span(low, high))}` });
  }

  placeBar(mean) {
    const { low, high } = this.asked.domain ?? { low: 0, high: 1 };
    const place = (value) => 100 * Math.min(1, Math.max(0, (value - low) / (high - low)));
    const [bar, dot] = [this.parts["mean-bar"].style, this.parts["mean-dot"].style];
    for (const style of [bar, dot]) style.visibility = mean ? "visible" : "hidden";
    if (!mean) return;
    const [from, to] = [place(mean.low ?? low), place(mean.high ?? high)];
    bar.left = `${from}%`;
    bar.width = `${to - from}%`;
    dot.left = `${place(mean.value)}%`;
  }

  showShares({ shares, problems }) {
    rows(this.parts["shares-table"], shares.map(({ option, value, low, high }) =>
      [String(option), percent(value), `${percent(low)} to ${percent(high)}`]), problems.shares ?? "not yet");
    this.put({ "shares-summary": shares.length
      ? `Share of people by option; each interval holds with a confidence of ${percent(this.confidence)}.` : problems.shares ?? "Not enough reports yet." });
  }

  showDistribution({ distribution, problems }) {
    if (!distribution) {
      rows(this.parts["distribution-table"], [], "not yet");
      this.put({ "distribution-summary": problems.distribution ?? "Not enough reports yet.", "distribution-note": "" });
      return;
    }
    const { edges, probabilities, ribbon_low, ribbon_high, cdf_low, cdf_high, shaped } = distribution;
    const ring = this.asked.domain.circle ? "The dotted circle is where it would be if all were equally common. " : "";
    rows(this.parts["distribution-table"], probabilities.map((p, i) => [number(edges[i]), number(edges[i + 1]), percent(p),
      `${percent(ribbon_low[i])} to ${percent(ribbon_high[i])}`, `${percent(cdf_low[i + 1])} to ${percent(cdf_high[i + 1])}`]));
    this.put({
      "distribution-summary": this.whereabouts(distribution),
      "distribution-note": `${shaped ? "The line is the likeliest curve; the shade" : "The shade"} is where the true one lies at ` +
        `about nine places in ten. ${ring}Values that people round to, closer together than the shade is smooth, show as one hill.`,
      "cumulative-summary": "Share of people up to each value. With a confidence of " +
        `${percent(this.confidence)} the whole true curve lies in the band, whatever it is.`,
    });
  }

  /** Which values appear to be most common, if the reports tell, and where people surely are. */
  whereabouts({ n, most_common, sure }) {
    const { kind, domain } = this.asked;
    const around = domain.high - domain.low;
    const onto = (x) => (domain.circle ? domain.low + ((((x - domain.low) % around) + around) % around) : x);
    const write = (x) => (kind === "clock" ? clockTime(x) : number(onto(x), 10));
    const between = (low, high) => withUnit(`between ${write(low)} and ${write(high)}`, kind === "clock" ? "" : this.unit);
    const noun = `${kind === "clock" ? "times" : "values"}${domain.scale === "log" ? " (per factor)" : ""}`;
    const ranges = most_common.map((ends) => between(...ends));
    return (ranges.length ? `The most common ${noun} appear to lie ${ranges.join(", or ")}.`
      : `We cannot tell from these ${whole(n)} people which ${noun} are most common.`) +
      (sure ? ` We are ${percent(this.confidence)} sure that at least ${sure.share} of 100${ranges.length ? " people" : ""} are ${between(sure.low, sure.high)}.` : "");
  }

  showMap({ map, problems }) {
    this.put({ "map-summary": map ? "Share of people around each place, as far as their reports tell." : problems.map ?? "Not enough reports yet." });
  }

  /** The pictures, in the colours that the page has now. */
  draw() {
    if (!this.answers) return;
    const { parts, answers, unit, asked } = this;
    const late = (id) => (error) => this.put({ [id]: error.message });
    const { days, shares, distribution } = answers;
    this.hide(["days-card"], !days);
    if (days) {
      const { points, slope } = days;
      this.put({ "days-summary": `The mean of each day; all ${points.length} intervals hold together with a confidence of ${percent(this.confidence)}.` +
        (slope ? ` Per day it changes by ${withUnit(range(slope.low, slope.high), unit)}.` : "") });
      drawIntervals(parts.days, points.map(({ day }) => day), points, unit, true).catch(late("days-summary"));
    }
    this.hide(["shares"], !shares.length);
    if (shares.length) drawShares(parts.shares, shares).catch(late("shares-summary"));
    this.hide(["map"], !answers.map);
    if (answers.map) drawMap(parts.map, answers.map);
    this.hide(["distribution", "cumulative-details"], !distribution);
    if (!distribution) return;
    if (parts["cumulative-details"].open) drawCumulative(parts.cumulative, distribution, unit).catch(late("cumulative-summary"));
    const picture = asked.domain.circle
      ? drawRose(parts.distribution, distribution, unit, answers.circular_mean, asked.kind === "clock" ? clockTime : undefined)
      : drawDistribution(parts.distribution, distribution, unit);
    picture.catch(late("distribution-summary"));
  }
}

function honestyWords({ honesty, problems }) {
  if (honesty && !honesty.alarm) return "No sign of fake reports. (Fakes that imitate honest reports leave none.)";
  return `${sentence(honesty?.message ?? problems.honesty ?? "checked once there are enough reports")}.`;
}
