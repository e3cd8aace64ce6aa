/**
 * A program of somebody else: it must compile against the typed definitions, strictly, and what it is told about
 * types must be true when it runs. Lines under @ts-expect-error must not compile without that comment.
 */
import {
  ArgumentError, ArgumentTypeError, BudgetError, Client, CollectorError, DataError, Ledger, LedgerError, Polar, PrivacyError,
  Reporter, Scalar, SpecError, Survey, Translates, audit, browserStore, fileStore, fromJson, indexedStore, memoryStore, sha256, specDigest, useCrypto,
} from "sottovoce";
import type { Audit, Campaign, ClientOptions, Domain, LedgerReport, Position, Ratio, Receipt, Store } from "sottovoce";

declare const process: { argv: string[] };
const [spec, coin, survey, place, ways, folder] = process.argv.slice(2) as [string, string, string, string, string, string];

function same(found: unknown, expected: unknown, what: string): void {
  if (found !== expected) throw new Error(`${what}: ${String(found)}, not ${String(expected)}`);
}

/** The declared type of a value, as the compiler sees it, against the one it has. */
function isNumber(value: number, what: string): void { same(typeof value, "number", what); }
function isText(value: string, what: string): void { same(typeof value, "string", what); }
function isFlag(value: boolean, what: string): void { same(typeof value, "boolean", what); }

// -- mechanisms ---------------------------------------------------------------------------------------------

const found: Audit = audit(spec);
const ratio: Ratio = found.ratio;
same(ratio.map((part: bigint) => typeof part).join(), "bigint,bigint", "ratio");
isNumber(found.epsilon, "audit.epsilon");
isNumber(found.claimed, "audit.claimed");
isFlag(found.holds, "audit.holds");

/** A reporter of one number; others are refused. */
function scalar(text: string | Uint8Array): Scalar {
  const reporter = fromJson(text);
  if (!(reporter instanceof Scalar)) throw new Error("not one number");
  return reporter;
}

const m = scalar(new TextEncoder().encode(spec));
const domain: Domain = m.domain;
isNumber(m.epsilon, "epsilon");
isNumber(m.cells, "cells");
isNumber(domain.low + domain.high, "domain");
isFlag(domain.circle, "domain.circle");
const around: number | null = domain.circumference;
same(around, null, "circumference of an interval");
isFlag(m.keeps(1) && domain.contains(3), "keeps");
isNumber(domain.bringInside(99), "bringInside");
isNumber(m.report(3) + m.report(99, { clip: true }), "report");
const many: Uint8Array | Uint16Array | Uint32Array = m.reportAll([1, 2, 3]);
same(m.reportAll(Float64Array.of(1, 2), { clip: false }).length, 2, "reportAll");
same(many.length, 3, "reportAll");
isNumber(m.cellAt(3, 1, 2) + scalar(coin).cellAt(3, 1, 2, 4), "cellAt");
same(m.cellsAt([3, 4], Uint32Array.of(1, 2, 3, 4)).length, 2, "cellsAt");
isNumber(m.decode(0), "decode");
isNumber(m.reportFrom(Uint32Array.of(1, 2), 3), "reportFrom");
isText(sha256(spec) + specDigest(spec), "sha256");
const constant: Parameters<typeof useCrypto>[0] = { getRandomValues: (words: Uint32Array) => words };
same(typeof constant.getRandomValues, "function", "useCrypto"); // never used: every key would be the same
if (globalThis.crypto) useCrypto(globalThis.crypto); // modules of Node 18 have none

const several = fromJson(survey);
if (!(several instanceof Survey)) throw new Error("not a survey");
const row: number[] = several.report({ age: 30, start: 7 });
same(row.length, several.width, "width");
for (const [name, one] of several.decode(row)) isText(name + String(one), "decode");
isNumber([...several.questions.values()].reduce((sum, one) => sum + one.cells, 0), "questions");
const where = fromJson(place);
if (!(where instanceof Polar)) throw new Error("not a position");
const [x, y]: Position = where.decode(where.report([1, 2]));
isNumber(x + y + where.domain.radius, "position");
const choice = fromJson(ways);
if (!(choice instanceof Translates) || !("names" in choice.domain)) throw new Error("not a choice");
same(choice.decode(choice.report("bike")).length, choice.domain.names.length, "choice");

// -- stores and clients -------------------------------------------------------------------------------------

const own: Store = { get: () => null, add: () => true, set: () => undefined, names: () => [] };
const files: Store = await fileStore(folder);
same(await files.add("a", "b"), true, "add");
same(await files.get("none"), null, "get");
same((await own.names()).length, 0, "names");
const local: (storage?: Storage) => Store = browserStore;
same(typeof local, "function", "browserStore");
const database: (name?: string) => Store = indexedStore;
same(typeof database, "function", "indexedStore");

const ledger = await Ledger.open(memoryStore(), { budget: "7/2" });
await ledger.enrol("commute", spec, { sends: 3 });
const recorded: LedgerReport = await ledger.report("commute", 3, "monday");
isText(recorded.key + recorded.cells.join(), "ledger.report");
await ledger.acknowledge(recorded);
const spent: Ratio = await ledger.spent();
same(String(spent), "1,1", "spent");
same((await ledger.pending()).length, 0, "pending");
isText(await ledger.witness(), "witness");

const reply = (status: number, content: object): Response => new Response(JSON.stringify(content), { status });
const campaign = { name: "n", spec, digest: await sha256(spec), missing: 3, outside: "clip", status: "open" };
let refuse = false;
const fetch = async (_: unknown, options?: RequestInit): Promise<Response> =>
  options?.method !== "POST" ? reply(200, campaign)
    : refuse ? reply(410, { code: "closed", message: "closed", field: null }) : reply(200, { accepted: 1 });
const options: ClientOptions = { epsilon: 1, store: memoryStore(), fetch, token: null, attempts: 2, timeout: 5, wait: async () => undefined };
const client: Client = await Client.open(new URL("https://collector.example/"), "n", options);
const described: Campaign = client.campaign;
isText(described.digest + described.name + described.spec, "campaign");
const standIn = described.missing;
same(standIn, 3, "campaign.missing");
const rule: "clip" | "missing" = described.outside;
same(rule, "clip", "outside");
same(client.mechanism instanceof Reporter, true, "mechanism");
for (const given of [null, 7]) same(typeof client.prepare(given), "number", "prepare");
same(await client.previous(), null, "previous");
const receipt: Receipt = await client.report(7);
const state: "pending" | "sent" | "refused" = receipt.state;
same(state, "sent", "state");
isNumber(receipt.cell, "receipt.cell");
same(receipt.cells.length, 1, "receipt.cells");
const value = receipt.value;
same(typeof value, "number", "receipt.value");
isNumber(await client.send([1, null, 3], { batch: 2, run: "2026-11" }), "send");
isNumber(await client.flush(), "flush");

// -- errors -------------------------------------------------------------------------------------------------

refuse = true;
try {
  await client.send([1]);
  throw new Error("a refusal must throw");
} catch (error) {
  if (!(error instanceof CollectorError)) throw error;
  isNumber(error.status, "error.status");
  isText(error.code, "error.code");
  const argument: string | null = error.argument;
  same(argument, null, "error.argument");
  isFlag(error.retryable, "error.retryable");
}
for (const kind of [ArgumentError, ArgumentTypeError, BudgetError, DataError, LedgerError, PrivacyError, SpecError]) {
  const error = new kind("words");
  same(error.message, "words", kind.name);
  isText(error.code, `${kind.name}.code`);
  const argument: string | null = error.argument;
  same(argument, null, `${kind.name}.argument`);
}

// -- what must not compile ----------------------------------------------------------------------------------

export async function wrong(): Promise<void> {
  // @ts-expect-error: what was agreed to must be said
  await Client.open("https://x", "n", { store: memoryStore() });
  // @ts-expect-error: a mechanism comes from a spec only
  new Scalar();
  // @ts-expect-error: a client is opened, not constructed
  new Client();
  // @ts-expect-error: values are numbers
  m.report("3");
  // @ts-expect-error: a mechanism cannot be changed
  m.epsilon = 2;
  // @ts-expect-error: a spec is text or bytes
  fromJson({});
  // @ts-expect-error: a receipt may have no value
  isNumber(receipt.value, "value");
  // @ts-expect-error: a survey is not one number
  several.report(3);
  // @ts-expect-error: a store has four methods
  const half: Store = { get: () => null };
  same(half, null, "half");
}
