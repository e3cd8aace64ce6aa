/** Where values lie: an interval or a circle of numbers, or a disc of positions. Mirrors sottovoce/values/: domain, interval, circle, disc. */
import { ArgumentTypeError } from "./errors.js";
import { exponential, naturalLog } from "./logarithm.js";

const isNumber = (x) => typeof x === "number";

/** A range [low, high]; on a circle its ends are one point; on a log scale noise is a factor. */
export class Domain {
  constructor(low, high, { circumference = null, scale = "linear" } = {}) {
    const ends = scale === "log" ? [naturalLog(low), naturalLog(high)] : [low, high];
    const width = ends[1] - ends[0];
    // A power of two brings the width into the range where 1/width is finite.
    const factor = !Number.isFinite(width) ? 0.25 : width > 2 ** -900 ? 1 : 2 ** 200;
    const [scaledLow, scaledWidth] = [ends[0] * factor, ends[1] * factor - ends[0] * factor];
    const perWidth = 1 / scaledWidth; // where that is subnormal, what is below: no unit coordinate is above 1
    Object.assign(this, { low, high, circumference, circle: circumference !== null, scale });
    hide(this, "units", { ends, factor, scaledLow, scaledWidth, perWidth: scaledWidth * perWidth > 1 ? perWidth - Number.MIN_VALUE : perWidth });
    Object.freeze(this);
  }

  contains(x) {
    return isNumber(x) && x >= this.low && x <= this.high;
  }

  /** The nearest end of an interval; the same angle on a circle. */
  bringInside(x) {
    const { low, high, circle, circumference } = this;
    if (x >= low && x <= high) return x;
    if (!circle) return Math.min(Math.max(x, low), high);
    const far = !Number.isFinite(x - low); // then half of everything is within doubles
    const turn = far ? 2 * ((x / 2 - low / 2) % (circumference / 2)) : (x - low) % circumference;
    return low + (turn < 0 ? turn + circumference : turn);
  }

  /** A value that can be randomised, or null: what is not finite is missing, and so is what is outside unless it is clipped. */
  judge(x, clip) {
    if (!isNumber(x)) throw new ArgumentTypeError("value must be a number, or null if it is missing", { argument: "value" });
    if (!Number.isFinite(x)) return null;
    const inside = clip ? this.bringInside(x) : x;
    return this.contains(inside) ? inside : null;
  }

  /** A value drawn evenly: it may stand in for a missing one. */
  spread(next) {
    return this.bringInside(this.at((next() * 2 ** 21 + (next() >>> 11)) / 2 ** 53));
  }

  /** The place of a unit coordinate. */
  at(t) {
    const { scaledLow, scaledWidth, factor } = this.units;
    const place = (scaledLow + t * scaledWidth) / factor;
    if (this.scale !== "log") return place;
    return t < 0 || t > 1 ? exponential(place) : t === 1 ? this.high : this.bringInside(exponential(place));
  }

  /** A value on the line that the unit coordinate is measured along: itself or its logarithm. */
  line(x) {
    if (this.scale !== "log") return x;
    const [low, high] = this.units.ends;
    return Math.min(Math.max(naturalLog(x), low), high);
  }

  /** The unit coordinate of a place on the line, by the arithmetic that every sampler uses. */
  along(place) {
    const { factor, scaledLow, perWidth } = this.units;
    return (place * factor - scaledLow) * perWidth;
  }
}

/** Positions [x, y]; a kind of them adds contains, bringInside and spread. */
export class Positions {
  /** As for numbers; a position is missing where a part of it is. */
  judge(position, clip) {
    const parts = Array.isArray(position) ? Array.from(position, (part) => (part === null ? NaN : part)) : null;
    if (!isPosition(parts)) {
      throw new ArgumentTypeError("value must be a position [x, y], or null if it is missing", { argument: "value" });
    }
    if (!parts.every(Number.isFinite)) return null;
    if (this.contains(position)) return position;
    return clip ? this.bringInside(position) : null;
  }
}

export const LEAST = 1e-300; // across an area or a disc: far from where doubles lose digits
const ROUNDING = 2 ** -48; // of a distance: so far beyond the rim of a disc is on it

/** Positions around the origin. */
export class Disc extends Positions {
  constructor(radius) {
    super();
    this.radius = radius;
    Object.freeze(this);
  }

  contains(position) {
    return isPosition(position) && Math.hypot(position[0], position[1]) <= this.radius * (1 + ROUNDING);
  }

  /** The nearest point of the rim. */
  bringInside(position) {
    const [x, y] = [position[0] / 2, position[1] / 2]; // the distance of a finite position may be infinite
    const away = Math.hypot(x, y);
    return away > this.radius / 2 ? [(x / away) * this.radius, (y / away) * this.radius] : position;
  }

  spread(next) {
    const [away, turn] = [this.radius * Math.sqrt(next() / 2 ** 32), 2 * Math.PI * (next() / 2 ** 32)];
    return [away * Math.cos(turn), away * Math.sin(turn)];
  }
}

/** Keep something in an object without showing it. */
export const hide = (object, name, value) => Object.defineProperty(object, name, { value });

/** Whether something is two numbers. */
export const isPosition = (value) => Array.isArray(value) && value.length === 2 && value.every(isNumber);
