/** How the survey works, and what a report tells about one person: computed from the mechanism that was counted in this browser. */
import { element, node } from "./dom.js";
import { answerText } from "./inputs.js";
import { bound, disclosure, frequencies } from "./sottovoce/index.js";
import { say, sayOf } from "./texts.js";
import { number, paragraphs, put, whole, withUnit } from "./words.js";

export function explainTo(campaign, mechanism, spent) {
  const { epsilon, operator, asked, questions, width, digest, cells, retention_days: days, language } = campaign;
  const { audit } = mechanism;
  const known = disclosure(mechanism);
  const who = operator || say("operator");
  const deleted = days ? ` ${sayOf(days, "how_deleted", { days: whole(days) })}` : "";
  const steps = [
    [say("how_draw")], ...lot(Object.keys(questions), asked, width).map((text) => [text]), ...told(known, mechanism, asked),
    [`${say("how_send", { who })} ${say("how_seen")}${deleted}`], [say("how_once")],
  ];
  element("how-steps").replaceChildren(...steps.map(([text, names]) =>
    node("li", {}, ...(names ? [node("b", { textContent: names, lang: language }), " "] : []), text)));
  put({
    privacy: `${sayOf(Object.keys(asked).length, "privacy")} ${closing(known, mechanism, spent)}`,
    trust: say("trust", { host: location.host }), promise: say("promise", { epsilon: number(epsilon) }),
  });
  const sum = { spent: number(spent), sum: number(spent + epsilon), ...atMost(spent + epsilon) };
  paragraphs(element("epsilon"), [...promise(epsilon), ...(spent ? [say("promise_sum", sum)] : [])]);
  const facts = {
    fact_epsilon: String(audit.epsilon), fact_ratio: audit.ratio.join(" / "), fact_cells: whole(cells), fact_digest: digest,
  };
  element("facts").replaceChildren(...Object.entries(facts).flatMap(([key, textContent]) =>
    [node("dt", { textContent: say(key) }), node("dd", { textContent })]));
}

/** What chance decides besides: which questions are drawn, or which function of the answers. */
function lot(questions, asked, width) {
  if (questions.some((name) => !Object.hasOwn(asked, name))) return [say("how_function")];
  return width < questions.length ? [say("how_lot", { sampled: whole(width), count: whole(questions.length) })] : [];
}

/** What everybody may know of any report within ε. */
export const promise = (epsilon) => [say("promise_same", { factor: number(Math.exp(epsilon), 3) }), say("promise_guess", atMost(epsilon))];

function atMost(epsilon) {
  const { base, counts: [guess] } = frequencies([bound(epsilon)], Math.ceil);
  return { guess: whole(guess), base: whole(base) };
}

/** What a whole report comes to; where several answers, a function of them or several reports are seen, the bound is all that is known. */
export function closing({ guess, questions }, { epsilon, width }, spent = 0) {
  if (spent || width > 1 || !questions.size) return say("close_together", atMost(spent + epsilon));
  return say(`close_${1 + [0.65, 0.8, 0.95, 0.99].filter((limit) => guess >= limit).length}`);
}

/** What the report of each question tells: sentences, and where they are not about all, the questions. */
export function told({ questions }, { epsilon, width }, asked) {
  if (!questions.size) return [[say("promise_guess", atMost(epsilon))]];
  const about = new Map();
  for (const [name, one] of questions) {
    const text = TELLS[one.kind](one, asked[name]);
    about.set(text, [...(about.get(text) ?? []), asked[name].text || name]);
  }
  const lines = [...about].map(([text, names]) => (names.length === questions.size ? [text] : [text, names.join(" · ")]));
  const rights = [...questions.values()].map(({ kind, shares, about: [, many] }) => (kind === "option" && many === 1 ? shares[0] : null));
  if (width === 1 || rights.includes(null)) return lines;
  return [...lines, [say("tell_all", { count: whole(width), ...counted([together(rights, width)], "all") })]];
}

/** How often all answers are right of so many that a lot draws: the mean of their products. */
function together(rights, drawn) {
  const products = (each) => each.reduce((sums, one) => [...sums, 0].map((sum, i) => sum + (i ? one * sums[i - 1] : 0)), [1])[drawn];
  return products(rights) / products(rights.map(() => 1));
}

/** Shares as the places of a text, and what they are of. */
function counted(shares, ...names) {
  const { base, counts } = frequencies(shares);
  return { base: whole(base), ...Object.fromEntries(names.map((name, i) => [name, whole(counts[i])])) };
}

const TELLS = {
  option({ guess, shares: [own], about: [k, many] }) {
    if (many > 1) return say("tell_several", { k: whole(k), many: number(many, 3), chance: number(Math.round((100 * many) / k)), ...counted([own], "right") });
    const { base, counts: [right] } = frequencies([own]);
    const places = { k: whole(k), base: whole(base), right: whole(right), wrong: whole(base - right) };
    return `${say(k === 2 ? "tell_either" : "tell_option", places)} ${say(guess < 0.95 ? "tell_open" : "tell_taken")}`;
  },
  near({ shares, about }, asked) {
    const [x1, x2, from, to] = about.map((x) => answerText(asked, x, 4));
    return say("tell_near", { x1, x2, from, to, ...counted(shares, "a", "b") });
  },
  words: ({ shares, about }, asked) => say("tell_words", { ...ends(about, asked), ...counted(shares, "a", "b") }),
  ends: ({ guess, about }, asked) => say("tell_ends", { ...ends(about, asked), ...counted([guess], "guess") }),
  spot({ shares, about: [far] }, { unit }) {
    const [d, d2] = [far, 2 * far].map((x) => withUnit(number(x, 3), unit));
    return say("tell_spot", { d, d2, ...counted(shares, "a", "b") });
  },
  two: ({ guess }) => say("tell_two", counted([guess], "guess")),
};

function ends(about, asked) {
  const [x1, x2] = about.map((x) => answerText(asked, x, 4));
  return { x1, x2 };
}
