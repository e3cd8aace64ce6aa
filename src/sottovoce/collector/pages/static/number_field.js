/** Text fields that hold a number, read as the survey's page reads one: what may mean two numbers is asked back. */
import { node } from "./dom.js";
import { unmistakable } from "./inputs.js";
import { numbers } from "./reading.js";
import { entry, say } from "./texts.js";

/** The numbers that a field may mean. Of people 2,000 is two thousand: nobody counts them with three decimals. */
function readings(field) {
  const found = numbers(field.value);
  return field.inputMode === "numeric" ? found.slice(0, 1).filter(Number.isInteger) : found;
}

/** The number in a field; null if there is none, or if there are two. */
export function numberIn(field) {
  const [value, second] = readings(field);
  return second === undefined ? value ?? null : null;
}

/** Whether a field has one number; if not, what is wrong is said below it, and what it may mean is offered. */
export function settled(field) {
  const found = readings(field);
  const right = found.length === 1;
  const place = placeBelow(field);
  const what = field.inputMode === "numeric" ? "a whole number" : "a number";
  place.firstChild.textContent = right ? "" : found.length ? say("two_ways", { text: field.value.trim() }) : `Please enter ${what}.`;
  place.lastChild.replaceChildren(...(right ? [] : found.map((value) => choice(field, value))));
  field.setAttribute("aria-invalid", String(!right));
  return right;
}

function choice(field, value) {
  const button = node("button", { type: "button", className: "quiet", textContent: unmistakable(value, "") });
  button.addEventListener("click", () => {
    field.value = entry(value);
    settled(field);
    field.dispatchEvent(new Event("input", { bubbles: true }));
    field.focus();
  });
  return button;
}

/** Where a field's fault is said: made when it is needed first. */
function placeBelow(field) {
  const line = field.closest("p");
  if (line.lastElementChild.className === "faults") return line.lastElementChild;
  const fault = node("span", { className: "error" });
  fault.setAttribute("role", "alert");
  const place = node("span", { className: "faults" }, fault, node("span", { className: "readings" }));
  line.append(place);
  return place;
}
