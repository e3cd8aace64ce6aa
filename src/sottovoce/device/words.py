"""A ledger in plain words, for the person whose it is."""

from __future__ import annotations

import math
from collections.abc import Iterator

from sottovoce.core.spending import plain
from sottovoce.device.questions import Cell
from sottovoce.device.state import Account, State


def describe(state: State) -> str:
    """What was spent, on what, and what it does and does not protect."""
    return "\n".join(_lines(state))


def sent(cell: Cell) -> str:
    """What leaves the device for one answer.

    >>> sent(7), sent((3, 41))
    ('cell 7', 'cells 3, 41')
    """
    return f"cell {cell}" if isinstance(cell, int) else f"cells {', '.join(map(str, cell))}"


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
    open_ = [a.name for a in state.accounts.values() if a.answers and not a.terms.hides_changes]
    factor = f"{math.exp(min(float(state.spent), 700)):.3g}"
    text = "Whoever has everything that was sent can shift the odds between any two of your values"
    text += f" by {factor} at most"
    if open_:
        return f"{text}, apart from when your value changed in {', '.join(open_)}: that is not hidden."
    return text + "."


def _account(account: Account) -> Iterator[str]:
    terms = account.terms
    sent = len(account.answers)
    yield f"{account.name}: epsilon {plain(account.spent)} for {sent} answer{'' if sent == 1 else 's'}" + (
        f", {len(account.pending)} not yet acknowledged." if account.pending else "."
    )
    if terms.question.words:
        yield f"  {terms.question.words}"
    cost = plain(terms.epsilon)
    if terms.repeat == "fresh":
        yield f"  Every period is answered by a new draw, at {cost} each."
    elif terms.repeat == "once":
        yield f"  One draw, at {cost}, answers every period. Later values do not matter: changes stay hidden."
    else:
        yield f"  One draw per bin, at {cost} each; {len(account.kept)} of at most {terms.answers} used."
        if terms.again is None:
            yield "  Not hidden: when your value changed bin, and when it came back."
            yield "  Another answer proves another value."
        else:
            yield (
                f"  Every send is randomised again, at {plain(terms.epsilon_again)} each: "
                "changes are hidden as well."
            )
    if any(answer.held for answer in account.answers.values()):
        yield "  Its bins are used up: the latest answer is sent whatever the value is."
