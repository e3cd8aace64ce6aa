/** A position by distance and angle: `polar/1`. One integer for both. Mirrors sottovoce/reporters/composites/polar.py. */
import { ArgumentTypeError } from "./errors.js";
import { Disc, LEAST, hide, isPosition } from "./domain.js";
import { productOfLargest } from "./exact.js";
import { randomWord } from "./random.js";
import { Reporter, checkCell, outside } from "./reporter.js";
import { keys, list, numbers, real } from "./spec.js";
import { rule } from "./window.js";

const TURN = 2 * Math.PI;

/** The two parts of a parsed spec, not yet read. */
export function readPolar(spec) {
  keys(spec, ["epsilon", "format", "loss", "parts", "weights"], "spec");
  const epsilon = real(spec.get("epsilon"), "epsilon");
  const weights = numbers(spec.get("weights"), "weights", real);
  rule(weights.length === 2, "weights must be a list of 2", "weights");
  const specs = list(spec.get("parts"), "parts");
  rule(specs.length === 2, "parts must be a list of 2", "parts");
  return { epsilon, weights, specs, loss: spec.get("loss") };
}

/** What estimates need and a device does not; refused all the same where Python refuses it. */
function checkLoss(loss, weights) {
  rule(weights.every((weight) => weight > 0), "weights must be positive", "weights");
  if (typeof loss === "string") rule(/^l[12]$/i.test(loss), "loss must be l1, l2 or a number", "loss");
  else rule(real(loss, "loss") >= 1 && real(loss, "loss") <= 64, "loss must be between 1 and 64", "loss");
}

export class Polar extends Reporter {
  constructor({ epsilon, loss, weights }, [distance, angle]) {
    checkLoss(loss, weights);
    super(epsilon, productOfLargest([distance.audit.ratio, angle.audit.ratio], 2), distance.cells * angle.cells);
    const [line, around] = [distance.domain, angle.domain];
    const turn = around.high - around.low;
    const radians = Math.abs(turn - TURN) <= 1e-9 * Math.max(turn, TURN);
    rule(!line.circle && line.low === 0 && around.circle && radians, "a position is a distance from 0 on and an angle in radians", "parts");
    rule(line.high >= LEAST, `radius must be at least ${LEAST}`, "radius");
    this.domain = new Disc(line.high);
    hide(this, "distance", distance);
    hide(this, "angle", angle);
    Object.freeze(this);
  }

  /** Randomise a position [x, y]. */
  report(position, { clip = false } = {}) {
    return this.draw(this.checked(position, clip), randomWord);
  }

  checked(position, clip = false) {
    if (!isPosition(position)) throw new ArgumentTypeError("value must be a position [x, y]", { argument: "value" });
    const inside = clip && position.every(Number.isFinite) ? this.domain.bringInside(position) : position;
    if (!this.domain.contains(inside)) throw outside();
    return inside;
  }

  draw([x, y], next) {
    return this.drawPolar(Math.min(Math.hypot(x, y), this.domain.radius), Math.atan2(y, x), next);
  }

  /** The cell of a distance and an angle, however often around. */
  drawPolar(distance, angle, next) {
    const one = this.distance.draw(distance, next);
    return one * this.angle.cells + this.angle.draw(this.angle.domain.bringInside(angle), next);
  }

  /** The probability of each cell if this is the position, as counted. */
  probabilities(position) {
    const [x, y] = this.checked(position);
    const away = this.distance.probabilities(Math.min(Math.hypot(x, y), this.domain.radius));
    const turn = this.angle.probabilities(this.angle.domain.bringInside(Math.atan2(y, x)));
    return Float64Array.from({ length: this.cells }, (_, cell) => away[Math.floor(cell / turn.length)] * turn[cell % turn.length]);
  }

  /** The position that a cell stands for. */
  decode(cell) {
    checkCell(cell, this.cells);
    const two = cell % this.angle.cells;
    const [r, turn] = [this.distance.decode((cell - two) / this.angle.cells), this.angle.decode(two)];
    return [r * Math.cos(turn), r * Math.sin(turn)];
  }
}
