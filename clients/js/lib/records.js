/**
 * Where a client writes down what it draws, before it is sent. A store holds the reports of whoever uses the device,
 * each bound to the token that it was drawn for. A ledger is one person's: it charges their budget, and a campaign is
 * answered once in a period, whatever token comes with it. Mirrors sottovoce/device/records.py.
 *
 * A letter: {name, key, digest, reports, created, state}, state "pending", "sent" or "refused".
 */
import { ArgumentError, PrivacyError } from "./errors.js";
import { randomKey } from "./random.js";
import { sha256 } from "./sha256.js";

const answeredBefore = () => new PrivacyError(
  "this person has answered the campaign before, when it had another mechanism: a second draw would spend epsilon again",
  { code: "repeated" },
);

export class StoreRecord {
  constructor(inquiry, campaign, place, token, store) {
    Object.assign(this, { inquiry, digest: campaign.digest, store });
    this.name = `${place} ${sha256(token || "")}`; // one person's report is never sent under another's token
  }

  async read(name) {
    const text = await this.store.get(name);
    return text === null ? null : { name, ...JSON.parse(text) };
  }

  async find(period) {
    if (period) {
      throw new ArgumentError("period needs a ledger: repeated reports add up, and somebody has to count", { code: "choice", argument: "period" });
    }
    const letter = await this.read(this.name);
    return letter && this.mine(letter);
  }

  /** The one report of this person; if another program was quicker, that one's. */
  async draw(values) {
    const letter = this.letter(this.name, [this.inquiry.draw(values)]);
    return (await this.store.add(this.name, JSON.stringify(letter))) ? letter : this.mine(await this.read(this.name));
  }

  mine(letter) {
    if (letter.digest === this.digest || letter.state === "sent") return letter;
    throw answeredBefore();
  }

  async drawMany(people, batch) {
    const reports = people.map((values) => this.inquiry.draw(values));
    for (let first = 0; first < reports.length; first += batch) {
      const letter = this.letter(`${this.name}#${randomKey()}`, reports.slice(first, first + batch));
      await this.store.add(letter.name, JSON.stringify(letter));
    }
  }

  letter(name, reports) {
    return { name, key: randomKey(), digest: this.digest, reports, state: "pending", created: Date.now() };
  }

  async waiting() {
    const names = (await this.store.names()).filter((name) => name === this.name || name.startsWith(`${this.name}#`));
    const letters = await Promise.all(names.map((name) => this.read(name)));
    return letters.filter(({ state, digest }) => state === "pending" && digest === this.digest);
  }

  again(letter) {
    return this.read(letter.name);
  }

  async settle(letter, state) {
    const settled = { ...letter, state };
    await this.store.set(letter.name, JSON.stringify(settled));
    return settled;
  }
}

export class LedgerRecord {
  constructor(inquiry, campaign, place, token, ledger) {
    const { digest, spec, missing, outside } = campaign;
    Object.assign(this, { inquiry, digest, spec, terms: { missing, outside }, name: place, token, ledger });
  }

  async find(period) {
    if (!(await this.ledger.campaigns()).includes(this.name)) return null;
    const report = await this.ledger.recorded(this.name, period, this.token);
    return report && this.letter(report);
  }

  async draw(values, period) {
    await this.ledger.enrol(this.name, this.spec, this.terms);
    const [value] = this.inquiry.several ? [values] : values;
    return this.letter(await this.ledger.report(this.name, value, period, { token: this.token }));
  }

  /** Enter a letter that was drawn into a store before there was a ledger. */
  async adopt({ key, digest, reports: [cells], created, state }, period) {
    if (digest !== this.digest) throw answeredBefore();
    await this.ledger.enrol(this.name, this.spec, this.terms);
    const report = await this.ledger.adopt(this.name, { key, cells, created: created / 1000 }, period, { token: this.token });
    if (state === "sent") await this.ledger.acknowledge(report);
  }

  async drawMany() {
    throw new ArgumentError("a ledger is one person's, and send is for many: use report, or a client without a ledger", { code: "choice", argument: "ledger" });
  }

  letter(report) {
    const { key, cells, created, digest, acknowledged } = report;
    return { name: this.name, key, digest, reports: [cells], created: created * 1000, state: acknowledged ? "sent" : "pending", report };
  }

  async waiting() {
    const pending = await this.ledger.pending(this.name, this.token);
    return pending.map((report) => this.letter(report)).filter(({ digest }) => digest === this.digest);
  }

  async again({ report }) {
    return this.letter(await this.ledger.recorded(this.name, report.period, this.token));
  }

  async settle(letter, state) {
    if (state === "sent") await this.ledger.acknowledge(letter.report); // what was refused stays: it is paid for
    return { ...letter, state };
  }
}
