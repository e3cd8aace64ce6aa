"""A lot that chooses several questions: how the answers of each person hide among those of the others.

Divide k questions at random into as many groups as are answered, s, and answer one of each group: that is an
even lot again. Suppose the observer is told the groups of the person in question, but not which question of
each. Given what else is told the groups are independent, and their losses add up.

*One answer of each.* Another person's answers in a group are a random subset of it. Tell all of them but one:
that one comes from an even lot in the group. Tell also who meets which groups: then n_g others count in group
g, and δ is that of n_1, n_2 …. How many questions of each group are drawn is negatively associated (Joag-Dev
and Proschan 1983, Theorem 2.8), and so are the n_g: several are small at once at most as often as if they
were independent. δ falls with each of them. With n_g rounded down to a few levels its mean is a sum over
patterns of levels, of differences of δ times the probability that all n_g are that small. Differences that
are negative may be left out.

*All answers.* Of whoever has one answer in a group tell that, of whoever has more tell which. Those with one
have drawn it evenly, so the question of the person in question is q with probability n_q'/n', where n_q' of
the n_q answers to q come from people with one answer in the group, n' in all. The sum of the losses weighs an
answer to q with n_q'/(n'·n_q): nearly the same for all q. It is a symmetric and convex function of these
weights, hence largest if half of them lie at either end of a range that they leave with a small probability
only (Schur): then the answers come in equal pairs, one of each weight.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations_with_replacement, product

import numpy as np

from sottovoce.arrays import FloatArray
from sottovoce.designs.solver.roots import lowest
from sottovoce.shuffling.input_pair import Contrast
from sottovoce.shuffling.two_outcomes import binomial

RARE = 1e-12  # how likely the weights and the number of answers are out of their range, at most
_LADDERS = (  # how many standard deviations below the mean the levels of a meeting are: among few people, and
    (-0.7, 0.25, 1.2, 2.2, 3.9, 6.6, 9.0),  # the more groups there are, the fewer
    (0.5, 2.5, 5.0, 9.0),
    (3.0, 9.0),
    (9.0,),
)
_FEW, _MOST_PATTERNS = 300, 500
_STEEPEST = 40.0  # λ of Chernoff's bound

Part = tuple[Contrast, int]  # how a group hides, and among how many


@dataclass(frozen=True, eq=False)
class Meeting:
    """How many of the others count in each group of a lot.

    Attributes:
        levels: Some numbers of them, falling.
        patterns: All levels that the groups can have, as indices that rise.
        chances: For each pattern, a bound of how likely no group has more than it says, in all orders.
        rest: A bound of how likely some group has fewer than the last level.
    """

    levels: list[int]
    patterns: list[tuple[int, ...]]
    chances: FloatArray
    rest: float

    @classmethod
    def of(cls, asked: int, sampled: int, people: int) -> Meeting:
        """That of an even lot.

        Args:
            asked: How many questions there are.
            sampled: How many of them a person answers.
            people: How many, the one in question included.
        """
        missed = math.comb(asked - min(_sizes(asked, sampled)), sampled) / math.comb(asked, sampled)
        mean, spread = (people - 1) * (1 - missed), math.sqrt((people - 1) * missed * (1 - missed))
        ladder = next(
            some
            for some in _LADDERS[people > _FEW :]
            if math.comb(len(some) + sampled - 1, sampled) <= _MOST_PATTERNS
        )
        levels = sorted({max(0, int(mean - z * spread)) for z in ladder}, reverse=True)
        start, law = binomial(people - 1, 1 - missed)
        fewer = [min(1.0, math.fsum(law[: max(0, n - start)]) * (1 + 1e-9) + 1e-16) for n in levels]
        chance = [1.0, *fewer[:-1]]
        patterns = list(combinations_with_replacement(range(len(levels)), sampled))
        chances = [
            math.factorial(sampled)
            * math.prod(chance[i] ** k / math.factorial(k) for i, k in Counter(pattern).items())
            for pattern in patterns
        ]
        return cls(levels, patterns, np.array(chances), sampled * fewer[-1] if levels[-1] else 0.0)

    @cached_property
    def _differences(self) -> FloatArray:
        """The matrix of differences of δ in all groups whose level is not the first."""
        place = {pattern: i for i, pattern in enumerate(self.patterns)}
        matrix = np.zeros((len(place), len(place)))
        for i, pattern in enumerate(self.patterns):
            groups = Counter(pattern)
            lower = [level for level in groups if level]
            for moves in product(*(range(groups[level] + 1) for level in lower)):
                moved, sign = groups.copy(), 1
                for level, k in zip(lower, moves, strict=True):
                    moved[level] -= k
                    moved[level - 1] += k
                    sign *= (-1) ** k * math.comb(groups[level], k)
                matrix[i, place[tuple(sorted(moved.elements()))]] += sign
        return matrix

    def expected(self, deltas: FloatArray) -> float:
        """A bound of the mean of δ.

        Args:
            deltas: The δ of each pattern.
        """
        changes = np.maximum(self._differences @ deltas, 0.0)
        rounding = 2.0**-45 * (np.abs(self._differences) @ deltas)
        return float(self.chances @ (changes + rounding)) * (1 + 1e-12) + self.rest


def all_answers(cover: Contrast, asked: int, sampled: int, people: int) -> list[Part]:
    """The groups of a lot, where all answers count; these hide less with a probability of at most `RARE`.

    Args:
        cover: How an answer to any of the questions is hidden.
        asked: How many questions there are.
        sampled: How many of them a person answers.
        people: How many, the one in question included.
    """
    sizes = _sizes(asked, sampled)
    missed = RARE / (3 * sampled + 2 * asked)

    def part(size: int) -> Part:
        answers = np.arange(min(size, sampled) + 1.0)
        ways = [math.comb(size, a) * math.comb(asked - size, sampled - a) for a in range(answers.size)]
        chances = np.array([way / math.comb(asked, sampled) for way in ways])
        alone = math.comb(asked - size, sampled - 1) / math.comb(asked - 1, sampled - 1)
        this = sampled / asked * np.array([alone, 1 - alone])
        number, _ = _ratio(answers, np.ones(answers.size), chances, people - 1, missed)
        least, most = _ratio((answers == 1) * 1.0, answers, chances, people - 1, missed)
        chances = np.append(this, 1 - this.sum())
        low, high = _ratio(np.array([1.0, 0, 0]), np.array([1.0, 1, 0]), chances, people - 1, missed)
        apart = max(high / least - 1, 1 - low / most) if least else math.inf
        pairs = (1 + math.floor((people - 1) * number)) // 2
        return (_uneven(cover, apart), pairs) if apart < 1 <= pairs else (cover, 1)

    known = {size: part(size) for size in set(sizes)}
    return [known[size] for size in sizes]


def _sizes(asked: int, sampled: int) -> list[int]:
    """The sizes of as many groups as are answered, as even as can be."""
    return [len(group) for group in np.array_split(np.arange(asked), sampled)]


def _uneven(cover: Contrast, most: float) -> Contrast:
    """Two answers, of which one weighs so much more than 1 and the other so much less."""
    mass, first, second = (
        np.append(values, last)
        for values, last in ((cover.mass, cover.silent), (cover.first, 0.0), (cover.second, 0.0))
    )

    def pairs(values: FloatArray) -> FloatArray:
        return np.asarray(np.add.outer((1 + most) / 2 * values, (1 - most) / 2 * values).ravel())

    return Contrast(np.multiply.outer(mass, mass).ravel(), pairs(first), pairs(second))


def _ratio(part: FloatArray, whole: FloatArray, chance: FloatArray, people: int, rare: float) -> list[float]:
    """Between what two numbers Σ part/Σ whole lies, each missed with a probability of `rare` (Chernoff).

    The person in question may add 1 to both sums.
    """
    middle = float(part @ chance / (whole @ chance))

    def reached(x: float, sign: int) -> bool:
        """True unless the sum of all sign·(part − x·whole) is shown to be positive rarely."""
        value, own = sign * (part - x * whole), max(sign * (1 - x), 0.0)

        def exponent(t: float) -> float:
            return people * math.log(float(chance @ np.exp(t * value))) + t * own

        return lowest(exponent, 0.0, _STEEPEST, 1e-9)[1] > math.log(rare)

    ends = []
    for sign, farthest in ((-1, 0.0), (1, max(1.0, middle))):
        near, far = middle, farthest
        while abs(far - near) > 1e-6 * middle:
            x = (near + far) / 2
            near, far = (x, far) if reached(x, sign) else (near, x)
        ends.append(far)
    return ends
