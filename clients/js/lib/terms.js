/**
 * What a person's device agreed to for one campaign: how reports repeat, what they cost, what is set aside. Mirrors
 * sottovoce/device/terms.py, where each rule is explained.
 */
import { Domain } from "./domain.js";
import { ArgumentError, ArgumentTypeError } from "./errors.js";
import { expLower, rationalEpsilon } from "./exact.js";
import { fromJson, specDigest } from "./formats.js";
import { Inquiry } from "./inquiry.js";
import { WindowLaw } from "./mechanism.js";
import { Scalar } from "./scalar.js";
import { NOTHING, asWritten, plus, times } from "./spending.js";
import { checkWindow } from "./window.js";

const MAX_KEPT = 64; // different reports, of which one is kept: a kept draw is a stable identifier
const MISSING = -1; // the bin of a value that is not there
const OPTIONS = { fresh: ["sends"], once: ["sends"], bins: ["sends", "bins", "draws", "again"] };

const wrong = (sentence, argument, code = "range") => new ArgumentError(sentence, { code, argument });

function whole(value, name, least, most = Infinity) {
  if (typeof value !== "number" || !Number.isInteger(value)) {
    throw new ArgumentTypeError(`${name} must be a whole number`, { argument: name });
  }
  if (value < least || value > most) throw wrong(`${name} must be between ${least} and ${most}, got ${name}=${value}`, name);
  return value;
}

export class Terms {
  constructor(spec, { repeat = "fresh", missing = "uniform", outside = "clip", ...options } = {}) {
    if (!(repeat in OPTIONS)) throw wrong(`repeat must be one of fresh, once or bins, got repeat=${repeat}`, "repeat", "choice");
    for (const [name, value] of Object.entries(options)) {
      if (value !== null && value !== undefined && !OPTIONS[repeat].includes(name)) throw wrong(`${name} does not belong to repeat=${repeat}`, name, "unknown");
    }
    const given = (name) => (options[name] === undefined ? null : options[name]);
    Object.assign(this, { spec, repeat, missing, outside, sends: given("sends"), digest: specDigest(spec) });
    this.reporter = fromJson(spec);
    this.inquiry = new Inquiry(this.reporter, missing, outside);
    if (this.sends !== null) whole(this.sends, "sends", 1);
    if (repeat !== "fresh" && this.inquiry.outcomes > MAX_KEPT) {
      throw wrong(`repeat=${repeat} keeps a draw, and a kept draw is a stable identifier: there must be at most ${MAX_KEPT} different reports`, "repeat");
    }
    if (repeat === "bins") this.readBins(given("bins"), given("draws"), given("again"));
    this.epsilon = asWritten(this.reporter.epsilon);
    this.epsilonAgain = this.again ? asWritten(this.again) : NOTHING;
    this.mostKept = { fresh: 0, once: 1, bins: this.draws }[repeat];
    const draws = repeat === "fresh" ? this.sends || 0 : this.mostKept;
    this.reserved = plus(times(this.epsilon, draws), times(this.epsilonAgain, this.sends || 0));
    Object.freeze(this);
  }

  readBins(bins, draws, again) {
    if (!(this.reporter instanceof Scalar)) throw wrong("repeat=bins is for one number; several at once repeat fresh or once", "repeat", "choice");
    this.bins = whole(bins === null ? this.reporter.cells : bins, "bins", 1, MAX_KEPT);
    if (draws === null) throw wrong("repeat=bins needs draws: how many different bins may be paid for", "draws", "lacking");
    this.draws = whole(draws, "draws", 1, this.bins + 1);
    this.again = again;
    if (again === null) return;
    if (typeof again !== "number" || !(again >= 1e-6 && again <= 16)) throw wrong("again must be between 1e-6 and 16", "epsilon");
    if (this.sends === null) throw wrong("again is charged for every send, so it needs sends: how many", "sends", "lacking");
    this.response = response(again, this.reporter.cells);
  }

  /** Which kept draw stands for judged values; null if none is kept. */
  slot([value]) {
    if (this.repeat === "fresh") return null;
    if (this.repeat === "once") return 0;
    if (value === null) return MISSING;
    return Math.min(Math.floor(this.reporter.domain.along(this.reporter.domain.line(value)) * this.bins), this.bins - 1);
  }

  /** A new draw for a slot; of a bin from its middle, so that it tells nothing finer than the bin. */
  draw(slot, values, next) {
    if (this.repeat !== "bins") return this.inquiry.draw(values, next);
    return this.inquiry.draw([slot === MISSING ? null : this.reporter.domain.at((slot + 0.5) / this.bins)], next);
  }

  /** What is sent for a draw: itself, or its second randomisation. */
  sent(draw, next) {
    return this.again ? [this.response.draw(draw[0], next)] : draw;
  }

  couldSend(draw, cells) {
    return Boolean(this.again) || String(cells) === String(draw);
  }

  toEntry() {
    const { repeat, spec, missing, outside, sends, draws, bins, again } = this;
    return { repeat, spec, missing, outside, sends, ...(repeat === "bins" ? { draws, bins, again } : {}) };
  }
}

/** Randomised response on cells 0 … k−1, as sottovoce/reporters/randomised_response.py makes it. */
function response(epsilon, k) {
  const [q, unit] = expLower(rationalEpsilon(epsilon));
  const others = q + BigInt(k - 1) * unit; // (k + q − 1) in units of 2^160
  const share = Number((BigInt(k) * q * BigInt(2 ** 50)) / others) / 2 ** 50;
  const bits = Math.max(33, Math.min(52, Math.floor(53 - Math.log2(share * (1 + 1e-6)))));
  const total = BigInt(2 ** bits) * unit;
  const a = Number((total + others - BigInt(1)) / others);
  const e = 2 ** bits - k * a;
  const steps = Float64Array.from({ length: k }, (_, i) => i);
  const window = checkWindow({
    wraps: false, bits, stepwise: true,
    count: Float64Array.of(k), background: Float64Array.of(a), extra: Float64Array.of(e),
    value: Float64Array.of(0.5 / k), step: Float64Array.of(1 / k),
    t: steps.map((i) => i / k), s: steps.map((i) => i * e),
  });
  const content = { epsilon, domain: new Domain(-0.5, k - 0.5), windows: [window], weights: [1] };
  return new Scalar(content, new WindowLaw(content));
}
