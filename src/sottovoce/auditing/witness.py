"""Two inputs, and an input of everybody else, that are easy to tell apart: what no bound can go below.

Any choice is a fair example, and its divergence is computed like the bound, with the law of the others as the
reference. The best one has the others where they disturb least: for windows, away from both.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from sottovoce.auditing.blanket import cover
from sottovoce.auditing.contrast import Contrast, drawn, gathered
from sottovoce.core.errors import ArgumentTypeError
from sottovoce.core.kernels.tables import FloatArray
from sottovoce.core.number import Number
from sottovoce.core.polar import Polar
from sottovoce.core.reporter import Reporter
from sottovoce.core.survey import Survey

_INPUTS = 17  # of one number, evenly over its domain


@dataclass(frozen=True, eq=False)
class Witness:
    """An example of how well an observer can tell two inputs apart.

    Attributes:
        contrast: Both inputs against the law of everybody else.
        first: One input; of a survey, by question.
        second: The other; None if it is a removal.
        others: The input of everybody else.
    """

    contrast: Contrast
    first: Any
    second: Any
    others: Any


def witness(reporter: Reporter, *, removal: bool = False) -> Witness:
    """The best of a few hundred examples.

    Args:
        reporter: Whatever reports.
        removal: Compare an input with a draw from the blanket, not with another input.
    """
    example = _example(reporter, removal)
    if not removal:
        return example
    mass, first, second = example.contrast.mass, example.contrast.first, example.contrast.second
    return replace(example, contrast=Contrast(mass, first, second / (mass @ second)), second=None)


def _example(reporter: Reporter, removal: bool) -> Witness:
    """As `witness`; what a removal is compared with is not yet scaled to a probability."""
    if isinstance(reporter, Survey):
        parts = {name: _example(question, removal) for name, question in reporter.questions.items()}
        return _together(parts, reporter.sampled)
    if isinstance(reporter, Polar):
        pair = {"distance": reporter.distance, "angle": reporter.angle}
        return _together({name: _example(part, removal) for name, part in pair.items()}, 2)
    if not isinstance(reporter, Number):
        raise ArgumentTypeError(
            f"reporter must be a reporter of this package, got {type(reporter).__name__}", argument="reporter"
        )
    circle = reporter.domain.is_circle
    x = reporter.domain.from_unit(np.linspace(0.0, 1.0, _INPUTS - circle, endpoint=not circle))
    firsts = reporter.probabilities(x)
    chances = _merged(np.vstack((firsts, cover(reporter))) if removal else firsts)
    others, i, j = _best(chances, x.size, removal)
    mass = chances[others]
    contrast = gathered(Contrast(mass, chances[i] / mass, chances[j] / mass), outward=False)
    return Witness(contrast, float(x[i]), None if removal else float(x[j]), float(x[others]))


def _best(chances: FloatArray, inputs: int, removal: bool) -> tuple[int, int, int]:
    """Others, first and second with the largest Σ (P − P')²/P_others; a removal's second is the last row."""
    best = (-1.0, 0, 0, 0)
    scaled = chances / chances.sum(axis=1, keepdims=True)
    for others in range(inputs):
        rows = scaled / np.sqrt(scaled[others])
        gram = rows @ rows.T
        square = np.diag(gram)[:, None] + np.diag(gram) - 2 * gram
        square = square[:inputs, -1:] if removal else square
        i, j = np.unravel_index(int(np.argmax(square)), square.shape)
        best = max(best, (float(square[i, j]), others, int(i), inputs if removal else int(j)))
    return best[1:]


def _merged(chances: FloatArray) -> FloatArray:
    """Neighbouring cells with the same likelihoods under all inputs, taken together."""
    differs = (chances[:, 1:] != chances[:, :-1]).any(axis=0)
    return np.asarray(np.add.reduceat(chances, np.concatenate(([0], np.flatnonzero(differs) + 1)), axis=1))


def _together(parts: Mapping[str, Witness], sampled: int) -> Witness:
    return Witness(
        drawn([part.contrast for part in parts.values()], sampled, outward=False),
        {name: part.first for name, part in parts.items()},
        {name: part.second for name, part in parts.items()},
        {name: part.others for name, part in parts.items()},
    )
