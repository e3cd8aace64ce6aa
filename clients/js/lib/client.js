/**
 * A person's side of a campaign. It fetches the mechanism, audits it, draws once, remembers what it drew,
 * and sends exactly that until the collector says it has it.
 */
import { ArgumentTypeError, CollectorError, DataError, PrivacyError, SpecError } from "./errors.js";
import { fromJson, specDigest } from "./formats.js";
import { randomKey } from "./random.js";
import { browserStore } from "./stores.js";
import { body, request } from "./wire.js";

const KEY_LIFE = 6.5 * 86_400_000; // the collector remembers keys for 7 days; later a repeat could count twice

const pause = (seconds) => new Promise((done) => setTimeout(done, seconds * 1000));

export class Client {
  #base;
  #name;
  #network;
  #store;
  #token;

  /**
   * Fetch the campaign and audit its mechanism. Refused if the text is not the one that the digest names,
   * if its counts do not give the ε it claims, or if they give more than `epsilon`, what was agreed to.
   */
  static async open(url, campaign, options = {}) {
    const client = new Client(url, campaign, options);
    await client.#fetchCampaign(options.epsilon);
    return client;
  }

  constructor(url, campaign, options) {
    const { epsilon, token = null, store, fetch = globalThis.fetch, attempts = 4, timeout = 15 } = options;
    if (typeof epsilon !== "number" || !(epsilon > 0)) {
      throw new ArgumentTypeError("epsilon must be the number that the person agreed to", { argument: "epsilon" });
    }
    if (!store && typeof document === "undefined") {
      throw new ArgumentTypeError(
        "store must be given outside browsers: fileStore(folder), or memoryStore() for tests",
        { argument: "store" },
      );
    }
    this.#base = new URL(`v1/campaigns/${encodeURIComponent(campaign)}`, String(url).replace(/\/*$/, "/"));
    this.#name = `${this.#base.origin}${this.#base.pathname}`;
    this.#network = { fetch: (...request) => fetch(...request), attempts, timeout, wait: options.wait ?? pause };
    this.#store = store ?? browserStore();
    this.#token = token;
  }

  async #fetchCampaign(agreed) {
    const campaign = await request(this.#base.href, this.#network);
    const { spec, digest, missing, outside } = campaign;
    if (typeof spec !== "string" || (await specDigest(spec)) !== digest) {
      throw new SpecError("the mechanism is not the one that the campaign's digest names", { argument: "digest" });
    }
    const mechanism = fromJson(spec);
    if (!mechanism.keeps(agreed)) {
      throw new PrivacyError(
        `the campaign's mechanism has epsilon=${mechanism.audit.epsilon}, more than the agreed epsilon=${agreed}`,
        { argument: "epsilon" },
      );
    }
    if (missing !== "uniform" && !mechanism.contains(missing)) {
      throw new SpecError("the campaign must name a number inside the domain for missing values, or uniform", { argument: "missing" });
    }
    if (!["clip", "missing"].includes(outside)) {
      throw new SpecError("the campaign's rule for values outside the domain must be clip or missing", { argument: "outside" });
    }
    this.campaign = Object.freeze(campaign);
    this.mechanism = mechanism;
  }

  /**
   * What the campaign's declared rule makes of a value, always a number in the domain: a client that stayed
   * silent because of a value would tell something about it.
   */
  prepare(value) {
    if (value !== null && value !== undefined && typeof value !== "number") {
      throw new ArgumentTypeError("value must be a number, or null if it is missing", { argument: "value" });
    }
    const { mechanism, campaign: { missing, outside } } = this;
    if (mechanism.contains(value)) return value;
    const inside = outside === "clip" && Number.isFinite(value) ? mechanism.bringInside(value) : NaN;
    if (mechanism.contains(inside)) return inside;
    return missing === "uniform" ? mechanism.spread() : missing;
  }

  /** What this store has drawn for the campaign before, or null. */
  async previous() {
    const text = await this.#store.get(this.#name);
    return text === null ? null : this.#receipt(JSON.parse(text));
  }

  /**
   * Report to the campaign, once: the value is randomised, the cell stored with its key, then sent. Called again,
   * whatever the value, it only repeats what was drawn the first time; choosing among draws would break ε.
   */
  async report(value) {
    const x = this.prepare(value);
    return exclusively(this.#name, async () => {
      let text = await this.#store.get(this.#name);
      if (text === null) {
        const fresh = JSON.stringify(this.#record([this.mechanism.report(x)]));
        text = (await this.#store.add(this.#name, fresh)) ? fresh : await this.#store.get(this.#name);
      }
      return this.#receipt(await this.#deliver(this.#name, JSON.parse(text)));
    });
  }

  /**
   * Report the values of many people, for a gateway that holds them: each is randomised once. All batches are
   * drawn and stored before the first is sent; if the collector cannot be reached, call `flush`, not this again.
   */
  async send(values, { batch = 1000 } = {}) {
    if (!values.length) throw new DataError("values must not be empty", { code: "no_data", argument: "values" });
    const cells = this.mechanism.reportAll(Array.from(values, (value) => this.prepare(value)));
    for (let first = 0; first < cells.length; first += batch) {
      const part = Array.from(cells.subarray(first, first + batch));
      const record = this.#record(part, cells.BYTES_PER_ELEMENT);
      await this.#store.add(`${this.#name}#${record.key}`, JSON.stringify(record));
    }
    return this.flush();
  }

  /** Send what was drawn and not yet acknowledged, with its own keys. Resolves to how many reports were accepted. */
  async flush() {
    let accepted = 0;
    for (const name of await this.#store.names()) {
      if (name !== this.#name && !name.startsWith(`${this.#name}#`)) continue;
      await exclusively(name, async () => {
        const record = JSON.parse(await this.#store.get(name));
        if (record.state !== "pending") return;
        await this.#deliver(name, record);
        accepted += record.cells.length;
      });
    }
    return accepted;
  }

  #record(cells, width = 1) {
    const { digest } = this.campaign;
    return { key: randomKey(), digest, cells, width, state: "pending", created: Date.now() };
  }

  #receipt({ state, cells: [cell], digest }) {
    const same = digest === this.campaign.digest;
    return { state, cell, value: same ? this.mechanism.decode(cell) : null };
  }

  async #deliver(name, record) {
    if (record.state === "sent") return record;
    if (Math.abs(Date.now() - record.created) > KEY_LIFE) { // drawn in the future: the clock cannot tell
      throw new CollectorError("too late to send this report again: it might be counted twice", { code: "too_late" });
    }
    const { type, content } = body(record);
    const headers = { "Content-Type": type, "Idempotency-Key": record.key };
    if (this.#token) headers.Authorization = `Bearer ${this.#token}`;
    const options = { method: "POST", headers, body: content };
    try {
      await request(`${this.#base.href}/reports`, this.#network, options);
    } catch (error) {
      if (!error.retryable) await this.#store.set(name, JSON.stringify({ ...record, state: "refused" }));
      throw error;
    }
    const sent = { ...record, state: "sent" };
    await this.#store.set(name, JSON.stringify(sent));
    return sent;
  }
}

const running = new Map();

/** One at a time for a name, in this program and, where the browser can, in every tab. */
async function exclusively(name, work) {
  const locks = typeof document === "undefined" ? undefined : globalThis.navigator?.locks;
  const guarded = () => (locks ? locks.request(`sottovoce:${name}`, work) : work());
  const before = running.get(name) ?? Promise.resolve();
  const mine = before.then(guarded, guarded);
  running.set(name, mine);
  try {
    return await mine;
  } finally {
    if (running.get(name) === mine) running.delete(name);
  }
}
