"""The ledger: every ε this person has spent, and every report before it was sent.

    ledger = sottovoce.Ledger("ledger.db", budget=4)
    ledger.enrol("commute", mechanism)
    report = ledger.report("commute", 31.0, period="2026-11-15")
    send(report.key, report.cells)             # only now may anything leave
    ledger.acknowledge(report)

`report` returns only after key, cells and cost are on disk, in one transaction. Asked again for the same
period it gives the same key and cells and costs nothing: a second draw would be a second report. Whatever
goes wrong is an error, and an error means that nothing may be sent.
"""

from __future__ import annotations

import os
import secrets
import time
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from fractions import Fraction
from pathlib import Path
from typing import TypeVar

from sottovoce.device.inquiry import Value
from sottovoce.device.ledger_state import Account, Report, State, holder
from sottovoce.device.ledger_statement import statement
from sottovoce.device.terms import agree
from sottovoce.errors import ArgumentError, ArgumentTypeError, BudgetError, LedgerError, positive_number
from sottovoce.exact.spending import Amount, exact_budget, plain
from sottovoce.notebook import Shown
from sottovoce.randomness.word_source import Seeded, word_source
from sottovoce.reporters.contract import Reporter
from sottovoce.storage.durable_file import Kind
from sottovoce.storage.journal import Entry, Head, Journal, Transaction
from sottovoce.values.missing_and_outside import Missing, Outside

LEDGER = Kind("ledger", "SVLG", "nothing was spent or sent")
T = TypeVar("T")


class Ledger(Shown):
    """A file that records what was spent and reports within a budget, safe between processes.

    Args:
        path: The file.
        budget: The most ε that all campaigns together may cost; needed for a new file. A float means the
            decimal that it prints as, a Fraction or "1/3" itself.
        create: Whether a file that does not exist is created.
        witness: What `Ledger.witness` gave earlier, kept somewhere else. With it a restored older copy is
            refused; without it no program can tell.
        wait: How many seconds to wait for another process.

    Raises:
        ArgumentError: If a new ledger has no budget, or an argument has a value that it must not have.
        LedgerError: If the file is damaged, older than the witness, gone, or of another budget.

    Example:
        >>> ledger = Ledger("ledger.db", budget=4)  # doctest: +SKIP
        >>> ledger.enrol("commute", sottovoce.ogpm(1.0, (0, 120)))  # doctest: +SKIP
        >>> report = ledger.report("commute", 31.0, period="monday")  # doctest: +SKIP
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        budget: Amount | None = None,
        *,
        create: bool = True,
        witness: str | None = None,
        wait: float = 30.0,
    ) -> None:
        self.path = Path(path).absolute()
        self._journal = Journal(self.path, LEDGER, State, positive_number(wait, "wait"))
        known = None if witness is None else Head.parse(witness)
        amount = None if budget is None else exact_budget(budget)
        if not self.path.exists():
            self._create(amount, create and not (known and known.count))
        self._journal.check(known)
        if amount is not None and self.budget != amount:
            raise LedgerError(
                f"{self.path} has a budget of {plain(self.budget)}, not {plain(amount)}: open "
                "it without a budget, and use change_budget if you mean to change it",
                argument="budget",
            )

    def _create(self, budget: Fraction | None, create: bool) -> None:
        if not create:
            raise LedgerError(f"there is no ledger at {self.path}, but there should be one", code="gone")
        if budget is None:
            raise ArgumentError(f"a new ledger at {self.path} needs a budget", argument="budget")
        name = secrets.token_hex(16)
        self._journal.create({"kind": "open", "at": _now(), "ledger": name, "budget": str(budget)})

    @staticmethod
    def _append(turn: Transaction[State], entry: Entry) -> None:
        # Times are for people: no rule looks at them, so a clock that goes backwards changes nothing.
        turn.append({"at": max(_now(), turn.state.at), **entry})

    def enrol(
        self,
        campaign: str,
        reporter: Reporter,
        *,
        repeat: str = "fresh",
        bins: int | None = None,
        draws: int | None = None,
        again: float | None = None,
        sends: int | None = None,
        missing: Missing | Mapping[str, Missing] = "uniform",
        outside: Outside = "clip",
    ) -> None:
        """Agree to a campaign: what randomises, and how reports repeat (`sottovoce.device.terms`).

        Args:
            campaign: A name for it.
            reporter: A mechanism, or a survey, whose answers cost one joint ε.
            repeat: "fresh", a new draw per period; "once", one draw for all; "bins", one per bin of a number.
            bins: How many bins there are; as many as the mechanism has cells, if not given.
            draws: How many different bins may be paid for.
            again: ε₂ with which every send is randomised once more; for bins.
            sends: How many reports there may be.
            missing: What stands in for a missing value: "uniform", a uniform draw of the domain, or a number;
                for all questions, or by name.
            outside: What becomes of a value outside the domain: "clip" or "missing".

        Raises:
            ArgumentError: If an argument has a value that it must not have.
            ArgumentTypeError: If the reporter is none.
            LedgerError: If the campaign is enrolled on other terms; the same again change nothing.
            BudgetError: If it sets aside more than is left.
        """
        if not isinstance(campaign, str) or not campaign:
            raise ArgumentError(f"campaign must be a name, got campaign={campaign!r}", argument="campaign")
        options = {"bins": bins, "draws": draws, "again": again, "missing": missing, "outside": outside}
        terms = agree(reporter, repeat, {**options, "sends": sends})
        with self._journal.open() as turn:
            account = turn.state.accounts.get(campaign)
            if account is None:
                turn.state.afford(terms.reserved, f"campaign {campaign!r}")
                self._append(turn, {"kind": "enrol", "campaign": campaign, "terms": terms.to_entry()})
            elif account.terms.to_entry() != terms.to_entry():
                raise LedgerError(
                    f"campaign {campaign!r} is enrolled on other terms; use another name", code="terms"
                )

    def report(
        self,
        campaign: str,
        value: Value,
        period: str = "",
        *,
        token: str | None = None,
        rng: Seeded = None,
    ) -> Report:
        """The report of one period, recorded on disk before it is returned.

        The first call draws and charges; every later call for the same period gives the same report and
        does not look at the value.

        Args:
            campaign: A name that was enrolled.
            value: A number, a position (x, y), or of a survey the values by name or in order. None and NaN
                are missing values, and reported by the declared rule.
            period: A name of the day, week or whatever is reported once.
            token: The token that it is sent with, if there is one. Its hash is recorded.
            rng: A seed, for simulations only.

        Returns:
            What may be sent now.

        Raises:
            ArgumentError: If the campaign is not enrolled.
            PrivacyError: If the period was reported with another token: neither is a second draw made, nor is
                one person's report sent under another's token.
            ArgumentTypeError: If the value has the wrong type. A number is never refused for what it is.
            DataError: If an option is not on the list.
            BudgetError: If the budget or the campaign's sends are used up; then nothing is drawn.
            LedgerError: If the file cannot be used or believed; then nothing may be sent.
        """
        if not isinstance(period, str):
            raise ArgumentTypeError(f"period must be a name, got period={period!r}", argument="period")
        mine = holder(token)
        with self._journal.open() as turn:
            account = turn.state.account(campaign)
            report = account.recorded(period, mine)
            if report is not None:
                return report
            entry: Entry = {
                "kind": "report", "campaign": campaign, "period": period, "key": secrets.token_urlsafe(24),
                "created": time.time(), "holder": mine,
            }  # fmt: skip
            entry |= turn.state.draw(account, value, word_source(rng))
            self._append(turn, entry)
        return account.read({**entry, "cells": list(entry["cells"])})

    def acknowledge(self, report: Report) -> None:
        """Note that the collector has a report: it need not be sent again.

        Args:
            report: What `report` gave.

        Raises:
            ArgumentError: If it is not one of this ledger.
            LedgerError: If the file cannot be used or believed.
        """
        with self._journal.open() as turn:
            account = turn.state.account(report.campaign)
            if account.reports.get(report.period) != report:
                raise ArgumentError("report is not one of this ledger", code="unknown", argument="report")
            if report.period not in account.acknowledged:
                name, period = report.campaign, report.period
                self._append(turn, {"kind": "acknowledge", "campaign": name, "period": period})

    def change_budget(self, budget: Amount) -> None:
        """Set another budget.

        Args:
            budget: The new one.

        Raises:
            ArgumentError: If it is none.
            BudgetError: If it is below what is spent or set aside already.
        """
        amount = exact_budget(budget)
        with self._journal.open() as turn:
            if (least := turn.state.committed) > amount:
                rule = f"budget must be at least {plain(least)}, which is spent or set aside"
                raise BudgetError(f"{rule}, got budget={plain(amount)}", argument="budget")
            self._append(turn, {"kind": "budget", "budget": str(amount)})

    @property
    def budget(self) -> Fraction:
        """The most ε that all campaigns together may cost."""
        return self._ask(lambda state: state.budget)

    @property
    def spent(self) -> Fraction:
        """ε spent in total, an upper bound in exact arithmetic."""
        return self._ask(lambda state: state.spent)

    @property
    def remaining(self) -> Fraction:
        """What is neither spent nor set aside."""
        return self._ask(lambda state: state.budget - state.committed)

    def account(self, campaign: str) -> Account:
        """Look at one campaign.

        Args:
            campaign: A name that was enrolled.

        Returns:
            Its terms, what it cost, its reports.
        """
        return self._ask(lambda state: state.account(campaign).copy())

    @property
    def campaigns(self) -> tuple[str, ...]:
        """The names that were enrolled."""
        return self._ask(lambda state: tuple(state.accounts))

    def pending(self) -> list[Report]:
        """Find what to send again after a crash.

        Returns:
            Reports that are recorded and not acknowledged, oldest campaign first.
        """
        return self._ask(lambda state: [r for account in state.accounts.values() for r in account.pending])

    @property
    def witness(self) -> str:
        """Number and seal of the last entry: keep it elsewhere, and give it when opening the file again."""
        return self._ask(lambda state: str(self._journal.head))

    def entries(self) -> list[dict[str, object]]:
        """Read everything the file holds. It tells the bins of your values.

        Returns:
            The entries in order, with number and seal.
        """
        return [{"n": head.count, "seal": head.seal, **entry} for head, entry in self._journal.entries()]

    def __str__(self) -> str:
        return self._ask(statement)

    def __repr__(self) -> str:
        spent, budget = self._ask(lambda state: (plain(state.spent), plain(state.budget)))
        return f"<Ledger {self.path.name!r} spent {spent} of {budget}>"

    def _ask(self, question: Callable[[State], T]) -> T:
        with self._journal.open() as turn:
            return question(turn.state)


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
