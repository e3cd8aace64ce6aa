"""Declared groups: only their keys come out, whatever the data hold."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import sottovoce as sv
from sottovoce.central.grid import Grid
from sottovoce.central.group_keys import Keys
from sottovoce.central.noise import by_name
from sottovoce.central.totals import gather

RNG = np.random.default_rng(0)
WAITS = RNG.uniform(0, 60, 3000)
TEAMS = RNG.choice(["north", "south", "east", "secret"], 3000)
WARDS = RNG.integers(1, 5, 3000)
DECLARED = ["south", "north", "west"]

TABLES = {
    "pandas": pd.DataFrame({"w": WAITS, "team": TEAMS, "ward": WARDS}),
    "pandas category": pd.DataFrame({"w": WAITS, "team": pd.Categorical(TEAMS), "ward": WARDS}),
    "pandas string": pd.DataFrame({"w": WAITS, "team": pd.array(TEAMS, dtype="string"), "ward": WARDS}),
    "polars": pl.DataFrame({"w": WAITS, "team": TEAMS, "ward": WARDS}),
    "polars category": pl.DataFrame(
        {"w": WAITS, "team": pl.Series(TEAMS, dtype=pl.Categorical), "ward": WARDS}
    ),
    "arrow": pa.table({"w": WAITS, "team": TEAMS.tolist(), "ward": WARDS}),
    "arrow dictionary": pa.table(
        {"w": WAITS, "team": pa.array(TEAMS.tolist()).dictionary_encode(), "ward": WARDS}
    ),
    "arrow view": pa.table(
        {"w": WAITS, "team": pa.array(TEAMS.tolist(), pa.string_view()), "ward": pa.array(WARDS, pa.int8())}
    ),
    "dict": {"w": WAITS, "team": TEAMS, "ward": WARDS},
}


@pytest.mark.parametrize("table", TABLES.values(), ids=TABLES)
@pytest.mark.parametrize(("by", "declared"), [("team", DECLARED), ("ward", [4, 1, 9, 10**9])])
def test_totals_by_group(table: Any, by: str, declared: list[Any]) -> None:
    totals = gather(table, Grid.of((0, 60), 600), "w", by, declared)
    keys = TEAMS if by == "team" else WARDS
    positions = np.rint(WAITS * 10).astype(int)
    assert totals.people.tolist() == [int((keys == key).sum()) for key in declared]
    assert totals.positions.tolist() == [int(positions[keys == key].sum()) for key in declared]
    counts = sv.central.totals.count_rows(table, by, declared)
    assert counts.people.tolist() == totals.people.tolist()


@pytest.mark.parametrize("table", TABLES.values(), ids=TABLES)
def test_only_declared_keys_are_released(table: Any) -> None:
    found = sv.central.mean(table, 16.0, (0, 60), column="w", by="team", groups=DECLARED, rng=1)
    assert found.keys == tuple(DECLARED)
    assert "secret" not in str(found)
    assert abs(found["north"].value - WAITS[TEAMS == "north"].mean()) < 0.1
    assert 0 <= found["west"].value <= 60  # nobody there, an answer all the same
    with pytest.raises(KeyError, match="not among the declared groups"):
        found["secret"]
    assert list(found) == DECLARED
    assert len(found) == 3
    frame = pd.DataFrame(found.to_dict())
    assert frame.columns.tolist() == ["group", "mean", "low", "high", "error", "count"]


def test_undeclared_keys_do_not_change_anything() -> None:
    """The same noise with and without the undeclared rows gives the same release."""
    keep = TEAMS != "secret"
    arguments: dict[str, Any] = {"epsilon": 1.0, "domain": (0, 60), "groups": DECLARED, "rng": 3}
    everybody = sv.central.mean(WAITS, by=TEAMS, **arguments)
    declared = sv.central.mean(WAITS[keep], by=TEAMS[keep], **arguments)
    assert everybody.value.tolist() == declared.value.tolist()
    assert everybody.count.tolist() == declared.count.tolist()


def test_batches_add_up() -> None:
    table = TABLES["arrow"]
    arguments: dict[str, Any] = {"column": "w", "by": "team", "groups": DECLARED, "rng": 2}
    whole = sv.central.mean(table, 1.0, (0, 60), **arguments)
    parts = sv.central.mean(iter(table.to_batches(max_chunksize=100)), 1.0, (0, 60), **arguments)
    assert whole.value.tolist() == parts.value.tolist()


def test_dropped_values_leave_their_group() -> None:
    x = np.array([1.0, np.nan, 3.0, np.nan, 5.0])
    totals = gather(x, Grid.of((0, 10), 10, missing="drop"), None, ["a", "a", "b", "b", "b"], ["a", "b"])
    assert totals.people.tolist() == [1, 2]
    assert totals.positions.tolist() == [1, 8]


@pytest.mark.parametrize("mechanism", by_name.NAMES)
def test_every_mechanism_by_group(mechanism: str) -> None:
    found = sv.central.mean(WAITS, 16.0, (0, 60), mechanism, by=WARDS, groups=[1, 2, 3, 4], rng=1)
    for ward in (1, 2, 3, 4):
        assert abs(found[ward].value - WAITS[ward == WARDS].mean()) < 0.3
        assert found[ward].method == mechanism


def test_sums_and_counts_by_group() -> None:
    arguments: dict[str, Any] = {"by": WARDS, "groups": [1, 2], "rng": 1}
    sums = sv.central.sum(WAITS, 16.0, (0, 60), **arguments)
    counts = sv.central.count(WAITS, 16.0, **arguments)
    for ward in (1, 2):
        assert abs(sums[ward].value - WAITS[ward == WARDS].sum()) < 60
        assert abs(counts[ward].value - (ward == WARDS).sum()) <= 1
    assert list(counts.to_dict()) == ["group", "count", "low", "high", "error"]


@pytest.mark.parametrize(
    ("by", "groups", "error", "words"),
    [
        (WARDS, ["1"], TypeError, "groups are of type str but"),
        (TEAMS, [1], TypeError, "groups are of type int but"),
        (WARDS, [], ValueError, "at least one key"),
        (WARDS, [1, 1], ValueError, "distinct"),
        (WARDS, "12", TypeError, "sequence of keys"),
        (WARDS, np.ones((2, 2), dtype=int), ValueError, "groups must be one-dimensional"),
        (WARDS, 5, TypeError, "sequence of keys"),
        (WARDS, [1, "a"], TypeError, "one type"),
        (WARDS, [None], ValueError, "missing key"),
        (WARDS, [float("nan")], ValueError, "missing key"),
        (WARDS[:5], [1], ValueError, "one key per value, got 5 keys for 3000"),
        (WARDS[:, None], [1], ValueError, "by must be one-dimensional"),
        (5, [1], TypeError, "by must be"),
        (None, [1], ValueError, "go together"),
        ("ward", [1], ValueError, "column must name"),
    ],
)
def test_bad_groups_are_refused(by: Any, groups: Any, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        sv.central.mean(WAITS, 1.0, (0, 60), by=by, groups=groups)


def test_arrow_keys_of_the_wrong_type_are_refused() -> None:
    for table, by, groups in (
        ("arrow", "ward", ["a"]),
        ("arrow", "team", [1]),
        ("arrow dictionary", "team", [1]),
    ):
        with pytest.raises(TypeError, match=r"groups are of type (str|int) but"):
            sv.central.mean(TABLES[table], 1.0, (0, 60), column="w", by=by, groups=groups)
    with pytest.raises(TypeError, match="groups are of type int but the rows' keys are string"):
        sv.central.mean(TABLES["pandas string"], 1.0, (0, 60), column="w", by="team", groups=[1])


@pytest.mark.parametrize("keys", [[5, -3, 10**6], [2**62, -(2**62), 0], list(range(1000))])
def test_integer_keys_dense_or_far_apart(keys: list[int]) -> None:
    rows = np.array([*keys, 7_777, -1, 2**63 - 1, -(2**63)])
    declared = Keys(keys)
    assert declared.codes(rows).tolist()[: len(keys)] == list(range(len(keys)))
    expected = [keys.index(key) if key in keys else len(keys) for key in rows[len(keys) :].tolist()]
    assert declared.codes(rows).tolist()[len(keys) :] == expected


@pytest.mark.parametrize("dtype", [np.uint8, np.int16, np.uint64])
def test_integer_keys_of_every_width(dtype: Any) -> None:
    rows = np.array([0, 3, 5, np.iinfo(dtype).max, 1], dtype=dtype)
    assert Keys([5, 0, 1]).codes(rows).tolist() == [1, 3, 0, 3, 2]
    assert Keys(range(2)).codes(rows).tolist() == [0, 2, 2, 2, 1]
    assert Keys(range(-1, 2)).codes(rows[[0, 4]]).tolist() == [1, 2]


def test_missing_keys_belong_to_nobody() -> None:
    totals = gather(
        pd.DataFrame({"w": [1.0, 2.0, 3.0], "k": ["a", None, "b"]}), Grid.of((0, 3), 3), "w", "k", ["a", "b"]
    )
    assert totals.people.tolist() == [1, 1]
    arrow = pa.table({"w": [1.0, 2.0, 3.0], "k": ["a", None, "b"]})
    assert gather(arrow, Grid.of((0, 3), 3), "w", "k", ["a", "b"]).people.tolist() == [1, 1]


def test_whole_keys_with_nulls_and_keys_as_arrow_scalars() -> None:
    """A null changes neither which keys may be declared nor what they are found by."""
    ward = pa.array([1, None, 2, 1], pa.int8())
    table = pa.table({"w": [1.0, 2.0, 3.0, 4.0], "ward": ward, "team": list("abab")})
    for column in (ward, pa.chunked_array([ward[:1], ward[1:]])):
        assert Keys([0, 1, 2, 300]).codes(column).tolist() == [1, 4, 2, 1]
    release = sv.central.mean(table, 1.0, (0, 60), column="w", by="team", groups=pa.array(["a", "c"]), rng=1)
    assert release.keys == ("a", "c")
    nothing = table.set_column(0, "w", pa.nulls(4))
    release = sv.central.mean(
        nothing, 16.0, (0, 60), column="w", by="team", groups=["a"], missing="drop", rng=1
    )
    assert abs(release["a"].count) < 1
