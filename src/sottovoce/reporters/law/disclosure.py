"""What one report tells about its person, computed from the law: for the sentences that say it.

    guess = 1/2 + Σ |P(cell | x) − P(cell | y)| / 4, the largest over pairs of answers

is how often somebody guesses right who knows that the answer is x or y and sees the report (1/2 without it).
No mechanism exceeds e^ε / (1 + e^ε), the `bound`. clients/js/lib/disclosure.js computes the same.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from sottovoce.arrays import FloatArray
from sottovoce.notebook import Shown
from sottovoce.reporters.contract import Reporter, spaces
from sottovoce.reporters.formats import law_of
from sottovoce.values.disc import Disc
from sottovoce.values.domain import Domain
from sottovoce.values.options import Options

_FEW = 512  # cells: then every place is looked at where a law turns

Kind = Literal["option", "near", "words", "ends", "spot", "two"]


@dataclass(frozen=True)
class Told:
    """What the report of one item tells.

    | `kind` | `shares` of reports | `about` |
    |---|---|---|
    | "option" | that name the own one | how many options there are, and how many a report names |
    | "near" | between the last two of `about`, from people at the first two | four numbers |
    | "words" | of the second word, from people at both ends of the domain | the ends |
    | "ends" | none: `guess` is between the ends | the ends |
    | "spot" | within a distance, from people at a spot and twice as far from it | the distance |
    | "two" | none: `guess` is between some two answers | nothing |

    Attributes:
        kind: What can be said.
        guess: How often somebody guesses right with this report who knows that the answer is one of two.
        shares: Probabilities.
        about: What they are about.
    """

    kind: Kind
    guess: float
    shares: tuple[float, ...] = ()
    about: tuple[float, ...] = ()


@dataclass(frozen=True, repr=False)
class Disclosure(Shown):
    """What one person's whole report tells.

    Attributes:
        guess: How often somebody guesses right with it who knows that an answer is one of two.
        items: What the report of each item tells; none where it is about functions of answers.
    """

    guess: float
    items: Mapping[str, Told]

    def __str__(self) -> str:
        guess, base = frequencies(self.guess, round=math.ceil)
        return f"with the report, at most {guess:,} of {base:,} guesses between two answers are right"

    def _table(self) -> Sequence[Sequence[str]]:
        told = self.items.items()
        rows = [(name, one.kind, ", ".join(f"{share:.4g}" for share in one.shares)) for name, one in told]
        return [("item", "kind", "shares"), *rows]

    def _facts(self) -> Mapping[str, str]:
        return {}


def bound(epsilon: float) -> float:
    """How often nobody guesses right more often between two answers with one report, whatever the law.

    Args:
        epsilon: The ε of all that is seen.

    Returns:
        e^ε / (1 + e^ε).

    Example:
        >>> round(bound(2.0), 4)
        0.8808
    """
    return 1 / (1 + math.exp(-epsilon))


def frequencies(*shares: float, round: Callable[[float], int] = round) -> tuple[int, ...]:
    """Shares as whole numbers of 100, or of 1,000, 10,000 … until the rarer side is at least 1.

    Args:
        *shares: Numbers between 0 and 1.
        round: `math.ceil` for "at most".

    Returns:
        One for each share, and what they are of.

    Example:
        >>> frequencies(0.787), frequencies(0.99966), frequencies(0.7311, round=math.ceil)
        ((79, 100), (9997, 10000), (74, 100))
    """
    base, rarest = 100, min(min(share, 1 - share) for share in shares)
    while base * rarest < 1 and base < 10**15:
        base *= 10
    return (*(round(share * base) for share in shares), base)


def disclosure(reporter: Reporter) -> Disclosure:
    """What one person's report tells, whoever sees it.

    Args:
        reporter: What reports.

    Returns:
        The guess is the bound where several answers are sent, or a function of them; then there may be no
        items.

    Example:
        >>> from sottovoce.designs.choice import choice
        >>> round(disclosure(choice(2.0, ["car", "bike", "train"])).items["value"].shares[0], 2)
        0.79
    """
    if not set(reporter.items) <= set(spaces(reporter)):
        return Disclosure(bound(reporter.epsilon), {})
    items = {name: _told(law_of(item)) for name, item in reporter.items.items()}
    most = max(one.guess for one in items.values())
    return Disclosure(bound(reporter.epsilon) if reporter.width > 1 else most, items)


def _told(item: Any) -> Told:
    if isinstance(item.domain, Options):
        return _of_options(item)
    return _of_number(item) if isinstance(item.domain, Domain) else _of_place(item)


def _of_options(item: Any) -> Told:
    names = item.domain.names
    held = item.decode(np.arange(item.cells))
    right = float(item.probabilities(names[:1])[0] @ held[:, 0])  # by symmetry the first stands for all
    return Told("option", _guess(item, names), (right,), (len(names), float(held.sum() / len(held))))


def _of_number(item: Any) -> Told:
    domain, cells = item.domain, item.cells
    units = np.linspace(0, 1, 5 if cells > _FEW else 17)
    bends = [] if cells > _FEW else item.bends(item.bins(16))
    inside = np.clip(domain.from_unit(units), domain.low, domain.high)
    guess, ends = _guess(item, np.append(inside, bends)), (domain.low, domain.high)
    if cells == 2:
        low, high = item.probabilities(ends)[:, 1].tolist()
        if guess - 0.5 <= (high - low) / 2 + 1e-9:
            return Told("words", guess, (low, high), ends)
    about = x1, x2, first, last = tuple(domain.from_unit(np.array([0.25, 0.75, 0.125, 0.375])).tolist())
    values = item.decode(np.arange(cells))
    near = item.probabilities([x1, x2]) @ ((values >= first) & (values <= last))
    if near[0] - near[1] >= guess - 0.5:  # most of what a report tells
        return Told("near", guess, tuple(near.tolist()), about)
    if domain.is_circle or _guess(item, ends) < guess - 1e-9:
        return Told("two", guess)
    return Told("ends", guess, (), ends)


def _of_place(item: Any) -> Told:
    domain = item.domain
    polar = isinstance(domain, Disc)
    x, y = ((-domain.radius, domain.radius),) * 2 if polar else (domain.x, domain.y)
    low, size = np.array([x[0], y[0]]), np.array([x[1] - x[0], y[1] - y[0]])
    grid = low + size * np.stack(np.meshgrid(*[np.linspace(0, 1, 5)] * 2), axis=-1).reshape(-1, 2)
    guess = _guess(item, grid[domain.contains(grid)])
    if polar or domain.degrees:  # by distance and angle, or no distances at all
        return Told("two", guess)
    far, spot = float(size.min() / 4), low + size / 2
    other = spot + 2 * far * np.eye(2)[int(size.argmin())]
    away = np.hypot(*(item.decode(np.arange(item.cells)) - spot).T)
    near = item.probabilities(np.stack([spot, other])) @ (away <= far)
    return Told("spot", guess, tuple(near.tolist()), (far,))


def _guess(item: Any, values: Sequence[Any] | FloatArray) -> float:
    """How often a guess between those two of some values is right that are told apart best."""
    laws = item.probabilities(values)
    return 0.5 + max(float(np.abs(laws - one).sum(axis=1).max()) for one in laws) / 4
