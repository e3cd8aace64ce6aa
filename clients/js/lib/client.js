/**
 * A person's side of a campaign. It fetches the mechanism, audits it, draws once, remembers what it drew,
 * and sends exactly that until the collector says it has it.
 */
import { ArgumentError, ArgumentTypeError, CollectorError, DataError, PrivacyError, SpecError } from "./errors.js";
import { fromJson, specDigest } from "./formats.js";
import { Inquiry } from "./inquiry.js";
import { campaignPath, readOrigin } from "./origin.js";
import { LedgerRecord, StoreRecord } from "./records.js";
import { exclusively, usualStore } from "./stores.js";
import { beat, body, request } from "./wire.js";

const KEY_LIFE = 6.5 * 86400000; // the collector remembers keys for 7 days; later a repeat could count twice

const pause = (seconds) => new Promise((done) => setTimeout(done, seconds * 1000));

export class Client {
  /**
   * Fetch the campaign and audit its mechanism. Refused if the text is not the one that the digest names,
   * if its counts do not give the ε it claims, or if they give more than `epsilon`, what was agreed to.
   */
  static async open(url, campaign, options = {}) {
    const { epsilon, token = null, ledger = null, attempts = 4, timeout = 15, wait = pause } = options;
    if (typeof epsilon !== "number" || !(epsilon > 0)) {
      throw new ArgumentTypeError("epsilon must be the number that the person agreed to", { argument: "epsilon" });
    }
    if (ledger && options.store) {
      throw new ArgumentError("store must not be given with a ledger, which takes its place", { code: "choice", argument: "store" });
    }
    const store = ledger ? null : options.store || usualStore();
    if (!ledger && !store) {
      throw new ArgumentTypeError(
        "store must be given outside browsers: fileStore(folder), or memoryStore() for tests",
        { argument: "store" },
      );
    }
    const origin = readOrigin(url);
    const path = campaignPath(campaign);
    const network = { fetch: options.fetch || ((...sent) => fetch(...sent)), attempts, timeout, wait };
    const address = origin.address + path;
    const described = Object.freeze(await request(address, network));
    const inquiry = audited(described, epsilon);
    const record = ledger
      ? new LedgerRecord(inquiry, described, origin.name + path, token, ledger)
      : new StoreRecord(inquiry, described, origin.name + path, token, store);
    return new Client(described, inquiry, record, { address, network, token });
  }

  constructor(campaign, inquiry, record, connection) {
    this.campaign = campaign;
    this.mechanism = inquiry.reporter;
    Object.defineProperty(this, "inside", { value: { inquiry, record, ...connection } });
  }

  /** What the campaign's declared rules make of a value: always something in the domain, or of a survey a list. */
  prepare(value) {
    const { inquiry } = this.inside;
    const ready = inquiry.fill(inquiry.judge(value));
    return inquiry.several ? ready : ready[0];
  }

  /** What was drawn for the campaign (and period) before, or null. */
  async previous({ period = "" } = {}) {
    const letter = await this.inside.record.find(period);
    return letter && this.receipt(letter);
  }

  /** Enter in the ledger what was drawn into `store` before there was a ledger: it counts, and is not drawn again. */
  async adopt(store, { period = "" } = {}) {
    const { inquiry, record, token } = this.inside;
    if (!(record instanceof LedgerRecord)) throw new ArgumentError("ledger must be given: what a store holds is entered there", { code: "lacking", argument: "ledger" });
    const letter = await new StoreRecord(inquiry, this.campaign, record.name, token, store).find("");
    if (letter) await record.adopt(letter, period);
  }

  /**
   * Report to the campaign, once: the value is randomised, the cells stored with their key, then sent. Called again,
   * whatever the value, it only repeats what was drawn the first time; choosing among draws would break ε.
   */
  async report(value, { period = "" } = {}) {
    const { inquiry, record, network } = this.inside;
    const ready = beat(network.wait);
    const judged = inquiry.judge(value);
    return exclusively(record.name, async () => {
      const letter = (await record.find(period)) || (await record.draw(judged, period));
      if (letter.state === "sent") return this.receipt(letter);
      await ready();
      return this.receipt(await this.deliver(letter));
    });
  }

  /**
   * Report the values of many people, for a gateway that holds them: each is randomised once. All batches are
   * drawn and stored, in one step, before the first is sent; if the collector cannot be reached, `flush` continues.
   * With the name of a `run`, a second start sends what is left, also what was refused, and draws nobody again. Without
   * one nothing is drawn while batches of the campaign are not accepted.
   */
  async send(values, { batch = 1000, run = "" } = {}) {
    const { inquiry, record, network } = this.inside;
    if (typeof run !== "string") throw new ArgumentTypeError("run must be a name", { argument: "run" });
    const ready = beat(network.wait);
    const judged = inquiry.judgeAll(values); // before the first is drawn
    await record.drawMany(judged, this.campaign.collection === "open" ? 1 : batch, run); // where anybody may report, one a request
    await ready();
    return this.deliverAll(await record.waiting(run));
  }

  /** Send what was drawn and not yet acknowledged, with its own keys. Resolves to how many reports were accepted. */
  async flush() {
    return this.deliverAll(await this.inside.record.waiting());
  }

  /** Deliver letters; what is refused holds nothing else up. */
  async deliverAll(letters) {
    const { record } = this.inside;
    const refusals = [];
    let accepted = 0;
    for (const found of letters) {
      await exclusively(found.name, async () => {
        const letter = await record.again(found);
        if (letter.state !== found.state) return;
        try {
          await this.deliver(letter);
          accepted += letter.reports.length;
        } catch (error) {
          if (error.retryable !== false && !(error instanceof DataError)) throw error;
          refusals.push(error);
        }
      });
    }
    if (refusals.length) throw refusals[0];
    return accepted;
  }

  receipt({ state, reports: [cells], digest }) {
    const same = digest === this.campaign.digest;
    return { state, cells, cell: cells[0], value: same ? this.inside.inquiry.decode(cells) : null };
  }

  async deliver(letter) {
    const { record, network, address, token, inquiry } = this.inside;
    const late = Math.abs(Date.now() - letter.created) > KEY_LIFE; // drawn in the future: the clock cannot tell
    try {
      const { type, content } = body(letter, inquiry.reporter); // refuses what is no report
      const headers = { "Content-Type": type, "Idempotency-Key": letter.key };
      if (token) headers.Authorization = `Bearer ${token}`;
      if (late) {
        throw new CollectorError("too late to send this report again: it might be counted twice", { code: "too_late" });
      }
      await request(`${address}/reports`, network, { method: "POST", headers, body: content });
    } catch (error) {
      // Of one person's report the device's clock may be wrong, and be set right later.
      if (!error.retryable && !(late && letter.name === record.name)) await record.settle(letter, "refused");
      throw error;
    }
    return record.settle(letter, "sent");
  }
}

/** What the campaign asks, if its mechanism is the one it names and its counted ε is what was agreed to. */
function audited({ spec, digest, missing, outside }, agreed) {
  if (typeof spec !== "string" || specDigest(spec) !== digest) {
    throw new SpecError("the mechanism is not the one that the campaign's digest names", { argument: "digest" });
  }
  const reporter = fromJson(spec);
  if (!reporter.keeps(agreed)) {
    throw new PrivacyError(
      `the campaign's mechanism has epsilon=${reporter.audit.epsilon}, more than the agreed epsilon=${agreed}`,
      { argument: "epsilon" },
    );
  }
  try {
    return new Inquiry(reporter, missing, outside);
  } catch (error) {
    throw new SpecError(`the campaign's rule: ${error.message}`, { argument: error.argument });
  }
}
