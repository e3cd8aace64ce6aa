/** A ratio of two integers: [numerator, denominator]. */
export type Ratio = readonly [bigint, bigint];

export interface Audit {
  /** The largest ratio of the counts of one cell under two inputs, in lowest terms. */
  readonly ratio: Ratio;
  /** Its logarithm: the exact ε, rounded to the nearest double. */
  readonly epsilon: number;
  /** What the spec says. */
  readonly claimed: number;
  /** Whether ratio ≤ e^claimed, decided in integers. */
  readonly holds: boolean;
}

/** An interval, or a circle of numbers. */
export interface Domain {
  readonly low: number;
  readonly high: number;
  readonly circle: boolean;
  /** On a circle, its length; otherwise null. */
  readonly circumference: number | null;
  /** Whether noise is a difference ("linear") or, for positive values, a factor ("log"). */
  readonly scale: "linear" | "log";
  contains(x: number): boolean;
  /** The nearest end of an interval; the same angle on a circle. */
  bringInside(x: number): number;
}

export type Position = readonly [x: number, y: number];

/** Positions around the origin. */
export interface Disc {
  readonly radius: number;
  contains(position: Position): boolean;
  /** The nearest point of the rim. */
  bringInside(position: Position): Position;
}

/** What a device runs. Made by `fromJson` only, which refuses a spec whose counts break its claim. */
export abstract class Reporter {
  readonly audit: Audit;
  readonly epsilon: number;
  /** How many different integers a report is made of: cells 0 … cells−1. */
  readonly cells: number;
  /** How many integers one report is. */
  readonly width: number;
  /** The reporters of the questions by name; that of a single one is called "value". */
  readonly questions: ReadonlyMap<string, Scalar | Polar | Translates>;
  /** Whether the exact ε is at most this one, decided in integers. */
  keeps(epsilon: number): boolean;
}

/** What the report of one question tells; docs/howto/choose-epsilon.md has the kinds. */
export interface Told {
  readonly kind: "option" | "near" | "words" | "ends" | "spot" | "two";
  /** How often somebody guesses right between two answers who sees the report, and without it in half of the cases. */
  readonly guess: number;
  readonly shares: readonly number[];
  readonly about: readonly number[];
}

/** What one person's report tells, computed from the counted law: the guess with all of it, and by question. */
export function disclosure(reporter: Scalar | Polar | Translates | Survey): { guess: number; questions: Map<string, Told> };

/** The largest such guess within ε, whatever the law. */
export function bound(epsilon: number): number;

/** Shares as whole numbers of 100, or of 1,000, 10,000 … until the rarer side is at least 1; for "at most" round by Math.ceil. */
export function frequencies(shares: readonly number[], round?: (share: number) => number): { base: number; counts: number[] };

/** A reporter of one number: `window/1`, `mixture/1` and `rows/1`. */
export class Scalar extends Reporter {
  private constructor();
  readonly domain: Domain;
  /** Randomise one value. Values outside the domain are refused unless `clip` brings them inside. */
  report(value: number, options?: { clip?: boolean }): number;
  /** The probability of each cell if this is the value, as counted. */
  probabilities(value: number): Float64Array;
  /** Randomise many values, each with randomness of its own; the narrowest unsigned integers. */
  reportAll(values: ArrayLike<number>, options?: { clip?: boolean }): Uint8Array | Uint16Array | Uint32Array;
  /** The cell that given 64-bit words draw, as pairs of halves: for checks against other implementations. */
  reportFrom(words: Uint32Array, value: number): number;
  /** The cell that given random words draw at x. */
  cellAt(x: number, hi: number, lo: number, coin?: number): number;
  /** The same for many values: hi and lo for each in `words`, and the coin's word if there is a coin. */
  cellsAt(values: ArrayLike<number>, words: Uint32Array): Uint8Array | Uint16Array | Uint32Array;
  /** The value that a cell stands for, in the units of the domain. */
  decode(cell: number): number;
}

/** A reporter of a position by distance and angle: `polar/1`. */
export class Polar extends Reporter {
  private constructor();
  readonly domain: Disc;
  report(position: Position, options?: { clip?: boolean }): number;
  reportFrom(words: Uint32Array, position: Position): number;
  /** The probability of each cell if this is the position, as counted. */
  probabilities(position: Position): Float64Array;
  decode(cell: number): Position;
}

/** What people choose from: texts, or whole numbers for ratings. */
export interface Options {
  readonly names: readonly (string | number)[];
  contains(option: string | number): boolean;
}

/** Where places lie: a box, or the disc that fills it; in degrees, longitudes x and latitudes y. */
export interface Area {
  readonly x: readonly [number, number];
  readonly y: readonly [number, number];
  readonly round: boolean;
  readonly degrees: boolean;
  contains(position: Position): boolean;
}

/** A reporter of one of a few options, or of a place: `translates/1`. Case and spaces around an option do not matter. */
export class Translates extends Reporter {
  private constructor();
  readonly domain: Options | Area;
  report(value: string | number | Position, options?: { clip?: boolean }): number;
  reportFrom(words: Uint32Array, value: string | number | Position): number;
  /** The probability of each cell if this is the value, as counted. */
  probabilities(value: string | number | Position): Float64Array;
  /** Of options: how many a report names on average, and how often the person's own is among them. */
  readonly named: { readonly many: number; readonly right: number };
  /** A 1 for each option that a cell holds, and a 0 for each other; or the position in the middle of a cell. */
  decode(cell: number): number[];
}

/** What one question is answered with. */
export type Answer = number | string | Position;
/** What one report stands for. */
export type Decoded = number | readonly number[];

/** One person's answers to a survey, by name or in order; null where one is missing. */
export type Answers<T = Answer | null> = Readonly<Record<string, T>> | ReadonlyMap<string, T> | readonly T[];

/** Several questions, of which `sampled` drawn by lot are answered, or functions of what is given, of which one is: `survey/1`. */
export class Survey extends Reporter {
  private constructor();
  /** Where the values lie that a person gives, by name: by question, or the inputs of functions. */
  readonly inputs: ReadonlyMap<string, Domain | Options | Disc | Area>;
  readonly sampled: number;
  /** A row of `width` increasing integers. */
  report(answers: Answers<Answer>, options?: { clip?: boolean }): number[];
  reportFrom(words: Uint32Array, answers: Answers<Answer>): number[];
  /** The values of the questions that a report answers. */
  decode(cells: readonly number[]): Map<string, Decoded>;
}

/** Read a spec that anybody may have written, in any of the six formats. */
export function fromJson(text: string | Uint8Array): Scalar | Polar | Translates | Survey;

/** Count the exact ε of a spec without believing what it claims. */
export function audit(text: string | Uint8Array): Audit;

/** SHA-256 in hexadecimal; text counts as UTF-8. */
export function sha256(content: string | Uint8Array): string;
/** The digest of a spec: SHA-256 of its canonical text without the task that it says it was made for. */
export function specDigest(text: string): string;

/** Where randomness comes from, if the platform has no `crypto.getRandomValues` (React Native). */
export function useCrypto(crypto: { getRandomValues(words: Uint32Array): unknown }): void;

/** Where a client remembers what it drew; every method may return a promise. */
export interface Store {
  get(name: string): string | null | Promise<string | null>;
  /** False, and nothing written, if the name is taken. */
  add(name: string, text: string): boolean | Promise<boolean>;
  set(name: string, text: string): void | Promise<void>;
  names(): string[] | Promise<string[]>;
}

export function memoryStore(): Store;
/** The browser's local storage (or another one). */
export function browserStore(storage?: Storage): Store;
/** An IndexedDB database, which workers have too. */
export function indexedStore(database?: string, factory?: IDBFactory): Store;

export interface Campaign {
  readonly name: string;
  readonly title: string;
  readonly question: string;
  readonly operator: string;
  readonly unit: string;
  readonly digest: string;
  readonly spec: string;
  /** What stands in for a missing value: a number, or one drawn evenly from the domain. */
  readonly missing: number | "uniform" | Readonly<Record<string, number | "uniform">>;
  /** Whether finite values outside the domain are brought inside or count as missing. */
  readonly outside: "clip" | "missing";
  readonly status: "scheduled" | "open" | "closed";
  readonly [key: string]: unknown;
}

export interface ClientOptions {
  /** What the person agreed to: a mechanism with a larger exact ε is refused. */
  epsilon: number;
  /** An enrolment or write token. */
  token?: string | null;
  /** Where draws are recorded. In a page local storage, in a worker IndexedDB, elsewhere it must be given. */
  store?: Store;
  /** One person's ledger in place of a store: every report is charged to their budget before it leaves. */
  ledger?: Ledger;
  fetch?: typeof globalThis.fetch;
  /** How often a request is made before giving up for now (4). */
  attempts?: number;
  /** Seconds that a request and its whole answer may take (15). */
  timeout?: number;
  /** Waits between two attempts; replaceable for tests. */
  wait?: (seconds: number) => Promise<void>;
}

/** What left the device for one person. */
export interface Receipt {
  /** "pending": not yet acknowledged; "refused": the collector said no, for good. */
  readonly state: "pending" | "sent" | "refused";
  /** The report: one integer, or as many as a survey asks for. */
  readonly cells: readonly number[];
  /** The first of them. */
  readonly cell: number;
  /** What the report stands for; null if the campaign's mechanism has changed since it was drawn. */
  readonly value: Decoded | ReadonlyMap<string, Decoded> | null;
}

/** A person's value: a number, a position, an option, or the answers to a survey; null or NaN where it is missing. */
export type Value = Answer | Answers | null;

/** A person's side of a campaign: one draw, stored with its key before it is sent, and only that repeated. */
export class Client {
  private constructor();
  static open(url: string | URL, campaign: string, options: ClientOptions): Promise<Client>;
  readonly campaign: Campaign;
  readonly mechanism: Scalar | Polar | Translates | Survey;
  /** What the campaign's declared rules make of a value: something in the domain; of a survey a list. */
  prepare(value: Value): Answer | Answer[];
  /** What was drawn for the campaign, or with a ledger for a period of it, before. */
  previous(options?: { period?: string }): Promise<Receipt | null>;
  /** Enter in the ledger what was drawn into `store` before there was a ledger: it counts, and is not drawn again. */
  adopt(store: Store, options?: { period?: string }): Promise<void>;
  /** Randomise, record, send; called again it repeats the first draw, whatever the value. A period needs a ledger. */
  report(value: Value, options?: { period?: string }): Promise<Receipt>;
  /**
   * Report many people's values in batches (of 1000); how many reports were accepted now. Started again with the same
   * name of a run it sends what is left and draws nobody; without a name nothing is drawn while batches are not accepted.
   */
  send(values: ArrayLike<Value>, options?: { batch?: number; run?: string }): Promise<number>;
  /** Send what is pending; how many reports were accepted. */
  flush(): Promise<number>;
}

export interface Terms {
  /** "fresh" (default): a new draw per period; "once": one draw for all; "bins": one per bin of a number. */
  repeat?: "fresh" | "once" | "bins";
  /** How many bins there are; as many as the mechanism has cells, if not given. */
  bins?: number;
  /** How many different bins may be paid for. */
  draws?: number;
  /** ε₂ with which every send is randomised once more; for bins. */
  again?: number;
  /** How many reports there may be. */
  sends?: number;
  /** What stands in for a missing value: "uniform" (default) or a number; for all questions, or by name. */
  missing?: number | "uniform" | Readonly<Record<string, number | "uniform">>;
  /** What becomes of a value outside the domain: "clip" (default) or "missing". */
  outside?: "clip" | "missing";
}

/** A report that a ledger holds: send `cells` under `key`, as often as it takes. */
export interface LedgerReport {
  readonly campaign: string;
  readonly period: string;
  readonly key: string;
  readonly cells: readonly number[];
  readonly digest: string;
  /** What recording it cost. */
  readonly spent: Ratio;
  readonly repeated: boolean;
  readonly held: boolean;
  readonly acknowledged: boolean;
  /** When it was drawn, in seconds since 1970. */
  readonly created: number;
}

/** Every ε that one person has spent, and every report before it was sent; in any store. */
export class Ledger {
  private constructor();
  /** A new ledger needs a budget: a number means the decimal that it prints as, "1/3" itself. */
  static open(store: Store, options?: { budget?: number | string; name?: string; witness?: string }): Promise<Ledger>;
  /** Agree to a campaign; the same terms again change nothing, others are refused. */
  enrol(campaign: string, spec: string, terms?: Terms): Promise<void>;
  /** The report of one period: recorded before it is returned, charged once, the same whenever asked again. */
  report(campaign: string, value: Value, period?: string, options?: { token?: string | null }): Promise<LedgerReport>;
  /** The report of a period, or null. Refused if it was drawn for another token. */
  recorded(campaign: string, period: string, token?: string | null): Promise<LedgerReport | null>;
  acknowledge(report: LedgerReport): Promise<void>;
  changeBudget(budget: number | string): Promise<void>;
  budget(): Promise<Ratio>;
  spent(): Promise<Ratio>;
  /** What is neither spent nor set aside. */
  remaining(): Promise<Ratio>;
  campaigns(): Promise<string[]>;
  /** Recorded and not acknowledged; of one campaign and token, if they are given. */
  pending(campaign?: string, token?: string | null): Promise<LedgerReport[]>;
  /** Number and seal of the last entry: kept elsewhere, it shows that an older copy was put back. */
  witness(): Promise<string>;
}

/** What programs read of an error, beside its words. */
interface Coded {
  /** What is wrong: "spec", "privacy", "outside", … or the collector's own code. */
  readonly code: string;
  /** The argument or field that it is about. */
  readonly argument: string | null;
}

/** An argument has a value that it must not have. */
export class ArgumentError extends RangeError implements Coded {
  readonly code: string;
  readonly argument: string | null;
}
/** Spending would exceed the budget; nothing was spent. */
export class BudgetError extends Error implements Coded {
  readonly code: string;
  readonly argument: string | null;
}
/** A ledger that cannot be trusted or written: nothing may be sent. */
export class LedgerError extends Error implements Coded {
  readonly code: string;
  readonly argument: string | null;
}
/** An argument has the wrong type. */
export class ArgumentTypeError extends TypeError implements Coded {
  readonly code: string;
  readonly argument: string | null;
}
/** A mechanism's spec is malformed or its numbers contradict each other. */
export class SpecError extends Error implements Coded {
  readonly code: string;
  readonly argument: string | null;
}
/** The counts do not give the ε that is claimed, or more than was agreed to. */
export class PrivacyError extends Error implements Coded {
  readonly code: string;
  readonly argument: string | null;
}
/** Values or cells that a mechanism cannot take. */
export class DataError extends Error implements Coded {
  readonly code: string;
  readonly argument: string | null;
}
/** What the collector answered instead of accepting, or that it could not be reached. */
export class CollectorError extends Error implements Coded {
  readonly status: number;
  readonly code: string;
  readonly argument: string | null;
  /** Whether the same request may succeed later. */
  readonly retryable: boolean;
}
