/** The ledger, on the vectors of Python's: the same spellings, seals, draws, charges and refusals. */
import assert from "node:assert/strict";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test from "node:test";
import { Client, Ledger, fileStore, memoryStore, sha256 } from "sottovoce";
import { campaignPath, readOrigin } from "../lib/origin.js";
import { write } from "../lib/spending.js";

const vectors = JSON.parse(await readFile(new URL("../../../tests/vectors/ledger.json", import.meta.url), "utf8"));
const plain = ([a, b]) => { // as sottovoce.exact.spending.plain
  const decimal = (Number(a) / Number(b)).toFixed(12).replace(/\.?0+$/, "");
  const [, part = ""] = decimal.split(".");
  return BigInt(decimal.replace(".", "")) * b === a * 10n ** BigInt(part.length) ? decimal : write([a, b]);
};

/** A store that can be copied and put back, and another program's view of it. */
function drawers() {
  const content = new Map();
  const store = {
    get: (name) => content.get(name) ?? null,
    add: (name, text) => !content.has(name) && Boolean(content.set(name, text)),
    set: (name, text) => void content.set(name, text),
    names: () => [...content.keys()],
  };
  return { store, content };
}

class Player {
  static async begin(budget, open) {
    const player = Object.assign(new Player(), drawers(), { saved: null, witness: undefined, open });
    player.ledger = await open(player.store, { budget });
    return player;
  }

  async play({ do: what, expected, words, elsewhere, look = !["copy", "restore", "delete"].includes(what), ...given }) {
    const halves = words.flatMap((word) => [word.slice(0, 8), word.slice(8)]).map((half) => Number.parseInt(half, 16));
    const next = () => {
      if (!halves.length) throw Object.assign(new Error("a draw takes more words than it should"), { code: "words" });
      return halves.shift();
    };
    try {
      let ledger = elsewhere ? await this.open(this.store) : this.ledger;
      const gives = await this[what](ledger, given, next);
      if (halves.length) return { error: "words" };
      if (!look) return gives;
      if (what === "reopen") ledger = this.ledger;
      return { ...gives, spent: plain(await ledger.spent()), remaining: plain(await ledger.remaining()), pending: (await ledger.pending()).length };
    } catch (error) {
      if (!error.code) throw error;
      return { error: error.code };
    }
  }

  async enrol(ledger, { campaign, spec, ...terms }) {
    await ledger.enrol(campaign, vectors.specs[spec], terms);
    return {};
  }

  async report(ledger, { campaign, value, period, token = null }, next) {
    const { cells, spent, repeated, held } = await ledger.report(campaign, value, period, { token, next });
    return { cells, charged: plain(spent), repeated, held };
  }

  async acknowledge(ledger, { campaign, period }) {
    await ledger.acknowledge(await ledger.recorded(campaign, period));
    return {};
  }

  async budget(ledger, { budget }) {
    await ledger.changeBudget(budget);
    return {};
  }

  copy() {
    this.saved = new Map(this.content);
    return {};
  }

  restore() {
    this.content.clear();
    for (const [name, text] of this.saved) this.content.set(name, text);
    return {};
  }

  delete() {
    this.content.clear();
    return {};
  }

  async remember(ledger) {
    this.witness = await ledger.witness();
    return {};
  }

  async reopen() {
    this.ledger = await this.open(this.store, { witness: this.witness });
    return {};
  }
}

async function differences(open = Ledger.open) {
  const wrong = [];
  for (const { name, budget, steps } of vectors.ledgers) {
    const player = await Player.begin(budget, open);
    for (const [i, step] of steps.entries()) {
      const gives = await player.play(step);
      const same = Object.keys({ ...gives, ...step.expected }).every((key) => String(gives[key]) === String(step.expected[key]));
      if (!same) wrong.push(`${name}, step ${i} (${step.do}): ${JSON.stringify(gives)}, not ${JSON.stringify(step.expected)}`);
    }
  }
  return wrong;
}

test("every step of Python's ledger gives the same here", async () => {
  assert.deepEqual(await differences(), []);
  assert.ok(vectors.ledgers.length >= 20);
});

test("a ledger that forgets, or charges too little, is noticed", async () => {
  const forgetful = async (store, options) => {
    const ledger = await Ledger.open(store, options);
    ledger.recognise = async () => {};
    return ledger;
  };
  const noticed = await differences(forgetful);
  assert.ok(noticed.some((line) => line.startsWith("an older copy")), noticed.join("\n"));
  const cheap = async (store, options) => {
    const ledger = await Ledger.open(store, options);
    ledger.state.price = () => [0n, 1n];
    return ledger;
  };
  assert.ok((await differences(cheap)).some((line) => line.startsWith("money is exact")));
});

test("collectors and campaigns have one spelling", () => {
  for (const { url, origin } of vectors.origins) {
    if (origin === null) assert.throws(() => readOrigin(url), { name: "ArgumentError", code: "form", argument: "url" }, url);
    else assert.equal(readOrigin(url).name, origin, url);
  }
  for (const { url, campaign, account } of vectors.accounts) assert.equal(readOrigin(url).name + campaignPath(campaign), account);
});

test("entries are sealed as Python seals them, and a changed one is noticed", async () => {
  let seal = sha256("sottovoce ledger/1");
  assert.equal(seal, vectors.seals.first);
  for (const entry of vectors.seals.entries) {
    seal = sha256(`${seal}\n${entry.body}`);
    assert.equal(seal, entry.seal);
  }
  const { store, content } = drawers();
  const ledger = await Ledger.open(store, { budget: 4 });
  await ledger.enrol("a", vectors.specs.one);
  await ledger.report("a", 3, "0");
  for (const name of content.keys()) {
    const [text, changed] = [content.get(name), content.get(name).replace(/"at":"2/, '"at":"3')];
    content.set(name, changed);
    await assert.rejects(Ledger.open(store), { name: "LedgerError", code: "damaged" });
    content.set(name, text);
  }
  await Ledger.open(store);
});

test("two programs on one folder never draw twice, whoever is first", async (t) => {
  const folder = await mkdtemp(join(tmpdir(), "sottovoce-"));
  t.after(() => rm(folder, { recursive: true }));
  const ledgers = await Promise.all([1, 2, 3].map(async () => Ledger.open(await fileStore(folder), { budget: 4 })));
  for (const ledger of ledgers) await ledger.enrol("a", vectors.specs.one);
  // Each under a name of its own for the lock of this program, so that only the files stand between them.
  const reports = await Promise.all(ledgers.map((ledger, i) => {
    const turn = ledger.turn;
    ledger.turn = async function alone(work) {
      for (;;) {
        await this.catchUp();
        const entry = work(this.state);
        if (!entry || (await this.append(entry))) return this.state;
      }
    };
    return ledger.report("a", i, "today").finally(() => { ledger.turn = turn; });
  }));
  assert.equal(new Set(reports.map(({ key, cells }) => `${key} ${cells}`)).size, 1);
  assert.deepEqual(await ledgers[0].spent(), [1n, 1n]);
});

test("a client with a ledger is charged before anything leaves, whatever the token", async () => {
  const spec = vectors.specs.one;
  const posts = [];
  const ledger = await Ledger.open(memoryStore(), { budget: 2 });
  let lost = true;
  const fetch = async (url, { method = "GET", headers, body } = {}) => {
    const reply = (content) => new Response(JSON.stringify(content), { status: 200 });
    if (method === "GET") return reply({ name: "c", spec, digest: sha256(spec), missing: 12, outside: "clip" });
    posts.push({ url, body, headers, spent: plain(await ledger.spent()) });
    if (lost) throw new TypeError("network");
    return reply({ accepted: 1 });
  };
  const open = (url, token = null) =>
    Client.open(url, "c", { epsilon: 1, ledger, token, fetch, attempts: 1, wait: async () => {} });
  const client = await open("https://a.example", "one");
  await assert.rejects(client.report(3), (error) => error.retryable);
  assert.equal(posts[0].spent, "1");
  const other = await open("https://A.example:443/", "two");
  await assert.rejects(other.report(3), { name: "PrivacyError", code: "repeated" });
  assert.equal(await other.flush(), 0, "one person's pending draw is not sent under another's token");
  lost = false;
  assert.equal(await client.flush(), 1);
  assert.equal(posts[0].body, posts[1].body);
  assert.equal((await client.report(20)).state, "sent");
  assert.equal(posts.length, 2);
  await (await open("https://b.example")).report(3);
  await assert.rejects((await open("https://c.example")).report(3), { name: "BudgetError" });
  await assert.rejects(client.report(3, { period: "tomorrow" }), { name: "BudgetError" });
  await assert.rejects(client.send([1, 2]), { name: "ArgumentError", argument: "ledger" });
  assert.equal(posts.length, 3);
});

test("what was drawn before there was a ledger is entered there, sent with its own key, and not drawn again", async () => {
  const spec = vectors.specs.one;
  const campaign = { name: "c", spec, digest: sha256(spec), missing: 12, outside: "clip" };
  const keys = [];
  let lost = true;
  const fetch = async (url, { method = "GET", headers } = {}) => {
    if (method === "POST") keys.push(headers["Idempotency-Key"]);
    if (method === "POST" && lost) throw new TypeError("network");
    return new Response(JSON.stringify(campaign), { status: 200 });
  };
  const open = (options) => Client.open("https://a.example", "c", { epsilon: 1, fetch, attempts: 1, wait: async () => {}, ...options });
  const [store, ledger] = [memoryStore(), await Ledger.open(memoryStore(), { budget: 2 })];
  const before = await open({ store });
  await assert.rejects(before.report(3), (error) => error.retryable);
  lost = false;
  const client = await open({ ledger });
  await Promise.all([client.adopt(store), client.adopt(store)]);
  assert.equal(plain(await ledger.spent()), "1");
  assert.deepEqual((await client.report(20)).cells, (await before.previous()).cells);
  assert.equal(new Set(keys).size, 1);
  await assert.rejects(before.adopt(store), { name: "ArgumentError", argument: "ledger" });
  await before.flush();
  const later = await open({ ledger: await Ledger.open(memoryStore(), { budget: 2 }) });
  await later.adopt(store); // acknowledged there, so also here
  assert.equal((await later.previous()).state, "sent");
  lost = true;
  const twice = await open({ ledger: await Ledger.open(memoryStore(), { budget: 2 }) });
  await assert.rejects(twice.report(3), (error) => error.retryable);
  await assert.rejects(twice.adopt(store), { name: "PrivacyError", code: "repeated" });
  assert.equal((await twice.previous()).state, "pending", "what the store holds was sent, not this");
  Object.assign(campaign, { spec: vectors.specs.half, digest: sha256(vectors.specs.half) });
  const changed = await open({ epsilon: 16, ledger: await Ledger.open(memoryStore(), { budget: 99 }) });
  await assert.rejects(changed.adopt(store), { name: "PrivacyError", code: "repeated" });
});
