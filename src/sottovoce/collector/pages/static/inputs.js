/**
 * Inputs that fit what is asked. Each is
 *
 *     { content, first, read(), show(value) }
 *
 * the elements, the one to focus, what was entered as { value }, { fault } in words or { fault, readings }, and the way
 * to enter a value for the person.
 */
import { node } from "./dom.js";
import { placeInput, placeText } from "./place.js";
import { numbers, times } from "./reading.js";
import { clock, entry, halfDays, list, say } from "./texts.js";
import { number, withUnit } from "./words.js";

const MOST_BUTTONS = 12; // of more options a list that can be searched
const LONGEST_ROW = 11; // ratings from 0 to 10

const READERS = {
  number: { read: numbers, write: entry, fault: "fault_number" },
  clock: { read: (text) => times(text, halfDays()), write: clock, fault: "fault_clock" },
};

/** The input for a kind of question; `id` names its elements, `label` the element that says what is asked. */
export function inputFor(asked, id, label) {
  if (asked.kind === "place") return placeInput(asked, id, label);
  if (asked.domain) return numberInput(asked, id, label);
  return asked.options.length > MOST_BUTTONS ? searchInput(asked, id, label) : choiceInput(asked, id);
}

/** An answer, or what a report stands for, in words. */
export function answerText(asked, value, digits = 6) {
  const { kind, unit, options } = asked;
  if (kind === "place") return placeText(asked, value);
  if (options) return Array.isArray(value) ? held(options, value) : String(value);
  return kind === "clock" ? clock(value) : withUnit(number(value, digits), unit);
}

/** The options that a report names: a 1 for each of them. */
function held(options, marks) {
  const names = options.filter((_, i) => marks[i]).map(String);
  return names.length === 1 ? names[0] : say("sent_options", { options: list(names) });
}

function numberInput(asked, id, label) {
  const { kind, domain, unit } = asked;
  const { read, write, fault } = READERS[kind] ?? READERS.number;
  const tell = (value) => answerText(asked, value);
  const hint = kind === "clock" ? say("clock_hint", { one: clock(7.25), other: clock(22.5) })
    : say(domain.circle ? "range_circle" : "range", { low: number(domain.low, 6), high: tell(domain.high) });
  const field = node("input", { type: "text", id, className: "answer", inputMode: kind === "clock" ? "text" : "decimal", autocomplete: "off" });
  const mark = node("span", { id: `${id}-unit`, className: "unit", textContent: kind === "clock" ? "" : unit });
  field.setAttribute("aria-labelledby", `${label} ${mark.id}`);
  field.setAttribute("aria-describedby", `${id}-hint ${id}-error`);
  const slider = makeSlider(domain, kind === "clock", tell, (value) => {
    field.value = write(value);
  });
  slider.element.id = `${id}-slider`;
  const follow = () => {
    const readings = read(field.value);
    slider.show(readings.length === 1 ? readings[0] : null);
  };
  field.addEventListener("input", follow);
  return {
    content: [
      node("div", { className: "row" }, field, mark), slider.element,
      node("p", { id: `${id}-hint`, className: "small hint", textContent: hint }),
    ],
    first: field,
    read() {
      const readings = read(field.value);
      if (readings.length === 1) return { value: readings[0] };
      if (!readings.length) return { fault: say(fault) };
      return {
        fault: say("two_ways", { text: field.value.trim() }),
        readings: readings.map((value) => ({ value, label: kind === "clock" ? clock(value) : unmistakable(value, unit) })),
      };
    },
    show(value) {
      field.value = write(value);
      follow();
    },
  };
}

/** A number of which nobody wonders whether its point is one. */
export function unmistakable(value, unit) {
  const text = withUnit(entry(value), unit);
  return Number.isInteger(value) ? text : say("between", { value: text, low: entry(Math.floor(value)), high: entry(Math.ceil(value)) });
}

/** A slider over a domain, empty until it is moved; on a log scale its steps are factors. */
function makeSlider({ low, high, scale }, isClock, tell, enter) {
  const log = scale === "log";
  const [first, last] = log ? [Math.log10(low), Math.log10(high)] : [low, high];
  const step = isClock ? 0.25 : niceStep(last - first);
  const range = node("input", { type: "range", min: first, max: last, step, className: "untouched" });
  range.setAttribute("aria-label", say("slider"));
  const show = (value) => {
    const inside = value === null ? (first + last) / 2 : log ? Math.log10(Math.max(value, low)) : value;
    range.value = inside;
    range.classList.toggle("untouched", value === null);
    range.setAttribute("aria-valuetext", value === null ? say("slider_empty") : tell(value));
  };
  range.addEventListener("input", () => {
    const value = log ? Number((10 ** Number(range.value)).toPrecision(2)) : Number(range.value);
    enter(value);
    range.classList.remove("untouched");
    range.setAttribute("aria-valuetext", tell(value));
  });
  show(null);
  return { element: range, show };
}

/** About a hundred steps, of 1, 2 or 5 times a power of ten. */
function niceStep(width) {
  const power = 10 ** Math.floor(Math.log10(width / 100));
  return power * [1, 2, 5, 10].find((factor) => width / (power * factor) <= 125);
}

function choiceInput({ options, kind }, id) {
  const row = kind === "rating" && options.length <= LONGEST_ROW;
  const buttons = options.map((option, i) => node("input", { type: "radio", name: id, id: `${id}-${i}`, value: i }));
  const labels = buttons.map((button, i) => node("label", { className: "choice" }, button, node("span", { textContent: options[i] })));
  return {
    content: [node("div", { className: row ? "choices rating" : "choices" }, ...labels)],
    first: buttons[0],
    read() {
      const chosen = buttons.findIndex((button) => button.checked);
      return chosen < 0 ? { fault: say("fault_option") } : { value: options[chosen] };
    },
    show(value) {
      buttons[options.indexOf(value)].checked = true;
    },
  };
}

/** Of many options one, found by typing a part of it. */
function searchInput({ options }, id, label) {
  const field = node("input", { type: "text", id, className: "search", autocomplete: "off" });
  field.setAttribute("list", `${id}-options`);
  field.setAttribute("aria-labelledby", label);
  field.setAttribute("aria-describedby", `${id}-hint ${id}-error`);
  const known = node("datalist", { id: `${id}-options` }, ...options.map((option) => node("option", { value: option })));
  const plain = (text) => String(text).normalize("NFC").trim().toLowerCase();
  return {
    content: [field, known, node("p", { id: `${id}-hint`, className: "small hint", textContent: say("search", { count: options.length }) })],
    first: field,
    read() {
      const value = options.find((option) => plain(option) === plain(field.value));
      return value === undefined ? { fault: say("fault_option") } : { value };
    },
    show(value) {
      field.value = value;
    },
  };
}
