/** What a client does when things go wrong: it never draws twice, and it never says nothing. */
import assert from "node:assert/strict";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test from "node:test";
import { Client, CollectorError, PrivacyError, SpecError, fileStore, fromJson, memoryStore, sha256 } from "sottovoce";
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
  return { campaign, posts, keys, fetch };
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
  assert.deepEqual([null, undefined, NaN, Infinity, -1, 25, 3].map((x) => clip.prepare(x)), [12, 12, 12, 12, 0, 24, 3]);
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
  }
  assert.equal(server.posts.length, 4);
});

test("batches go in the compact form, and survive the process in files", async (t) => {
  const folder = await mkdtemp(join(tmpdir(), "sottovoce-"));
  t.after(() => rm(folder, { recursive: true }));
  const server = await collector({ outcomes: Array(4).fill("lost") });
  const client = await open(server, { store: await fileStore(folder) });
  await assert.rejects(client.send([]), { name: "DataError", code: "no_data", argument: "values" });
  await assert.rejects(client.send([1, null, 30, 4, 5, 6], { batch: 4 }), (error) => error.retryable);
  const store = await fileStore(folder);
  const later = await open(server, { store });
  assert.equal(await later.flush(), 6);
  assert.equal(await later.flush(), 0);
  const bodies = server.posts.map(({ body }) => body);
  assert.deepEqual(bodies[0], bodies[4], "the batch that was lost is sent again as it was");
  assert.deepEqual(bodies.slice(4).map(({ length }) => length).sort(), [32 + 2 * 2, 32 + 4 * 2]);
  const records = (await Promise.all((await store.names()).map((name) => store.get(name)))).map((text) => JSON.parse(text));
  for (const body of bodies.slice(4)) {
    assert.equal(Buffer.from(body.slice(0, 32)).toString("hex"), server.campaign.digest);
    const cells = Array.from(new Uint16Array(body.slice(32).buffer));
    assert.ok(records.some((record) => record.reports.join() === cells.join()));
  }
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
