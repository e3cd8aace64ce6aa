"""What the entries of a ledger add up to.

`State.apply` takes one entry and either accepts it or refuses the journal: it knows the rules as well as the
ledger does, so a file whose entries spend too much, report twice or charge too little is not trusted.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field, replace
from fractions import Fraction

from sottovoce.device.inquiry import Cells, Value, read_cells
from sottovoce.device.terms import Terms, read_terms
from sottovoce.errors import ArgumentError, BudgetError, EntryError, PrivacyError
from sottovoce.exact.spending import afford, exact_budget
from sottovoce.randomness.word_source import Seeded
from sottovoce.storage.journal import Entry


@dataclass(frozen=True)
class Report:
    """One recorded report: send `cells` under `key`, as often as it takes.

    Attributes:
        campaign: Whose report it is.
        period: What it is for.
        key: The idempotency key.
        cells: The report: one integer, or as many as a survey asks for.
        digest: That of the reporter which made it.
        spent: What recording it cost.
        repeated: Whether the draw was kept from before. It stays on the device.
        held: Whether the campaign's bins are used up and the latest kept draw stands in. It stays here too.
        created: When it was drawn, in seconds since 1970.
        holder: SHA-256 of the token that it may be sent with; empty if it is sent without one.
    """

    campaign: str
    period: str
    key: str
    cells: Cells
    digest: str
    spent: Fraction
    repeated: bool = False
    held: bool = False
    created: float = 0.0
    holder: str = ""


def holder(token: str | None) -> str:
    """Whose report it is: the hash of a token, empty without one."""
    return "" if token is None else hashlib.sha256(token.encode()).hexdigest()


@dataclass
class Account:
    """One campaign of a ledger.

    Attributes:
        name: The campaign's name.
        terms: What was agreed.
        spent: What it has cost so far.
        reports: What was recorded, by period.
        kept: The kept draw of each bin.
        latest: The bin of the last report.
        acknowledged: The periods that the collector has.
    """

    name: str
    terms: Terms
    spent: Fraction = Fraction(0)
    reports: dict[str, Report] = field(default_factory=dict)
    kept: dict[int, Cells] = field(default_factory=dict)
    latest: int | None = None
    acknowledged: set[str] = field(default_factory=set)

    @property
    def committed(self) -> Fraction:
        """What is spent or set aside, whichever is more."""
        return max(self.spent, self.terms.reserved)

    @property
    def pending(self) -> list[Report]:
        """Recorded and not acknowledged: to be sent (again)."""
        return [report for period, report in self.reports.items() if period not in self.acknowledged]

    def recorded(self, period: str, holder: str) -> Report | None:
        """Find the report of a period.

        Args:
            period: What it is for.
            holder: Whose token it would be sent with.

        Returns:
            The report, or None if none was drawn.

        Raises:
            PrivacyError: If it was drawn for another token: neither is a second draw made, nor is one
                person's report sent for another.
        """
        report = self.reports.get(period)
        if report is not None and report.holder != holder:
            raise PrivacyError(
                f"campaign {self.name!r} was answered with another token: a second draw would spend epsilon "
                "again, and one person's report is not sent for another",
                code="repeated",
                argument="token",
            )
        return report

    def copy(self) -> Account:
        """Take a snapshot.

        Returns:
            The same, which later entries do not change.
        """
        return replace(
            self, reports=dict(self.reports), kept=dict(self.kept), acknowledged=set(self.acknowledged)
        )

    def read(self, entry: Entry) -> Report:
        """Read the report that an entry records.

        Args:
            entry: One of kind "report".

        Returns:
            The report.
        """
        return Report(
            self.name,
            entry["period"],
            entry["key"],
            read_cells(entry["cells"]),
            self.terms.reporter.digest,
            Fraction(entry["spent"]),
            not entry["new"],
            bool(entry["held"]),
            float(entry.get("created", 0)),
            str(entry.get("holder", "")),
        )


class State:
    """Budget, accounts and totals after some entries."""

    def __init__(self) -> None:
        self.ledger = ""
        self.budget = Fraction(0)
        self.accounts: dict[str, Account] = {}
        self.at = ""

    @property
    def spent(self) -> Fraction:
        """What all campaigns have cost."""
        return sum((account.spent for account in self.accounts.values()), Fraction(0))

    @property
    def committed(self) -> Fraction:
        """What is spent or set aside."""
        return sum((account.committed for account in self.accounts.values()), Fraction(0))

    def account(self, name: str) -> Account:
        """The account of a campaign, refused if there is none."""
        if name not in self.accounts:
            raise ArgumentError(
                f"campaign {name!r} is not enrolled in this ledger", code="unknown", argument="campaign"
            )
        return self.accounts[name]

    def afford(self, more: Fraction, what: str) -> None:
        """Refuse to spend or set aside more than is left."""
        afford(more, self.committed, self.budget, what)

    def price(self, account: Account, *, new: bool) -> Fraction:
        """What one more report costs, refused if it is over the campaign's or the person's limit."""
        terms = account.terms
        if terms.sends is not None and len(account.reports) >= terms.sends:
            raise BudgetError(
                f"campaign {account.name!r} agreed to {terms.sends} sends and has used them; nothing spent",
                code="sends",
            )
        price = (terms.epsilon if new else Fraction(0)) + terms.epsilon_again
        after = max(account.spent + price, terms.reserved)
        self.afford(after - account.committed, f"a report to {account.name!r}")
        return price

    def draw(self, account: Account, value: Value, rng: Seeded = None) -> Entry:
        """What to record for one more period.

        Over the limit is an error before any draw.

        Args:
            account: Whose.
            value: The person's value.
            rng: A source of words; not a seed, as what is drawn twice would be drawn alike.
        """
        terms = account.terms
        numbers = terms.inquiry.judge(value)
        slot, held = terms.slot(numbers), False
        if slot is not None and slot not in account.kept and 0 < terms.most_kept <= len(account.kept):
            slot, held = account.latest, True
        draw = None if slot is None else account.kept.get(slot)
        new = draw is None
        price = self.price(account, new=new)
        if draw is None:
            draw = terms.draw(slot, numbers, rng)
        cells = terms.sent(draw, rng)
        terms.inquiry.check(cells)  # what is no report would make the file unreadable
        return {
            "cells": cells, "slot": slot, "kept": None if slot is None else draw,
            "new": new, "held": held, "spent": str(price),
        }  # fmt: skip

    # -- entries ----------------------------------------------------------------------------------------

    def apply(self, entry: Entry) -> None:
        """Take one entry, or refuse the journal."""
        kinds = {"open": self._open, "budget": self._rebudget, "enrol": self._enrol}
        kinds |= {"report": self._report, "acknowledge": self._acknowledge}
        kind, at = entry["kind"], entry["at"]
        if (kind == "open") == bool(self.ledger) or at < self.at:
            raise EntryError("an entry is out of place")
        kinds[kind](entry)
        self.at = at

    def _open(self, entry: Entry) -> None:
        self.ledger, self.budget = str(entry["ledger"]), exact_budget(entry["budget"])

    def _rebudget(self, entry: Entry) -> None:
        self.budget = exact_budget(entry["budget"])
        self.afford(Fraction(0), "what was spent or set aside")

    def _enrol(self, entry: Entry) -> None:
        name, terms = entry["campaign"], read_terms(entry["terms"])
        if name in self.accounts:
            raise EntryError("a campaign is enrolled twice")
        self.afford(terms.reserved, f"campaign {name!r}")
        self.accounts[name] = Account(name, terms)

    def _report(self, entry: Entry) -> None:
        account = self.accounts[entry["campaign"]]
        report, slot, terms = account.read(entry), entry["slot"], account.terms
        if report.period in account.reports:
            raise EntryError("a period is reported twice")
        terms.inquiry.check(report.cells)
        if report.repeated == (slot is None or slot not in account.kept):
            raise EntryError("a report is free that was not, or the other way round")
        if report.spent != self.price(account, new=not report.repeated):
            raise EntryError("a report was charged wrongly")
        if (slot is None) != (terms.most_kept == 0):
            raise EntryError("a draw is kept that was not agreed to, or the other way round")
        if slot is not None:
            draw = account.kept.setdefault(slot, read_cells(entry["kept"]))
            if draw != read_cells(entry["kept"]) or not terms.could_send(draw, report.cells):
                raise EntryError("a kept draw has changed")
            if len(account.kept) > terms.most_kept:
                raise EntryError("more draws are kept than agreed")
            account.latest = slot
        account.spent += report.spent
        account.reports[report.period] = report

    def _acknowledge(self, entry: Entry) -> None:
        account = self.accounts[entry["campaign"]]
        if entry["period"] not in account.reports:
            raise EntryError("an acknowledgement without a report")
        account.acknowledged.add(entry["period"])
