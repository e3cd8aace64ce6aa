"""Two inputs, and an input of everybody else, that are easy to tell apart: what no bound can go below.

Any choice is a fair example, and its divergence is computed like the bound, with the law of the others as the
reference. With many people the best one has the others where they disturb least: for windows, away from both.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from sottovoce.arrays import FloatArray
from sottovoce.reporters.base import Composition, ReporterBase
from sottovoce.reporters.contract import space_of, spaces
from sottovoce.reporters.formats import law_of
from sottovoce.shuffling.convolution import divergence
from sottovoce.shuffling.input_pair import Contrast, merge_kinds, sampled_parts
from sottovoce.shuffling.threshold_scores import score_test
from sottovoce.shuffling.two_outcomes import Coin

_INPUTS = 15  # of one question, besides the ends


@dataclass(frozen=True, eq=False)
class Witness:
    """An example of how well an observer can tell two inputs apart.

    Attributes:
        contrasts: Both inputs against the law of everybody else; of a survey, question by question.
        sampled: How many of these one person reports.
        first: One input; of a survey, by question. None if it is a draw from the blanket.
        second: The other.
        others: The input of everybody else.
    """

    contrasts: tuple[Contrast, ...]
    first: Any
    second: Any
    others: Any
    sampled: int = 1

    def below(self, people: int) -> Callable[[float], float]:
        """A lower bound of δ(ε) for so many people.

        Args:
            people: How many, the one in question included.
        """
        if len(self.contrasts) > 1:
            return score_test(self.contrasts, self.sampled, people).below
        (contrast,) = self.contrasts
        if contrast.mass.size != 2:
            return lambda epsilon: divergence(contrast, people, epsilon).lower
        first, second, others = (float(p[1]) for p in contrast.laws)
        coin = Coin(first, second, others, others)
        return lambda epsilon: coin.divergence(people, epsilon).lower


def witnesses(law: ReporterBase, *, removal: bool = False) -> tuple[Witness, ...]:
    """A few good examples: everybody else where they disturb least, both ways, and at the first input.

    Where few people hide little, others at the first input are worse for them than others elsewhere.

    Args:
        law: What reports.
        removal: Compare an input with a draw from the blanket, not with another input.
    """
    away, near = _examples(law, removal)
    contrasts = tuple(contrast.swapped for contrast in away.contrasts)
    swapped = replace(away, contrasts=contrasts, first=away.second, second=away.first)
    inputs = [(one.others, one.first, one.second) for one in (away, swapped)]
    return (away, swapped) if (near.others, near.first, near.second) in inputs else (away, swapped, near)


def _examples(law: Any, removal: bool) -> tuple[Witness, Witness]:
    """The best example, and the best with the others at the first input."""
    parts = law.composition
    if parts and parts.names and law.functions is None:
        return _together(parts, removal, joint=law.width == 1)
    x = _inputs(law)
    firsts = law.probabilities(x) if law.functions is None else _laws(law, x)
    chances = _merged(np.vstack((firsts, _empty(law))) if removal else firsts)
    square = _squares(chances, len(x), removal)
    same = np.arange(len(x))
    i, j = np.unravel_index(int(np.argmax(square[same, same])), square.shape[1:])

    def example(others: int, first: int, second: int) -> Witness:
        mass, last = chances[others], len(x) if removal else second
        contrast = merge_kinds(Contrast(mass, chances[first] / mass, chances[last] / mass), outward=False)
        return Witness((contrast,), x[first], None if removal else x[second], x[others])

    return (
        example(*(int(k) for k in np.unravel_index(int(np.argmax(square)), square.shape))),
        example(int(i), int(i), int(j)),
    )


def _empty(law: Any) -> FloatArray:
    """The law of an answer that carries no value: of a lot, in whichever question is drawn."""
    if law.functions is not None:
        parts = zip(law.items.values(), law.shares, strict=True)
        return np.concatenate([share * _empty(law_of(question)) for question, share in parts])
    return np.asarray(law.cover / law.cover.sum())


def _laws(survey: Any, x: list[dict[str, Any]]) -> FloatArray:
    """The law of one report of a survey of functions, for people who give these values."""
    values = {name: np.array([one[name] for one in x]) for name in x[0]}
    parts = zip(survey.items, survey.shares, strict=True)
    return np.hstack([share * survey.item_law(name, values) for name, share in parts])


def _inputs(law: ReporterBase) -> list[Any]:
    """Some inputs, evenly over the domain; of functions all ends and middles, or those of the first two."""
    if law.functions is None:
        return space_of(law).examples(_INPUTS).tolist()
    some = {name: space.examples(0)[:3] for name, space in spaces(law).items()}
    return [
        {name: some[name][(first, second)[i % 2]] for i, name in enumerate(some)}
        for first in range(3)
        for second in range(3)
    ]


def _squares(chances: FloatArray, inputs: int, removal: bool) -> FloatArray:
    """Σ (P − P')²/P_others for others, first and second; a removal's second is the last row."""
    scaled = chances / chances.sum(axis=1, keepdims=True)
    squares = []
    for others in range(inputs):
        rows = scaled / np.sqrt(scaled[others])
        gram = rows @ rows.T
        square = np.diag(gram)[:, None] + np.diag(gram) - 2 * gram
        squares.append(square[:inputs, -1:] if removal else square)
    return np.array(squares)


def _merged(chances: FloatArray) -> FloatArray:
    """Neighbouring cells with the same likelihoods under all inputs, taken together."""
    differs = (chances[:, 1:] != chances[:, :-1]).any(axis=0)
    return np.asarray(np.add.reduceat(chances, np.concatenate(([0], np.flatnonzero(differs) + 1)), axis=1))


def _together(parts: Composition, removal: bool, *, joint: bool) -> tuple[Witness, Witness]:
    """Examples of people who report several parts, put together from those of each part.

    `joint` is for parts that are one report, of which the observer sees the counts of all combinations.
    """
    names, sampled = parts.names, parts.drawn
    pairs = [_examples(law_of(part), removal) for part in parts.reporters]

    def put(examples: Sequence[Witness]) -> Witness:
        contrasts = [example.contrasts[0] for example in examples]
        return Witness(
            (sampled_parts(contrasts, sampled, outward=False),) if joint else tuple(contrasts),
            {name: example.first for name, example in zip(names, examples, strict=True)},
            {name: example.second for name, example in zip(names, examples, strict=True)},
            {name: example.others for name, example in zip(names, examples, strict=True)},
            sampled,
        )

    return put([away for away, _ in pairs]), put([near for _, near in pairs])
