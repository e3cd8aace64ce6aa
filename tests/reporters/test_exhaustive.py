"""Small windows counted out: every word, every start, both loops; and the mutants that this catches."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

import sottovoce as sv
from sottovoce.errors import PrivacyError, SpecError
from sottovoce.exact.rational_bounds import exp_lower
from sottovoce.reporters.mechanism import Mechanism
from sottovoce.reporters.sampling import numpy_loops
from sottovoce.reporters.sampling.dispatch import Sampler
from sottovoce.reporters.window import Window

Sample = Callable[[Window, np.ndarray, np.ndarray], np.ndarray]


def small_window(*, wraps: bool, runs: bool = True, bits: int = 9) -> Window:
    """A few cells with a start table that visits every allowed start once."""
    count, a, e = ([2, 1, 3], [20, 40, 30], [61, 130, 75]) if runs else ([6], [40], [60])
    mass = int(np.dot(count, a))
    around = int(np.dot(count, e))
    length = (1 << bits) - mass
    starts = around if wraps else around - length + 1
    return Window(
        wraps=wraps, bits=bits, count=count, background=a, extra=e,
        value=np.linspace(0.1, 0.5, len(count)) if runs else [0.0], step=[0.05] * len(count),
        knot_t=np.arange(starts) / starts, knot_s=np.arange(starts), stepwise=True,
    )  # fmt: skip


WINDOWS = [small_window(wraps=w, runs=r) for w in (False, True) for r in (False, True)]


def by_plain(window: Window, words: np.ndarray, t: np.ndarray) -> np.ndarray:
    return np.floor(numpy_loops.sample(window.tables, words.copy(), t)).astype(int)


def by_compiled(window: Window, words: np.ndarray, t: np.ndarray) -> np.ndarray:
    out = np.empty(len(t), dtype=np.uint16)
    domain = sv.Circle(1.0) if window.wraps else sv.Interval(0, 1)
    assert Sampler(window.tables, domain).fill(out, words.copy(), t, compiled=True) == 0
    return out.astype(int)


def counted(window: Window, sample: Sample) -> np.ndarray:
    """How often each cell comes up over all words that differ in their leading bits, for every start."""
    words = np.arange(1 << window.bits, dtype=np.uint64) << np.uint64(64 - window.bits)
    words |= np.uint64(12345)  # the low bits must not matter
    return np.stack(
        [
            np.bincount(sample(window, words, np.full(len(words), t)), minlength=window.cells)
            for t in (np.arange(len(window.knot_t)) + 0.25) / len(window.knot_t)
        ]
    )


@pytest.mark.parametrize("window", WINDOWS, ids=["line", "line-runs", "circle", "circle-runs"])
@pytest.mark.parametrize("sample", [by_plain, by_compiled])
def test_every_draw_and_every_start(window: Window, sample: Sample) -> None:
    seen = counted(window, sample)
    starts = np.arange(len(window.knot_t))
    assert np.array_equal(window.starts((starts + 0.25) / len(starts)), starts)
    assert np.array_equal(seen, window.counts(starts))
    assert (seen >= window.a).all()
    assert (seen <= window.a + window.e).all()
    exact = max(Fraction(int(p), int(q)) for p, q in zip(seen.max(axis=0), seen.min(axis=0), strict=True))
    assert exact == window.largest_ratio


@pytest.mark.parametrize("window", WINDOWS, ids=["line", "line-runs", "circle", "circle-runs"])
def test_sampler_mutants_are_caught(window: Window) -> None:
    """Each is a mistake that a sampler could contain; the exhaustive count must tell it from the truth."""
    truth = window.counts(np.arange(len(window.knot_t)))

    def longer_window(w: Window, words: np.ndarray, t: np.ndarray) -> np.ndarray:
        cell = float(w.e[0])
        tables = w.tables._replace(background=w.tables.background - cell, top=w.tables.top - cell)
        return np.floor(numpy_loops.sample(tables, words.copy(), t)).astype(int)

    def late_start(w: Window, words: np.ndarray, t: np.ndarray) -> np.ndarray:
        tables = w.tables._replace(start=w.tables.start + 1)
        return np.floor(numpy_loops.sample(tables, words.copy(), t)).astype(int)

    def modulo(w: Window, words: np.ndarray, t: np.ndarray) -> np.ndarray:
        draw = (words >> np.uint64(64 - w.bits)) % np.uint64(w.total - 37)
        return np.floor(numpy_loops.sample(w.tables, draw << np.uint64(64 - w.bits), t)).astype(int)

    for mutant in (longer_window, late_start, modulo):
        assert not np.array_equal(counted(window, mutant), truth), mutant.__name__


def test_weights_that_break_epsilon_are_refused() -> None:
    honest = sv.ogpm(epsilon=1.0, cells=64)
    w = honest.window

    def claim(epsilon: float, window: Window) -> Mechanism:
        return Mechanism(epsilon, honest.domain, window)

    assert claim(1.0, w).digest == honest.digest
    with pytest.raises(PrivacyError, match=r"epsilon=1\.02"):
        claim(1.0, sv.ogpm(epsilon=1.02, cells=64).window)
    ceil = replace(w, extra=w.extra + 1, knot_s=np.array([0, w.top + 64]))  # ⌈a·q⌉ − a for ⌊a·q⌋ − a
    assert Fraction(int(w.background[0] + w.extra[0] + 1), int(w.background[0])) > exp_lower(1.0)
    with pytest.raises(PrivacyError):
        claim(1.0, ceil)
    thin = replace(w, count=[1, 63], background=[w.background[0] // 2, w.background[0]],
                   extra=[w.extra[0], w.extra[0]], value=[0.0, 0.1], step=[0.0, 0.01],
                   knot_s=[0, w.top - int(w.background[0] - w.background[0] // 2)])  # fmt: skip
    with pytest.raises(PrivacyError):
        claim(1.0, thin)


def test_counts_hold_for_starts_that_no_input_reaches() -> None:
    """The audit covers every allowed start, so an arbitrary start table cannot break ε."""
    m = sv.pm(1.0)
    rng = np.random.default_rng(0)
    rows = m.window.counts(rng.integers(0, m.window.top + 1, 50))
    assert (rows.max(axis=0) / rows.min(axis=0)).max() <= float(m.window.largest_ratio) * (1 + 1e-15)


def test_one_look_per_run_finds_the_largest_ratio() -> None:
    """Random windows: what `largest_ratio` says against every count of every cell at every start."""
    rng, seen = np.random.default_rng(3), 0
    while seen < 300:
        wraps, runs, bits = bool(rng.integers(2)), int(rng.integers(1, 6)), int(rng.integers(4, 12))
        background = rng.integers(1, max(2, (1 << bits) // (4 * runs)), runs)
        try:
            window = Window(
                wraps=wraps, bits=bits, count=rng.integers(1, 6, runs), background=background,
                extra=rng.integers(0, 60, runs), value=np.linspace(0, 0.5, runs), step=np.zeros(runs),
                knot_t=np.array([0.0]), knot_s=np.array([0]), stepwise=True,
            )  # fmt: skip
        except SpecError:
            continue
        counts = window.counts(np.arange(window.around if wraps else window.top + 1))
        columns = zip(counts.max(axis=0).tolist(), counts.min(axis=0).tolist(), strict=True)
        assert window.largest_ratio == max(Fraction(most, least) for most, least in columns)
        seen += 1
