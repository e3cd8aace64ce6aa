"""What the published counts reveal: the central ε of n shuffled reports, computed from the shipped integers.

    sottovoce.shuffled(mechanism, people=10_000, delta=1e-6).epsilon    # and .lower beside it
    curve = sottovoce.shuffled(mechanism, people=10_000, delta=None)    # δ for every ε; curve.plot()
    curve.group(4), curve.composed(other)                               # four people; a second campaign

From whoever sees only the counts a person is protected far better than ε says, if so many people reported
honestly and nobody sees the reports one by one. From the operator, who does, by the ε of the mechanism.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any, Literal, overload

from sottovoce.errors import one_of, whole_number
from sottovoce.notebook import Shown
from sottovoce.reporters.contract import Reporter, as_reporter
from sottovoce.reporters.formats import law_of
from sottovoce.reporters.law.disclosure import bound, frequencies
from sottovoce.shuffling.lower_bound import Witness, witnesses
from sottovoce.shuffling.privacy_curve import Curve
from sottovoce.shuffling.upper_bound import hidden

Neighbours = Literal["replace", "remove"]

MOST_PEOPLE = 10**9
_MANY = 10**5  # people, of whom each sends several answers: more are hidden least by others elsewhere
_LOOKS = 0.995, 0.9  # of an upper bound: where examples are compared, the second if the first shows nothing


@dataclass(frozen=True, eq=False)
class Shuffled(Shown):
    """The central ε of the counts of so many reports, between two bounds.

    Attributes:
        epsilon: An upper bound of the central ε: the counts keep (epsilon, delta).
        lower: A lower bound: with some truth of the others, two inputs can be told apart that well. Of a
            survey they differ in all questions, and the observer adds up scores of the counts of each.
        delta: The δ that goes with both.
        people: How many people report honestly, the person in question among them.
        local: The ε of one report, which protects against whoever sees it.
        witness: The two inputs and the truth of the others behind `lower`.
        neighbours: What a person's answer is exchanged for.
    """

    epsilon: float
    lower: float
    delta: float
    people: int
    local: float
    witness: Witness = field(repr=False)
    neighbours: Neighbours = "replace"

    @property
    def pair(self) -> tuple[Any, Any]:
        """The two inputs that are easiest to tell apart."""
        return self.witness.first, self.witness.second

    @property
    def sentence(self) -> str:
        """What a reader of the counts may be told, with what it needs.

        Example:
            >>> from sottovoce.designs.classic import ogpm
            >>> print(shuffled(ogpm(1.0, loss="l1"), people=10_000).sentence)
            Readers of these counts guess right between two answers of one person in at most 51 of 100 cases,
            if at least 10,000 people answered honestly. The operator receives single reports: at most 74 of
            100.
        """
        return for_readers(self.epsilon, self.delta, self.people, self.local, self.neighbours)

    def __repr__(self) -> str:
        return f"<Shuffled epsilon={self.epsilon:.5g} delta={self.delta:g} people={self.people}>"

    def __str__(self) -> str:
        return (
            f"central epsilon between {self.lower:.5g} and {self.epsilon:.5g} at delta {self.delta:g}, "
            f"for {self.people:,} honest people whose reports nobody sees one by one"
        )


@overload
def shuffled(
    reporter: Reporter, people: int, delta: float = 1e-6, *, neighbours: Neighbours = "replace"
) -> Shuffled: ...
@overload
def shuffled(
    reporter: Reporter, people: int, delta: None, *, neighbours: Neighbours = "replace"
) -> Curve: ...
def shuffled(
    reporter: Reporter, people: int, delta: float | None = 1e-6, *, neighbours: Neighbours = "replace"
) -> Shuffled | Curve:
    """The central ε of the counts of many reports: what whoever sees only them can learn about one person.

    It is computed from the integers that ship, with every rounding outward, for the worst two inputs and the
    worst truth of everybody else: `docs/explanation/shuffled.md` has the argument.

    Args:
        reporter: What the people run. Of a survey whose people send several answers, the counts of each
            question are published, as a tally keeps them; the rows are not.
        people: How many report *honestly*, the person in question among them. Others do not count.
        delta: The δ of the (ε, δ) guarantee; None for the whole curve.
        neighbours: "replace": a person's answer is exchanged for any other. "remove": it is exchanged for a
            draw from the blanket, which carries no value, so that the number of reports stays as published.

    Returns:
        Both bounds at `delta`, or the curve.

    Raises:
        ArgumentError: If `people` or `delta` is out of range, or `neighbours` is another word.
        ContractError: If the reporter is of somebody's own class, with a spec in no format of this library.

    Example:
        >>> from sottovoce.designs.classic import ogpm
        >>> result = shuffled(ogpm(epsilon=2.0, loss="l1"), people=10_000)
        >>> round(result.lower, 3), round(result.epsilon, 3)
        (0.103, 0.103)
    """
    people = whole_number(people, "people", least=1, most=MOST_PEOPLE)
    one_of(neighbours, "neighbours", ("replace", "remove"))
    law, removal = law_of(as_reporter(reporter, "reporter")), neighbours == "remove"

    @cache
    def examples() -> list[tuple[Witness, Callable[[float], float]]]:
        some = witnesses(law, removal=removal)
        if len(some[0].contrasts) > 1 and people > _MANY:  # the others are of no use there, and take time
            some = some[:1]
        return [(example, example.below(people)) for example in some]

    def below(epsilon: float) -> float:
        return max(bound(epsilon) for _, bound in examples())

    curve = replace(hidden(law, people, removal=removal), below=below)
    if delta is None:
        return curve
    epsilon = curve.epsilon(delta)
    lower, best = 0.0, examples()[0][0]
    for share in _LOOKS:
        seen = sorted(((bound(share * epsilon), i) for i, (_, bound) in enumerate(examples())), reverse=True)
        if seen[0][0]:
            break
    for _, i in seen:  # the most promising first, others if they show more where it ends
        example, bound = examples()[i]
        if not lower or bound(lower) > delta:
            lower, best = replace(curve, below=bound).lower(delta), example
    return Shuffled(epsilon, lower, float(delta), people, curve.local, best, neighbours)


def for_readers(
    epsilon: float, delta: float, people: int, local: float, neighbours: Neighbours = "replace"
) -> str:
    """The sentence about counts of so many people that are (ε, δ)-private; a report alone has the local ε."""
    counts = bound(epsilon) + delta * bound(-epsilon)  # the largest area under any test of two laws
    (readers, base), (operator, whole) = (
        frequencies(guess, round=math.ceil) for guess in (counts, bound(local))
    )
    between = (
        "two answers of one person" if neighbours == "replace" else "one person's answer and a random one"
    )
    return (
        f"Readers of these counts guess right between {between} in at most {readers:,} of {base:,} cases, "
        f"if at least {people:,} people answered honestly. "
        f"The operator receives single reports: at most {operator:,} of {whole:,}."
    )
