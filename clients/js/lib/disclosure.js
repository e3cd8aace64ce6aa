/**
 * What one report tells about its person, computed from the counted law: for the sentences that say it. Frequencies and what
 * each kind holds are those of sottovoce/reporters/law/disclosure.py.
 */
const FEW = 512; // cells: then every place is looked at where a law turns

/** How often nobody who sees a report guesses right more often between two answers, whatever the law. */
export const bound = (epsilon) => 1 / (1 + Math.exp(-epsilon));

/** Shares as whole numbers of 100, or of 1,000, 10,000 … until the rarer side is at least 1; "at most" rounds by Math.ceil. */
export function frequencies(shares, round = Math.round) {
  const rarest = Math.min(...shares.map((share) => Math.min(share, 1 - share)));
  let base = 100;
  while (base * rarest < 1 && base < 1e15) base *= 10;
  return { base, counts: shares.map((share) => round(share * base)) };
}

/** How often somebody guesses right between two answers who sees the report, and what each question's report tells. */
export function disclosure(reporter) {
  const { epsilon, width, inputs } = reporter;
  if (![...reporter.questions.keys()].every((name) => inputs.has(name))) return { guess: bound(epsilon), questions: new Map() }; // functions of answers
  const questions = new Map([...reporter.questions].map(([name, question]) => [name, told(question)]));
  const guesses = [...questions.values()].map(({ guess }) => guess);
  return { guess: width > 1 ? bound(epsilon) : Math.max(...guesses), questions };
}

function told(question) {
  const { domain } = question;
  if (domain.names) return ofOptions(question);
  return domain.units ? ofNumber(question) : ofPlace(question);
}

/** By symmetry the first option stands for all. */
function ofOptions(question) {
  const { names } = question.domain;
  const { many, right } = question.named;
  const first = question.probabilities(names[0]);
  const most = names.slice(1).reduce((sum, name) => Math.max(sum, distance(first, question.probabilities(name))), 0);
  return { kind: "option", guess: 0.5 + most / 4, shares: [right], about: [names.length, many] };
}

function ofNumber(question) {
  const { domain, law, cells } = question;
  const even = cells > FEW ? 4 : 16;
  const units = Array.from({ length: even + 1 }, (_, i) => i / even).concat(cells > FEW ? [] : law.knots);
  const guess = farthest(question, units.map((t) => domain.at(t)));
  const ends = [domain.low, domain.high];
  const [x1, x2, from, to] = [0.25, 0.75, 0.125, 0.375].map((t) => domain.at(t));
  if (cells === 2) {
    const shares = ends.map((x) => question.probabilities(x)[1]);
    if (guess - 0.5 <= (shares[1] - shares[0]) / 2 + 1e-9) return { kind: "words", guess, shares, about: ends };
  }
  const values = Float64Array.from({ length: cells }, (_, cell) => question.decode(cell));
  const shares = [x1, x2].map((x) => within(question.probabilities(x), (cell) => values[cell] >= from && values[cell] <= to));
  if (shares[0] - shares[1] >= guess - 0.5) return { kind: "near", guess, shares, about: [x1, x2, from, to] }; // most of what it tells
  return domain.circle || farthest(question, ends) < guess - 1e-9
    ? { kind: "two", guess, shares: [], about: [] } : { kind: "ends", guess, shares: [], about: ends };
}

function ofPlace(question) {
  const { domain } = question;
  const [x, y] = domain.radius ? [0, 1].map(() => [-domain.radius, domain.radius]) : [domain.x, domain.y];
  const at = (u, v) => [x[0] + (x[1] - x[0]) * u, y[0] + (y[1] - y[0]) * v];
  const grid = [0, 0.25, 0.5, 0.75, 1];
  const guess = farthest(question, grid.flatMap((v) => grid.map((u) => at(u, v))).filter((place) => domain.contains(place)));
  if (domain.radius || domain.degrees) return { kind: "two", guess, shares: [], about: [] }; // by distance and angle, or no distances at all
  const far = Math.min(x[1] - x[0], y[1] - y[0]) / 4;
  const [spot, across] = [at(0.5, 0.5), y[1] - y[0] < x[1] - x[0] ? [0, 2] : [2, 0]];
  const places = Array.from({ length: question.cells }, (_, cell) => question.decode(cell));
  const near = (cell) => Math.hypot(places[cell][0] - spot[0], places[cell][1] - spot[1]) <= far;
  const shares = [0, far].map((step) => within(question.probabilities(spot.map((one, i) => one + across[i] * step)), near));
  return { kind: "spot", guess, shares, about: [far] };
}

/** How often somebody guesses right between the two of some values that are told apart best. */
function farthest(question, values) {
  const laws = values.map((value) => question.probabilities(question.domain.bringInside(value)));
  const most = laws.reduce((sum, one, i) => laws.slice(0, i).reduce((more, other) => Math.max(more, distance(one, other)), sum), 0);
  return 0.5 + most / 4;
}

const within = (law, holds) => law.reduce((sum, p, cell) => sum + (holds(cell) ? p : 0), 0);
const distance = (one, other) => one.reduce((sum, p, cell) => sum + Math.abs(p - other[cell]), 0);
