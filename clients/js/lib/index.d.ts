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

export interface Domain {
  readonly low: number;
  readonly high: number;
  readonly circle: boolean;
  /** On a circle, its length; otherwise null. */
  readonly circumference: number | null;
  /** Whether noise is a difference ("linear") or, for positive values, a factor ("log"). */
  readonly scale: "linear" | "log";
}

/** What a device runs. Made by `fromJson` only, which refuses a spec whose counts break its claim. */
export class Reporter {
  private constructor();
  readonly audit: Audit;
  readonly epsilon: number;
  readonly domain: Domain;
  /** How many different reports there are: cells 0 … cells−1. */
  readonly cells: number;
  /** Whether the exact ε is at most this one, decided in integers. */
  keeps(epsilon: number): boolean;
  contains(x: number): boolean;
  /** The nearest end of an interval; the same angle on a circle. */
  bringInside(x: number): number;
  /** A value drawn evenly from the domain. */
  spread(): number;
  /** Randomise one value. Values outside the domain are refused unless `clip` brings them inside. */
  report(value: number, options?: { clip?: boolean }): number;
  /** Randomise many values, each with randomness of its own; the narrowest unsigned integers. */
  reportAll(values: ArrayLike<number>, options?: { clip?: boolean }): Uint8Array | Uint16Array | Uint32Array;
  /** The cell that given random words draw at x: for checks against other implementations. */
  cellAt(x: number, hi: number, lo: number, coin?: number): number;
  /** The same for many values: hi and lo for each in `words`, and the coin's word if there is a coin. */
  cellsAt(values: ArrayLike<number>, words: Uint32Array): Uint8Array | Uint16Array | Uint32Array;
  /** The value that a cell stands for, in the units of the domain. */
  decode(cell: number): number;
}

/** Read a `window/1`, `mixture/1` or `rows/1` spec that anybody may have written. */
export function fromJson(text: string | Uint8Array): Reporter;

/** Count the exact ε of a spec without believing what it claims. */
export function audit(text: string | Uint8Array): Audit;

/** SHA-256 in hexadecimal; text counts as UTF-8. */
export function sha256(content: string | Uint8Array): Promise<string>;
/** The digest of a spec: SHA-256 of its canonical text without the task that it says it was made for. */
export function specDigest(text: string): Promise<string>;

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
/** A folder with one file per name, synced to the disk before a call returns. Node only. */
export function fileStore(folder: string): Promise<Store>;

export interface Campaign {
  readonly name: string;
  readonly title: string;
  readonly question: string;
  readonly operator: string;
  readonly unit: string;
  readonly digest: string;
  readonly spec: string;
  /** What stands in for a missing value: a number, or one drawn evenly from the domain. */
  readonly missing: number | "uniform";
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
  /** Required outside browsers; there, local storage. */
  store?: Store;
  fetch?: typeof globalThis.fetch;
  /** How often a request is made before giving up for now (4). */
  attempts?: number;
  /** Seconds before an unanswered request is abandoned (15). */
  timeout?: number;
  /** Waits between two attempts; replaceable for tests. */
  wait?: (seconds: number) => Promise<void>;
}

/** What left the device for one person. */
export interface Receipt {
  /** "pending": not yet acknowledged; "refused": the collector said no, for good. */
  readonly state: "pending" | "sent" | "refused";
  readonly cell: number;
  /** What the cell stands for; null if the campaign's mechanism has changed since it was drawn. */
  readonly value: number | null;
}

/** A person's side of a campaign: one draw, stored with its key before it is sent, and only that repeated. */
export class Client {
  private constructor();
  static open(url: string | URL, campaign: string, options: ClientOptions): Promise<Client>;
  readonly campaign: Campaign;
  readonly mechanism: Reporter;
  /** What the campaign's declared rule makes of a value: always a number in the domain. */
  prepare(value: number | null | undefined): number;
  /** What this store has drawn for the campaign before. */
  previous(): Promise<Receipt | null>;
  /** Randomise, store, send; called again it repeats the first draw, whatever the value. */
  report(value: number | null | undefined): Promise<Receipt>;
  /** Report many people's values in batches (of 1000); how many reports were accepted. */
  send(values: ArrayLike<number | null>, options?: { batch?: number }): Promise<number>;
  /** Send what is pending; how many reports were accepted. */
  flush(): Promise<number>;
}

/** What programs read of an error, beside its words. */
interface Coded {
  /** What is wrong: "spec", "privacy", "outside", … or the collector's own code. */
  readonly code: string;
  /** The argument or field that it is about. */
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
