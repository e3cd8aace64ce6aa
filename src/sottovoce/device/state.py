"""What a chain of entries adds up to.

`State.apply` takes one entry and either accepts it or refuses the chain: it knows the rules as well as the
ledger does, so a file whose entries spend too much, answer twice or charge too little is not trusted.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from fractions import Fraction

from sottovoce.core.errors import BudgetError
from sottovoce.core.journal import Entry
from sottovoce.core.randomness import Seeded
from sottovoce.core.spending import afford, exact_budget
from sottovoce.device.questions import Cell, cell_of
from sottovoce.device.terms import Terms


@dataclass(frozen=True)
class Answer:
    """One recorded answer: send `cell` under `key`, as often as it takes.

    Of a survey it is a tuple: the cells of the questions that were drawn.
    `spent` is what recording it cost. `repeated`: the cell was kept from before; `held`: the campaign's
    bins are used up and the latest kept answer stands in. Both stay on the device.
    `period` is what it answers for, `digest` that of the mechanism it was drawn with.
    """

    campaign: str
    period: str
    key: str
    cell: Cell
    digest: str
    spent: Fraction
    repeated: bool = False
    held: bool = False


@dataclass
class Account:
    """One campaign: its terms, what it has cost, and its answers by period.

    `name` is the campaign's. `spent` is what it has cost so far; `kept` holds the kept cell of each bin,
    `latest` the bin of the last answer, `acknowledged` the periods that the collector has.
    """

    name: str
    terms: Terms
    spent: Fraction = Fraction(0)
    answers: dict[str, Answer] = field(default_factory=dict)
    kept: dict[int, Cell] = field(default_factory=dict)
    latest: int | None = None
    acknowledged: set[str] = field(default_factory=set)

    @property
    def committed(self) -> Fraction:
        """What is spent or set aside, whichever is more."""
        return max(self.spent, self.terms.reserved)

    @property
    def pending(self) -> list[Answer]:
        """Recorded and not acknowledged: to be sent (again)."""
        return [answer for period, answer in self.answers.items() if period not in self.acknowledged]

    def copy(self) -> Account:
        """A snapshot that later entries do not change."""
        return replace(
            self, answers=dict(self.answers), kept=dict(self.kept), acknowledged=set(self.acknowledged)
        )

    def next_bin(self, bin_: int) -> tuple[int, bool]:
        """The bin whose answer goes out, and whether it is the latest one standing in for a new one.

        `bin_` is the bin of the value now.
        """
        full = len(self.kept) >= (self.terms.answers or 0)
        if bin_ in self.kept or not full or self.latest is None:
            return bin_, False
        return self.latest, True


class State:
    """Budget, accounts and totals after some entries."""

    def __init__(self) -> None:
        self.ledger = ""
        self.budget = Fraction(0)
        self.accounts: dict[str, Account] = {}
        self.at = ""

    @property
    def spent(self) -> Fraction:
        return sum((account.spent for account in self.accounts.values()), Fraction(0))

    @property
    def committed(self) -> Fraction:
        """Spent or set aside."""
        return sum((account.committed for account in self.accounts.values()), Fraction(0))

    def account(self, name: str) -> Account:
        if name not in self.accounts:
            raise ValueError(f"campaign {name!r} is not enrolled in this ledger")
        return self.accounts[name]

    def afford(self, more: Fraction, what: str) -> None:
        """Refuse to spend or set aside more than is left."""
        afford(more, self.committed, self.budget, what)

    # -- entries ----------------------------------------------------------------------------------------

    def apply(self, entry: Entry) -> None:
        """Take one entry, or refuse the chain."""
        kinds = {"open": self._open, "budget": self._rebudget, "enrol": self._enrol}
        kinds |= {"answer": self._answer, "acknowledge": self._acknowledge}
        kind, at = entry["kind"], entry["at"]
        if (kind == "open") == bool(self.ledger) or at < self.at:
            raise ValueError("an entry is out of place")
        kinds[kind](entry)
        self.at = at

    def _open(self, entry: Entry) -> None:
        self.ledger, self.budget = str(entry["ledger"]), exact_budget(entry["budget"])

    def _rebudget(self, entry: Entry) -> None:
        self.budget = exact_budget(entry["budget"])
        self.afford(Fraction(0), "what was spent or set aside")

    def _enrol(self, entry: Entry) -> None:
        name, terms = entry["campaign"], Terms.from_entry(entry["terms"])
        if name in self.accounts:
            raise ValueError("a campaign is enrolled twice")
        self.afford(terms.reserved, f"campaign {name!r}")
        self.accounts[name] = Account(name, terms)

    def price(self, account: Account, *, new: bool) -> Fraction:
        """What one more answer costs, refused if it is over the campaign's or the person's limit."""
        terms = account.terms
        if terms.sends is not None and len(account.answers) >= terms.sends:
            raise BudgetError(
                f"campaign {account.name!r} agreed to {terms.sends} sends and has used them; nothing spent"
            )
        price = (terms.epsilon if new else Fraction(0)) + terms.epsilon_again
        after = max(account.spent + price, terms.reserved)
        self.afford(after - account.committed, f"an answer to {account.name!r}")
        return price

    def draw(self, account: Account, value: object, rng: Seeded = None) -> Entry:
        """What to record: cell, kept cell and bin, what it costs. Over the limit is an error before any draw.

        `rng` must not be a seed: what is drawn twice would be drawn alike.
        """
        terms = account.terms
        number = terms.question.judge(value)
        if terms.repeat == "fresh":
            price = self.price(account, new=True)
            return {
                "cell": terms.question.draw(number, rng), "kept": None, "bin": None,
                "new": True, "held": False, "spent": str(price),
            }  # fmt: skip
        if terms.repeat == "once":
            bin_, held = 0, False
        else:
            bin_, held = account.next_bin(terms.bin_of(number))
        new = bin_ not in account.kept
        price = self.price(account, new=new)
        if not new:
            kept = account.kept[bin_]
        else:
            kept = terms.question.draw(number, rng) if terms.repeat == "once" else terms.draw_bin(bin_, rng)
        return {
            "cell": terms.resend(kept, rng), "kept": kept, "bin": bin_,
            "new": new, "held": held, "spent": str(price),
        }  # fmt: skip

    def _answer(self, entry: Entry) -> None:
        account = self.accounts[entry["campaign"]]
        period, cell, bin_ = entry["period"], cell_of(entry["cell"]), entry["bin"]
        terms, new = account.terms, bool(entry["new"])
        if period in account.answers:
            raise ValueError("a period is answered twice")
        if not terms.question.holds(cell):
            raise ValueError("a cell that the mechanism does not have")
        if new != (terms.repeat == "fresh" or bin_ not in account.kept):
            raise ValueError("an answer is free that was not, or the other way round")
        spent = self.price(account, new=new)
        if entry["spent"] != str(spent):
            raise ValueError("an answer was charged wrongly")
        if terms.repeat != "fresh":
            kept = cell_of(entry["kept"])
            if account.kept.setdefault(bin_, kept) != kept or (terms.again is None and cell != kept):
                raise ValueError("a kept answer has changed")
            if len(account.kept) > (terms.answers or 1):
                raise ValueError("more bins than agreed")
            account.latest = bin_
        account.spent += spent
        account.answers[period] = Answer(
            account.name, period, entry["key"], cell, terms.mechanism.digest, spent, not new, entry["held"]
        )

    def _acknowledge(self, entry: Entry) -> None:
        account = self.accounts[entry["campaign"]]
        if entry["period"] not in account.answers:
            raise ValueError("an acknowledgement without an answer")
        account.acknowledged.add(entry["period"])
