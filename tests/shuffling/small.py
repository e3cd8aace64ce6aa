"""Small reporters, drawn at random, whose every report can be counted out."""

from __future__ import annotations

import numpy as np

import sottovoce as sv
from sottovoce.reporters.composites.survey import Survey
from sottovoce.reporters.mechanism import Mechanism
from sottovoce.reporters.mixture import Mixture
from sottovoce.reporters.rows import Rows
from sottovoce.reporters.translates import Translates
from sottovoce.reporters.window import Window
from sottovoce.values.domain import Domain
from sottovoce.values.options import Options

EPSILON = 12.0  # more than any of these needs


def window(
    rng: np.random.Generator, *, wraps: bool, cells: int = 3, starts: int = 3, bits: int = 6
) -> Window:
    """Random backgrounds, extra weights and starts; some extra weights exceed the window, some are 0."""
    while True:
        a, e = rng.integers(1, 16, cells), rng.integers(0, 40, cells)
        length, around = (1 << bits) - int(a.sum()), int(e.sum())
        if 0 < length <= around:
            break
    top = around - 1 if wraps else around - length
    s = np.sort(rng.integers(0, top + 1, starts))
    if rng.random() < 0.5:
        s[0], s[-1] = 0, top
    return Window(
        wraps=wraps, bits=bits, count=np.ones(cells, dtype=int), background=a, extra=e,
        value=np.linspace(0, 0.9, cells), step=np.zeros(cells), knot_t=np.arange(starts) / starts,
        knot_s=s, stepwise=True,
    )  # fmt: skip


def mechanism(rng: np.random.Generator, *, wraps: bool = False, **options: int) -> Mechanism:
    domain: Domain = sv.Circle(1.0) if wraps else sv.Interval(0, 1)
    return Mechanism(EPSILON, domain, window(rng, wraps=wraps, **options))


def options(many: int, wide: int = 1) -> Mechanism:
    """Some neighbours of several options: these are five times as likely as others, but for rounding."""
    a = 64 // (4 * wide + many)
    e, starts = (64 - many * a) // wide, many - wide + 1
    window = Window(
        wraps=False, bits=6, count=[many], background=[a], extra=[e], value=[0.0], step=[0.1],
        knot_t=np.arange(starts) / starts, knot_s=e * np.arange(starts), stepwise=True,
    )  # fmt: skip
    return Mechanism(EPSILON, sv.Interval(0, 1), window)


def choice(rng: np.random.Generator) -> Translates:
    """Random blocks of three options; some cells have a draw more."""
    while True:
        size, background = int(rng.integers(1, 3)), int(rng.integers(1, 8))
        extra, left = divmod(64 - 3 * background, size)
        if left < 3:
            break
    block = tuple(int(x) for x in rng.choice(3, size, replace=False))
    return Translates(EPSILON, Options(("a", "b", "c")), (block,), (1,), background, extra, bits=6)


def mixture(rng: np.random.Generator) -> Mixture:
    weight = int(rng.integers(1, 8))
    return Mixture((mechanism(rng, cells=2), mechanism(rng, cells=2)), (weight, 8 - weight))


def rows(rng: np.random.Generator, *, inputs: int = 3, cells: int = 4) -> Rows:
    counts = rng.multinomial(64 - cells, rng.dirichlet(np.ones(cells), inputs)) + 1
    return Rows(
        EPSILON, sv.Interval(0, 1), np.linspace(0, 1, inputs), counts.astype(np.int64) << (52 - 6),
        np.linspace(0, 1, cells),
    )  # fmt: skip


def survey(rng: np.random.Generator, sampled: int, names: str = "ab") -> Survey:
    questions = {name: mechanism(rng, cells=2, starts=2) for name in names}
    return Survey(16.0, questions, sampled)
