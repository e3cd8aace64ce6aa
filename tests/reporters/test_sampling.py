"""Plain and compiled loops agree bit for bit; the operator agrees with the dense matrix."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import sottovoce as sv
from sottovoce.designs.solver.integer_weights import background_window
from sottovoce.reporters.mechanism import Mechanism
from sottovoce.reporters.sampling.dispatch import fill_rows
from sottovoce.reporters.sampling.tables import RowTables
from tests.vectors.mechanisms import mechanisms


def bumpy(unbiased: bool) -> Mechanism:
    """A non-uniform background with tiny, large and middling atoms."""
    y = np.linspace(-0.7, 1.7, 241) if unbiased else np.linspace(0, 1, 161)
    g = np.exp(-3 * np.abs(y - 0.5)) + 40 * (np.abs(y - 0.5) > (1.15 if unbiased else 0.49))
    g[7::13] *= 1e-5
    return background_window(
        3.0, sv.Interval(-1, 4), positions=y, masses=g / g.sum() * 0.15, unbiased=unbiased
    )


def crowded() -> Mechanism:
    """Reports that lie together in one place, and windows that pass them within a bucket of the guide."""
    y = np.concatenate((np.linspace(0, 0.48, 20), 0.5 + 1e-9 * np.arange(6), np.linspace(0.52, 1, 20)))
    return background_window(
        2.0, sv.Interval(-1, 4), positions=y, masses=np.full(len(y), 0.3 / len(y)), unbiased=False
    )


def crowded_cells() -> Mechanism:
    """Six cells of next to no weight side by side: more edges in a bucket than cells are looked up by."""
    masses = np.full(60, 0.3 / 54)
    masses[20:26] = 1e-9
    return background_window(
        2.0, sv.Interval(-1, 4), positions=np.linspace(0, 1, 60), masses=masses, unbiased=False
    )


def clamped_circle() -> Mechanism:
    """Its start line would leave [0, 2H) on both sides of the two knots."""
    m = sv.ogpm(2.0, sv.Circle(5.0, origin=-1.0), cells=512)
    window = replace(m.window, knot_t=np.array([0.02, 0.98]), knot_s=np.array([7, m.window.top - 9]))
    return Mechanism(m.epsilon, m.domain, window)


def lines(t: list[float], shares: list[float]) -> Mechanism:
    """Equal cells and a start table of several lines."""
    m = sv.pm(1.0, (0, 1), cells=512)
    s = [int(share * m.window.top) for share in shares]
    return Mechanism(m.epsilon, m.domain, replace(m.window, knot_t=np.array(t), knot_s=np.array(s)))


def heavy_first_cell() -> Mechanism:
    """Equal cells, but for the first, which has three times the background of another."""
    m = mechanisms()["equal cells, nearest"]
    assert isinstance(m, Mechanism)
    background = m.window.background.copy()
    background[0] *= 3
    return Mechanism(m.epsilon, m.domain, replace(m.window, background=background))


MECHANISMS = {
    "ogpm": sv.ogpm(1.0, (-1, 4)),
    "pm": sv.pm(0.3, (-1, 4)),
    "duchi": sv.duchi(2.0, (-1, 4)),
    "truncated": sv.pm(1.0, (-1, 4)).truncated(),
    "circle": sv.ogpm(2.0, sv.Circle(5.0, origin=-1.0)),
    "clamped circle": clamped_circle(),
    "nearest": bumpy(False),
    "mean": bumpy(True),
    "crowded": crowded(),
    "crowded cells": crowded_cells(),
    "steep": lines([0.0, 0.5, 0.5 + 2.0**-53, 1.0], [0.0, 0.5, 1.0, 1.0]),
    "steep at the end": lines([0.0, 1.0 - 2.0**-53, 1.0], [0.0, 0.5, 1.0]),
    "steep at the beginning": lines([0.0, 2.0**-64, 1.0], [0.0, 0.5, 1.0]),
    "crowded lines": lines(
        [0.0, *(0.5 + 1e-13 * np.arange(6)), 1.0], [0.0, 0.1, 0.2, 0.4, 0.5, 0.7, 0.8, 1.0]
    ),
    "a late first knot": lines([0.2, 0.6, 1.0], [0.3, 0.5, 1.0]),
    "a late first knot at 0": lines([0.2, 0.6, 1.0], [0.0, 0.5, 1.0]),
    "beyond the last start": lines([0.0, 0.3, 0.5], [0.0, 0.5, 1.0]),
    "a late and steep first knot": lines([0.2, 0.25, 1.0], [0.3, 0.4, 1.0]),
    "flat, then steep": lines([0.0, 0.3, 0.3 + 1e-13, 0.6, 0.7, 1.0], [0.1, 0.1, 0.4, 0.4, 0.6, 0.6]),
    "optimal, unbiased": sv.optimal(4.0, (-1, 4)),
    "equal cells": mechanisms()["equal cells, nearest"],
    "heavy first cell": heavy_first_cell(),
    "equal cells, unbiased": mechanisms()["equal cells, unbiased"],
    "many lines": lines([*np.arange(900) / 900, 1.0], [*(np.arange(900) / 900) ** 2, 1.0]),
}
every = pytest.mark.parametrize("m", MECHANISMS.values(), ids=MECHANISMS.keys())


def awkward_inputs(m: Mechanism) -> tuple[np.ndarray, np.ndarray]:
    """Random inputs and words, and boundary ones: knots and neighbours, first and last draws of cells."""
    rng = np.random.default_rng(8)
    x = m.domain.from_unit(rng.random(30_000))
    knots = m.domain.from_unit(m.window.knot_t)
    near = np.concatenate((knots, np.nextafter(knots, -np.inf), np.nextafter(knots, np.inf)))
    x[: len(near)] = near
    draws = rng.integers(0, m.window.total, len(x), dtype=np.uint64)
    edges = np.concatenate((np.cumsum(m.window.a)[:4000], [m.window.mass, m.window.total, 0])).astype(
        np.int64
    )
    edges = np.concatenate((edges, edges - 1))
    draws[-len(edges) :] = np.clip(edges, 0, m.window.total - 1).astype(np.uint64)
    x, some = np.clip(x, m.domain.low, m.domain.high), slice(300, 20_000)
    into = rng.choice(m.window.edge, 19_700) - rng.integers(0, 2, 19_700)  # an edge of a cell, or just before
    into -= m.window.starts(m.domain.to_unit(x[some]))
    into = into % m.window.around if m.window.wraps else into
    inside = (into >= 0) & (into < m.window.length)
    draws[some][inside] = (m.window.mass + into[inside]).astype(np.uint64)
    return x, draws << np.uint64(64 - m.window.bits)


def test_no_unit_coordinate_is_above_1() -> None:
    """Or a start would lie beyond the last one that is counted, where loops leave out the clamp."""
    rng = np.random.default_rng(8)
    for high in (
        np.concatenate((rng.uniform(0.2, 1.0, 2000) * 1.79e308, rng.uniform(size=200) * 1e-300))
    ).tolist():
        assert sv.Interval(0, high).to_unit(high) <= 1.0
        assert sv.Circle(high).to_unit(high) <= 1.0


@every
def test_the_same_words_give_the_same_cells(m: Mechanism) -> None:
    x, words = awkward_inputs(m)
    cells = [np.empty(len(x), dtype=m.dtype) for _ in range(2)]
    for out, compiled in zip(cells, (False, True), strict=True):
        assert m._sampler.fill(out, words.copy(), x, compiled=compiled) == 0
    assert np.array_equal(*cells)


@every
def test_how_many_values_there_are_changes_no_cell(m: Mechanism) -> None:
    x, words = (part[:1200] for part in awkward_inputs(m))
    every = np.empty(1200, dtype=m.dtype)
    m._sampler.fill(every, words.copy(), x, compiled=False)
    for size in (1, 2, 511, 512, 513, 1023, 1024, 1025, 1200):  # loops are compiled for blocks
        first, wrong = np.full(size + 1, m.cells - 1, dtype=m.dtype), x[:size].copy()
        assert m._sampler.fill(first[:size], words[:size].copy(), x[:size], compiled=True) == 0
        assert np.array_equal(first, [*every[:size], m.cells - 1])
        wrong[[0, -1]] = np.nan
        assert m._sampler.fill(first[:size], words[:size].copy(), wrong, compiled=True) == min(size, 2)


@every
def test_each_cell_is_where_its_draw_lies(m: Mechanism) -> None:
    """The plain loop against a direct search in exact integers, one value at a time."""
    x, words = awkward_inputs(m)
    chosen = np.r_[0:300, len(x) - 300 : len(x)]
    out = np.empty(len(chosen), dtype=m.dtype)
    m._sampler.fill(out, words[chosen].copy(), x[chosen], compiled=False)
    w = m.window
    starts = w.starts(m.domain.to_unit(x[chosen]))
    below = np.concatenate(([0], np.cumsum(w.a)))
    for cell, word, s in zip(out.tolist(), words[chosen].tolist(), starts.tolist(), strict=True):
        draw = word >> (64 - w.bits)
        if draw < w.mass:
            assert below[cell] <= draw < below[cell + 1]
        else:
            u = (draw - w.mass + s) % w.around if w.wraps else draw - w.mass + s
            assert w.edge[cell] <= u < w.edge[cell + 1]


@every
def test_out_of_domain_values_are_counted_by_both(m: Mechanism) -> None:
    x = np.array([0.0, np.nan, 99.0, 1.0, -np.inf])
    for compiled in (False, True):
        out, words = np.empty(5, dtype=m.dtype), np.zeros(5, dtype=np.uint64)
        assert m._sampler.fill(out, words, x, compiled=compiled) == 3


@every
def test_operator(m: Mechanism) -> None:
    rng = np.random.default_rng(4)
    x = np.concatenate((m.domain.from_unit(rng.random(40)), [m.domain.low, m.domain.high]))
    x = np.clip(x, m.domain.low, m.domain.high)
    operator = m.operator(x)
    dense = m.probabilities(x)
    assert operator.shape == dense.shape
    f, w = rng.normal(size=m.cells), rng.random(len(x))
    assert operator.expect(f) == pytest.approx(dense @ f, rel=1e-9, abs=1e-12)
    assert operator.mix(w) == pytest.approx(dense.T @ w, rel=1e-9, abs=1e-15)
    if m.cells < 1000:
        assert operator.dense() == pytest.approx(dense, rel=1e-9, abs=1e-15)


def test_bumpy_designs_do_what_they_promise() -> None:
    x = np.linspace(-1, 4, 4001)
    mean = MECHANISMS["mean"]
    assert np.abs(mean.bias(x)).max() <= 1e-12 * np.ptp(mean.edges)
    nearest = MECHANISMS["nearest"]
    assert sv.audit(nearest).holds
    assert sv.audit(mean).holds
    assert (np.diff(nearest.window.starts(nearest.domain.to_unit(x))) >= 0).all()


@pytest.mark.parametrize(("inputs", "cells"), [(1, 2), (2, 3), (8, 256), (147, 191)])
@pytest.mark.parametrize("circle", [False, True])
def test_rows_give_the_cell_that_holds_the_draw(inputs: int, cells: int, circle: bool) -> None:
    """Both loops against a search in one row at a time, also at borders and at the ends of cells."""
    rng, bits = np.random.default_rng(inputs), 40
    cuts = np.sort(rng.choice(2**20, (inputs, cells - 1), replace=True), axis=1) << (bits - 20)
    rows = np.diff(cuts, axis=1, prepend=0, append=1 << bits)  # some cells are never drawn
    borders = np.sort(rng.random(inputs if circle else inputs - 1))
    tables = RowTables.of(rows, borders)
    t = np.concatenate((rng.random(3000), borders, [0.0, 1.0]))
    row = np.searchsorted(borders, t, side="right") % inputs
    sums = np.cumsum(rows, axis=1)[row]
    draw = rng.integers(0, 1 << bits, t.size)
    draw[::3] = sums[::3, 0] - (rng.random(draw[::3].size) < 0.5)
    draw = np.clip(draw, 0, (1 << bits) - 1)
    words = draw.astype(np.uint64) << np.uint64(64 - bits)
    for compiled in (False, True):
        out = np.empty(t.size, dtype=np.uint8)
        fill_rows(out, words.copy(), t, tables, compiled=compiled)
        assert np.array_equal(out, (sums <= draw[:, None]).sum(axis=1))
