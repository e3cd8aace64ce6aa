/** A step of the survey: a question, the input that fits, what is wrong with an answer, and the way to give none. */
import { node } from "./dom.js";
import { inputFor } from "./inputs.js";
import { say } from "./texts.js";

/** A question with its input; `language` is that of its text, `go` leads on once a reading is chosen. */
export function makeStep(key, asked, id, language, go) {
  const input = inputFor(asked, id, `${id}-title`);
  const title = node("h2", { id: `${id}-title`, tabIndex: -1, textContent: asked.text || key, lang: language });
  const fields = node("div", { className: "fields" }, ...input.content);
  const error = node("p", { id: `${id}-error`, className: "error" });
  error.setAttribute("role", "alert");
  const readings = node("p", { className: "readings" });
  const none = node("input", { type: "checkbox", id: `${id}-none` });
  const step = { key, asked, input, title, none, error, readings, go };
  const silence = node("p", { className: "row none" }, none, node("label", { htmlFor: none.id, textContent: say("rather_not") }));
  none.addEventListener("change", () => {
    fields.inert = none.checked;
    blame(step, {});
  });
  fields.addEventListener("input", () => blame(step, {}));
  step.element = node("fieldset", { id: `${id}-step` }, node("legend", {}, title), fields, error, readings, silence);
  return step;
}

/** Say what is wrong with a step, and offer the readings of what can be read in several ways. */
function blame({ input, error, readings, go }, { fault = "", readings: choices = [] }) {
  error.textContent = fault;
  input.first.setAttribute("aria-invalid", String(fault !== ""));
  readings.replaceChildren(...choices.map(({ label, value }) => {
    const choice = node("button", { type: "button", className: "quiet", textContent: label });
    choice.addEventListener("click", () => {
      input.show(value);
      go();
    });
    return choice;
  }));
}

/** What was answered: null for nothing, undefined if it cannot be read. */
export const valueOf = ({ none, input }) => (none.checked ? null : input.read().value);

/** Whether a step has an answer; if not, what is wrong is said. */
export function answered(step) {
  const outcome = step.none.checked ? {} : step.input.read();
  blame(step, outcome);
  if (outcome.fault) (step.readings.firstChild ?? step.input.first).focus();
  return !outcome.fault;
}
