"""A ledger's statement in plain words, for the person whose it is."""

from __future__ import annotations

import math
from collections.abc import Iterator

from sottovoce.device.ledger_state import Account, State
from sottovoce.exact.spending import plain


def statement(state: State) -> str:
    """What was spent, on what, and what that does and does not protect."""
    return "\n".join(_lines(state))


def _lines(state: State) -> Iterator[str]:
    aside = state.committed - state.spent
    yield f"Spent: epsilon {plain(state.spent)} of {plain(state.budget)}" + (
        f", and {plain(aside)} set aside." if aside else "."
    )
    if state.spent:
        yield _meaning(state)
    if not state.accounts:
        yield "No campaign is enrolled."
    for account in state.accounts.values():
        yield ""
        yield from _account(account)


def _meaning(state: State) -> str:
    open_ = [a.name for a in state.accounts.values() if a.reports and not a.terms.hides_changes]
    factor = f"{math.exp(min(float(state.spent), 700)):.3g}"
    text = "Whoever has everything that was sent can shift the odds between any two of your values"
    text += f" by {factor} at most"
    if open_:
        return f"{text}, apart from when your value changed in {', '.join(open_)}: that is not hidden."
    return text + "."


def _account(account: Account) -> Iterator[str]:
    count = len(account.reports)
    waiting = f", {len(account.pending)} not yet acknowledged." if account.pending else "."
    yield f"{account.name}: epsilon {plain(account.spent)} for {count} report{'s' * (count != 1)}{waiting}"
    lines = [str(account.terms.inquiry), *account.terms.describe(len(account.kept))]
    if any(report.held for report in account.reports.values()):
        lines.append("Its bins are used up: the latest draw is sent whatever the value is.")
    yield from (f"  {line}" for line in lines if line)
