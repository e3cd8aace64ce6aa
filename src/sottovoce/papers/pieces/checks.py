"""What the papers check by experiment about pieces: their number, the worst input, and the form of p.

- `count_pieces`: over random (ε, x), is any fourth piece worth having? (Lemma 3.3, section 3.2.2.)
- `worst_at_ends`: is the worst input an end of the domain? (Lemma 3.2.)
- `regress_density`: p as a function of ε, fitted to solved values. (Example 3.5.)
"""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import nullcontext
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from sottovoce.core.errors import MissingExtra, loss_exponent, whole_number
from sottovoce.core.kernels.tables import FloatArray
from sottovoce.papers.pieces.problem import PieceSolution, solve_pieces
from sottovoce.papers.pieces.staircase import Piece, Span, expected_loss, merge

_UNIT = Span(0.0, 1.0, 0.0, 1.0)


class PieceCount(NamedTuple):
    """How many pairs were tried, in how many a fourth piece helped, and the largest relative gain."""

    samples: int
    counterexamples: int
    largest_gain: float


def count_pieces(
    samples: int = 10_000,
    loss: str | float = "l1",
    *,
    seed: int = 0,
    progress: bool | Callable[[int, int], None] = False,
) -> PieceCount:
    """Random (ε, x) on [0, 1]: the optimal three pieces against four with a step of any height and length.

    For each pair the background is the optimal one for ε; a fourth piece of random height between g and E·g
    and random length is put on either side of the window, which shrinks to keep unit mass. A counterexample
    is a density that has less error and, after merging, still four pieces. `progress=True` shows a bar (extra
    `cli`).
    """
    samples, k = whole_number(samples, "samples", least=1), loss_exponent(loss)
    rng = np.random.default_rng(seed)
    epsilons, inputs = rng.uniform(0.01, 10, samples), rng.random(samples)
    wrong, most = 0, -math.inf
    with _bar(progress, samples) as advance:
        for done, (epsilon, x) in enumerate(zip(epsilons, inputs, strict=True), 1):
            three = solve_pieces(float(epsilon), 3, k)
            gain, pieces = _best_fourth(three, float(x), k, rng)
            most = max(most, gain)
            wrong += gain > 1e-9 and len(merge(pieces)) > 3
            advance(done)
    return PieceCount(samples, int(wrong), float(most))


def _best_fourth(
    three: PieceSolution, x: float, k: float, rng: np.random.Generator
) -> tuple[float, tuple[Piece, ...]]:
    """The largest relative gain of a four-piece density over the best three pieces at x."""
    g, peak = three.densities[0], three.densities[1]
    window = three.at(x)[1]
    best, reference = math.inf, three.error(x)
    found = three.at(x)
    for height, share in zip(rng.uniform(0, 1, 4), rng.uniform(0, 0.5, 4), strict=True):
        middle = g + height * (peak - g)
        moved = share * (window.right - window.left)  # of the window gives way to a lower, longer step
        length = moved * (peak - g) / (middle - g) if height > 0 else math.inf
        for side in (-1, 1):
            pieces = _with_step(window, side, moved, length, (g, peak, middle))
            if pieces is not None:
                error = expected_loss(pieces, x, k)
                if error < best:
                    best, found = error, pieces
    return (reference - best) / reference, found


def _with_step(
    window: Piece, side: int, moved: float, length: float, heights: tuple[float, float, float]
) -> tuple[Piece, ...] | None:
    """Four pieces: the window cut short by `moved` on one side, and a step of that `length` there."""
    g, peak, middle = heights
    if side > 0:
        cut = window.right - moved
        if cut + length > 1:
            return None
        edges = (0.0, window.left, cut, cut + length, 1.0)
        return tuple(Piece(p, *e) for p, e in zip((g, peak, middle, g), pairwise(edges), strict=True))
    mirrored = _with_step(Piece(peak, 1 - window.right, 1 - window.left), 1, moved, length, heights)
    if mirrored is None:
        return None
    return tuple(Piece(p.density, 1 - p.right, 1 - p.left) for p in reversed(mirrored))


def worst_at_ends(solution: PieceSolution, inputs: int = 513) -> float:
    """Lemma 3.2: the largest error over a grid of inputs minus that at the ends (never above rounding)."""
    span = solution.span
    errors = [solution.error(float(x)) for x in np.linspace(span.a, span.b, inputs)]
    return max(errors) - max(errors[0], errors[-1])


class Regression(NamedTuple):
    """p̂ = exp(β₁·ε) + β₂ and its largest deviation from the solved p."""

    slope: float
    offset: float
    largest_error: float


def regress_density(samples: int = 50, loss: str | float = "l1", *, seed: int = 0) -> Regression:
    """Example 3.5: solve for p at random ε in (0, 10] and fit exp(β₁ε) + β₂.

    >>> fit = regress_density()
    >>> round(fit.slope, 6), round(abs(fit.offset), 4)
    (0.5, 0.0)
    """
    from scipy.optimize import curve_fit

    epsilons = np.random.default_rng(seed).uniform(0.01, 10, whole_number(samples, "samples", least=3))
    solved = np.array([solve_pieces(float(epsilon), 3, loss).densities[1] for epsilon in epsilons])

    def feature(epsilon: FloatArray, slope: float, offset: float) -> FloatArray:
        return np.asarray(np.exp(slope * epsilon) + offset)

    (slope, offset), _ = curve_fit(feature, epsilons, solved, p0=(0.4, 0.0))
    largest = float(np.abs(feature(epsilons, slope, offset) - solved).max())
    return Regression(float(slope), float(offset), largest)


def _bar(progress: bool | Callable[[int, int], None], total: int) -> Any:
    """A context that gives a function of how many are done."""
    if callable(progress):
        return nullcontext(lambda done: progress(done, total))
    if not progress:
        return nullcontext(lambda done: None)
    return _RichBar(total)


class _RichBar:
    """rich's progress bar behind one function."""

    def __init__(self, total: int) -> None:
        try:
            from rich.progress import Progress
        except ImportError:
            raise MissingExtra("a progress bar", "cli") from None
        self._bar, self._total = Progress(transient=True), total

    def __enter__(self) -> Callable[[int], None]:
        self._bar.start()
        task = self._bar.add_task("pieces", total=self._total)
        return lambda done: self._bar.update(task, completed=done)

    def __exit__(self, *_: object) -> None:
        self._bar.stop()
