"""The ledger: every ε this person has spent, and every answer before it was sent.

    ledger = sottovoce.Ledger("ledger.db", budget=4)
    ledger.enrol("commute", mechanism)
    answer = ledger.answer("commute", 31.0, period="2026-11-15")
    send(answer.key, answer.cell)              # only now may anything leave
    ledger.acknowledge(answer)

`answer` returns only after key, cell and cost are on disk, in one transaction. Asked again for the same
period, after a crash or a lost connection, it gives the same key and cell and costs nothing: a second draw
would be a second report. Whatever goes wrong is an error, and an error means that nothing may be sent.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from fractions import Fraction
from pathlib import Path
from typing import TypeVar

from sottovoce.core.durable import Kind
from sottovoce.core.errors import BudgetError, LedgerError, positive_number
from sottovoce.core.journal import Entry, Head, Journal, Transaction
from sottovoce.core.randomness import Seeded, word_source
from sottovoce.core.reporter import Reporter
from sottovoce.core.spending import Amount, exact_budget, plain
from sottovoce.device import words
from sottovoce.device.questions import Rule
from sottovoce.device.state import Account, Answer, State
from sottovoce.device.terms import Terms

LEDGER = Kind("ledger", "SVLG", "nothing was spent or sent")
T = TypeVar("T")


class Ledger:
    """A file that records what was spent and answers within a budget, safe between processes.

    `budget` is the most ε that all campaigns together may cost; a float means the decimal it prints as, a
    Fraction or "1/3" itself. A file that does not exist is created unless `create=False`. `witness` is what
    `Ledger.witness` gave earlier, kept somewhere else: with it a restored older copy is refused, without
    it no program can tell. `wait` is how many seconds to wait for another process.
    `path` is the file.
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
                "it without a budget, and use change_budget if you mean to change it"
            )

    def _create(self, budget: Fraction | None, create: bool) -> None:
        if not create:
            raise LedgerError(f"there is no ledger at {self.path}, but there should be one")
        if budget is None:
            raise ValueError(f"there is no ledger at {self.path}; a new one needs a budget")
        self._journal.create(
            {"kind": "open", "at": _now(), "ledger": secrets.token_hex(16), "budget": str(budget)}
        )

    @staticmethod
    def _append(turn: Transaction[State], entry: Entry) -> None:
        # Times are for people: no rule looks at them, so a clock that goes backwards changes nothing.
        turn.append({"at": max(_now(), turn.state.at), **entry})

    # -- what a device does -----------------------------------------------------------------------------

    def enrol(
        self,
        campaign: str,
        mechanism: Reporter,
        *,
        repeat: str = "fresh",
        bins: int | None = None,
        answers: int | None = None,
        again: float | None = None,
        sends: int | None = None,
        missing: Rule | Sequence[Rule] = "uniform",
        out_of_range: str = "clip",
    ) -> None:
        """Agree to a campaign: which mechanism, and how answers repeat (`sottovoce.device.terms`).

        repeat="fresh": a new draw per period. "once": one draw for all periods. "bins": one draw per bin of
        the value, for at most `answers` different ones; `again` randomises every send once more, for at most
        `sends` of them. A vector or polar mechanism asks for several numbers at once, which cost one joint ε;
        it repeats "fresh" or "once", and `missing` may be one rule per number. Enrolling again on the same
        terms changes nothing, on others it is refused.
        A missing value is answered with a uniform draw of the domain ("uniform") or with a number;
        `out_of_range` says what becomes of other values outside it ("clip" or "missing").
        """
        if not isinstance(campaign, str) or not campaign:
            raise ValueError(f"campaign must be a name, got campaign={campaign!r}")
        terms = Terms(mechanism, repeat, bins, answers, again, sends, missing, out_of_range)
        with self._journal.open() as turn:
            account = turn.state.accounts.get(campaign)
            if account is not None:
                if account.terms.to_entry() != terms.to_entry():
                    raise LedgerError(f"campaign {campaign!r} is enrolled on other terms; use another name")
                return
            turn.state.afford(terms.reserved, f"campaign {campaign!r}")
            self._append(turn, {"kind": "enrol", "campaign": campaign, "terms": terms.to_entry()})

    def answer(self, campaign: str, value: object, period: str = "", *, rng: Seeded = None) -> Answer:
        """The answer for one period, recorded on disk before it is returned.

        The first call draws and charges; every later call for the same period gives the same answer and
        does not look at the value. None and NaN are missing values, and answered by the declared rule. Of a
        vector the value is a list of numbers, of a position (distance, angle).
        `rng` is for simulations only.
        `campaign` is a name that was enrolled, `value` the person's value, `period` a name of the day, week
        or whatever is answered once.
        """
        if not isinstance(period, str):
            raise TypeError(f"period must be a name such as '2026-11-15', got period={period!r}")
        with self._journal.open() as turn:
            account = turn.state.account(campaign)
            if period in account.answers:
                return account.answers[period]
            entry = turn.state.draw(account, value, word_source(rng))
            entry |= {
                "kind": "answer",
                "campaign": campaign,
                "period": period,
                "key": secrets.token_urlsafe(24),
            }
            self._append(turn, entry)
            result = (entry["key"], entry["cell"], account.terms.mechanism.digest)
            spent, repeated, held = Fraction(entry["spent"]), not entry["new"], entry["held"]
        return Answer(campaign, period, *result, spent, repeated, held)

    def acknowledge(self, answer: Answer) -> None:
        """The collector has it: it need not be sent again.

        `answer` is what `answer` gave.
        """
        with self._journal.open() as turn:
            account = turn.state.account(answer.campaign)
            if account.answers.get(answer.period) != answer:
                raise ValueError("answer is not one of this ledger")
            if answer.period not in account.acknowledged:
                self._append(
                    turn, {"kind": "acknowledge", "campaign": answer.campaign, "period": answer.period}
                )

    def send(
        self, campaign: str, value: object, transport: Callable[[Answer], object], period: str = ""
    ) -> Answer:
        """Record, hand over to `transport`, acknowledge; if that raises, the answer stays pending.

        `campaign`, `value` and `period` are those of `answer`.
        """
        answer = self.answer(campaign, value, period)
        transport(answer)
        self.acknowledge(answer)
        return answer

    def change_budget(self, budget: Amount) -> None:
        """Set another budget, not below what is spent or set aside already."""
        amount = exact_budget(budget)
        with self._journal.open() as turn:
            least = turn.state.committed
            if least > amount:
                raise BudgetError(
                    f"budget must be at least {plain(least)}, which is spent or set aside, "
                    f"got budget={plain(amount)}"
                )
            self._append(turn, {"kind": "budget", "budget": str(amount)})

    # -- what it says -----------------------------------------------------------------------------------

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
        """One campaign: terms, what it cost, its answers."""
        return self._ask(lambda state: state.account(campaign).copy())

    @property
    def campaigns(self) -> tuple[str, ...]:
        """The names that were enrolled."""
        return self._ask(lambda state: tuple(state.accounts))

    def pending(self) -> list[Answer]:
        """Recorded and not acknowledged, oldest campaign first: send these again after a crash."""
        return self._ask(lambda state: [a for account in state.accounts.values() for a in account.pending])

    @property
    def witness(self) -> str:
        """Number and seal of the last entry: keep it elsewhere, and give it when opening the file again."""
        return self._ask(lambda state: str(self._journal.head))

    def __str__(self) -> str:
        return self._ask(words.describe)

    def __repr__(self) -> str:
        spent, budget = self._ask(lambda state: (plain(state.spent), plain(state.budget)))
        return f"<Ledger {self.path.name!r} spent {spent} of {budget}>"

    def entries(self) -> list[dict[str, object]]:
        """Everything the file holds, in order, with number and seal. It tells the bins of your values."""
        return [{"n": head.count, "seal": head.seal, **entry} for head, entry in self._journal.entries()]

    def _ask(self, question: Callable[[State], T]) -> T:
        """Something about the state, answered before another thread or process can change it."""
        with self._journal.open() as turn:
            return question(turn.state)


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
