/**
 * The ledger: every ε this person has spent, and every report before it was sent. The rules, the entries and their
 * seals are those of sottovoce/device/ledger.py; it lives in any store (IndexedDB in a page, files under Node).
 *
 *     const ledger = await Ledger.open(indexedStore(), { budget: 4 });
 *     await Client.open(url, "commute", { epsilon: 1, ledger });
 *
 * Whatever goes wrong is an error, and an error means that nothing may be sent.
 */
import { ArgumentError, ArgumentTypeError, BudgetError, LedgerError, PrivacyError } from "./errors.js";
import { randomKey, randomWord } from "./random.js";
import { sha256 } from "./sha256.js";
import { NOTHING, afford, isMore, larger, minus, plus, readAmount, write } from "./spending.js";
import { exclusively } from "./stores.js";
import { Terms } from "./terms.js";

const FIRST = { count: 0, seal: sha256("sottovoce ledger/1") };
const holderOf = (token) => (token === null || token === undefined ? "" : sha256(token));
const sum = (accounts, amount) => [...accounts.values()].map(amount).reduce(plus, NOTHING);
const committedOf = ({ spent, terms }) => larger(spent, terms.reserved);
const damaged = (reason) => new LedgerError(`the ledger is damaged: ${reason}`, { code: "damaged" });

/** What entries add up to; it refuses a journal whose entries break the rules. */
class State {
  constructor() {
    Object.assign(this, { ledger: "", budget: NOTHING, accounts: new Map(), at: "" });
  }

  get spent() {
    return sum(this.accounts, ({ spent }) => spent);
  }

  get committed() {
    return sum(this.accounts, committedOf);
  }

  account(name) {
    if (!this.accounts.has(name)) throw new ArgumentError(`campaign ${name} is not enrolled in this ledger`, { code: "unknown", argument: "campaign" });
    return this.accounts.get(name);
  }

  afford(more, what) {
    afford(more, this.committed, this.budget, what);
  }

  /** What one more report costs, refused if it is over the campaign's or the person's limit. */
  price(account, isNew) {
    const { terms, name, reports, spent } = account;
    if (terms.sends !== null && reports.size >= terms.sends) {
      throw new BudgetError(`campaign ${name} agreed to ${terms.sends} sends and has used them; nothing spent`, { code: "sends" });
    }
    const price = plus(isNew ? terms.epsilon : NOTHING, terms.epsilonAgain);
    this.afford(minus(larger(plus(spent, price), terms.reserved), committedOf(account)), `a report to ${name}`);
    return price;
  }

  /** What to record for one more period; over the limit is an error before any draw. */
  draw(account, value, next) {
    const { terms, kept } = account;
    const values = terms.inquiry.judge(value);
    let [slot, held] = [terms.slot(values), false];
    if (slot !== null && !kept.has(slot) && terms.mostKept > 0 && terms.mostKept <= kept.size) [slot, held] = [account.latest, true];
    const isNew = slot === null || !kept.has(slot);
    const spent = write(this.price(account, isNew));
    const draw = isNew ? terms.draw(slot, values, next) : kept.get(slot);
    return { cells: terms.sent(draw, next), slot, kept: slot === null ? null : draw, new: isNew, held, spent };
  }

  apply(entry) {
    if ((entry.kind === "open") === Boolean(this.ledger) || entry.at < this.at) throw damaged("an entry is out of place");
    const kinds = { open: this.open, budget: this.rebudget, enrol: this.enrol, report: this.report, acknowledge: this.acknowledge };
    if (!Object.keys(kinds).includes(entry.kind)) throw damaged("an entry of an unknown kind");
    kinds[entry.kind].call(this, entry);
    this.at = entry.at;
  }

  open({ ledger, budget }) {
    Object.assign(this, { ledger, budget: readAmount(budget) });
  }

  rebudget({ budget }) {
    this.budget = readAmount(budget);
    this.afford(NOTHING, "what was spent or set aside");
  }

  enrol({ campaign, terms: { spec, ...options } }) {
    if (this.accounts.has(campaign)) throw damaged("a campaign is enrolled twice");
    const terms = new Terms(spec, options);
    this.afford(terms.reserved, `campaign ${campaign}`);
    this.accounts.set(campaign, { name: campaign, terms, spent: NOTHING, reports: new Map(), kept: new Map(), latest: null });
  }

  report(entry) {
    const { period, key, cells, slot, held, kept: keptCells } = entry;
    const account = this.account(entry.campaign);
    const { terms, reports, kept } = account;
    const rule = (holds, sentence) => { if (!holds) throw damaged(sentence); };
    rule(!reports.has(period), "a period is reported twice");
    terms.inquiry.decode(cells); // refuses what is not a report
    rule(entry.new === (slot === null || !kept.has(slot)), "a report is free that was not, or the other way round");
    rule(write(this.price(account, entry.new)) === entry.spent, "a report was charged wrongly");
    rule((slot === null) === (terms.mostKept === 0), "a draw is kept that was not agreed to, or the other way round");
    if (slot !== null) {
      if (!kept.has(slot)) kept.set(slot, keptCells);
      rule(String(kept.get(slot)) === String(keptCells) && terms.couldSend(keptCells, cells), "a kept draw has changed");
      rule(kept.size <= terms.mostKept, "more draws are kept than agreed");
      account.latest = slot;
    }
    const spent = readSpent(entry.spent);
    account.spent = plus(account.spent, spent);
    const { created = 0, holder = "" } = entry;
    reports.set(period, {
      campaign: entry.campaign, period, key, cells, digest: terms.digest, spent, repeated: !entry.new, held: Boolean(held), created, holder, acknowledged: false,
    });
  }

  acknowledge({ campaign, period }) {
    const { reports } = this.account(campaign);
    if (!reports.has(period)) throw damaged("an acknowledgement without a report");
    reports.set(period, { ...reports.get(period), acknowledged: true });
  }
}

const readSpent = (text) => (text === "0" ? NOTHING : readAmount(text));

export class Ledger {
  /** A new ledger needs a budget; one that is there may be opened without, or with the same. */
  static async open(store, { budget, name = "ledger", witness } = {}) {
    const ledger = new Ledger(store, name);
    const known = witness === undefined ? FIRST : readWitness(witness);
    const amount = budget === undefined ? null : readAmount(budget);
    await exclusively(name, async () => {
      await ledger.catchUp();
      if (ledger.head.count === 0) {
        if (known.count) throw new LedgerError("there is no ledger here, but there should be one", { code: "gone" });
        if (!amount) throw new ArgumentError("a new ledger needs a budget", { argument: "budget" });
        await ledger.append({ kind: "open", ledger: randomKey(), budget: write(amount) });
      }
      if (known.count) await ledger.recognise(known);
    });
    if (amount && (isMore(amount, ledger.state.budget) || isMore(ledger.state.budget, amount))) {
      throw new LedgerError(`the ledger has a budget of ${write(ledger.state.budget)}, not ${write(amount)}: use changeBudget if you mean to change it`, { argument: "budget" });
    }
    return ledger;
  }

  constructor(store, name) {
    Object.assign(this, { store, name, state: new State(), head: FIRST });
  }

  // -- the journal: an entry is a text sealed to the one before it, under a number that only one writer can take ------

  async recognise({ count, seal }) {
    const text = await this.store.get(`${this.name}/${count}`);
    if ((await this.store.get(`${this.name}/1`)) === null) {
      throw new LedgerError("there is no ledger here, but there should be one", { code: "gone" });
    }
    if (text === null || text.slice(0, 64) !== seal) {
      throw new LedgerError(`the ledger is not the one it was: entry ${count} is missing or another one. An older copy may have been put back`, { code: "older" });
    }
  }

  /** Take in what others wrote, if what was read before is still there. */
  async catchUp() {
    if (this.head.count) await this.recognise(this.head);
    for (;;) {
      const count = this.head.count + 1;
      const text = await this.store.get(`${this.name}/${count}`);
      if (text === null) return;
      const [seal, body] = [text.slice(0, 64), text.slice(65)];
      if (seal !== sha256(`${this.head.seal}\n${body}`)) throw damaged(`entry ${count} does not match its seal`);
      try {
        this.state.apply(JSON.parse(body));
      } catch (error) {
        Object.assign(this, { state: new State(), head: FIRST }); // half an entry may have been taken in
        throw error instanceof LedgerError ? error : damaged(`it breaks its own rules, ${error.message}`);
      }
      this.head = { count, seal };
    }
  }

  /** Write an entry; false if somebody else wrote one meanwhile. It counts when it is read back. */
  async append(entry) {
    const now = `${new Date().toISOString().slice(0, 19)}+00:00`; // for people: no rule looks at it
    const body = JSON.stringify({ at: now > this.state.at ? now : this.state.at, ...entry });
    const taken = await this.store.add(`${this.name}/${this.head.count + 1}`, `${sha256(`${this.head.seal}\n${body}`)}\n${body}`);
    await this.catchUp();
    return taken;
  }

  /** Be the only writer of this program: `work` gives an entry, or nothing to write, and is asked again if it was late. */
  turn(work) {
    return exclusively(this.name, async () => {
      for (;;) {
        await this.catchUp();
        const entry = work(this.state);
        if (!entry || (await this.append(entry))) return this.state;
      }
    });
  }

  // -- what a device does ---------------------------------------------------------------------------------------------

  async enrol(campaign, spec, options = {}) {
    if (typeof campaign !== "string" || !campaign) throw new ArgumentError("campaign must be a name", { argument: "campaign" });
    const terms = new Terms(spec, options);
    await this.turn((state) => {
      const account = state.accounts.get(campaign);
      if (!account) {
        state.afford(terms.reserved, `campaign ${campaign}`);
        return { kind: "enrol", campaign, terms: terms.toEntry() };
      }
      if (canonical(account.terms.toEntry()) !== canonical(terms.toEntry())) {
        throw new LedgerError(`campaign ${campaign} is enrolled on other terms; use another name`, { code: "terms" });
      }
      return null;
    });
  }

  /** `next` gives the 32-bit words of the draw; for checks only. */
  report(campaign, value, period = "", { token = null, next = randomWord } = {}) {
    return this.enter(campaign, period, token, (state, account) =>
      ({ key: randomKey(), created: Date.now() / 1000, ...state.draw(account, value, next) }));
  }

  /** Enter a report that was drawn before there was a ledger, with its own key: charged like any other, and not drawn again. */
  adopt(campaign, { key, cells, created }, period = "", { token = null } = {}) {
    return this.enter(campaign, period, token, (state, account) =>
      ({ key, created, cells, slot: null, kept: null, new: true, held: false, spent: write(state.price(account, true)) }));
  }

  async enter(campaign, period, token, fresh) {
    if (typeof period !== "string") throw new ArgumentTypeError("period must be a name", { argument: "period" });
    const holder = holderOf(token);
    const state = await this.turn((current) => {
      const account = current.account(campaign);
      if (mine(account, period, holder)) return null;
      const entry = { kind: "report", campaign, period, holder, ...fresh(current, account) };
      account.terms.inquiry.decode(entry.cells); // what is no report would make the ledger unreadable
      return entry;
    });
    return mine(state.account(campaign), period, holder);
  }

  async recorded(campaign, period, token = null) {
    return this.ask((state) => mine(state.account(campaign), period, holderOf(token)));
  }

  async acknowledge({ campaign, period, key }) {
    await this.turn((state) => {
      const report = state.account(campaign).reports.get(period);
      if (!report || report.key !== key) throw new ArgumentError("report is not one of this ledger", { code: "unknown", argument: "report" });
      return report.acknowledged ? null : { kind: "acknowledge", campaign, period };
    });
  }

  async changeBudget(budget) {
    const amount = readAmount(budget);
    await this.turn((state) => {
      if (isMore(state.committed, amount)) {
        throw new BudgetError(`budget must be at least ${write(state.committed)}, which is spent or set aside, got budget=${write(amount)}`, { argument: "budget" });
      }
      return { kind: "budget", budget: write(amount) };
    });
  }

  async ask(question) {
    return question(await this.turn(() => null));
  }

  budget() {
    return this.ask((state) => state.budget);
  }

  spent() {
    return this.ask((state) => state.spent);
  }

  remaining() {
    return this.ask((state) => minus(state.budget, state.committed));
  }

  campaigns() {
    return this.ask((state) => [...state.accounts.keys()]);
  }

  pending(campaign, token) {
    return this.ask((state) => {
      const accounts = [...state.accounts.values()].filter(({ name }) => campaign === undefined || name === campaign);
      const waiting = [].concat(...accounts.map(({ reports }) => [...reports.values()])).filter(({ acknowledged }) => !acknowledged);
      return token === undefined ? waiting : waiting.filter(({ holder }) => holder === holderOf(token));
    });
  }

  witness() {
    return this.ask(() => `${this.head.count}:${this.head.seal}`);
  }
}

/** The report of a period, or null; refused if it was drawn for another token. */
function mine({ name, reports }, period, holder) {
  const report = reports.get(period);
  if (report && report.holder !== holder) {
    throw new PrivacyError(
      `campaign ${name} was answered with another token: a second draw would spend epsilon again, and one person's report is not sent for another`,
      { code: "repeated", argument: "token" },
    );
  }
  return report || null;
}

const canonical = (entry) => JSON.stringify(Object.entries(entry).sort(([one], [other]) => (one < other ? -1 : 1)));

function readWitness(text) {
  const match = /^([0-9]{1,15}):([0-9a-f]{64})$/.exec(String(text));
  if (!match) throw new ArgumentError("witness must be what a ledger's witness gave: a count, a colon and 64 hex digits", { code: "form", argument: "witness" });
  return { count: Number(match[1]), seal: match[2] };
}
