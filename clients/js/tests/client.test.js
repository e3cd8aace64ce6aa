/** What a client does when things go wrong: it never draws twice, and it never says nothing. */
import assert from "node:assert/strict";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test from "node:test";
import { Client, CollectorError, Ledger, PrivacyError, SpecError, fileStore, fromJson, indexedStore, memoryStore, sha256 } from "sottovoce";
import { body } from "../lib/wire.js";

const { mechanisms } = JSON.parse(
  await readFile(new URL("../../../tests/vectors/sampling.json", import.meta.url), "utf8"),
);
const specOf = (name) => mechanisms.find((vector) => vector.name === name).spec;

/** A collector that answers from a list of outcomes, then accepts; it keeps every request. */
async function collector({ spec = specOf("ogpm"), outcomes = [], ...changes } = {}) {
  const campaign = {
    name: "hours", digest: await sha256(spec), spec, missing: 12, outside: "clip", ...changes,
  };
  const posts = [];
  const keys = new Map();
  const reply = (status, content, headers = {}) =>
    new Response(JSON.stringify(content), { status, headers });
  async function fetch(url, { method = "GET", headers, body } = {}) {
    if (method === "GET") return reply(200, campaign);
    posts.push({ url, headers, body });
    const outcome = outcomes.shift();
    if (outcome === "lost") throw new TypeError("network");
    if (outcome === "lost after storing") {
      keys.set(headers["Idempotency-Key"], body);
      throw new TypeError("network");
    }
    if (outcome) return reply(outcome.status, outcome, outcome.headers);
    keys.set(headers["Idempotency-Key"], body);
    return reply(200, { accepted: 1 });
  }
  return { campaign, posts, keys, fetch, outcomes };
}

const waits = [];
const open = (server, options = {}) =>
  Client.open("https://collector.example/", "hours", {
    epsilon: 1, store: memoryStore(), fetch: server.fetch, wait: async (s) => void waits.push(s), ...options,
  });

test("one draw, stored before it is sent, the same bytes on every attempt", async () => {
  const server = await collector({
    outcomes: ["lost after storing", { status: 503 }, { status: 429, headers: { "Retry-After": "7" } }],
  });
  const store = memoryStore();
  const storedFirst = [];
  const watched = async (url, options) => {
    if (options?.method === "POST") storedFirst.push((await store.names()).length);
    return server.fetch(url, options);
  };
  waits.length = 0;
  const client = await open(server, { store, fetch: watched });
  const answer = await client.report(7.5);
  assert.equal(answer.state, "sent");
  assert.equal(server.posts.length, 4);
  assert.deepEqual(storedFirst, [1, 1, 1, 1]);
  assert.ok(waits.includes(7));
  assert.equal(new Set(server.posts.map(({ body }) => body)).size, 1);
  assert.equal(new Set(server.posts.map(({ headers }) => headers["Idempotency-Key"])).size, 1);
  assert.match(server.posts[0].headers["Idempotency-Key"], /^[A-Za-z0-9_-]{22,64}$/);
  assert.deepEqual(JSON.parse(server.posts[0].body), { digest: server.campaign.digest, cells: [answer.cell] });
});

test("the length of what is sent does not depend on the cell", () => {
  const lengths = [0, 9, 10, 65_535, 2 ** 20 - 1].map((cell) => {
    const { content } = body({ digest: "0".repeat(64), reports: [[cell]] }, { cells: 2 ** 20, width: 1, cellBytes: 4 });
    assert.deepEqual(JSON.parse(content).cells, [cell]);
    return content.length;
  });
  assert.equal(new Set(lengths).size, 1);
  const rows = [[0, 5], [999, 1000], [12, 70000]].map((report) => {
    const { content } = body({ digest: "0".repeat(64), reports: [report] }, { cells: 70001, width: 2, cellBytes: 4 });
    assert.deepEqual(JSON.parse(content).cells, [report]);
    return content.length;
  });
  assert.equal(new Set(rows).size, 1);
});

test("what is no report is neither written down nor sent", async () => {
  const server = await collector({ outcomes: ["lost", "lost", "lost", "lost"] });
  const store = memoryStore();
  const client = await open(server, { store });
  const { reporter } = client.inside.inquiry;
  const impossible = Object.create(reporter, { draw: { value: () => reporter.cells } });
  client.inside.inquiry.reporter = impossible; // a sampler that is wrong
  await assert.rejects(client.report(3), { name: "DataError", argument: "cell" });
  await assert.rejects(client.send([3, 4]), { name: "DataError", argument: "cell" });
  assert.deepEqual(await store.names(), []);
  client.inside.inquiry.reporter = reporter;
  await assert.rejects(client.report(3), CollectorError);
  const [name] = await store.names();
  await store.set(name, JSON.stringify({ ...JSON.parse(await store.get(name)), reports: [[reporter.cells]] })); // by a version that drew wrongly
  await assert.rejects(client.flush(), { name: "DataError", argument: "cell" });
  assert.equal(server.posts.length, 4);
  assert.equal(await client.flush(), 0, "it holds nothing else up");
  const ledger = await Ledger.open(memoryStore(), { budget: 2 });
  await ledger.enrol("hours", specOf("ogpm"), { missing: 12, outside: "clip" });
  await assert.rejects(ledger.adopt("hours", { key: "k".repeat(32), cells: [reporter.cells], created: 0 }), { name: "DataError" });
  assert.equal((await ledger.pending("hours")).length, 0);
});

test("asked again, with another value or in another process, it repeats the first draw", async () => {
  const server = await collector({ outcomes: Array(4).fill("lost") });
  const store = memoryStore();
  await assert.rejects((await open(server, { store })).report(3), (error) => error.retryable);
  const later = await open(server, { store });
  assert.equal((await later.previous()).state, "pending");
  const [first, second] = await Promise.all([later.report(20), later.report(9)]);
  assert.deepEqual(first, second);
  assert.equal(new Set(server.posts.map(({ body }) => body)).size, 1);
  assert.equal(server.posts.length, 5, "an acknowledged report is not sent again");
  assert.equal((await later.report(1)).cell, first.cell);
});

test("two clients on one store answer once", async () => {
  const server = await collector();
  const store = memoryStore();
  const clients = await Promise.all([open(server, { store }), open(server, { store })]);
  const [a, b] = await Promise.all(clients.map((client, i) => client.report(i)));
  assert.equal(a.cell, b.cell);
  assert.equal(server.keys.size, 1);
});

test("a database that could not be opened is opened again", async () => {
  let tried = 0;
  const factory = {
    open() {
      const request = { error: new Error(`no. ${tried += 1}`) };
      queueMicrotask(() => request.onerror());
      return request;
    },
  };
  const store = indexedStore("name", factory);
  await assert.rejects(() => store.get("a"), /no\. 1/);
  await assert.rejects(() => store.get("a"), /no\. 2/);
});

test("a mechanism with more epsilon than agreed is refused, in exact arithmetic", async () => {
  const server = await collector();
  await assert.rejects(open(server, { epsilon: 0.999 }), PrivacyError);
  const { epsilon } = fromJson(specOf("ogpm")).audit;
  await open(server, { epsilon });
  await assert.rejects(open(server, { epsilon: epsilon * (1 - 2 ** -52) }), PrivacyError);
  assert.equal(server.posts.length, 0);
});

test("the task that a spec says it was made for is no part of its digest", async () => {
  const plain = specOf("ogpm");
  const spec = plain.replace(/\}$/, ',"task":"value"}');
  const client = await open(await collector({ spec, digest: await sha256(plain) }));
  assert.equal((await client.report(7.5)).state, "sent");
  await assert.rejects(open(await collector({ spec: spec.replace("value", "Value") })), SpecError);
});

test("a spec that the digest does not name, or that lies, is refused", async () => {
  await assert.rejects(open(await collector({ digest: "0".repeat(64) })), SpecError);
  const lie = specOf("ogpm").replace('"epsilon":1.0', '"epsilon":0.5');
  await assert.rejects(open(await collector({ spec: lie })), PrivacyError);
  await assert.rejects(open(await collector({ spec: lie.slice(1) })), SpecError);
});

test("every value is answered: missing and out-of-range ones by the declared rule", async () => {
  const clip = await open(await collector());
  assert.deepEqual([null, NaN, Infinity, -1, 25, 3].map((x) => clip.prepare(x)), [12, 12, 12, 0, 24, 3]);
  const missing = await open(await collector({ outside: "missing" }));
  assert.deepEqual([NaN, -1, 25, 24].map((x) => missing.prepare(x)), [12, 12, 12, 24]);
  const circle = await open(await collector({ spec: specOf("circle of hours") }));
  assert.deepEqual([25, -1, 24, 49.5, -1e308, 1e308].map((x) => circle.prepare(x)).slice(0, 4), [1, 23, 24, 1.5]);
  assert.ok(circle.mechanism.domain.contains(circle.prepare(-1e308)));
  for (const value of ["3", true, 3n]) assert.throws(() => clip.prepare(value), TypeError);
  const even = await open(await collector({ missing: "uniform" }));
  const standIns = Array.from({ length: 1000 }, () => even.prepare(null));
  assert.ok(standIns.every((x) => even.mechanism.domain.contains(x)));
  for (const end of [0, 12]) assert.ok(standIns.some((x) => x >= end && x < end + 12)); // fails once in 2^1000
  assert.equal(even.prepare(25), 24);
  const nobody = await collector();
  assert.equal((await (await open(nobody)).report(null)).state, "sent");
  for (const wrong of [{ missing: 99 }, { missing: null }, { missing: "drop" }, { outside: "refuse" }]) {
    const [argument] = Object.keys(wrong);
    await assert.rejects(open(await collector(wrong)), { name: "SpecError", code: "spec", argument });
  }
});

test("a refusal is final, keeps the collector's words, and stays the same draw", async () => {
  const refusal = { status: 401, code: "bad_token", message: "unknown token", field: "Authorization" };
  const server = await collector({ outcomes: [refusal] });
  const store = memoryStore();
  const client = await open(server, { store, token: "enrl_x" });
  await assert.rejects(client.report(5), (error) => {
    assert.ok(error instanceof CollectorError);
    assert.deepEqual([error.status, error.code, error.argument, error.retryable], [401, "bad_token", "Authorization", false]);
    return true;
  });
  assert.equal(server.posts.length, 1);
  assert.equal(server.posts[0].headers.Authorization, "Bearer enrl_x");
  assert.equal((await client.previous()).state, "refused");
  assert.equal(await client.flush(), 0);
  await client.report(20);
  assert.equal(server.posts[0].body, server.posts[1].body);
});

test("a report that may have been forgotten by the collector is not repeated", async () => {
  const server = await collector({ outcomes: Array(4).fill("lost") });
  const store = memoryStore();
  const client = await open(server, { store });
  await assert.rejects(client.report(3), CollectorError);
  const [name] = store.names();
  for (const days of [-7, 7]) { // and one drawn while the clock was far ahead
    const old = { ...JSON.parse(store.get(name)), created: Date.now() + days * 86_400_000 };
    store.set(name, JSON.stringify(old));
    await assert.rejects(client.report(3), (error) => error.code === "too_late");
    await assert.rejects(client.flush(), { code: "too_late" });
    assert.equal((await client.previous()).state, "pending");
  }
  assert.equal(server.posts.length, 4);
  store.set(name, JSON.stringify({ ...JSON.parse(store.get(name)), created: Date.now() })); // as if the clock is set right
  assert.equal(await client.flush(), 1, "it is not lost: the person has paid for it");
  assert.equal((await client.previous()).state, "sent");
});

test("batches go in the compact form, and survive the process in files", async (t) => {
  const folder = await mkdtemp(join(tmpdir(), "sottovoce-"));
  t.after(() => rm(folder, { recursive: true }));
  const server = await collector({ outcomes: Array(4).fill("lost") });
  const client = await open(server, { store: await fileStore(folder) });
  await assert.rejects(client.send([]), { name: "DataError", code: "no_data", argument: "values" });
  await assert.rejects(client.send([1, null, 30, 4, 5, 6], { batch: 4 }), (error) => error.retryable);
  const store = await fileStore(folder);
  const records = (await Promise.all((await store.names()).map((name) => store.get(name)))).map((text) => JSON.parse(text));
  const later = await open(server, { store });
  assert.equal(await later.flush(), 6);
  assert.equal(await later.flush(), 0);
  const bodies = server.posts.map(({ body }) => body);
  assert.deepEqual(bodies[0], bodies[4], "the batch that was lost is sent again as it was");
  assert.deepEqual(bodies.slice(4).map(({ length }) => length).sort(), [32 + 2 * 2, 32 + 4 * 2]);
  const drawn = records.reduce((all, { letters = [] }) => all.concat(letters), []);
  for (const body of bodies.slice(4)) {
    assert.equal(Buffer.from(body.slice(0, 32)).toString("hex"), server.campaign.digest);
    const cells = Array.from(new Uint16Array(body.slice(32).buffer));
    assert.ok(drawn.some(({ reports }) => reports.join() === cells.join()));
  }
});

/** The keys that left the device, never one with two bodies. */
function keysOf({ posts }) {
  const bodies = new Map();
  for (const { headers: { "Idempotency-Key": key }, body } of posts) {
    if (!bodies.has(key)) bodies.set(key, String(body));
    assert.equal(bodies.get(key), String(body));
  }
  return bodies.size;
}

const lost = (times) => Array(times).fill("lost");
const refused = { status: 403, code: "forbidden", message: "", field: null };
const people = Array.from({ length: 5000 }, (_, i) => i / 250);
const repeated = (argument) => ({ name: "PrivacyError", code: "repeated", argument });

test("a job without a name that failed does not draw again when it is started again", async () => {
  const server = await collector({ outcomes: [null, null, ...lost(4)] });
  const store = memoryStore();
  const send = async (options) => (await open(server, { store })).send(people, options);
  await assert.rejects(send(), (error) => error.retryable);
  await assert.rejects(send(), repeated("run"));
  await assert.rejects(send({ run: "2026-11" }), repeated("run"), "else a name would draw everybody again");
  await assert.rejects((await open(server, { store, token: "other" })).send(people), repeated("run"));
  assert.equal(await (await open(server, { store })).flush(), 3000);
  assert.equal(keysOf(server), 5);
  assert.equal(await send(), 5000, "other people, as nothing waits");
  server.outcomes.push(refused);
  await assert.rejects(send(), { status: 403 });
  await assert.rejects(send(), repeated("run"), "what was refused left the device too");
  assert.equal(await send({ run: "november" }), 5000);
  assert.equal(keysOf(server), 20);
});

test("a run that failed goes on where it was, and is drawn once", async (t) => {
  const folder = await mkdtemp(join(tmpdir(), "sottovoce-"));
  t.after(() => rm(folder, { recursive: true }));
  const server = await collector({ outcomes: [null, null, ...lost(8)] });
  for (const store of [memoryStore(), await fileStore(folder)]) {
    const posts = keysOf(server);
    const send = async (values = people, options = {}) => (await open(server, { store, ...options })).send(values, { run: "2026-11" });
    server.outcomes.splice(0, 99, null, null, ...lost(8));
    await assert.rejects(send(), (error) => error.retryable);
    await assert.rejects(send(), (error) => error.retryable);
    server.outcomes.push(refused, null, refused);
    await assert.rejects(send(), { status: 403 });
    assert.equal(await (await open(server, { store })).flush(), 0);
    assert.equal(await send(), 2000, "what was refused is sent with the rest of its run");
    assert.equal(await send(), 0);
    assert.equal(await send([...people].reverse()), 0, "the draws that are recorded stay");
    await assert.rejects(send(people.slice(1)), repeated("values"));
    await assert.rejects(send(people, { token: "renewed" }), repeated("run"));
    assert.equal(keysOf(server), posts + 5);
    await assert.rejects((await open(server, { store })).send(people, { run: 11 }), { name: "ArgumentTypeError", argument: "run" });
    assert.ok((await Promise.all((await store.names()).map((name) => store.get(name)))).every((text) => !text.includes("reports")));
    server.outcomes.push(...lost(4));
    await assert.rejects((await open(server, { store })).send(people, { run: "2026-12" }), (error) => error.retryable);
    assert.equal(await (await open(server, { store })).send(people, { run: "2027-01" }), 10000, "what waits is sent too");
    assert.equal(keysOf(server), posts + 15);
  }
});

test("two starts at once draw once", async (t) => {
  const folder = await mkdtemp(join(tmpdir(), "sottovoce-"));
  t.after(() => rm(folder, { recursive: true }));
  const stores = [await fileStore(folder), await fileStore(folder)];
  const server = await collector();
  const clients = await Promise.all(stores.map((store) => open(server, { store })));
  await Promise.all(clients.map((client) => client.send(people, { run: "2026-11" })));
  assert.equal(keysOf(server), 5);
  await Promise.allSettled(clients.map((client) => client.send(people)));
  assert.equal(keysOf(server), 10);
});

test("batches that an earlier version stored are sent, and hold a new draw up until then", async () => {
  const server = await collector();
  const store = memoryStore();
  const name = `https://collector.example/v1/campaigns/hours ${await sha256("")}#old`;
  store.set(name, JSON.stringify({
    name, key: "k".repeat(22), digest: server.campaign.digest, reports: [[1], [2]], state: "pending", created: Date.now(),
  }));
  const client = await open(server, { store });
  await assert.rejects(client.send([1, 2]), repeated("run"));
  assert.equal(await client.flush(), 2);
  assert.equal(await client.send([1, 2]), 2);
});

test("a run that waited for a week is not sent, and not drawn again", async () => {
  const server = await collector({ outcomes: lost(4) });
  const store = memoryStore();
  const client = await open(server, { store });
  await assert.rejects(client.send(people, { run: "2026-11" }), (error) => error.retryable);
  const [name] = store.names();
  const run = store.get(name);
  const old = JSON.parse(run);
  for (const letter of old.letters) letter.created -= 7 * 86_400_000;
  store.set(name, JSON.stringify(old));
  for (let i = 0; i < 2; i += 1) await assert.rejects(client.send(people, { run: "2026-11" }), { code: "too_late" });
  assert.equal(await client.flush(), 0);
  assert.equal(server.posts.length, 4);
});

test("stores refuse to overwrite what is there", async (t) => {
  const folder = await mkdtemp(join(tmpdir(), "sottovoce-"));
  t.after(() => rm(folder, { recursive: true }));
  for (const store of [memoryStore(), await fileStore(folder)]) {
    const first = await Promise.all(["a", "b", "c"].map((text) => store.add("https://x/y?z", text)));
    assert.equal(first.filter(Boolean).length, 1);
    assert.equal(await store.get("nothing"), null);
    await store.set("https://x/y?z", "later");
    assert.equal(await store.get("https://x/y?z"), "later");
    assert.deepEqual(await store.names(), ["https://x/y?z"]);
  }
});

test("a client is opened with what was agreed, and outside browsers with a store", async () => {
  const { fetch } = await collector();
  const refused = (options, argument) =>
    assert.rejects(Client.open("https://x", "hours", { fetch, ...options }), { name: "ArgumentTypeError", code: "type", argument });
  await refused({ store: memoryStore() }, "epsilon");
  await refused({ epsilon: "1", store: memoryStore() }, "epsilon");
  await refused({ epsilon: 1 }, "store");
});
