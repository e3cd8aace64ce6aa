"""Tallies: ways in, merge laws, what is refused, and the law on bins of cells."""

from __future__ import annotations

import json
import pickle
import sqlite3
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sottovoce as sv
from sottovoce.errors import DataError, NoDataError, SpecError

M = sv.sw(1.0, cells=512)
CELLS = M.report(np.random.default_rng(1).random(5000), rng=2)


MANY = pa.table({"cell": [0] * 2048, "n": [2**53] * 2048})
TALLY = sv.Tally(M, [1]).to_json()


@settings(max_examples=60, deadline=None)
@given(
    cells=st.lists(st.integers(0, M.cells - 1), max_size=300),
    cuts=st.lists(st.integers(0, 300), max_size=6),
    seed=st.integers(0, 2**32),
)
def test_any_split_in_any_order_merges_to_the_same_bits(cells: list[int], cuts: list[int], seed: int) -> None:
    whole = sv.Tally(M, cells)
    order = np.random.default_rng(seed).permutation(len(cells))
    shuffled = np.array(cells, dtype=np.int64)[order]
    parts = [sv.Tally(M, part) for part in np.split(shuffled, sorted(min(c, len(cells)) for c in cuts))]
    np.random.default_rng(seed + 1).shuffle(parts)
    assert sum(parts) == whole
    left = parts[0]
    for part in parts[1:]:
        left = left + part
    assert left.counts.tobytes() == whole.counts.tobytes()
    assert hash(left) == hash(whole)
    assert sv.Tally(M) + whole == whole == whole + sv.Tally(M)


def test_every_way_in_gives_the_same_tally() -> None:
    whole = sv.Tally(M, CELLS)
    found, times = np.unique(CELLS, return_counts=True)
    store = sqlite3.connect(":memory:")
    store.execute("CREATE TABLE reports (cell INTEGER)")
    store.executemany("INSERT INTO reports VALUES (?)", [(int(c),) for c in CELLS])
    rows = store.execute("SELECT cell, COUNT(*) FROM reports GROUP BY cell").fetchall()
    store.close()
    table = pa.table({"cell": found, "times": times})
    assert whole.n == 5000
    assert sv.Tally.from_counts(M, whole.counts) == whole
    assert sv.Tally.from_pairs(M, rows) == whole
    assert sv.Tally.from_pairs(M, dict(rows)) == whole
    assert sv.Tally.from_pairs(M, [(c, Decimal(k)) for c, k in rows]) == whole
    assert sv.Tally.from_batches(M, np.array_split(CELLS, 7)) == whole
    assert sv.Tally.from_batches(M, ([c] for c in CELLS)) == whole
    assert sv.Tally.from_arrow(M, pa.array(CELLS)) == whole
    assert sv.Tally.from_arrow(M, pa.chunked_array([CELLS[:10], CELLS[10:]])) == whole
    assert sv.Tally.from_arrow(M, pa.table({"cell": CELLS})) == whole
    assert sv.Tally.from_arrow(M, table.to_reader(max_chunksize=50), count="times") == whole
    assert sv.Tally.from_json(whole.to_json()) == whole
    assert sv.Tally.from_json(whole.to_json().encode(), M) == whole
    assert pickle.loads(pickle.dumps(whole)) == whole


def test_a_tally_does_not_change() -> None:
    counts = np.zeros(M.cells, dtype=np.int64)
    t = sv.Tally.from_counts(M, counts)
    counts[0] = 5
    assert t.n == 0
    with pytest.raises(ValueError, match="read-only"):
        t.counts[0] = 1
    with pytest.raises(AttributeError, match="immutable"):
        t.n = 3  # type: ignore[misc]


@pytest.mark.parametrize(
    ("make", "error", "says"),
    [
        (lambda: sv.Tally(M, [0, 512]), DataError, "0..511: 1 of 2 do not, the first at index 1"),
        (lambda: sv.Tally(M, [-1]), DataError, "0..511"),
        (lambda: sv.Tally(M, [0.5]), TypeError, "integers"),
        (lambda: sv.Tally(None, [0]), TypeError, "reporter must be"),
        (lambda: sv.Tally.from_counts(M, [1, 2]), DataError, "one entry for each of 512"),
        (lambda: sv.Tally.from_counts(M, [-1] * 512), DataError, "512 of 512 do not"),
        (lambda: sv.Tally.from_counts(M, [1.5] * 512), TypeError, "whole numbers"),
        (lambda: sv.Tally.from_counts(M, [2**52] * 512), DataError, "add up"),
        (lambda: sv.Tally.from_pairs(M, [(0, -2)]), DataError, "between 0 and 2"),
        # 2048 times 2^53 is 2^64, which int64 takes for nothing.
        (lambda: sv.Tally.from_pairs(M, [(0, 2**53)] * 2048), DataError, "add up"),
        (lambda: sv.Tally.from_pairs(M, [(0, 2**53), (1, 1)]), DataError, "add up"),
        (lambda: sv.Tally.from_arrow(M, MANY.to_reader(max_chunksize=1), count="n"), DataError, "add up"),
        (lambda: sv.Tally.from_pairs(M, [1, 2]), DataError, "cell, count"),  # type: ignore[list-item]
        (lambda: sv.Tally.from_counts(M, np.zeros((16, 32), dtype=object)), DataError, "got shape .16, 32"),
        (lambda: sv.Tally(M, np.ma.masked_array([1, 2], [True, False])), TypeError, "masked array"),
        (lambda: sv.Tally(M, [[1], [2, 3]]), TypeError, "ragged"),
        (lambda: sv.Tally.from_json(TALLY.replace("[1]", "[[1]]")), DataError, "lists of equal length"),
        (lambda: sv.Tally.from_pairs(M, [(0, Decimal("1.5"))]), DataError, "whole"),
        (lambda: sv.Tally.from_pairs(M, [(0, 1, 2)]), DataError, "cell, count"),  # type: ignore[list-item]
        (lambda: sv.Tally.from_arrow(M, pa.array([1, None])), DataError, "null: 1 of 2"),
        (lambda: sv.Tally.from_arrow(M, pa.table({"x": [1]})), DataError, "no column 'cell'"),
        (lambda: sv.Tally.from_arrow(M, [1]), TypeError, "Arrow"),
        (lambda: sv.Tally(M) + sv.Tally(sv.pm(1.0)), DataError, "different mechanisms"),
        (lambda: sv.Tally(M) + 1, TypeError, "unsupported"),
        (lambda: sv.Tally.from_json("[]"), SpecError, "tally/1"),
        (lambda: sv.Tally.from_json(sv.Tally(M).to_json(), sv.pm(1.0)), DataError, "different"),
        (lambda: sv.Tally(M).required(), NoDataError, "no reports"),
    ],
)
def test_bad_input_is_refused_in_words(make, error, says) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(error, match=says):
        make()


def test_a_tampered_mechanism_in_json_is_refused() -> None:
    content = json.loads(sv.Tally(M, CELLS).to_json())
    content["mechanism"]["domain"] = [0.0, 2.0]
    with pytest.raises(DataError, match="different"):
        sv.Tally.from_json(json.dumps(content))


MECHANISMS = {
    "sw": M,
    "ogpm": sv.ogpm(2.0, cells=300),
    "pm": sv.pm(0.5, (0, 24), cells=256),
    "duchi": sv.duchi(1.0),
    "circle": sv.ogpm(1.0, sv.Circle(24), cells=300),
    "two_scale": sv.two_scale(1.0, (0, 24), cells=128),
}


@pytest.mark.parametrize("name", MECHANISMS)
def test_groups_have_the_summed_law(name: str) -> None:
    m = MECHANISMS[name]
    first = m.bins(17)
    x = np.random.default_rng(3).uniform(m.domain.low, m.domain.high, 50)
    fine = m.operator(x)
    coarse = fine.coarsen(first)
    expected = np.add.reduceat(fine.dense(), first, axis=1)
    assert np.abs(coarse.dense() - expected).max() < 1e-14
    w = np.random.default_rng(4).normal(size=len(first))
    assert np.abs(coarse.expect(w) - expected @ w).max() < 1e-13
    u = np.random.default_rng(5).random(50)
    assert np.abs(coarse.mix(u) - u @ expected).max() < 1e-13


@pytest.mark.parametrize("name", MECHANISMS)
def test_the_law_is_linear_between_bends(name: str) -> None:
    m = MECHANISMS[name]
    first = m.bins(9)
    bends = m.bends(first)
    assert bends[0] == m.domain.low
    assert bends[-1] == m.domain.high
    wide = np.diff(bends) > 1e-9 * m.domain.width
    left, right = bends[:-1][wide], bends[1:][wide]
    thirds = [left + (right - left) * part for part in (0.1, 0.5, 0.9)]
    low, middle, high = (m.operator(x).coarsen(first).dense() for x in thirds)
    assert np.abs(low + high - 2 * middle).max() < 1e-9


def test_a_mixture_does_not_group_across_its_parts() -> None:
    m = MECHANISMS["two_scale"]
    assert np.isin(m.offsets[:-1], m.bins(7)).all()
    with pytest.raises(ValueError, match="span two parts"):
        m.operator([0.5]).coarsen(np.array([0, 3]))
    t = sv.Tally(m, m.report(np.full(100, 3.0), rng=1))
    assert sv.Tally.from_json(t.to_json()) == t
