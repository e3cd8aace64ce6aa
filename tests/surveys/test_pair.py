"""Two numbers of one person: functions on the device, exact laws, honest intervals, and what is refused."""

from __future__ import annotations

import json
import math
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import sottovoce as sv
from sottovoce import bulk
from sottovoce.device.inquiry import Inquiry
from sottovoce.errors import ArgumentError, DataError, NoDataError, SpecError
from sottovoce.reporters.composites.functions_by_lot import Function, Functions
from sottovoce.reporters.composites.survey import Survey

PAIR = sv.pair(2.0, {"age": (0, 120), "hours": (-1, 3)})
THREE = sv.pair(4.0, {"a": (0, 1), "b": (0, 2), "c": (-1, 1)})


def test_functions_are_what_they_say() -> None:
    """u = 1/4, v = 3/4: p = −1/2, q = 1/2."""
    functions = PAIR.functions
    assert functions is not None
    given = functions.prepared(
        {"age": np.array([30.0]), "hours": np.array([2.0])}, "refuse", "refuse", False, None
    )  # type: ignore[arg-type]
    values = [functions.answers(i, given, None, None)[0] for i in range(5)]  # type: ignore[arg-type]
    assert values == [30.0, 2.0, 0.0, 0.25, 0.5]
    assert sum(functions.weights) == 64
    assert np.isclose(
        PAIR.item_law("age - hours", {"age": [30.0], "hours": [2.0]}),
        PAIR.items["age - hours"].probabilities(0.25),
    ).all()  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    "survey", [PAIR, THREE, sv.pair_rounds(1.0, [(0, 1), (0, 1)]).first], ids=lambda s: s.name
)
def test_the_whole_epsilon_for_one_function(survey: Survey) -> None:
    assert survey.width == 1
    assert survey.largest_ratio == max(one.largest_ratio for one in survey.items.values())
    assert sv.audit(survey.to_json()).holds
    again = sv.from_json(survey.to_json())
    assert (again, pickle.loads(pickle.dumps(survey))) == (survey, survey)
    assert again.domain == survey.domain


def test_what_the_counts_of_a_pair_reveal() -> None:
    """The lower bound is of values that one person can have: corners, not the worst of each function."""
    told = sv.shuffled(PAIR, 10_000, 1e-6)
    assert 0 < told.lower < told.epsilon < 2
    assert set(told.witness.first) == {"age", "hours"}


@pytest.mark.parametrize(
    "field", ["function", "of", "weights", "sampled", "domain", "input", "twice", "lacking"]
)
def test_specs_of_strangers(field: str) -> None:
    content: dict[str, Any] = json.loads(PAIR.to_json())
    first, third = content["questions"][0], content["questions"][2]
    changes: dict[str, Any] = {
        "function": lambda: third.update(function="product"),
        "of": lambda: third.update(of=["age", "weight"]),
        "twice": lambda: third.update(of=["age", "age"]),
        "weights": lambda: content["weights"].__setitem__(0, 5),
        "sampled": lambda: content.update(sampled=2),
        "domain": lambda: first["spec"].update(domain=[0, 121]),
        "input": lambda: content["inputs"][0].update(circle=True),
        "lacking": lambda: third.pop("of"),
    }
    changes[field]()
    with pytest.raises(SpecError):
        sv.from_json(json.dumps(content))


def test_a_missing_value_follows_the_declared_rule() -> None:
    values = {"age": [30.0, math.nan, 40.0], "hours": [2.0, 1.0, 9.0]}
    with pytest.raises(DataError, match="1 of 3 values of 'age' are missing") as refusal:
        PAIR.report(values)
    assert refusal.value.code == "missing"
    with pytest.raises(DataError, match="1 of 3 values of 'hours' are outside"):
        PAIR.report(values, missing={"age": 50.0})
    assert PAIR.report(values, missing={"age": 50.0, "hours": "uniform"}, outside="clip").shape == (3, 1)
    with pytest.raises(ArgumentError, match="missing must lie in the domain"):
        PAIR.report(values, missing=-1.0)
    inquiry = Inquiry.of(PAIR, {"age": 50.0, "hours": "uniform"}, "clip")
    assert str(inquiry) == "Asks for age, hours; one function of them, drawn by lot, is sent."
    for value in (None, [None, 4.0], {"age": math.nan, "hours": 1e9}):
        inquiry.check(inquiry.draw(inquiry.judge(value)))
    assert inquiry.outcomes == PAIR.cells


@pytest.mark.parametrize(
    ("domains", "words"),
    [
        ([(0, 1)], "must be 2 to 16"),
        ([(0, 1)] * 17, "must be 2 to 16"),
        ({"x": (0, 1), "angle": sv.Circle(24)}, "must be intervals"),
        ({"x": (0, 1), "pay": sv.Interval(1, 10, scale="log")}, "linear scale"),
        ({"x": (0, 1), "y" * 25: (0, 1)}, "at most 24 characters"),
    ],
)
def test_what_is_no_pair(domains: Any, words: str) -> None:
    with pytest.raises(ArgumentError, match=words):
        sv.pair(1.0, domains)


def test_functions_and_questions_must_fit() -> None:
    half, one = sv.duchi(0.5, (0, 1)), sv.duchi(1.0, (0, 2))
    inputs = {"x": sv.Interval(0, 1), "y": sv.Interval(0, 1)}
    with pytest.raises(SpecError, match="'sum' does not fit"):
        Survey(1.0, {"s": one}, 1, functions=Functions(inputs, (Function("sum", ("x", "y")),), (1,)))
    with pytest.raises(SpecError, match="'sum' does not fit"):
        Survey(1.0, {"s": half}, 1, functions=Functions(inputs, (Function("sum", ("x",)),), (1,)))
    assert (
        Survey(1.0, {"s": half}, 1, functions=Functions(inputs, (Function("square", ("x",)),), (1,))).cells
        == 2
    )


def people(n: int, seed: int) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(seed)
    a, b, c = rng.random(n), rng.random(n), rng.random(n)
    return {"a": a, "b": a + b, "c": c - b}


def test_a_covariance_matrix_and_everything_from_it() -> None:
    """Five standard errors: false alarms below 1e-5."""
    values = people(100_000, 1)
    tally = sv.Tally(THREE, THREE.report(values, rng=2))
    truth = np.cov(np.array([values[name] for name in "abc"]))
    matrix = sv.covariances(tally)
    error = (matrix.high - matrix.low) / (2 * 1.96)
    assert (np.abs(matrix.value - truth) < 5 * error).all()
    assert (error < 0.03).all()
    frame = matrix.to_frame().set_index(["x", "y"])
    assert frame.loc[("a", "b"), "covariance"] == matrix.value[0, 1]
    ratio = sv.correlation(tally, "b", "c")
    assert abs(ratio.value - np.corrcoef(values["b"], values["c"])[0, 1]) < 5 * ratio.error
    assert abs(ratio.value - matrix.correlation[1, 2]) < 1e-9
    line = sv.slope(tally, "a", "b")
    assert abs(line.value - 1) < 5 * line.error < 0.6
    assert abs(sv.slope(tally, "b", "a").value - 0.5) < 5 * line.error
    assert abs(sv.mean(tally["c"]).value - values["c"].mean()) < 0.02
    with pytest.raises(ArgumentError, match="x and y must be two of a, b, c"):
        sv.correlation(tally)
    with pytest.raises(ArgumentError, match="y must be one of 'a', 'b', 'c'"):
        sv.slope(tally, "a", "z")


def test_intervals_of_a_correlation_hold() -> None:
    """60 tallies at 95 %: fewer than 50 hold with probability 1e-4; a mutant of half the width fails."""
    p, held, narrow = sv.pair(2.0, [(0, 1), (0, 1)]), 0, 0
    for seed in range(60):
        x, y = np.random.default_rng(seed).random((2, 3000))
        answer = sv.correlation(sv.Tally(p, p.report({"x": x, "y": (x + y) / 2}, rng=seed)))
        held += answer.low <= 0.5**0.5 <= answer.high
        narrow += abs(answer.value - 0.5**0.5) <= (answer.high - answer.low) / 8
    assert held >= 50
    assert narrow < 50


def test_where_nothing_is_resolved_nothing_is_excluded() -> None:
    p = sv.pair(0.3, [(0, 1), (0, 1)])
    tally = sv.Tally(p, p.report({"x": [0.5] * 300, "y": [0.5] * 300}, rng=2))
    answer, line = sv.correlation(tally), sv.slope(tally)
    assert (answer.low, answer.high) == (-1.0, 1.0)
    assert (line.low, line.high) == (-math.inf, math.inf)
    assert "not resolved" in answer.notes[0]
    with pytest.raises(NoDataError, match="fewer than two reports"):
        sv.correlation(sv.Tally(p, p.report({"x": [0.5], "y": [0.5]}, rng=1)))
    m = sv.choice(1.0, ["a", "b"])
    with pytest.raises(DataError, match="not of a pair"):
        sv.slope(sv.Tally(m, m.report(["a", "b"])))


def test_pairs_go_through_files(tmp_path: Path) -> None:
    table = pa.table({"age": [30.0, None, 40.0] * 500, "hours": [1.0, 2.0, 2.5] * 500})
    with pytest.raises(DataError, match="values of column 'age'"):
        bulk.report(table, {"both": PAIR}, tmp_path / "r.parquet")
    bulk.report(table, {"both": PAIR}, tmp_path / "r.parquet", missing="drop")
    tally = bulk.tally(tmp_path / "r.parquet")
    assert (tally.n, tally.digest) == (1000, PAIR.digest)
    ledger = sv.Ledger(tmp_path / "ledger.db", budget=3)
    ledger.enrol("pair", PAIR)
    assert ledger.report("pair", {"age": 30.0, "hours": None}, "monday").spent == 2


MIXED = sv.survey(
    8.0,
    {"age": (0, 120), "hours": (-1, 3), "start": sv.Circle(24), "way": ["car", "bike"], "pay": (0, 9)},
    relations=[("age", "hours"), ("hours", "pay")],
)


def test_relations_beside_other_questions() -> None:
    """Everything is known from one function of each person: also of numbers that form a chain."""
    rng, n = np.random.default_rng(6), 200_000
    x, y, z = rng.multivariate_normal([0, 0, 0], [[1, 0.6, 0], [0.6, 1, -0.5], [0, -0.5, 1]], n).T
    values = {
        "age": 60 + 15 * x, "hours": 1 + 0.5 * y, "pay": 4.5 + z, "start": rng.normal(8, 1, n) % 24,
        "way": rng.choice(["car", "bike"], n, p=[0.7, 0.3]),
    }  # fmt: skip
    assert MIXED.width == 1
    assert sv.audit(MIXED.to_json()).holds
    assert sv.from_json(MIXED.to_json()) == MIXED
    t = sv.Tally(MIXED, MIXED.report(values, clip=True, rng=7))
    sure = {"confidence": 1 - 1e-6}
    for one, truth in (
        (sv.correlation(t, "age", "hours", **sure), 0.6),
        (sv.correlation(t, "hours", "pay", **sure), -0.5),
        (sv.slope(t, "age", "hours", **sure), 0.6 * 0.5 / 15),
        (sv.mean(t["age"], **sure), 60),
        (sv.shares(t["way"], **sure)["car"], 0.7),
    ):
        assert one.low < truth < one.high
        assert one.high - one.low < max(0.4, 0.1 * abs(truth))
    with pytest.raises(ArgumentError, match="was not asked for"):
        sv.correlation(t, "age", "pay")


@pytest.mark.parametrize(
    ("relations", "options", "words"),
    [
        ([("age", "age")], {}, "two items each"),
        ([("age", "nobody")], {}, "two items each"),
        ([("age", "start")], {}, "intervals on a linear scale"),
        ([("age", "pay"), ("pay", "age")], {}, "twice"),
        ([("age", "pay")], {"strategy": "split"}, "by lot"),
        ([("age", "pay")], {"home": sv.Disc(1)}, "a place"),
    ],
)
def test_relations_that_cannot_be_asked(relations: Any, options: dict[str, Any], words: str) -> None:
    questions: dict[str, Any] = {"age": (0, 120), "start": sv.Circle(24), "pay": (0, 9)}
    questions |= {name: options[name] for name in options.keys() - {"strategy"}}
    more = {name: options[name] for name in options.keys() & {"strategy"}}
    with pytest.raises(ArgumentError, match=words) as refusal:
        sv.survey(1.0, questions, relations=relations, **more)
    assert refusal.value.argument == "relations"
