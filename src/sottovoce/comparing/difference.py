"""Two groups against each other, and groups weighted to a population.

sottovoce.difference(june, may)                               # of the means: value, low, high, p_value
sottovoce.difference(a, b, question="quantile", p=0.9)
sottovoce.weighted({"north": a, "south": b}, {"north": 3.1e6, "south": 1.4e6})
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from sottovoce.comparing.quantity import K, Quantity, checked_groups, inverted_p
from sottovoce.errors import ArgumentError, check_confidence, one_of, real_number
from sottovoce.estimates.answer.arithmetic import check_independent, share_of
from sottovoce.estimates.answer.units import check_tally
from sottovoce.estimates.estimate import Estimate
from sottovoce.estimates.limits.sequential import EVERY_LOOK, cost
from sottovoce.estimates.tally import Tally
from sottovoce.reporters.question import Question


def difference(
    a: Tally,
    b: Tally,
    question: str | Question = "mean",
    *,
    p: float | None = None,
    between: tuple[float, float] | None = None,
    option: str | int | None = None,
    estimand: str = "population",
    confidence: float = 0.95,
    sequential: bool = False,
    fakes: int = 0,
) -> Estimate:
    """Estimate how much larger a quantity is in one group of people than in another.

    The mechanisms and ε of the two may differ. The interval keeps the guarantees of its parts: bounds of
    independent people add up, so the upper limit is that of the first minus the lower one of the second.

    Args:
        a: Reports of the first group.
        b: Reports of the second, other people.
        question: "mean", "quantile", "standard_deviation", "variance", "probability", of choices "share", on
            circles of equal length "direction", or whatever else has one number as its answer.
        p: Which quantile; the median by default.
        between: The range of a probability.
        option: The option of a share.
        estimand: Of the "population" that these people stand for, or of the "respondents".
        confidence: How often the interval should hold.
        sequential: For means and probabilities: limits that hold at every look while reports come in.
        fakes: For means and probabilities: how many reports of each tally may be fakes.

    Returns:
        The first minus the second. `p_value` bounds the chance of a difference as large if there is none: the
        least error at which the interval excludes zero. Where only limits are known (of a quantile, standard
        deviation or direction) and with `sequential` it is rounded up to a tenth of a decade and not looked
        for below 1e-6.

    Raises:
        ValueError: If the tallies share reports, or the quantity is not defined for both.

    Example:
        >>> import numpy as np
        >>> from sottovoce.designs.classic import pm
        >>> m = pm(epsilon=2.0, domain=(0, 24))
        >>> a, b = (Tally(m, m.report(np.full(20_000, x), rng=int(x))) for x in (9.0, 8.0))
        >>> d = difference(a, b)
        >>> bool(d.low < 1 < d.high), bool(d.p_value < 0.001)
        (True, True)
    """
    check_confidence(confidence)
    quantity = Quantity.of(
        question, p, between, option, estimand=estimand, sequential=sequential, fakes=fakes
    )
    check_tally(a, 0)
    check_tally(b, 0)

    def at(level: float, quantity: Quantity = quantity) -> Estimate:
        if quantity.is_direction:
            return _turned(quantity, a, b, level)
        return quantity.total([(1.0, a), (-1.0, b)], level, "difference in {}")

    answer = at(confidence)
    if sequential:
        alone = Quantity.of(quantity.question, estimand=estimand, fakes=fakes)
        answer = _with_cost(answer, at(confidence, alone))
    if answer.p_value is not None:
        return answer
    whole = a.law.as_number().domain.width if quantity.is_direction else 0.0

    def excluded(level: float) -> bool:
        one = at(level)
        return not one.low <= 0 <= one.high and not (whole and one.high - one.low >= whole)

    return replace(answer, p_value=inverted_p(excluded))


def _with_cost(sequential: Estimate, alone: Estimate) -> Estimate:
    """The note about width, of the difference instead of its terms."""
    notes = tuple(note for note in sequential.notes if not note.startswith(EVERY_LOOK))
    return replace(sequential, notes=(*notes, cost(sequential.high - sequential.low, alone.high - alone.low)))


def _turned(quantity: Quantity, a: Tally, b: Tally, confidence: float) -> Estimate:
    """The turn from the second direction to the first, at most half a circle either way."""
    around = a.law.as_number().domain.width
    if b.law.as_number().domain.width != around:
        lengths = f"{around:g} and {b.law.as_number().domain.width:g}"
        raise ArgumentError(f"circles must be equally long, got {lengths}", code="domain", argument="b")
    first, second = (quantity(tally, share_of(confidence, 2)) for tally in (a, b))
    check_independent([first, second])
    value = (first.value - second.value + around / 2) % around - around / 2
    low = value - (first.value - first.low) - (second.high - second.value)
    high = value + (first.high - first.value) + (second.value - second.low)
    notes = tuple(dict.fromkeys((*first.notes, *second.notes)))
    if high - low >= around:
        low, high = value - around / 2, value + around / 2
        notes = ("no turn can be excluded: the interval is the whole circle",)
    return replace(
        first,
        value=value,
        low=low,
        high=high,
        error=float((first.error**2 + second.error**2) ** 0.5),
        confidence=confidence,
        n=first.n + second.n,
        what=f"difference in {first.what}",
        notes=notes,
        sources=first.sources | second.sources,
        advisers=first.advisers + second.advisers,
    )


def weighted(
    groups: Mapping[K, Tally],
    weights: Mapping[K, float],
    question: str | Question = "mean",
    *,
    between: tuple[float, float] | None = None,
    option: str | int | None = None,
    estimand: str = "population",
    confidence: float = 0.95,
    sequential: bool = False,
    fakes: int = 0,
) -> Estimate:
    """Estimate a mean or a probability of everybody from groups that answered unevenly (post-stratification).

    Args:
        groups: Tallies of different people by the name of their group.
        weights: How many people each group really has, or their shares: public numbers.
        question: "mean", "probability" or of choices "share".
        between: The range of a probability.
        option: The option of a share.
        estimand: As in `mean`.
        confidence: How often the interval should hold.
        sequential: As in `mean`.
        fakes: How many reports of each group may be fakes.

    Returns:
        The estimate of the whole; `effective` is how many people drawn evenly would tell as much (Kish).

    Raises:
        ValueError: If a weight is missing, negative or not finite, or all are zero.

    Example:
        >>> import numpy as np
        >>> from sottovoce.designs.classic import pm
        >>> m = pm(epsilon=4.0)
        >>> north, south = (Tally(m, m.report(np.full(n, x), rng=n)) for n, x in ((900, 0.2), (100, 0.8)))
        >>> e = weighted({"n": north, "s": south}, {"n": 50, "s": 50})
        >>> bool(e.low < 0.5 < e.high), round(e.effective)
        (True, 360)
    """
    check_confidence(confidence)
    tallies = checked_groups(groups)
    options = {"estimand": estimand, "sequential": sequential, "fakes": fakes}
    quantity = Quantity.of(question, None, between, option, **options)
    one_of(quantity.question.name, "question", ("mean", "probability", "share"))  # averages over groups
    if set(weights) != set(tallies):
        raise ArgumentError(
            f"weights must name the groups, {list(tallies)}, got {list(weights)}", argument="weights"
        )
    numbers = {name: real_number(weights[name], "weights") for name in tallies}
    if min(numbers.values()) < 0 or not sum(numbers.values()) > 0:
        raise ArgumentError("weights must not be negative, nor all zero", argument="weights")
    whole = sum(numbers.values())
    shares = {name: number / whole for name, number in numbers.items()}
    terms = [(shares[name], tally.required()) for name, tally in tallies.items()]
    effective = 1 / sum(share**2 / tally.n for share, tally in terms)
    answer = quantity.total(terms, confidence, "weighted {}")
    note = f"as much as {effective:,.0f} people drawn evenly would tell"
    return replace(answer, p_value=None, effective=effective, notes=(*answer.notes, note))
