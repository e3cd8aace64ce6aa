/**
 * Where a client writes down what it draws, before it is sent. A store holds the reports of whoever uses the device,
 * each bound to the token that it was drawn for. A ledger is one person's: it charges their budget, and a campaign is
 * answered once in a period, whatever token comes with it. Mirrors sottovoce/device/record.py.
 *
 * A letter: {name, key, digest, reports, created, state}, state "pending", "sent" or "refused". The letters of many people
 * are in one record, their run, which is added in one step: {run, holder, digest, people, letters}. What becomes of each is
 * a record of its own. A run whose letters were all sent stays without them, so that it is never drawn again.
 */
import { ArgumentError, PrivacyError } from "./errors.js";
import { randomKey } from "./random.js";
import { sha256 } from "./sha256.js";
import { exclusively } from "./stores.js";

const answeredBefore = () => new PrivacyError(
  "this person has answered the campaign before, when it had another mechanism: a second draw would spend epsilon again",
  { code: "repeated" },
);

const drawnBefore = (sentence, argument) => new PrivacyError(sentence, { code: "repeated", argument });

const isPending = ({ state }) => state === "pending";
const isUnsent = ({ state }) => state !== "sent";

export class StoreRecord {
  constructor(inquiry, campaign, place, token, store) {
    Object.assign(this, { inquiry, digest: campaign.digest, place, store });
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

  /** Draw the people of a run and store all their letters in one step, unless they were drawn before. */
  drawMany(people, batch, run) {
    return exclusively(`${this.place}#`, async () => {
      const runs = await this.runs();
      const unnamed = runs.filter((one) => !one.run);
      // Runs without a name are numbered: two programs that begin one at a time cannot both take its number.
      const name = `${this.place}#${run ? sha256(run) : unnamed.length}`;
      if (run && runs.some((one) => one.name === name)) return this.checkRun(await this.read(name), people.length);
      const unsettled = run
        ? unnamed.some(({ holder, digest, letters }) => holder === this.name && digest === this.digest && letters.some(isPending))
        : runs.some(({ letters }) => letters.length);
      if (!unsettled) {
        const letters = [];
        for (let first = 0; first < people.length; first += batch) {
          const reports = people.slice(first, first + batch).map((values) => this.inquiry.draw(values));
          letters.push(this.letter(`${name}#${randomKey()}`, reports));
        }
        const fresh = { run, holder: this.name, digest: this.digest, people: people.length, letters };
        if (await this.store.add(name, JSON.stringify(fresh))) return undefined;
        if (run) return this.checkRun(await this.read(name), people.length); // another program was quicker
      }
      throw drawnBefore(
        "batches of this campaign were drawn before and not accepted. They may be of the same people, whose second draw would spend "
        + "epsilon again. Call flush() to send what waits. Other people need a run with a name of its own, such as { run: \"2026-11\" }",
        "run",
      );
    });
  }

  checkRun({ run, holder, digest, people }, now) {
    if (holder !== this.name || digest !== this.digest) {
      throw drawnBefore(`run ${run} was drawn for another token or another mechanism of the campaign: a second draw would spend epsilon again`, "run");
    }
    if (people !== now) {
      throw drawnBefore(
        `values must be of the ${people} people for whom run ${run} was drawn, got ${now}: nobody is drawn again. `
        + "Call flush() to send what waits; people who came later need a run of their own",
        "values",
      );
    }
  }

  /** Every run of the campaign, for any token, with its letters that were not accepted. */
  async runs() {
    const names = await this.store.names();
    const known = new Set(names);
    const read = (wanted) => Promise.all(names.filter(wanted).map((name) => this.read(name)));
    const runs = await read((name) => name.startsWith(`${this.place}#`) && !name.includes("#", this.place.length + 1));
    await Promise.all(runs.filter(({ letters }) => letters.length).map(async (run) => {
      const letters = await Promise.all(run.letters.map((letter) => (known.has(letter.name) ? this.again(letter) : letter)));
      run.letters = letters.filter(isUnsent);
      if (!run.letters.length) await this.store.set(run.name, JSON.stringify(run));
    }));
    // Before there were runs, each batch was a record of its own.
    const alone = await read((name) => name.startsWith(`${this.place} `) && name.includes("#"));
    const ofOne = (letter) => ({ run: "", holder: letter.name.split("#")[0], digest: letter.digest, letters: [letter].filter(isUnsent) });
    return [...runs, ...alone.map(ofOne)];
  }

  letter(name, reports) {
    return { name, key: randomKey(), digest: this.digest, reports, state: "pending", created: Date.now() };
  }

  /** What was stored and not settled, for this token and this mechanism; of a run also what was refused. */
  async waiting(run = "") {
    const single = await this.read(this.name);
    const alone = { run: "", holder: this.name, digest: single && single.digest, letters: [single] };
    return [...(single ? [alone] : []), ...(await this.runs())]
      .filter(({ holder, digest }) => holder === this.name && digest === this.digest)
      .reduce((all, one) => all.concat(one.letters.filter((letter) => isPending(letter) || (run && one.run === run && isUnsent(letter)))), []);
  }

  async again(letter) {
    return { ...letter, ...(await this.read(letter.name)) };
  }

  async settle(letter, state) {
    const settled = { ...letter, state };
    await this.store.set(letter.name, JSON.stringify(letter.name === this.name ? settled : { state }));
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
    if (report.key !== key) { // it would stay uncharged, and that of the ledger would pass for sent
      throw new PrivacyError("the ledger holds another draw of this person: what the store holds was drawn beside it", { code: "repeated" });
    }
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
