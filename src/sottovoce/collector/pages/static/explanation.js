/** How the survey works, and what ε promises to one person, for those who ask. */
import { element, node } from "./dom.js";
import { say, sayOf } from "./texts.js";
import { number, paragraphs, percent, put, whole } from "./words.js";

export function explainTo({ epsilon, operator, asked, questions, width, digest, cells, retention_days: days }, { audit }, spent) {
  const count = Object.keys(asked).length;
  const who = operator || say("operator");
  const deleted = days ? ` ${sayOf(days, "how_deleted", { days: whole(days) })}` : "";
  const steps = [
    say("how_stay"), say("how_draw"),
    ...lot(Object.keys(questions), asked, width),
    say("how_send", { who }) + deleted, say("how_once"),
  ];
  element("how-steps").replaceChildren(...steps.map((textContent) => node("li", { textContent })));
  put({ privacy: sayOf(count, "privacy"), trust: say("trust", { host: location.host }), promise: say("promise", { epsilon: number(epsilon) }) });
  paragraphs(element("epsilon"), [...promise(epsilon), ...(spent ? [say("promise_sum", { spent: number(spent), sum: number(spent + epsilon) })] : [])]);
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

function promise(epsilon) {
  const factor = Math.exp(epsilon);
  const doubt = 100 / (1 + factor); // in per cent; it is never rounded to none, nor certainty to 100 %
  const sure = percent(1 - doubt / 100, Math.max(3, 2 - Math.floor(Math.log10(doubt))));
  const strength = 1 + [0.5, 2, 5].filter((limit) => epsilon > limit).length;
  return [say("promise_same", { factor: number(factor, 3) }), say("promise_sure", { sure }), say(`strength_${strength}`)];
}
