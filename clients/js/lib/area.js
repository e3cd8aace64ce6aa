/** Where places lie: a box, or the disc that fills it, on a grid of points. Mirrors sottovoce/values/area.py. */
import { LEAST, Positions, hide, isPosition } from "./domain.js";
import { flag, integer, keys, list, real } from "./spec.js";
import { rule } from "./window.js";

const MAX_POINTS = 1024;
const STEPS = 32; // into which the way between two points is divided
const FAR = 1e150; // its square is finite
const ROUNDING = 2 ** -48; // that of sixteen numbers as large as the coordinates: so far beyond the rim is on it

const pair = (spec, key, item) => {
  const items = list(spec.get(key), key).map((one) => item(one, key));
  rule(items.length === 2, `${key} must be a list of 2`, key);
  return items;
};

export class Area extends Positions {
  constructor({ x, y, round, degrees, points, moduli }) {
    super();
    Object.assign(this, { x, y, round, degrees });
    hide(this, "points", points);
    hide(this, "group", moduli);
    Object.freeze(this);
  }

  /** The area of a parsed spec. */
  static read(spec) {
    keys(spec, ["x", "y", "points", "moduli", "round", "degrees"], "area");
    const [x, y] = ["x", "y"].map((key) => pair(spec, key, real));
    const [points, moduli] = ["points", "moduli"].map((key) => pair(spec, key, integer));
    const [round, degrees] = ["round", "degrees"].map((key) => flag(spec.get(key), key));
    [x, y].forEach(([low, high], i) => {
      rule(high - low >= LEAST && Number.isFinite(high - low), `area must have ends above its beginnings, by at least ${LEAST}`, "area");
      rule(!degrees || (low >= -90 * (2 - i) && high <= 90 * (2 - i)), "area must lie within ±180 and ±90 degrees", "area");
    });
    const sizes = [...points, ...moduli].every((size) => size >= 2 && size <= MAX_POINTS);
    rule(sizes && moduli.every((size, i) => size >= points[i]), `area must have 2 to ${MAX_POINTS} points, moduli no less`, "area");
    return new Area({ x, y, round, degrees, points, moduli });
  }

  /** The elements of a base set, from the odd lengths of its rows. */
  members(block) {
    const [rows, columns] = this.group;
    const fits = block.length >= 1 && block.length <= rows && block.every((length) => length >= 1 && length <= columns && length % 2 === 1);
    rule(fits, "blocks must be odd lengths of rows, within the group", "blocks");
    const half = (Math.max(...block) - 1) / 2;
    const elements = [];
    block.forEach((length, row) => {
      for (let i = 0; i < length; i++) elements.push(row * columns + half - (length - 1) / 2 + i);
    });
    rule(elements.length < rows * columns, "blocks must leave something out", "blocks");
    return elements;
  }

  /** A position from −1 to 1 across the box. */
  centred(position) {
    return [this.x, this.y].map(([low, high], i) => Math.min(Math.max((position[i] - low) / ((high - low) / 2) - 1, -FAR), FAR));
  }

  contains(position) {
    if (!isPosition(position) || ![this.x, this.y].every(([low, high], i) => position[i] >= low && position[i] <= high)) return false;
    const [u, v] = this.centred(position);
    const [across, along] = [this.x, this.y].map(([low, high]) => Math.max(Math.abs(low), Math.abs(high)) / ((high - low) / 2));
    return !this.round || u * u + v * v <= 1 + ROUNDING * (across + along);
  }

  /** The nearest point of the box; in a disc, that of the rim in the same direction. */
  bringInside(position) {
    const middle = this.centred(position);
    const away = Math.sqrt(middle[0] * middle[0] + middle[1] * middle[1]);
    return [this.x, this.y].map(([low, high], i) => {
      const moved = this.round && away > 1 ? low + ((high - low) / 2) * (middle[i] / away + 1) : position[i];
      return Math.min(Math.max(moved, low), high);
    });
  }

  spread(next) {
    let [one, two] = [next() / 2 ** 32, next() / 2 ** 32];
    if (this.round) {
      const [away, turn] = [Math.sqrt(one), 2 * Math.PI * two];
      [one, two] = [(away * Math.cos(turn) + 1) / 2, (away * Math.sin(turn) + 1) / 2];
    }
    return this.bringInside([this.x[0] + (this.x[1] - this.x[0]) * one, this.y[0] + (this.y[1] - this.y[0]) * two]);
  }

  /** Row and column of one of the four points around a position, by the last ten bits of a word. */
  point(position, lo) {
    const step = ([low, high], value, points, lot) => Math.floor(((value - low) / (high - low)) * (points - 1) + (lot + 0.5) / STEPS);
    return [step(this.y, position[1], this.points[0], (lo >>> 5) & 31), step(this.x, position[0], this.points[1], lo & 31)];
  }

  /** The position in the middle of a translate, or the nearest one inside. */
  decode(row, column, block) {
    const torus = this.group.every((size, i) => size === this.points[i]);
    const at = [column - (Math.max(...block) - 1) / 2, row - (block.length - 1) / 2];
    return this.bringInside([this.x, this.y].map(([low, high], i) => {
      const points = this.points[1 - i];
      return low + (high - low) * ((torus ? (at[i] + points) % points : at[i]) / (points - 1));
    }));
  }
}
