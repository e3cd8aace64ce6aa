"""A lot that chooses several questions: how the answers of each person hide among those of the others.

Divide k questions at random into as many groups as are answered, s, and answer one of each group: that is an
even lot again. Suppose the observer is told the groups of the person in question, but not which question of
each. Given what else is told the groups are independent, and their losses add up.

*One answer of each.* Another person's answers in a group are a random subset of it. Tell all of them but one:
that one comes from an even lot in the group. The chance that a lot meets a group is the smaller, the more
groups it meets already: how many questions of each group are drawn is negatively associated (Joag-Dev and
Proschan 1983, Theorem 2.8), also given that some groups are met. So a few of those who do meet it can be left
out such that who counts in which group is independent, with the chance of a group that all earlier ones are
met. Groups of one size are alike, and can have the same chance each if as many tosses of a coin fall at most
as often as a lot meets groups, in the stochastic order: which ones is an even choice of both, given how many.
People who do not count are like reports that say nothing.

*All answers.* Of whoever has one answer in a group tell that, of whoever has more tell which. Those with one
have drawn it evenly, so the question of the person in question is q with probability n_q'/n', where n_q' of
the n_q answers to q come from people with one answer in the group, n' in all. The sum of the losses weighs an
answer to q with n_q'/(n'·n_q): nearly the same for all q. It is a symmetric and convex function of these
weights, hence largest if half of them lie at either end of a range that they leave with a small probability
only (Schur): then the answers come in equal pairs, one of each weight.
Among few people several ranges are better than one: δ is that of the narrowest, or of the next if it misses.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from sottovoce.auditing.bounds import lowest
from sottovoce.auditing.contrast import Contrast
from sottovoce.core.kernels.tables import FloatArray

LEVELS = (0.2, 0.01, 1e-4, 1e-7, 1e-12)  # how likely the weights and the number of answers are out of a range
_STEEPEST = 40.0  # λ of Chernoff's bound

Part = tuple[Contrast, int]  # how a group hides, and among how many


def one_of_each(cover: Contrast, asked: int, sampled: int, people: int) -> list[Part]:
    """The groups of a lot, where one answer of each person counts.

    Args:
        cover: How an answer to any of the questions is hidden.
        asked: How many questions there are.
        sampled: How many of them a person answers.
        people: How many, the one in question included.
    """
    sizes = _sizes(asked, sampled)
    ways = [_meeting(sizes[:i], asked, sampled) for i in range(sampled + 1)]
    shares = [more / before for before, more in pairwise(ways)]
    even = (ways[-1] / ways[0]) ** (1 / sampled) * (1 - 1e-12)
    if len(set(sizes)) == 1 and _fewer(even, sizes[0], sampled):
        shares = [even] * sampled
    thin = {s: Contrast(cover.mass * s, cover.first / s, cover.second / s) for s in shares}
    return [(thin[share], people) for share in shares]


def all_answers(cover: Contrast, asked: int, sampled: int, people: int, rare: float) -> list[Part]:
    """The groups of a lot, where all answers count.

    Args:
        cover: How an answer to any of the questions is hidden.
        asked: How many questions there are.
        sampled: How many of them a person answers.
        people: How many, the one in question included.
        rare: The probability that these hide less.
    """
    sizes = _sizes(asked, sampled)
    missed = rare / (3 * sampled + 2 * asked)

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
        answers_at_least = 1 + math.floor((people - 1) * number)
        return (_uneven(cover, apart), answers_at_least // 2) if apart < 1 else (cover, 1)

    known = {size: part(size) for size in set(sizes)}
    return [known[size] for size in sizes]


def _sizes(asked: int, sampled: int) -> list[int]:
    """The sizes of as many groups as are answered, as even as can be."""
    return [len(group) for group in np.array_split(np.arange(asked), sampled)]


def _meeting(sizes: Sequence[int], asked: int, sampled: int) -> int:
    """How many lots meet all of some groups."""
    ways = [1]  # of each number of questions
    for least, size in [(1, size) for size in sizes] + [(0, asked - sum(sizes))]:
        more = [0] * (sampled + 1)
        for drawn, way in enumerate(ways):
            for a in range(least, min(size, sampled - drawn) + 1):
                more[drawn + a] += way * math.comb(size, a)
        ways = more
    return ways[sampled]


def _fewer(share: float, size: int, groups: int) -> bool:
    """True if independent tosses meet as many groups at most as a lot does, in the stochastic order.

    A lot draws as many questions as there are groups of that size.
    """
    tossed = [math.comb(groups, j) * share**j * (1 - share) ** (groups - j) for j in range(groups + 1)]
    among = [math.comb(size * j, groups) for j in range(groups + 1)]  # lots within j groups
    ways = [
        math.comb(groups, j) * sum((-1) ** (j - i) * math.comb(j, i) * among[i] for i in range(j + 1))
        for j in range(groups + 1)
    ]
    return all(sum(tossed[j:]) * among[-1] <= sum(ways[j:]) for j in range(1, groups + 1))


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

        return exponent(lowest(exponent, _STEEPEST)) > math.log(rare)

    ends = []
    for sign, farthest in ((-1, 0.0), (1, max(1.0, middle))):
        near, far = middle, farthest
        while abs(far - near) > 1e-6 * middle:
            x = (near + far) / 2
            near, far = (x, far) if reached(x, sign) else (near, x)
        ends.append(far)
    return ends
