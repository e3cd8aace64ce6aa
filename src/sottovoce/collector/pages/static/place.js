/** A position on a plan: clicked, moved with arrow keys, or as two numbers. x is to the east, y to the north. */
import { node, shape } from "./dom.js";
import { numbers } from "./reading.js";
import { entry, say } from "./texts.js";
import { number, withUnit } from "./words.js";

const SIZE = 100; // of half the longer side, in the units of the picture
const ROOM = 18; // around it, for the points of the compass
const STEPS = 50; // of the arrow keys from the middle to the rim; five at once with Shift
const KEYS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowDown: [0, -1], ArrowUp: [0, 1] };

/** A position in words. */
export function placeText({ area, unit }, [x, y]) {
  if (area.degrees) {
    const [n, e, s, w] = say("compass").split(" ");
    return `${number(Math.abs(y), 5)}° ${y < 0 ? s : n}, ${number(Math.abs(x), 5)}° ${x < 0 ? w : e}`;
  }
  const part = (value, positive, negative) =>
    (value ? [`${withUnit(number(Math.abs(value), 3), unit)} ${say(value < 0 ? negative : positive)}`] : []);
  return [...part(x, "east", "west"), ...part(y, "north", "south")].join(", ") || withUnit("0", unit);
}

export function placeInput(asked, id, label) {
  const { area, unit } = asked;
  const plan = planOf(area);
  const mark = shape("g", { class: "mark", visibility: "hidden" }, shape("circle", { r: 7 }), shape("circle", { r: 2.5, class: "point" }));
  const picture = shape("svg", {
    viewBox: plan.box.join(" "), tabindex: 0, role: "application", class: "plan", id,
    "aria-label": say("place_label"), "aria-describedby": `${label} ${id}-at ${id}-error`,
  }, ...plan.background(), mark);
  const at = node("output", { id: `${id}-at`, className: "at" });
  const [fieldX, fieldY] = ["x", "y"].map((axis) => node("input", { type: "text", id: `${id}-${axis}`, inputMode: "decimal", autocomplete: "off" }));
  let value = null;

  function draw() {
    mark.setAttribute("visibility", value ? "visible" : "hidden");
    if (value) mark.setAttribute("transform", `translate(${plan.spot(value).join(" ")})`);
    at.textContent = value ? placeText(asked, value) : "";
  }
  function show(position) {
    value = plan.inside(position);
    [fieldX.value, fieldY.value] = value.map((part) => entry(Number(part.toPrecision(area.degrees ? 6 : 4))));
    draw();
  }
  picture.addEventListener("click", ({ clientX, clientY }) => {
    const { left, top, width, height } = picture.getBoundingClientRect();
    show(plan.position((clientX - left) / width, (clientY - top) / height));
  });
  picture.addEventListener("keydown", (event) => {
    const by = KEYS[event.key];
    if (!by) return;
    event.preventDefault();
    show(plan.moved(value ?? plan.middle, by.map((part) => part * (event.shiftKey ? 5 : 1) / STEPS)));
  });
  for (const field of [fieldX, fieldY]) {
    field.addEventListener("input", () => {
      const readings = [fieldX, fieldY].map((one) => numbers(one.value));
      const position = readings.map(([reading]) => reading);
      value = readings.every(({ length }) => length === 1) && plan.contains(position) ? position : null;
      draw();
    });
  }
  const ring = plan.ring ? ` ${say("place_ring", { ring: withUnit(number(plan.ring, 3), unit) })}` : "";
  return {
    content: [
      node("p", { className: "small hint", textContent: say("place_hint") + ring }), picture, at,
      node("details", {}, node("summary", { textContent: say("place_numbers") }),
        node("div", { className: "pair" }, named(fieldX, area.degrees ? "longitude" : "place_x", unit), named(fieldY, area.degrees ? "latitude" : "place_y", unit))),
    ],
    first: picture,
    read: () => (value ? { value } : { fault: say("fault_place") }),
    show,
  };
}

const named = (field, key, unit) => node("div", {},
  node("label", { htmlFor: field.id, textContent: unit ? `${say(key)}, ${unit}` : say(key) }), field);

/** How an area is drawn: between positions and the units of the picture. */
function planOf({ x, y, round, degrees }) {
  const middle = [(x[0] + x[1]) / 2, (y[0] + y[1]) / 2];
  const half = [(x[1] - x[0]) / 2, (y[1] - y[0]) / 2];
  const sides = degrees ? [half[0] * Math.cos((middle[1] * Math.PI) / 180), half[1]] : half;
  const size = sides.map((side) => (SIZE * side) / Math.max(...sides));
  const [width, height] = size.map((side) => side + ROOM);
  const unit = (position) => position.map((part, i) => (part - middle[i]) / half[i]);
  const back = (coordinates) => coordinates.map((part, i) => middle[i] + part * half[i]);
  const fine = (coordinates) => back(coordinates.map((part) => Math.round(part * 1000) / 1000));
  const away = (u, v) => (round ? Math.hypot(u, v) : Math.max(Math.abs(u), Math.abs(v)));
  const inside = (position) => {
    const [u, v] = unit(position);
    if (away(u, v) <= 1) return position;
    if (!round) return back([u, v].map((part) => Math.min(Math.max(part, -1), 1)));
    return back([u, v].map((part) => (part / away(u, v)) * (1 - 1e-9))); // so that no rounding leads out again
  };
  return {
    box: [-width, -height, 2 * width, 2 * height],
    middle, inside,
    contains: (position) => away(...unit(position)) <= 1,
    ring: round && !degrees && half[0] === half[1] ? half[0] / 4 : null,
    spot: (position) => unit(position).map((part, i) => (i ? -1 : 1) * part * size[i]),
    position: (right, down) => fine([(2 * right - 1) * width / size[0], (1 - 2 * down) * height / size[1]]),
    moved: (position, by) => fine(unit(position).map((part, i) => part + by[i])),
    background: () => [...lines(size, round), ...compass(size)],
  };
}

function lines([width, height], round) {
  const outline = round ? shape("ellipse", { rx: width, ry: height, class: "ground" })
    : shape("rect", { x: -width, y: -height, width: 2 * width, height: 2 * height, class: "ground" });
  const rings = round ? [0.25, 0.5, 0.75].map((part) => shape("ellipse", { rx: width * part, ry: height * part, class: "line" })) : [];
  return [
    outline, ...rings,
    shape("line", { x1: -width, x2: width, y1: 0, y2: 0, class: "line" }), shape("line", { x1: 0, x2: 0, y1: -height, y2: height, class: "line" }),
  ];
}

function compass([width, height]) {
  const [n, e, s, w] = say("compass").split(" ");
  return [[n, 0, -height - 9], [e, width + 9, 0], [s, 0, height + 9], [w, -width - 9, 0]]
    .map(([letter, x, y]) => shape("text", { x, y, class: "compass", "aria-hidden": "true" }, letter));
}
